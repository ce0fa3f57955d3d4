// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/data_types.h"

#include <array>
#include <utility>

namespace mpa {

std::int64_t BytesOfElement(std::string_view data_type) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 22> kBytes = {
      {{"INT8", 1},    {"UINT8", 1},  {"BOOL", 1},    {"INT16", 2},  {"UINT16", 2},
       {"FP16", 2},    {"BFP16", 2},  {"FLOAT16", 2}, {"BF16", 2},   {"BFLOAT16", 2},
       {"INT32", 4},   {"UINT32", 4}, {"FP32", 4},    {"FLOAT", 4},  {"FLOAT32", 4},
       {"INT64", 8},   {"UINT64", 8}, {"FP64", 8},    {"DOUBLE", 8}, {"COMPLEX64", 8},
       {"INT128", 16}, {"FP8", 1}}};
  for (const auto& [name, bytes] : kBytes) {
    if (name == data_type) return bytes;
  }
  return 0;
}

}  // namespace mpa
