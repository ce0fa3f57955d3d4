// SPDX-License-Identifier: Apache-2.0
#include "sample_lines.h"

#include <cstdint>
#include <string>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/io/input_text.h"
#include "mpa/io/numbers.h"

namespace mpa::raw {
namespace {

constexpr std::string_view kBlanks = " \t\r";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class LineReader {
 public:
  LineReader(std::string_view stem, Issues& issues,
             const std::function<bool(std::string_view)>& read)
      : stem_(stem), issues_(issues), read_(read) {}

  void SkipFirst() { skip_ = true; }

  void Add(std::string_view text) {
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      if (rest_.empty()) {
        Line(text.substr(0, end));
      } else {
        rest_ += text.substr(0, end);
        Line(rest_);
        rest_.clear();
      }
      text.remove_prefix(end + 1);
    }
    rest_ += text;
  }

  void Finish() {
    if (rest_.empty()) return;
    issues_.Count("file cut off inside a line, read up to there", stem_);
  }

 private:
  void Line(std::string_view line) {
    ++number_;
    if (std::exchange(skip_, false)) return;
    if (line.find_first_not_of(kBlanks) == std::string_view::npos || read_(line)) return;
    issues_.Count("line left out, its columns are not those of its kind",
                  Say("{}, line {}", stem_, number_));
  }

  const std::string_view stem_;
  Issues& issues_;
  const std::function<bool(std::string_view)>& read_;
  std::string rest_;
  std::int64_t number_ = 0;
  bool skip_ = false;
};

}  // namespace

void Split(std::string_view line, std::vector<std::string_view>& columns) {
  columns.clear();
  while (columns.size() < kMaxColumns) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return;
    line.remove_prefix(begin);
    columns.push_back(line.substr(0, line.find_first_of(kBlanks)));
    line.remove_prefix(columns.back().size());
  }
}

std::optional<std::int64_t> CountIn(std::string_view text) {
  const auto number = io::ParseInt(text);
  return number && *number >= 0 ? number : std::nullopt;
}

void ForEachLine(const DataFiles& files, std::string_view stem, Issues& issues,
                 const std::function<bool(std::string_view)>& read) {
  const std::vector<Slice>& slices = files.Of(stem);
  if (slices.empty()) return;
  LineReader reader(stem, issues, read);
  if (slices.front().number > 0) reader.SkipFirst();
  for (const Slice& slice : slices) {
    LogInfo("{}: its lines are read", slice.path.string());
    const io::InputText input(slice.path, io::Content::kAsIs);
    reader.Add(input.text());
    AddProgress(static_cast<std::int64_t>(input.text().size()));
  }
  reader.Finish();
}

void ForEachSampleLine(const DataFiles& files, std::string_view stem, Issues& issues,
                       const std::function<bool(Columns)>& read) {
  std::vector<std::string_view> columns;
  ForEachLine(files, stem, issues, [&](std::string_view line) {
    Split(line, columns);
    return IsLetter(columns.front().front()) || read(columns);
  });
}

}  // namespace mpa::raw
