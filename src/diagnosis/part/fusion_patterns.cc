// SPDX-License-Identifier: Apache-2.0
// The table of known fusions.
#include "mpa/diagnosis/part/fusion_patterns.h"

#include <algorithm>
#include <initializer_list>

#include "mpa/base/text.h"

namespace mpa {
namespace {

// "conv bn add? act": an item per word.
FusionChain ChainOf(std::string_view words) {
  FusionChain chain;
  for (std::string_view word : Split(words, ' ')) {
    FusionItem& item = chain.emplace_back();
    item.optional = word.ends_with('?');
    item.stays = word.ends_with('!');
    if (item.optional || item.stays) word.remove_suffix(1);
    item.roles = RolesNamed(word);
  }
  return chain;
}

std::vector<FusionChain> Chains(std::initializer_list<std::string_view> texts) {
  std::vector<FusionChain> chains;
  for (const std::string_view text : texts) chains.push_back(ChainOf(text));
  return chains;
}

}  // namespace

const std::vector<FusionPattern>& FusionPatterns() {
  static constexpr std::string_view kGraph = "use graph mode (TorchAir) or torch.compile",
                                    kLinear = "use torch.nn.Linear with its bias, and graph mode",
                                    kAttention = "use torch_npu.npu_fusion_attention",
                                    kSdpa = "use scaled_dot_product_attention";
  static const std::vector<FusionPattern> patterns = {
      // Convolutions.
      {.place = "conv_bn_act",
       .pieces = "Conv + BN + activation",
       .chains = Chains({"conv bn add? act", "conv bn_reduce bn_update! add? act"}),
       .remedy = "in inference fold BN into Conv; else graph mode (TorchAir)"},
      {.place = "conv_bn",
       .pieces = "Conv + BN",
       .chains = Chains({"conv bn", "conv bn_reduce bn_update!"}),
       .remedy = "in inference fold BN into Conv; else graph mode (TorchAir)"},
      {.place = "conv_act",
       .pieces = "Conv + activation",
       .chains = Chains({"conv add? act"}),
       .remedy = kGraph},
      {.place = "conv_bias",
       .pieces = "Conv + bias",
       .chains = Chains({"conv bias|add"}),
       .remedy = "use bias=True of the convolution"},
      {.place = "conv_swish",
       .pieces = "Conv + sigmoid + Mul",
       .chains = Chains({"conv sigmoid mul"}),
       .remedy = kGraph},
      {.place = "conv_hardswish",
       .pieces = "Conv + hard swish",
       .chains = Chains({"conv add relu6 mul mul|div?"}),
       .remedy = "use torch.nn.functional.hardswish, and graph mode"},
      {.place = "conv_dequant",
       .pieces = "Conv + dequantisation",
       .chains = Chains({"conv dequant"}),
       .remedy = "use torch_npu.npu_quant_conv2d"},
      {.place = "pad_conv",
       .pieces = "Pad + Conv",
       .chains = Chains({"pad conv"}),
       .remedy = "use padding= of the convolution"},
      {.place = "conv_grad_act",
       .pieces = "gradients of Conv + activation",
       .chains = Chains({"conv_grad act_grad"}),
       .remedy = kGraph},
      {.place = "bn_act",
       .pieces = "BN + activation",
       .chains = Chains({"bn add? act", "bn_reduce! bn_update add? act"}),
       .remedy = kGraph},
      // Products of matrices.
      {.place = "matmul_bias_act",
       .pieces = "MatMul + bias + activation",
       .chains = Chains({"product add act"}),
       .remedy = kLinear},
      {.place = "matmul_bias",
       .pieces = "MatMul + bias",
       .chains = Chains({"product bias|add"}),
       .remedy = "use torch.nn.Linear with its bias (addmm)"},
      {.place = "matmul_act",
       .pieces = "MatMul + activation",
       .chains = Chains({"product act"}),
       .remedy = kGraph},
      {.place = "matmul_dequant",
       .pieces = "MatMul + dequantisation",
       .chains = Chains({"product dequant"}),
       .remedy = "use torch_npu.npu_quant_matmul"},
      {.place = "matmul_softmax",
       .pieces = "MatMul + Softmax",
       .chains = Chains({"product scale? mask? softmax"}),
       .remedy = kAttention,
       .gpu_remedy = kSdpa},
      {.place = "attention",
       .pieces = "MatMul + Softmax + MatMul",
       .chains = Chains({"product! scale? mask? softmax dropout? product!"}),
       .remedy = kAttention,
       .gpu_remedy = kSdpa,
       .api = "torch_npu.npu_fusion_attention",
       .runs = {"matmul add? mul? masked_fill_? softmax dropout? matmul",
                "matmul add? mul? add? softmax dropout? matmul"}},
      // Normalisation, softmax and activations in pieces.
      {.place = "masked_softmax",
       .pieces = "scaled and masked Softmax",
       .chains = Chains({"scale mask softmax"}),
       .api = "torch_npu.npu_scaled_masked_softmax",
       .runs = {"softmax mul? masked_fill_|add"}},
      {.place = "rms_norm",
       .pieces = "RMSNorm in pieces",
       .chains = Chains({"square mean add rsqrt mul mul?"}),
       .in_pieces = true,
       .api = "torch_npu.npu_rms_norm",
       .runs = {"pow? mean? add? rsqrt mul type_as?"}},
      {.place = "add_rms_norm",
       .pieces = "Add + RMSNorm",
       .chains = Chains({"add rms_norm"}),
       .remedy = "use torch_npu.npu_add_rms_norm"},
      {.place = "layer_norm",
       .pieces = "LayerNorm in pieces",
       .chains = Chains({"mean sub square mean add root mul|div mul? add?"}),
       .in_pieces = true,
       .remedy = "use torch.nn.LayerNorm"},
      {.place = "add_layer_norm",
       .pieces = "Add + LayerNorm",
       .chains = Chains({"add layer_norm"}),
       .in_pieces = true,
       .api = "torch_npu.npu_add_layer_norm",
       .runs = {"add layer_norm"}},
      {.place = "group_norm_silu",
       .pieces = "GroupNorm + SiLU",
       .chains = Chains({"group_norm silu", "group_norm sigmoid mul"}),
       .api = "torch_npu.npu_group_norm_silu",
       .runs = {"group_norm silu"}},
      {.place = "softmax",
       .pieces = "Softmax in pieces",
       .chains = Chains({"max sub exp sum div"}),
       .in_pieces = true,
       .remedy = "use torch.softmax"},
      {.place = "gelu",
       .pieces = "GELU in pieces",
       .chains = Chains({"pow mul add mul tanh add mul mul?", "scale erf add mul mul?"}),
       .in_pieces = true,
       .remedy = "use torch.nn.functional.gelu"},
      {.place = "", .api = "torch_npu.fast_gelu", .runs = {"gelu"}},
      {.place = "hardswish",
       .pieces = "hard swish in pieces",
       .chains = Chains({"add relu6 mul mul|div?", "add relu6 div mul"}),
       .in_pieces = true,
       .remedy = "use torch.nn.functional.hardswish"},
      {.place = "swiglu",
       .pieces = "SwiGLU in pieces",
       .chains = Chains({"silu mul", "sigmoid mul mul?"}),
       .in_pieces = true,
       .api = "torch_npu.npu_swiglu",
       .runs = {"slice|chunk silu mul", "slice|chunk mul silu", "slice|chunk sigmoid mul mul",
                "slice|chunk mul sigmoid mul", "slice|chunk mul mul sigmoid"}},
      {.place = "geglu",
       .pieces = "GeGLU in pieces",
       .chains = Chains({"gelu mul"}),
       .in_pieces = true,
       .api = "torch_npu.npu_geglu",
       .runs = {"slice|chunk gelu mul", "slice|chunk mul gelu"}},
      {.place = "rotary_mul",
       .pieces = "rotary embedding in pieces",
       .chains = Chains({"neg cat mul mul? add"}),
       .in_pieces = true,
       .api = "torch_npu.npu_rotary_mul",
       .runs = {"chunk|slice neg cat mul? mul? add"}},
      // The rest.
      {.place = "cat_cat",
       .pieces = "Concat + Concat",
       .chains = Chains({"cat cat"}),
       .needs_shapes = true,
       .remedy = "concatenate all of them at once"},
      {.place = "gating",
       .pieces = "Softmax + TopK of experts",
       .chains = Chains({"softmax topk"}),
       .remedy = "use torch_npu.npu_moe_gating_top_k_softmax"},
      // Of these only operators tell.
      {.place = "",
       .api = "torch_npu.npu_confusion_transpose",
       .runs = {"permute|transpose contiguous? reshape|view",
                "reshape|view contiguous? permute|transpose"}},
      {.place = "", .api = "optimizer.clip_grad_norm_fused_", .runs = {"add reciprocal mul"}},
      {.place = "", .api = "torch.addmm", .runs = {"mul mul add"}},
      {.place = "", .api = "mindspeed.ops.npu_matmul_add", .runs = {"matmul add"}},
      {.place = "",
       .api = "torch_npu.npu_moe_token_permute",
       .runs = {"argsort argsort index_select"}},
      {.place = "",
       .api = "torch_npu.npu_moe_token_unpermute",
       .runs = {"index_select mul reduce_sum"}},
  };
  return patterns;
}

std::size_t KnownFusions() {
  return static_cast<std::size_t>(std::ranges::count_if(
      FusionPatterns(), [](const FusionPattern& pattern) { return !pattern.chains.empty(); }));
}

}  // namespace mpa
