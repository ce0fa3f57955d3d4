// SPDX-License-Identifier: Apache-2.0
// Reads the JSON of flash_attn_args marks.
#include "mpa/mfu/attention_args.h"

#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

namespace mpa {
namespace {

using nlohmann::json;

// The first of `names` that the object has with a value; null counts as none.
const json* Find(const json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end() && !found->is_null()) return &*found;
  }
  return nullptr;
}

std::optional<std::int64_t> AsInt(const json* value) {
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

// Empty when an element is not a whole number: half a list is worse than none.
std::vector<std::int64_t> AsInts(const json* value) {
  std::vector<std::int64_t> numbers;
  if (value == nullptr || !value->is_array()) return numbers;
  for (const json& element : *value) {
    const std::optional<std::int64_t> number = AsInt(&element);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::optional<AttentionArgs> ParseAttentionArgs(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  AttentionArgs args;
  args.heads = AsInt(Find(object, {"head_num", "num_heads"}));
  if (object.contains("input_layout")) {
    const json* layout = Find(object, {"input_layout"});
    if (layout == nullptr || !layout->is_string()) return std::nullopt;
    args.layout = layout->get<std::string>();
    args.sparse_mode = AsInt(Find(object, {"sparse_mode"}));
    args.query_ends = AsInts(Find(object, {"actual_seq_qlen", "actual_seq_lengths"}));
    args.kv_ends = AsInts(Find(object, {"actual_seq_kvlen", "actual_seq_lengths_kv"}));
    return args;
  }
  const json* causal = Find(object, {"is_causal"});
  if (causal == nullptr || !causal->is_boolean()) return std::nullopt;
  args.layout = "BNSD";
  args.sparse_mode = causal->get<bool>() ? 2 : 0;
  return args;
}

}  // namespace mpa
