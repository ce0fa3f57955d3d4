// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpa/readers/reader.h"

namespace mpa::test {

inline constexpr Tables kAllTables = static_cast<Tables>(~std::uint64_t{0});

inline const Reader& ReaderOf(FileKind kind) {
  const auto& readers = AllReaders();
  const auto reader = std::find_if(readers.begin(), readers.end(), [&](const Reader& candidate) {
    return candidate.reads == kind;
  });
  if (reader == readers.end()) throw std::runtime_error("no reader for this kind of file");
  return *reader;
}

/// Reads one file with the reader for its kind into `trace`.
inline void ReadInto(RankTrace& trace, FileKind kind, const std::filesystem::path& path,
                     const ReadRequest& request = {kAllTables, ""}) {
  ReaderOf(kind).read({kind, path, static_cast<std::int64_t>(std::filesystem::file_size(path))},
                      request, trace);
}

inline RankTrace ReadFile(FileKind kind, const std::filesystem::path& path,
                          const ReadRequest& request = {kAllTables, ""}) {
  RankTrace trace;
  ReadInto(trace, kind, path, request);
  return trace;
}

/// The texts of a column of names.
template <typename Column>
std::vector<std::string> ColumnTexts(const RankTrace& trace, const Column& column) {
  std::vector<std::string> texts;
  texts.reserve(column.size());
  for (const StringId id : column) texts.emplace_back(trace.strings.View(id));
  return texts;
}

}  // namespace mpa::test
