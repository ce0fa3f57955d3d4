// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/model/issues.h"

namespace mpa::raw {

/// A record of kSize bytes, little endian, not aligned. What a reader asks for beyond its end is 0,
/// so that a count or an offset from the file can never lead outside.
template <std::size_t kSize>
class Record {
 public:
  explicit Record(const char* bytes) : bytes_(bytes) {}

  std::uint8_t U8(std::size_t offset) const { return Load<std::uint8_t>(offset); }
  std::uint16_t U16(std::size_t offset) const { return Load<std::uint16_t>(offset); }
  std::uint32_t U32(std::size_t offset) const { return Load<std::uint32_t>(offset); }
  std::uint64_t U64(std::size_t offset) const { return Load<std::uint64_t>(offset); }
  std::int64_t I64(std::size_t offset) const { return Load<std::int64_t>(offset); }
  /// U64() as tables hold it; the largest number of theirs if it is larger.
  std::int64_t Count(std::size_t offset) const {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(U64(offset), kMax));
  }
  double F64(std::size_t offset) const { return Load<double>(offset); }
  std::string_view Bytes() const { return {bytes_, kSize}; }

 private:
  template <typename T>
  T Load(std::size_t offset) const {
    T value{};
    if (offset <= kSize - sizeof(T)) std::memcpy(&value, bytes_ + offset, sizeof(T));
    return value;
  }

  const char* bytes_;
};

/// The beginning that compact (64 bytes) and additional (256 bytes) records of the host share.
struct HostRecordHead {
  std::uint16_t level = 0;
  std::uint32_t type = 0;
  std::uint32_t thread = 0;
  std::uint32_t length = 0;  ///< bytes of the payload in use
  std::uint64_t time = 0;    ///< host stamp
};

template <std::size_t kSize>
HostRecordHead HeadOf(const Record<kSize>& record) {
  return {.level = record.U16(2),
          .type = record.U32(4),
          .thread = record.U32(8),
          .length = record.U32(12),
          .time = record.U64(16)};
}

inline constexpr std::size_t kCompactSize = 64;
inline constexpr std::size_t kAdditionalSize = 256;

/// Calls visit(Record<kSize>) for each whole record of a file that is nothing but records; what is
/// cut off at the end is counted.
template <std::size_t kSize, typename Visit>
void ForEachFixedRecord(const std::filesystem::path& path, Issues& issues, Visit visit) {
  // Read in blocks: these files have no magic, their first bytes may look like a packed file.
  constexpr std::size_t kBlock = kSize * 65536;
  std::ifstream file(path, std::ios::binary);
  LogInfo("{}: its records are read", path.string());
  if (!file) Fail(ErrorKind::kInput, "{}: cannot open the file", path.string());
  std::vector<char> block(kBlock);
  std::size_t rest = 0;
  while (file && rest == 0) {
    file.read(block.data(), static_cast<std::streamsize>(kBlock));
    const auto got = static_cast<std::size_t>(file.gcount());
    rest = got % kSize;
    for (std::size_t at = 0; at + kSize <= got; at += kSize) {
      visit(Record<kSize>(block.data() + at));
    }
  }
  if (rest > 0) {
    issues.Count("file cut off inside a record, read up to there",
                 Say("{}, {} bytes lost", path.filename().string(), rest));
  }
}

}  // namespace mpa::raw
