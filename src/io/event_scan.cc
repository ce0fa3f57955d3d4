// SPDX-License-Identifier: Apache-2.0
// Finds events by their brackets, and goes on at the next event where something else is in the way.
#include "event_scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "mpa/base/error.h"

namespace mpa::io {
namespace {

// `at` is behind an opening quote; returns the position behind the closing one, or kNoPlace.
std::size_t SkipString(std::string_view text, std::size_t at) {
  const char* const begin = text.data();
  while (at < text.size()) {
    const void* found = std::memchr(begin + at, '"', text.size() - at);
    if (found == nullptr) return kNoPlace;
    const auto quote = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
    std::size_t backslashes = 0;
    while (quote > at + backslashes && text[quote - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote + 1;
    at = quote + 1;
  }
  return kNoPlace;
}

enum Special : unsigned char { kPlain, kQuote, kOpen, kClose };

constexpr std::array<unsigned char, 256> kSpecial = [] {
  std::array<unsigned char, 256> table{};
  table['"'] = kQuote;
  table['{'] = table['['] = kOpen;
  table['}'] = table[']'] = kClose;
  return table;
}();

// `at` is on an opening bracket; returns the position behind its closing one, or kNoPlace. Brackets
// of the other kind do not count: a broken event must not take its neighbours along.
std::size_t SkipBracket(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '{' ? '}' : ']';
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (kSpecial[static_cast<unsigned char>(text[at])]) {
      case kQuote:
        at = SkipString(text, at + 1);
        if (at == kNoPlace) return kNoPlace;
        continue;
      case kOpen:
        if (text[at] == open) ++depth;
        break;
      case kClose:
        if (text[at] == close && --depth == 0) return at + 1;
        break;
      default:
        break;
    }
    ++at;
  }
  return kNoPlace;
}

// True if `at`, on a brace, begins an object with a member that events have, behind a separator.
bool LooksLikeEvent(std::string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && (IsSpace(text[before - 1]) || text[before - 1] == '\0')) --before;
  const bool behind_nul = before < at && text[at - 1] == '\0';
  constexpr std::string_view kSeparators = ",[]}";
  if (!behind_nul && (before == 0 || kSeparators.find(text[before - 1]) == kNoPlace)) return false;
  const std::size_t quote = SkipSpace(text, at + 1);
  if (quote >= text.size() || text[quote] != '"') return false;
  constexpr std::array<std::string_view, 9> kKeys = {"ph\"", "cat\"", "name\"", "pid\"", "tid\"",
                                                     "ts\"", "dur\"", "args\"", "bp\""};
  const std::string_view key = text.substr(quote + 1, 5);
  return std::ranges::any_of(kKeys,
                             [&](std::string_view of_event) { return key.starts_with(of_event); });
}

// The first position from `at` on which an event seems to begin.
std::size_t FindEventStart(std::string_view text, std::size_t at) {
  for (at = text.find('{', at); at != kNoPlace; at = text.find('{', at + 1)) {
    if (LooksLikeEvent(text, at)) return at;
  }
  return kNoPlace;
}

class Scanner {
 public:
  Scanner(std::string_view text, bool is_all)
      : text_(text), is_all_(is_all), left_(kMaxLooks * text.size() + kMaxLooks) {}

  EventScan Scan(std::size_t at) && {
    scan_.stopped = at;
    while (at != kNoPlace && !scan_.ended) {
      at = SkipSeparators(at);
      if (at >= text_.size()) break;
      if (text_[at] == '{') {
        at = TakeObject(at);
      } else if (text_[at] == ']') {
        at = PassEnd(at + 1);
      } else {
        const std::size_t next = FindEventStart(text_, at);
        if (next == kNoPlace && !is_all_) break;
        scan_.damages.push_back({at, EventDamage::kNoEvent});
        at = next;
      }
    }
    return std::move(scan_);
  }

 private:
  // How often a byte is looked at, on average, before the search is given up.
  static constexpr std::size_t kMaxLooks = 64;
  // Without its end in so much text an event is broken.
  static constexpr std::size_t kLargeEvent = std::size_t{2} << 20;

  std::size_t SkipSeparators(std::size_t at) {
    bool comma = false, nul = false;
    for (; at < text_.size(); ++at) {
      if (text_[at] == ',') {
        if (comma) scan_.damages.push_back({at, EventDamage::kSurplusComma});
        comma = true;
      } else if (text_[at] == '\0') {
        if (!nul) scan_.damages.push_back({at, EventDamage::kNulBytes});
        nul = true;
      } else if (!IsSpace(text_[at])) {
        break;
      }
    }
    return at;
  }

  void Spend(std::size_t bytes) {
    if (bytes > left_) {
      Fail(ErrorKind::kCorrupt, "the trace is damaged in too many places; copy it again");
    }
    left_ -= bytes;
  }

  // Returns where to go on, or kNoPlace for the end of the text.
  std::size_t TakeObject(std::size_t at) {
    const std::size_t end = SkipBracket(text_, at);
    Spend((end == kNoPlace ? text_.size() : end) - at);
    const std::size_t next = FindEventStart(text_.substr(0, end), at + 1);
    const bool whole =
        end != kNoPlace && (next == kNoPlace || nlohmann::json::accept(text_.substr(at, end - at)));
    if (!whole &&
        (next == kNoPlace || (end == kNoPlace && !is_all_ && text_.size() - at < kLargeEvent)))
      return kNoPlace;
    std::size_t last = whole ? end : next;
    while (!whole && (IsSpace(text_[last - 1]) || text_[last - 1] == ',')) --last;
    scan_.objects.push_back({at, last});
    scan_.stopped = last;
    return last;
  }

  // `at` is behind the end of an array. Returns where events go on, or kNoPlace.
  std::size_t PassEnd(std::size_t at) {
    const std::size_t end = at;
    while (at < text_.size() && (IsSpace(text_[at]) || text_[at] == '\0' || text_[at] == ',')) ++at;
    if (at < text_.size() && text_[at] == '"') {  // other members of the object around the array
      const MembersWalk walk = WalkMembers(text_, at);
      if (walk.events != kNoPlace) return GoOn(end, walk.events);
      if (walk.end == kNoPlace)
        return is_all_ ? GoOn(end, FindEventStart(text_, at), true) : kNoPlace;
      at = SkipSpace(text_, walk.end);
    } else if (at < text_.size() && text_[at] == '}') {
      at = SkipSpace(text_, at + 1);
    }
    while (at < text_.size() && text_[at] == '\0') ++at;
    if (SkipSpace(text_, at) < text_.size()) return GoOn(end, FindEventStart(text_, at));
    scan_.ended = is_all_;
    return kNoPlace;
  }

  std::size_t GoOn(std::size_t end, std::size_t next, bool may_be_cut = false) {
    if (next == kNoPlace && !is_all_) return kNoPlace;
    scan_.ended = next == kNoPlace;
    if (next != kNoPlace) {
      scan_.damages.push_back({end, EventDamage::kBehindEnd});
    } else if (!may_be_cut) {
      scan_.damages.push_back({end, EventDamage::kTextBehindEnd});
    }
    return next;
  }

  std::string_view text_;
  bool is_all_;
  std::size_t left_;
  EventScan scan_;
};

}  // namespace

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

MembersWalk WalkMembers(std::string_view text, std::size_t at) {
  while (true) {
    at = SkipSpace(text, at);
    if (at < text.size() && text[at] == ',') at = SkipSpace(text, at + 1);
    if (at < text.size() && text[at] == '}') return {.end = at + 1};
    if (at >= text.size() || text[at] != '"') return {};
    const std::size_t key_end = SkipString(text, at + 1);
    if (key_end == kNoPlace) return {};
    const std::string_view key = text.substr(at + 1, key_end - at - 2);
    at = SkipSpace(text, key_end);
    if (at >= text.size() || text[at] != ':') return {};
    at = SkipSpace(text, at + 1);
    if (at >= text.size()) return {};
    if (key == "traceEvents" && text[at] == '[') return {.events = at + 1};
    if (text[at] == '{' || text[at] == '[') {
      at = SkipBracket(text, at);
    } else if (text[at] == '"') {
      at = SkipString(text, at + 1);
    } else {
      at = text.find_first_of(",}", at);
    }
    if (at == kNoPlace) return {};
  }
}

std::size_t FindEventsByName(std::string_view text) {
  constexpr std::string_view kName = "\"traceEvents\"";
  for (std::size_t at = text.find(kName); at != kNoPlace; at = text.find(kName, at + 1)) {
    std::size_t value = SkipSpace(text, at + kName.size());
    if (value >= text.size() || text[value] != ':') continue;
    value = SkipSpace(text, value + 1);
    if (value < text.size() && text[value] == '[') return value + 1;
  }
  return kNoPlace;
}

EventScan ScanEvents(std::string_view text, std::size_t at, bool is_all) {
  return Scanner(text, is_all).Scan(at);
}

}  // namespace mpa::io
