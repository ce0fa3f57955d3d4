// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/part_bytes.h"

namespace mpa {

void PartReader::Require(std::uint64_t size) const {
  if (size > bytes_.size()) Fail(ErrorKind::kCorrupt, "the part ends early");
}

void PartReader::Read(void* data, std::size_t size) {
  Require(size);
  if (size == 0) return;  // the address of an empty list may be null
  std::memcpy(data, bytes_.data(), size);
  bytes_.remove_prefix(size);
}

bool PartReader::ReadTruth() {
  unsigned char byte = 0;
  Read(&byte, 1);
  if (byte > 1) Fail(ErrorKind::kCorrupt, "the part holds a truth value of {}", byte);
  return byte == 1;
}

std::size_t PartReader::ReadSize(std::size_t item) {
  std::uint64_t size = 0;
  Read(&size, sizeof(size));
  if (size > bytes_.size() / item) Fail(ErrorKind::kCorrupt, "the part ends early");
  return size;
}

void PartReader::CheckEnum(std::uint64_t number, std::uint64_t last) {
  if (number > last)
    Fail(ErrorKind::kCorrupt, "the part holds an unknown value {} of an enumeration", number);
}

void PartReader::CheckFinite(double value) {
  if (!std::isfinite(value)) Fail(ErrorKind::kCorrupt, "the part holds an infinite number or NaN");
}

void PartReader::CheckTime(std::int64_t value) {
  // Nothing is larger than the time of an event, and differences of times do not overflow.
  if (!IsTime(value)) Fail(ErrorKind::kCorrupt, "the part holds a number that nothing has");
}

}  // namespace mpa
