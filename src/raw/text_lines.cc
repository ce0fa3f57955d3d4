// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/io/input_text.h"
#include "mpa/io/numbers.h"
#include "traffic_samples.h"

namespace mpa::raw {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// More columns than any kind has; the text after them is not split.
constexpr std::size_t kMostColumns = 32;

void Split(std::string_view line, std::vector<std::string_view>& columns) {
  columns.clear();
  while (columns.size() < kMostColumns) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return;
    line.remove_prefix(begin);
    columns.push_back(line.substr(0, line.find_first_of(kBlanks)));
    line.remove_prefix(columns.back().size());
  }
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class LineReader {
 public:
  LineReader(std::string_view stem, Issues& issues, const std::function<bool(Columns)>& read)
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
    Split(line, columns_);
    // Each slice may begin with the names of the columns.
    if (columns_.empty() || IsLetter(columns_.front().front())) return;
    if (read_(columns_)) return;
    issues_.Count("line left out, its columns are not those of its kind",
                  fmt::format("{}, line {}", stem_, number_));
  }

  const std::string_view stem_;
  Issues& issues_;
  const std::function<bool(Columns)>& read_;
  std::vector<std::string_view> columns_;
  std::string rest_;
  std::int64_t number_ = 0;
  bool skip_ = false;
};

}  // namespace

void ForEachSampleLine(const DataFiles& files, std::string_view stem, Issues& issues,
                       const std::function<bool(Columns)>& read) {
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

std::optional<std::int64_t> DeviceTime(std::string_view text) {
  constexpr std::int64_t kSecond = 1'000'000'000, kLast = 4'000'000'000;
  const std::size_t colon = text.find(':');
  const auto first = io::ParseInt(text.substr(0, colon));
  if (!first || *first < 0) return std::nullopt;
  if (colon == std::string_view::npos) return first;
  const auto ns = io::ParseInt(text.substr(colon + 1));
  if (!ns || *ns < 0 || *ns >= kSecond || *first > kLast) return std::nullopt;
  return *first * kSecond + *ns;
}

}  // namespace mpa::raw
