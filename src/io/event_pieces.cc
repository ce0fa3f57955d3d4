// SPDX-License-Identifier: Apache-2.0
// Finds the boundaries of the events of a trace without parsing them: it examines only quotes,
// escapes and brackets, and usually only those around a boundary. Parsers with a size limit can
// then work on pieces, in parallel.
#include "mpa/io/event_pieces.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/progress.h"

namespace mpa::io {
namespace {

// A larger event has lost its end.
constexpr std::size_t kLargestEvent = std::size_t{256} << 20;
// Parsers read beyond the end, in steps of whole registers.
constexpr std::size_t kPadding = 64;
constexpr std::size_t kNone = std::string_view::npos;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

// `at` is behind an opening quote; returns the position behind the closing one, or kNone.
std::size_t SkipString(std::string_view text, std::size_t at) {
  const char* const begin = text.data();
  while (at < text.size()) {
    const void* found = std::memchr(begin + at, '"', text.size() - at);
    if (found == nullptr) return kNone;
    const auto quote = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
    std::size_t backslashes = 0;
    while (quote > at + backslashes && text[quote - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote + 1;
    at = quote + 1;
  }
  return kNone;
}

enum Special : unsigned char { kPlain, kQuote, kOpen, kClose };

constexpr std::array<unsigned char, 256> kSpecial = [] {
  std::array<unsigned char, 256> table{};
  table['"'] = kQuote;
  table['{'] = table['['] = kOpen;
  table['}'] = table[']'] = kClose;
  return table;
}();

// `at` is on an opening bracket; returns the position behind its closing one, or kNone. Brackets of
// the other kind do not count: a broken event must not take its neighbours along.
std::size_t SkipBracket(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '{' ? '}' : ']';
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (kSpecial[static_cast<unsigned char>(text[at])]) {
      case kQuote:
        at = SkipString(text, at + 1);
        if (at == kNone) return kNone;
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
  return kNone;
}

// The position behind the '[' of the event array; kNone when the text ends before it.
std::size_t FindEventArray(std::string_view text) {
  std::size_t at = SkipSpace(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  if (at == text.size()) return kNone;
  if (text[at] == '[') return at + 1;
  if (text[at] != '{') Fail(ErrorKind::kCorrupt, "not JSON: it begins with neither '[' nor '{{'");
  ++at;
  while (true) {
    at = SkipSpace(text, at);
    if (at < text.size() && text[at] == ',') at = SkipSpace(text, at + 1);
    if (at >= text.size() || text[at] != '"') return kNone;
    const std::size_t key_end = SkipString(text, at + 1);
    if (key_end == kNone) return kNone;
    const std::string_view key = text.substr(at + 1, key_end - at - 2);
    at = SkipSpace(text, key_end);
    if (at >= text.size() || text[at] != ':') return kNone;
    at = SkipSpace(text, at + 1);
    if (at >= text.size()) return kNone;
    if (key == "traceEvents" && text[at] == '[') return at + 1;
    if (text[at] == '{' || text[at] == '[') {
      at = SkipBracket(text, at);
    } else if (text[at] == '"') {
      at = SkipString(text, at + 1);
    } else {
      at = text.find_first_of(",}", at);
    }
    if (at == kNone) return kNone;
  }
}

std::size_t SkipComma(std::string_view text, std::size_t at) {
  at = SkipSpace(text, at);
  return at < text.size() && text[at] == ',' ? SkipSpace(text, at + 1) : at;
}

// Calls on_object(begin, end) for each object from `at`. Returns where it stopped: at the end of
// the array or at something that is not an object; kNone when the text ends before.
template <typename OnObject>
std::size_t ForEachObject(std::string_view text, std::size_t at, OnObject on_object) {
  while (true) {
    at = SkipComma(text, at);
    if (at >= text.size()) return kNone;
    if (text[at] != '{') return at;
    const std::size_t end = SkipBracket(text, at);
    if (end == kNone) return kNone;
    on_object(at, end);
    at = end;
  }
}

// The apparent end of an object that is followed by another one with a member; kNone if there is
// none.
std::size_t GuessLastEnd(std::string_view text) {
  const auto space_before = [&](std::size_t at) {
    while (at > 0 && IsSpace(text[at - 1])) --at;
    return at;
  };
  for (std::size_t at = text.rfind('{'); at != kNone && at > 0; at = text.rfind('{', at - 1)) {
    const std::size_t inside = SkipSpace(text, at + 1);
    if (inside >= text.size() || text[inside] != '"') continue;
    const std::size_t comma = space_before(at);
    if (comma == 0 || text[comma - 1] != ',') continue;
    const std::size_t end = space_before(comma - 1);
    if (end > 0 && text[end - 1] == '}') return end;
  }
  return kNone;
}

}  // namespace

void EventPiece::Reserve(std::size_t count, std::size_t kept) {
  const std::size_t needed = 1 + count + 1 + kPadding;  // with the brackets
  if (needed <= capacity_) return;
  std::unique_ptr<char[]> larger(new char[needed]);
  if (kept > 0) std::memcpy(larger.get() + 1, text(), kept);
  bytes_ = std::move(larger);
  capacity_ = needed;
}

void EventPiece::Close(std::size_t count) {
  bytes_[0] = '[';
  bytes_[count + 1] = ']';
  std::memset(bytes_.get() + count + 2, ' ', kPadding);
  size_ = count + 2;
}

EventPieces::EventPieces(const std::filesystem::path& path, std::size_t piece_bytes)
    : stream_(path), name_(path.string()), piece_bytes_(piece_bytes) {}

// The events at the beginning of a block.
struct EventPieces::Cut {
  std::size_t begin = 0, end = 0;  // of the events; the same when there is none
  std::size_t stop = kNone;        // where the events end; kNone: they may continue
};

EventPieces::Cut EventPieces::CutBlock(std::string_view block, bool exactly) {
  Cut cut;
  if (exactly) {
    bool first = true;
    cut.stop = ForEachObject(block, 0, [&](std::size_t from, std::size_t to) {
      if (std::exchange(first, false)) cut.begin = from;
      cut.end = to;
    });
  } else {
    cut.begin = SkipComma(block, 0);
    const std::size_t end = GuessLastEnd(block);
    cut.end = end == kNone || end <= cut.begin ? cut.begin : end;
  }
  return cut;
}

// Reads more data after the contents of the piece; false at the end of the file.
bool EventPieces::Fill(EventPiece& piece, std::size_t& filled, std::size_t more) {
  piece.Reserve(filled + more, filled);
  const std::size_t got = stream_.Read(piece.text() + filled, more);
  filled += got;
  if (stream_.file_offset() > reported_) {
    AddProgress(stream_.file_offset() - reported_);
    reported_ = stream_.file_offset();
  }
  return got == more;
}

// Removes the text before the first event.
void EventPieces::SkipToEvents(EventPiece& piece, std::size_t& filled, bool& more) {
  while (true) {
    char* const text = piece.text();
    const std::size_t begin = FindEventArray({text, filled});
    if (begin != kNone) {
      offset_ = begin;
      filled -= begin;
      std::memmove(text, text + begin, filled);
      return;
    }
    if (!more && SkipSpace({text, filled}, 0) == filled) {
      Fail(ErrorKind::kCorrupt, "the file is empty");
    }
    if (!more || filled > kLargestEvent) {
      Fail(ErrorKind::kCorrupt, "no \"traceEvents\" array; is this a profiler trace?");
    }
    more = Fill(piece, filled, std::max(filled, piece_bytes_));
  }
}

bool EventPieces::Next(EventPiece& piece) {
  const std::lock_guard lock(mutex_);
  return !ended_ && InContext(name_, [&] { return CutNext(piece); });
}

bool EventPieces::CutNext(EventPiece& piece) {
  std::size_t filled = rest_.size();
  piece.Reserve(filled, 0);
  std::memcpy(piece.text(), rest_.data(), filled);
  bool more = filled >= piece_bytes_ || Fill(piece, filled, piece_bytes_ - filled);
  if (offset_ == 0) SkipToEvents(piece, filled, more);
  const auto block = [&] { return std::string_view(piece.text(), filled); };
  // The last event may be followed by data that is not an event.
  Cut cut = CutBlock(block(), exact_ || !more);
  while (cut.begin == cut.end && cut.stop == kNone && more && filled < kLargestEvent) {
    more = Fill(piece, filled, std::max(filled, piece_bytes_));
    cut = CutBlock(block(), exact_ || !more);
  }
  ended_ = !more || cut.stop != kNone || cut.begin == cut.end;
  const bool complete = cut.stop != kNone && block()[cut.stop] == ']';
  piece.number_ = count_++;
  piece.offset_ = offset_;
  piece.exact_ = exact_ || (ended_ && complete);
  if (ended_ && !piece.exact_) {  // only exact cuts can confirm it
    piece.size_ = 0;
    return true;
  }
  if (ended_ && !complete) {
    if (cut.stop != kNone) {
      Fail(ErrorKind::kCorrupt, "byte {}: expected an event object, found '{}'", offset_ + cut.stop,
           block()[cut.stop]);
    }
    cut_off_at_ = offset_ + cut.end;
  }
  rest_.assign(piece.text() + cut.end, filled - cut.end);
  offset_ += cut.end;
  std::memset(piece.text(), ' ', cut.begin);
  piece.Close(cut.end);
  return cut.end > cut.begin;
}

void EventPieces::CutExactly(std::size_t number, std::size_t offset) {
  const std::lock_guard lock(mutex_);
  stream_.Seek(offset);
  rest_.clear();
  offset_ = offset;
  count_ = number;
  exact_ = true;
  ended_ = false;
}

std::vector<std::string_view> SplitObjects(std::string_view array) {
  std::vector<std::string_view> objects;
  ForEachObject(array, 1, [&](std::size_t from, std::size_t to) {
    objects.push_back(array.substr(from, to - from));
  });
  return objects;
}

}  // namespace mpa::io
