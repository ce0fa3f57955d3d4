// SPDX-License-Identifier: Apache-2.0
// What lines of screens state.
#include "mpa/report/screen_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "mpa/base/columns.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

constexpr std::array<std::string_view, 27> kUnits = {
    "ns",   "us",   "ms",     "s",      "min",    "h",   "%",   "B",   "bytes",
    "kB",   "MB",   "GB",     "TB",     "KiB",    "MiB", "GiB", "TiB", "GB/s",
    "MB/s", "TB/s", "TFLOPS", "GFLOPS", "FLOP/B", "MHz", "GHz", "x",   "tokens/s"};

// What numbers of these stand behind says which one it is, and not how many there are.
constexpr std::array<std::string_view, 8> kNamed = {"step",   "iteration", "stage", "phase",
                                                    "device", "stream",    "epoch", "layer"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<signed char>(c) < 0;
}
bool IsOfWord(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

template <typename List>
bool Has(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// Reads a text from left to right.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  std::vector<StatedNumber> Read() && {
    while (at_ < text_.size()) {
      if (ReadRank() || ReadNumber()) continue;
      ++at_;
    }
    return std::move(numbers_);
  }

  /// Those that Read() met, each once.
  const std::vector<RankId>& Ranks() const { return ranks_; }
  void Skim() {
    while (at_ < text_.size()) {
      if (!ReadRank()) ++at_;
    }
  }

 private:
  char Before(std::size_t at) const { return at > 0 ? text_[at - 1] : ' '; }
  char At(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  std::string_view WordAt(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && (IsOfWord(text_[end]) || text_[end] == '/')) ++end;
    return text_.substr(at, end - at);
  }

  // "rank 3", "ranks 4, 6", "ranks 0-3".
  bool ReadRank() {
    if (IsOfWord(Before(at_))) return false;
    const std::string_view rest = text_.substr(at_);
    std::size_t word = rest.starts_with("rank") || rest.starts_with("Rank") ? 4 : 0;
    if (word == 0) return false;
    const bool several = At(at_ + word) == 's';
    if (several) ++word;
    if (At(at_ + word) != ' ' || !IsDigit(At(at_ + word + 1))) return false;
    const std::size_t begin = at_;
    at_ += word + 1;
    std::vector<RankId> found;
    while (true) {
      std::int64_t rank = -1;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), rank);
      if (error != std::errc()) rank = -1;
      found.push_back(rank);
      at_ = static_cast<std::size_t>(end - text_.data());
      if (!several) break;
      std::size_t next = at_;
      for (const std::string_view between : {", ", " and ", "-"}) {
        if (text_.substr(at_).starts_with(between)) next = at_ + between.size();
      }
      if (next == at_ || !IsDigit(At(next))) break;
      at_ = next;
    }
    ranks_.insert(ranks_.end(), found.begin(), found.end());
    Bind(begin, found.size() == 1 ? Cell(found.front().Number()) : Cell());
    return true;
  }

  // Gives the numbers around to the rank.
  void Bind(std::size_t begin, const Cell& rank) {
    const std::string_view before = text_.substr(0, begin);
    const bool behind_number = before.ends_with('(') || before.ends_with(" on ");
    if (behind_number) {
      if (!numbers_.empty()) numbers_.back().rank = rank;
      return;
    }
    const bool is_subject = before.find_first_not_of(' ') == std::string_view::npos ||
                            before.ends_with(": ") || before.ends_with("; ");
    subject_ = is_subject ? rank : Cell();
  }

  bool ReadNumber() {
    if (!IsDigit(At(at_))) return false;
    const char before = Before(at_);
    const bool has_sign = (before == '+' || before == '-') && !IsOfWord(Before(at_ - 1));
    const bool is_part = IsOfWord(before) || before == '.' || before == '[' || before == '#' ||
                         (before == '-' && !has_sign && !IsDigit(Before(at_ - 1))) ||
                         (before == '/' && !IsDigit(Before(at_ - 1)));
    std::size_t end = at_;
    while (IsDigit(At(end)) || (At(end) == '.' && IsDigit(At(end + 1)))) ++end;
    const std::size_t begin = at_;
    at_ = end;
    std::string_view unit = UnitBehind(end);
    const bool goes_on = (IsOfWord(At(end)) && unit.empty()) || At(end) == ']' ||
                         (At(end) == ',' && IsDigit(At(end + 1))) ||
                         (before == ',' && IsDigit(Before(begin - 1)));
    if (is_part || goes_on) {
      while (IsOfWord(At(at_))) ++at_;
      return true;
    }
    // Beside the number of a rank stands what is usual.
    const bool is_usual = text_.substr(0, begin).ends_with("instead of ");
    StatedNumber number{.rank = is_usual ? Cell() : subject_};
    (void)std::from_chars(text_.data() + begin, text_.data() + end, number.value);
    if (has_sign && before == '-') number.value = -number.value;
    number.unit = unit;
    number.name = NameBefore(begin);
    numbers_.push_back(std::move(number));
    return true;
  }

  std::string_view UnitBehind(std::size_t end) const {
    if (At(end) == '%' || (At(end) == ' ' && At(end + 1) == '%')) return "%";
    const std::string_view word = WordAt(At(end) == ' ' ? end + 1 : end);
    const auto unit = std::ranges::find(kUnits, word);
    return unit == kUnits.end() ? std::string_view() : *unit;
  }

  // "step" of "step 10".
  std::string_view NameBefore(std::size_t begin) const {
    if (Before(begin) != ' ' || begin < 2) return {};
    std::size_t from = begin - 1;
    while (from > 0 && IsLetter(text_[from - 1])) --from;
    const std::string_view word = text_.substr(from, begin - 1 - from);
    return Has(kNamed, word) ? word : std::string_view();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Cell subject_;
  std::vector<StatedNumber> numbers_;
  std::vector<RankId> ranks_;
};

}  // namespace

std::vector<StatedNumber> ScreenLine::Numbers() const {
  return numbers_ ? *numbers_ : NumbersIn(text_);
}

std::vector<std::string> TextsOf(const ScreenLines& lines) { return {lines.begin(), lines.end()}; }

void AddSentence(std::string_view sentence, ScreenLines& lines) {
  for (std::string& line : Wrapped(sentence, 2)) lines.emplace_back(std::move(line));
}

namespace {

std::string TakeSentence(std::size_t at, std::vector<std::string>& lines) {
  if (at >= lines.size() || lines[at].starts_with(' ')) return {};
  std::size_t end = at + 1;
  std::string sentence = lines[at];
  for (; end < lines.size() && lines[end].starts_with("  "); ++end) {
    const std::string_view next = Trim(lines[end]);
    if (next.find("  ") != std::string_view::npos) break;  // the heading of a list
    // As Wrapped() breaks lines: at blanks and beside wide characters.
    const std::vector<std::string> joined = Wrapped(fmt::format("{} {}", lines[end - 1], next), 2);
    if (joined.size() < 2 || joined.front() != lines[end - 1]) break;
    const bool at_blank = static_cast<signed char>(next.front()) >= 0;
    sentence += fmt::format("{}{}", at_blank ? " " : "", next);
  }
  // "the largest of 3 ranks:", and what it is below.
  const bool goes_on = sentence.ends_with(':') || sentence.ends_with(',');
  if (goes_on && end < lines.size() && lines[end].starts_with("  ")) {
    const std::string_view next = Trim(lines[end]);
    if (next.find("  ") == std::string_view::npos) {
      sentence += fmt::format(" {}", next);
      ++end;
    }
  }
  const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(at);
  lines.erase(begin, lines.begin() + static_cast<std::ptrdiff_t>(end));
  return sentence;
}

}  // namespace

std::vector<std::string> TakeVerdicts(std::vector<std::string>& lines) {
  std::vector<std::string> verdicts;
  const bool of_groups =
      lines.size() > 1 && lines.front().ends_with(':') && !lines[1].starts_with(' ');
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const bool begins = at == 0 || lines[at - 1].empty();
    if (!begins || (of_groups && !lines[at].ends_with(':'))) continue;
    const std::string group = of_groups ? lines[at] + " " : "";
    if (const std::string sentence = TakeSentence(of_groups ? at + 1 : at, lines);
        !sentence.empty())
      verdicts.push_back(group + sentence);
    if (!of_groups) break;
  }
  return verdicts;
}

ScreenLines ScreenLinesOf(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::vector<StatedNumber> NumbersIn(std::string_view text) { return LineReader(text).Read(); }

Cell OnlyRankIn(std::string_view text) {
  LineReader reader(text);
  reader.Skim();
  const std::vector<RankId>& ranks = reader.Ranks();
  const bool is_one = !ranks.empty() && std::ranges::count(ranks, ranks.front()) ==
                                            static_cast<std::ptrdiff_t>(ranks.size());
  return is_one ? Cell(ranks.front().Number()) : Cell();
}

std::string_view UnitIn(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" ,()", begin), text.size());
    const auto unit = std::ranges::find(kUnits, text.substr(begin, end - begin));
    if (unit != kUnits.end()) return *unit;
    begin = end + 1;
  }
  return {};
}

const StatedNumber* LeadingOf(const std::vector<StatedNumber>& numbers) {
  const auto first = [&](auto fits) {
    const auto found = std::ranges::find_if(numbers, fits);
    return found == numbers.end() ? nullptr : &*found;
  };
  if (const auto* found =
          first([](const auto& number) { return !number.unit.empty() && number.unit != "%"; }))
    return found;
  if (const auto* found = first([](const auto& number) { return !Has(kNamed, number.name); }))
    return found;
  return first([](const auto&) { return true; });
}

}  // namespace mpa
