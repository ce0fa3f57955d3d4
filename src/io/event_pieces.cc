// SPDX-License-Identifier: Apache-2.0
// Finds the boundaries of the events of a trace without parsing them: it examines only quotes,
// escapes and brackets, and usually only those around a boundary. Parsers with a size limit can
// then work on pieces, in parallel.
#include "mpa/io/event_pieces.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "event_scan.h"
#include "mpa/base/error.h"
#include "mpa/base/progress.h"
#include "mpa/io/input_text.h"

namespace mpa::io {
namespace {

// A larger event has lost its end.
constexpr std::size_t kLargestEvent = std::size_t{256} << 20;
// Parsers read beyond the end, in steps of whole registers.
constexpr std::size_t kPadding = 64;

// The position behind the '[' of the event array; kNoPlace when the text ends before it.
std::size_t FindEventArray(std::string_view text) {
  std::size_t at = SkipSpace(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  if (at == text.size()) return kNoPlace;
  if (text[at] == '[') return at + 1;
  RefuseWideText(text);
  if (text[at] != '{') Fail(ErrorKind::kCorrupt, "not JSON: it begins with neither '[' nor '{{'");
  return WalkMembers(text, at + 1).events;
}

std::size_t SkipComma(std::string_view text, std::size_t at) {
  at = SkipSpace(text, at);
  return at < text.size() && text[at] == ',' ? SkipSpace(text, at + 1) : at;
}

// The apparent end of an object that is followed by another one with a member; kNoPlace if there is
// none.
std::size_t GuessLastEnd(std::string_view text) {
  const auto space_before = [&](std::size_t at) {
    while (at > 0 && IsSpace(text[at - 1])) --at;
    return at;
  };
  for (std::size_t at = text.rfind('{'); at != kNoPlace && at > 0; at = text.rfind('{', at - 1)) {
    const std::size_t inside = SkipSpace(text, at + 1);
    if (inside >= text.size() || text[inside] != '"') continue;
    const std::size_t comma = space_before(at);
    if (comma == 0 || text[comma - 1] != ',') continue;
    const std::size_t end = space_before(comma - 1);
    if (end > 0 && text[end - 1] == '}') return end;
  }
  return kNoPlace;
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
  bool ended = false;              // else events may follow
  std::vector<EventDamage> damages;
};

EventPieces::Cut EventPieces::CutBlock(std::string_view block, bool exactly, bool is_all) {
  Cut cut;
  if (exactly) {
    EventScan scan = ScanEvents(block, 0, is_all);
    if (!scan.objects.empty()) {
      cut.begin = scan.objects.front().begin;
      cut.end = scan.objects.back().end;
    }
    cut.ended = scan.ended;
    cut.damages = std::move(scan.damages);
    // What stands behind the last event is looked at again with what follows.
    if (!is_all) std::erase_if(cut.damages, [&](const auto& one) { return one.at >= cut.end; });
  } else {
    cut.begin = SkipComma(block, 0);
    const std::size_t end = GuessLastEnd(block);
    cut.end = end == kNoPlace || end <= cut.begin ? cut.begin : end;
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
    const bool is_last = !more || filled > kLargestEvent;
    std::size_t begin = FindEventArray({text, filled});
    if (begin == kNoPlace && is_last) {
      begin = FindEventsByName({text, filled});
      if (begin != kNoPlace) damages_.push_back({0, EventDamage::kBrokenMembers});
    }
    if (begin != kNoPlace) {
      offset_ = begin;
      filled -= begin;
      std::memmove(text, text + begin, filled);
      return;
    }
    if (!more && SkipSpace({text, filled}, 0) == filled) {
      Fail(ErrorKind::kCorrupt, "the file is empty");
    }
    if (is_last) {
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
  Cut cut = CutBlock(block(), exact_ || !more, !more);
  while (cut.begin == cut.end && !cut.ended && more && filled < kLargestEvent) {
    more = Fill(piece, filled, std::max(filled, piece_bytes_));
    cut = CutBlock(block(), exact_ || !more, !more);
  }
  ended_ = !more || cut.ended || cut.begin == cut.end;
  piece.number_ = count_++;
  piece.offset_ = offset_;
  piece.exact_ = exact_ || (ended_ && cut.ended && cut.damages.empty());
  if (ended_ && !piece.exact_) {  // only exact cuts can confirm it
    piece.size_ = 0;
    return true;
  }
  for (const EventDamage& damage : cut.damages) {
    damages_.push_back({offset_ + damage.at, damage.kind});
  }
  found_any_ = found_any_ || cut.end > cut.begin;
  if (ended_ && !found_any_ && !damages_.empty()) {
    Fail(ErrorKind::kCorrupt, "byte {}: expected an event object", damages_.front().at);
  }
  if (ended_ && !cut.ended) cut_off_at_ = offset_ + cut.end;
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
  const EventScan scan = ScanEvents(array, 1, /*is_all=*/true);
  std::vector<std::string_view> objects;
  for (const auto& [begin, end] : scan.objects) objects.push_back(array.substr(begin, end - begin));
  // A broken event hides the bracket behind it.
  if (!scan.ended && scan.stopped < array.size()) objects.push_back(array.substr(scan.stopped));
  return objects;
}

}  // namespace mpa::io
