// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

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

}  // namespace mpa::raw
