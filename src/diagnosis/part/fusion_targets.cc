// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/part/fusion_targets.h"

namespace mpa {

const std::vector<FusionTarget>& FusionTargets() {
  static const std::vector<FusionTarget> targets = {
      {"torch_npu.npu_confusion_transpose",
       {"permute|transpose contiguous? reshape|view", "reshape|view contiguous? permute|transpose"},
       "",
       {}},
      {"torch_npu.fast_gelu", {"gelu"}, "", {}},
      {"torch_npu.npu_scaled_masked_softmax", {"softmax mul? masked_fill_|add"}, "", {}},
      {"optimizer.clip_grad_norm_fused_", {"add reciprocal mul"}, "", {}},
      {"torch_npu.npu_fusion_attention",
       {"matmul add? mul? masked_fill_? softmax dropout? matmul",
        "matmul add? mul? add? softmax dropout? matmul"},
       "",
       {}},
      {"torch_npu.npu_rms_norm",
       {"pow? mean? add? rsqrt mul type_as?"},
       "rms_norm",
       {{"pow", "square", "mul"}, {"reducemean"}, {"add"}, {"rsqrt"}, {"mul"}}},
      {"torch_npu.npu_rotary_mul",
       {"chunk|slice neg cat mul? mul? add"},
       "rotary_mul",
       {{"neg"}, {"concat", "pack"}, {"mul"}, {"add"}}},
      {"torch_npu.npu_swiglu",
       {"slice|chunk silu mul", "slice|chunk mul silu", "slice|chunk sigmoid mul mul",
        "slice|chunk mul sigmoid mul", "slice|chunk mul mul sigmoid"},
       "swiglu",
       {{"swish", "silu", "sigmoid"}, {"mul"}}},
      {"torch_npu.npu_geglu", {"slice|chunk gelu mul", "slice|chunk mul gelu"}, "", {}},
      {"torch_npu.npu_group_norm_silu", {"group_norm silu"}, "", {}},
      {"torch.addmm", {"mul mul add"}, "", {}},
      {"torch_npu.npu_add_layer_norm",
       {"add layer_norm"},
       "add_layer_norm",
       {{"add"}, {"layernorm"}}},
      {"mindspeed.ops.npu_matmul_add", {"matmul add"}, "", {}},
      {"torch_npu.npu_moe_token_permute", {"argsort argsort index_select"}, "", {}},
      {"torch_npu.npu_moe_token_unpermute", {"index_select mul reduce_sum"}, "", {}},
  };
  return targets;
}

}  // namespace mpa
