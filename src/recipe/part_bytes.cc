// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/part_bytes.h"

#include <algorithm>
#include <array>

namespace mpa {
namespace part_bytes {
namespace {

constexpr unsigned kIsDifference = 0x80, kBits = 64;

// Small for numbers that are near to 0 on either side, and back.
std::uint64_t Fold(std::uint64_t number) { return number << 1 ^ (0 - (number >> (kBits - 1))); }
std::uint64_t Unfold(std::uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }

std::size_t BytesOf(std::size_t count, unsigned width) { return (count * width + 7) / 8; }

}  // namespace

void Pack(const std::vector<std::uint64_t>& numbers, std::string& bytes) {
  std::array<std::uint64_t, kBlock> folded{}, differences{};
  std::uint64_t before = 0;
  for (std::size_t first = 0; first < numbers.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, numbers.size() - first);
    std::uint64_t any = 0, any_difference = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = numbers[first + i];
      any |= folded[i] = Fold(number);
      any_difference |= differences[i] = Fold(number - before);
      before = number;
    }
    const bool differs = any_difference < any;
    const auto width = static_cast<unsigned>(std::bit_width(differs ? any_difference : any));
    bytes.push_back(static_cast<char>(width | (differs ? kIsDifference : 0)));
    std::array<std::uint64_t, kBlock + 1> packed{};
    for (std::size_t i = 0; i < count && width > 0; ++i) {
      const std::uint64_t bits = differs ? differences[i] : folded[i];
      const std::size_t at = i * width / kBits, shift = i * width % kBits;
      packed[at] |= bits << shift;
      if (shift + width > kBits) packed[at + 1] |= bits >> (kBits - shift);
    }
    bytes.append(reinterpret_cast<const char*>(packed.data()), BytesOf(count, width));
  }
}

void Unpack(std::string_view& bytes, std::vector<std::uint64_t>& numbers) {
  std::uint64_t before = 0;
  for (std::size_t first = 0; first < numbers.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, numbers.size() - first);
    if (bytes.empty()) Fail(ErrorKind::kCorrupt, "the part ends early");
    const auto head = static_cast<unsigned char>(bytes.front());
    const unsigned width = head & ~kIsDifference;
    if (width > kBits) Fail(ErrorKind::kCorrupt, "the part holds numbers of {} bits", width);
    bytes.remove_prefix(1);
    const std::size_t size = BytesOf(count, width);
    if (bytes.size() < size) Fail(ErrorKind::kCorrupt, "the part ends early");
    std::array<std::uint64_t, kBlock + 1> packed{};
    std::memcpy(packed.data(), bytes.data(), size);
    bytes.remove_prefix(size);
    const std::uint64_t mask = width == kBits ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = i * width / kBits, shift = i * width % kBits;
      std::uint64_t bits = packed[at] >> shift;
      if (shift + width > kBits) bits |= packed[at + 1] << (kBits - shift);
      const std::uint64_t number = Unfold(bits & mask);
      before = (head & kIsDifference) != 0 ? before + number : number;
      numbers[first + i] = before;
    }
  }
}

}  // namespace part_bytes

void PartWriter::WriteSize(std::uint64_t size) {
  constexpr unsigned kSeven = 7, kMore = 0x80;
  for (; size >= kMore; size >>= kSeven) bytes_.push_back(static_cast<char>(size | kMore));
  bytes_.push_back(static_cast<char>(size));
}

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
  CheckTruth(byte);
  return byte == 1;
}

void PartReader::CheckTruth(std::uint64_t number) {
  if (number > 1) Fail(ErrorKind::kCorrupt, "the part holds a truth value of {}", number);
}

void PartReader::CheckRange(bool is_in_range) {
  if (!is_in_range) Fail(ErrorKind::kCorrupt, "the part holds a number that nothing has");
}

std::size_t PartReader::ReadSize(std::size_t items, std::size_t bytes) {
  constexpr unsigned kSeven = 7, kMore = 0x80, kMostBits = 56;
  std::uint64_t size = 0;
  for (unsigned shift = 0, byte = kMore; (byte & kMore) != 0; shift += kSeven) {
    if (shift > kMostBits || bytes_.empty()) Fail(ErrorKind::kCorrupt, "the part ends early");
    byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    size |= std::uint64_t{byte & (kMore - 1)} << shift;
  }
  if (size / items > bytes_.size() / bytes) Fail(ErrorKind::kCorrupt, "the part ends early");
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
  CheckRange(IsTime(value));
}

}  // namespace mpa
