// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace mpa::test {

/// The value as a pickle of protocol 4, as Python writes it but without what is kept.
inline void AppendPickled(const nlohmann::ordered_json& value, std::string& to) {
  const auto number = [&](std::uint64_t bits, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(bits >> (8 * i) & 0xff);
  };
  if (value.is_null()) {
    to += 'N';
  } else if (value.is_boolean()) {
    to += value.get<bool>() ? '\x88' : '\x89';
  } else if (value.is_number()) {
    to += "\x8a\x08";
    number(static_cast<std::uint64_t>(value.get<std::int64_t>()), 8);
  } else if (value.is_string()) {
    const auto text = value.get<std::string>();
    to += 'X';
    number(text.size(), 4);
    to += text;
  } else if (value.is_array()) {
    to += "](";
    for (const auto& item : value) AppendPickled(item, to);
    to += 'e';
  } else {
    to += "}(";
    for (const auto& [key, item] : value.items()) {
      AppendPickled(key, to);
      AppendPickled(item, to);
    }
    to += 'u';
  }
}

inline std::string Pickled(const nlohmann::ordered_json& value) {
  std::string bytes = "\x80\x04";
  AppendPickled(value, bytes);
  return bytes + '.';
}

}  // namespace mpa::test
