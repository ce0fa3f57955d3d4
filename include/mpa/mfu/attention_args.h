// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpa {

/// The arguments of an attention operator that its shapes do not tell.
struct AttentionArgs {
  std::string layout;                             ///< "BNSD", "BSH", "TND", ...
  std::optional<std::int64_t> sparse_mode;        ///< which scores the mask leaves to compute
  std::optional<std::int64_t> heads;              ///< heads of the query
  std::vector<std::int64_t> query_ends, kv_ends;  ///< TND: where each sequence ends
};

/// Reads the message of a `flash_attn_args` mark, a JSON object in the argument names of
/// torch_npu.npu_fusion_attention (`input_layout`, `sparse_mode`, `head_num`, `actual_seq_qlen`,
/// `actual_seq_kvlen`), of npu_fused_infer_attention_score (`num_heads`, `actual_seq_lengths`,
/// `actual_seq_lengths_kv`) or of scaled_dot_product_attention (`is_causal`, which means BNSD).
/// Empty when neither a layout nor `is_causal` is given.
std::optional<AttentionArgs> ParseAttentionArgs(std::string_view text);

}  // namespace mpa
