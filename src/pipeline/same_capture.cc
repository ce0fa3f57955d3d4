// SPDX-License-Identifier: Apache-2.0
#include "same_capture.h"

#include <algorithm>
#include <map>
#include <string>
#include <system_error>

#include "mpa/io/input_text.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// By their place below the path; a file that was given itself has none.
using FilesByPlace = std::map<std::string, fs::path>;

FilesByPlace FilesOf(const RunSource& source) {
  std::error_code ignored;
  const fs::path root = fs::canonical(source.path, ignored);
  FilesByPlace files;
  const auto add = [&](const fs::path& path) {
    files[path.lexically_relative(root).generic_string()] = path;
  };
  if (source.ranks.empty()) add(root);
  for (const FoundRank& rank : source.ranks) {
    for (const CaptureFile& file : rank.input.files) {
      if (!fs::is_directory(file.path, ignored)) {
        add(file.path);
        continue;
      }
      for (const fs::directory_entry& entry :
           fs::recursive_directory_iterator(file.path, ignored)) {
        if (entry.is_regular_file(ignored)) add(entry.path());
      }
    }
  }
  return files;
}

bool HaveSameContent(const fs::path& a, const fs::path& b) {
  return io::InputText(a, io::Content::kAsIs).text() == io::InputText(b, io::Content::kAsIs).text();
}

}  // namespace

bool IsSameCapture(const RunSource& a, const RunSource& b) {
  std::error_code ignored;
  if (fs::equivalent(a.path, b.path, ignored)) return true;
  const FilesByPlace of_a = FilesOf(a), of_b = FilesOf(b);
  const bool alike = std::equal(
      of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [&](const auto& left, const auto& right) {
        return left.first == right.first &&
               fs::file_size(left.second, ignored) == fs::file_size(right.second, ignored);
      });
  return alike && !of_a.empty() && std::all_of(of_a.begin(), of_a.end(), [&](const auto& file) {
           return HaveSameContent(file.second, of_b.at(file.first));
         });
}

}  // namespace mpa
