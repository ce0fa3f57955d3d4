// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "mpa/base/parallel.h"
#include "mpa/base/progress.h"
#include "mpa/io/input_text.h"
#include "mpa/model/issues.h"
#include "mpa/model/string_pool.h"
#include "record.h"

namespace mpa::raw {

/// Numbers the distinct texts of one part of a file in order of appearance, 0 is the empty one.
/// Faster than a StringPool, and every thread has its own: only the few distinct texts of a part
/// go on to the pool. The texts are views into the file.
class LocalTexts {
 public:
  /// The number as a StringId, for a column that is translated later.
  StringId Number(std::string_view text);
  const std::vector<std::string_view>& All() const { return texts_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // 0: free
  };
  void Grow();

  std::vector<std::string_view> texts_{std::string_view()};
  std::vector<Slot> slots_;  // open addressing; a power of two, at most half full
};

// Files and records of "u16 type, u32 length, value[length]".

/// Calls visit(type, value) for each whole record of `bytes`; returns how many bytes they take.
template <typename Visit>
std::size_t ForEachTlv(std::string_view bytes, Visit visit) {
  constexpr std::size_t kHeadSize = 6;
  std::size_t at = 0;
  while (bytes.size() - at >= kHeadSize) {
    const Record<kHeadSize> head(bytes.data() + at);
    const std::size_t length = head.U32(2);
    if (length > bytes.size() - at - kHeadSize) break;
    visit(head.U16(0), bytes.substr(at + kHeadSize, length));
    at += kHeadSize + length;
  }
  return at;
}

/// A file of such records, cut into runs of whole ones that can be decoded in parallel.
class TlvFile {
 public:
  struct Run {
    std::string_view bytes;
    std::size_t first = 0;  ///< number of its first record in the file
  };

  /// Counts what is cut off at the end.
  TlvFile(const std::filesystem::path& path, Issues& issues);

  const std::vector<Run>& runs() const { return runs_; }
  std::size_t Size() const { return size_; }  ///< in records
  /// Counts records that cannot be used.
  void CountBad(std::size_t records, Issues& issues) const;

 private:
  std::string name_;
  io::InputText text_;
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

/// Columns of texts, as the runs of a file number them, become columns of a pool.
class RunTexts {
 public:
  explicit RunTexts(const TlvFile& file) : file_(file), texts_(file.runs().size()) {}

  LocalTexts& Of(std::size_t run) { return texts_[run]; }
  /// Puts all texts into the pool, in the order of the file.
  void Intern(StringPool& strings);
  /// Replaces the numbers in a column with one element per record.
  void Translate(std::vector<StringId>& column) const;

 private:
  const TlvFile& file_;
  std::vector<LocalTexts> texts_;
  std::vector<std::vector<StringId>> ids_;
};

/// Calls decode(value, record number, texts of the run) for each record of `type`, several at once;
/// a record is bad when it has another type or decode returns false.
template <typename Decode>
void DecodeRecords(const TlvFile& file, std::uint16_t type, RunTexts& texts, Issues& issues,
                   Decode decode) {
  std::vector<std::size_t> bad(file.runs().size());
  ParallelFor(file.runs().size(), [&](std::size_t i) {
    std::size_t record = file.runs()[i].first;
    ForEachTlv(file.runs()[i].bytes, [&](std::uint16_t found, std::string_view value) {
      if (found != type || !decode(value, record, texts.Of(i))) ++bad[i];
      ++record;
    });
    AddProgress(static_cast<std::int64_t>(file.runs()[i].bytes.size()));
  });
  for (const std::size_t records : bad) file.CountBad(records, issues);
}

}  // namespace mpa::raw
