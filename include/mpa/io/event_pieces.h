// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/io/byte_stream.h"

namespace mpa::io {

/// Some whole events of a trace in a buffer of their own, as a JSON array.
class EventPiece {
 public:
  /// The array with its brackets; the events are separated by commas.
  std::string_view array() const { return {bytes_.get(), size_}; }
  /// How many bytes may be read from the beginning of the array; the bytes after the array are
  /// blanks.
  std::size_t readable() const { return capacity_; }
  /// Which piece of the trace this is, from 0.
  std::size_t number() const { return number_; }
  /// Offset of the first event in the text of the file.
  std::size_t offset() const { return offset_; }
  /// False if the cut was only guessed; see EventPieces::Next.
  bool exact() const { return exact_; }

 private:
  friend class EventPieces;
  // All but the brackets.
  char* text() { return bytes_.get() + 1; }
  // Makes room for `count` bytes of the events and preserves the first `kept`.
  void Reserve(std::size_t count, std::size_t kept);
  void Close(std::size_t count);

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0, size_ = 0;
  std::size_t number_ = 0, offset_ = 0;
  bool exact_ = false;
};

/// Something in a trace that is not an event.
struct EventDamage {
  enum Kind : std::uint8_t {
    kSurplusComma,
    kNulBytes,
    kNoEvent,        ///< something else than an object; reading went on at the next event
    kBehindEnd,      ///< events behind the end of the array, which were read
    kTextBehindEnd,  ///< something else behind the end of the trace
    kBrokenMembers,  ///< the members before the array are not valid JSON
  };
  std::size_t at = 0;  ///< offset in the text of the file
  Kind kind{};
};

/// Cuts the events of a Chrome trace (the document is an array of objects, or an object with such
/// an array as member "traceEvents") into pieces, while the file is read. Several threads may take
/// pieces at the same time; memory depends on the size of the pieces, not on that of the file.
class EventPieces {
 public:
  /// Pieces are about `piece_bytes` large. Throws Error (kInput) when the file cannot be read.
  explicit EventPieces(const std::filesystem::path& path, std::size_t piece_bytes);

  /// Gives the next piece; false at the end. The boundary between two events is guessed from the
  /// characters around it, to avoid scanning every byte twice. A wrong guess (inside a string or a
  /// nested array) makes a piece that is not a JSON array: its consumer then calls CutExactly.
  /// Where the array contains something other than objects, reading goes on at the next event, see
  /// damages(). Throws Error (kCorrupt) when there is no event array, or no event in it.
  bool Next(EventPiece& piece);
  /// Goes back to a guessed piece. This piece and all later ones are cut again, by their brackets;
  /// pieces with a higher number that were already given out become void.
  void CutExactly(std::size_t number, std::size_t offset);

  /// True when all pieces have been given out.
  bool ended() const { return ended_; }
  /// Offset of the first byte behind the last whole event when the array has no end: the writer
  /// was killed, or the copy broke off. npos when the array is complete. Known at the end.
  std::size_t cut_off_at() const { return cut_off_at_; }
  /// What was found beside events. Known at the end.
  const std::vector<EventDamage>& damages() const { return damages_; }

 private:
  struct Cut;
  static Cut CutBlock(std::string_view block, bool exactly, bool is_all);
  bool CutNext(EventPiece& piece);
  void SkipToEvents(EventPiece& piece, std::size_t& filled, bool& more);
  bool Fill(EventPiece& piece, std::size_t& filled, std::size_t more);

  std::mutex mutex_;
  ByteStream stream_;
  const std::string name_;
  const std::size_t piece_bytes_;
  std::string rest_;        // read, but not given out yet
  std::size_t offset_ = 0;  // of the rest
  std::int64_t reported_ = 0;
  std::size_t count_ = 0;
  bool exact_ = false, ended_ = false, found_any_ = false;
  std::vector<EventDamage> damages_;
  std::size_t cut_off_at_ = std::string_view::npos;
};

/// The objects of a piece, one by one, for the rare piece that does not parse as a whole. One that
/// is not valid JSON reaches up to the next event.
std::vector<std::string_view> SplitObjects(std::string_view array);

}  // namespace mpa::io
