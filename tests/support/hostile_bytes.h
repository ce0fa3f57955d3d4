// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mpa::test {

/// Where the records of a file begin; the last one ends with the file.
std::vector<std::size_t> FixedRecords(std::string_view bytes, std::size_t size);
/// Records of u16 type, u32 length, value.
std::vector<std::size_t> TlvRecords(std::string_view bytes);
/// Lines and, within lines, what stands between commas.
std::vector<std::size_t> TextRecords(std::string_view bytes);

/// One broken form of a file, and what was done to it.
struct HostileVariant {
  std::string name;
  std::string bytes;
};

/// What crashes, careless writers and malice make of a file: cuts, flipped bits, extreme values in
/// every field, records doubled, in other orders and of no length. The same ones every time.
std::vector<HostileVariant> HostileVariants(std::string_view bytes,
                                            const std::vector<std::size_t>& records);

/// Of a text file: numbers that are too large, negative or no numbers, and missing contents.
std::vector<HostileVariant> HostileTexts(std::string_view text);

}  // namespace mpa::test
