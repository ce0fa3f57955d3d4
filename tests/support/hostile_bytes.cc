// SPDX-License-Identifier: Apache-2.0
#include "support/hostile_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>

namespace mpa::test {
namespace {

constexpr std::size_t kTlvHead = 6;

// The records as texts of their own.
std::vector<std::string_view> Pieces(std::string_view bytes,
                                     const std::vector<std::size_t>& records) {
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::size_t end = i + 1 < records.size() ? records[i + 1] : bytes.size();
    pieces.push_back(bytes.substr(records[i], end - records[i]));
  }
  return pieces;
}

std::string Joined(const std::vector<std::string_view>& pieces) {
  std::string all;
  for (const std::string_view piece : pieces) all += piece;
  return all;
}

// In each record one field of `width` bytes becomes `value`; the first record has its first field
// changed when `round` is 0, the next record its second, and so on.
std::string WithExtremes(std::string_view bytes, const std::vector<std::size_t>& records,
                         std::size_t width, int value, std::size_t round) {
  std::string changed(bytes);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::size_t end = i + 1 < records.size() ? records[i + 1] : bytes.size();
    const std::size_t fields = (end - records[i]) / width;
    if (fields == 0) continue;
    const std::size_t at = records[i] + (i + round) % fields * width;
    std::memset(changed.data() + at, value, width);
    // The largest and the smallest signed value.
    if (value == 0x7F) std::memset(changed.data() + at, 0xFF, width - 1);
    if (value == 0x80) std::memset(changed.data() + at, 0, width - 1);
  }
  return changed;
}

}  // namespace

std::vector<std::size_t> FixedRecords(std::string_view bytes, std::size_t size) {
  std::vector<std::size_t> records;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) records.push_back(at);
  return records;
}

std::vector<std::size_t> TlvRecords(std::string_view bytes) {
  std::vector<std::size_t> records;
  for (std::size_t at = 0; at + kTlvHead <= bytes.size();) {
    records.push_back(at);
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + at + 2, sizeof length);
    at += kTlvHead + length;
  }
  return records;
}

std::vector<std::size_t> TextRecords(std::string_view bytes) {
  std::vector<std::size_t> records;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    if (at == 0 || bytes[at - 1] == '\n' || bytes[at - 1] == ',') records.push_back(at);
  return records;
}

std::vector<HostileVariant> HostileVariants(std::string_view bytes,
                                            const std::vector<std::size_t>& records) {
  std::vector<HostileVariant> variants;
  std::mt19937_64 random(20240229);
  const auto add = [&](std::string name, std::string content) {
    variants.push_back({std::move(name), std::move(content)});
  };
  const std::size_t last = records.empty() ? 0 : records.back();
  for (const std::size_t kept : {std::size_t{0}, std::size_t{1}, bytes.size() / 2, last + 1,
                                 (last + bytes.size()) / 2, bytes.size() - 1})
    add(fmt::format("cut to {}", kept), std::string(bytes.substr(0, kept)));
  for (const std::size_t lost : {std::size_t{1}, std::size_t{4}, last / 2 + 1})
    add(fmt::format("without the first {}", lost),
        std::string(bytes.substr(std::min(lost, bytes.size()))));

  for (const std::size_t bits : {std::size_t{1}, std::size_t{20}, bytes.size() / 4}) {
    std::string flipped(bytes);
    for (std::size_t i = 0; i < bits && !flipped.empty(); ++i)
      flipped[random() % flipped.size()] ^= static_cast<char>(1u << random() % 8);
    add(fmt::format("{} bits flipped", bits), std::move(flipped));
  }
  for (const std::size_t width : {std::size_t{2}, std::size_t{4}, std::size_t{8}})
    for (const int value : {0x00, 0xFF, 0x7F, 0x80})
      for (const std::size_t round : {std::size_t{0}, std::size_t{3}})
        add(fmt::format("fields of {} bytes become {:#x}, from field {}", width, value, round),
            WithExtremes(bytes, records, width, value, round));

  std::vector<std::string_view> pieces = Pieces(bytes, records);
  std::vector<std::string_view> doubled;
  for (const std::string_view piece : pieces) doubled.insert(doubled.end(), 2, piece);
  add("records doubled", Joined(doubled));
  add("file doubled", Joined(pieces) + Joined(pieces));
  std::reverse(pieces.begin(), pieces.end());
  add("records backwards", Joined(pieces));
  std::shuffle(pieces.begin(), pieces.end(), random);
  add("records shuffled", Joined(pieces));
  add("all zero", std::string(bytes.size(), '\0'));
  add("all ones", std::string(bytes.size(), '\xFF'));
  std::string noise(bytes.size(), '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  add("noise", std::move(noise));
  return variants;
}

std::vector<HostileVariant> HostileTexts(std::string_view text) {
  std::vector<HostileVariant> variants;
  for (const std::string_view content : {"", "{}", "[]", "null", "[[[[[[[[", "{\"a\":", "\n\n:\n"})
    variants.push_back({fmt::format("content '{}'", content), std::string(content)});
  for (const std::string_view number : {"0", "-1", "18446744073709551615", "9223372036854775807",
                                        "99999999999999999999999", "1e999", "0.0000001", "x"}) {
    std::string changed;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool digit = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
      const bool before = at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0;
      if (digit && !before) changed += number;
      if (!digit) changed += text[at];
    }
    variants.push_back({fmt::format("numbers become {}", number), std::move(changed)});
  }
  return variants;
}

}  // namespace mpa::test
