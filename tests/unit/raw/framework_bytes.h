// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Records of the framework's files, made by hand.
namespace mpa::test {

template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::string Tlv(std::uint16_t type, std::string_view value) {
  return Bytes(type) + Bytes(static_cast<std::uint32_t>(value.size())) + std::string(value);
}

struct OpRecord {
  std::string_view name;
  std::int64_t start = 0, end = 0;
  std::uint64_t thread = 1;
  std::int64_t sequence = -1;
  std::uint64_t forward_thread = 0;
  std::vector<std::pair<std::uint16_t, std::string_view>> fields = {};
};

inline std::string OpBytes(const OpRecord& op) {
  std::string value = Bytes(op.start) + Bytes(op.end) + Bytes(op.sequence) +
                      Bytes(std::uint64_t{77}) + Bytes(op.thread) + Bytes(op.thread) +
                      Bytes(op.forward_thread) + std::string(2, '\0') + Tlv(2, op.name);
  for (const auto& [field, text] : op.fields) value += Tlv(field, text);
  return Tlv(1, value);
}

/// Category 0, 1: begin and end of an enqueue; 2, 3: of a dequeue.
inline std::string MarkBytes(std::uint64_t category, std::int64_t time, std::uint64_t correlation,
                             std::uint64_t thread, std::string_view name) {
  return Tlv(2, Bytes(time) + Bytes(category) + Bytes(correlation) + Bytes(thread) +
                    Bytes(std::uint64_t{77}) + Tlv(1, name));
}

}  // namespace mpa::test
