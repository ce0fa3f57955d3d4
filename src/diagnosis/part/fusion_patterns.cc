// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/part/fusion_patterns.h"

#include <algorithm>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

const std::vector<FusionRole>& Roles() {
  static const std::vector<FusionRole> roles = {
      {"conv",
       {"conv2d", "conv3d", "conv", "convolution", "conv1d", "depthwiseconv2d", "depthwiseconv2dd",
        "conv2dcompress", "conv2dtranspose", "conv2dtransposed", "conv3dtranspose", "deconvolution",
        "extendconv2d"},
       {"conv1d", "conv2d", "conv3d", "convolution", "_convolution", "conv_transpose1d",
        "conv_transpose2d", "conv_transpose3d"}},
      {"conv_grad",
       {"conv2dbackpropinput", "conv2dbackpropinputd", "conv3dbackpropinput",
        "conv3dbackpropinputd"},
       {}},
      {"bn",
       {"bninfer", "bninferd", "bninference", "bninferenced", "batchnorm", "batchnormext2",
        "batchnorm3d", "fusedbatchnorm", "bninfer3d"},
       {"batch_norm", "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"}},
      {"bn_reduce", {"bntrainingreduce", "bn3dtrainingreduce"}, {}},
      {"bn_update", {"bntrainingupdate", "bn3dtrainingupdate"}, {}},
      {"act",
       {"relu",       "relu6",       "leakyrelu",   "prelu",   "prelud",      "gelu",
        "fastgelu",   "swish",       "silu",        "sigmoid", "tanh",        "elu",
        "selu",       "softplus",    "hardswish",   "mish",    "hardsigmoid", "clippedrelu",
        "hardshrink", "thresholded", "clipbyvalue", "hardtanh"},
       {"relu", "relu6", "leaky_relu", "prelu", "gelu", "silu", "sigmoid", "tanh", "elu", "selu",
        "softplus", "hardswish", "mish", "hardsigmoid", "hardtanh", "clamp"}},
      {"act_grad",
       {"relugrad", "relu6grad", "leakyrelugrad", "prelugrad", "thresholdgrad", "thresholdgradd"},
       {}},
      {"relu6",
       {"relu6", "clipbyvalue", "hardtanh", "clip"},
       {"relu6", "hardtanh", "clamp", "clip"}},
      {"sigmoid", {"sigmoid"}, {"sigmoid"}},
      {"silu", {"swish", "silu"}, {"silu"}},
      {"gelu", {"gelu", "fastgelu"}, {"gelu"}},
      {"tanh", {"tanh"}, {"tanh"}},
      {"erf", {"erf"}, {"erf"}},
      {"product",
       {"matmul", "matmulcommon", "batchmatmul", "gemm", "fullyconnection", "transposebatchmatmul",
        "weightquantbatchmatmul"},
       {"matmul", "mm", "bmm", "linear", "addmm", "baddbmm", "einsum"}},
      {"bias", {"biasadd"}, {"bias_add"}},
      {"add", {"add", "adds", "biasadd", "axpy", "inplaceadd"}, {"add"}},
      {"sub", {"sub", "subs"}, {"sub", "rsub"}},
      {"mul", {"mul", "muls"}, {"mul"}},
      {"div", {"div", "divs", "realdiv"}, {"div"}},
      {"scale", {"mul", "muls", "div", "divs", "realdiv"}, {"mul", "div"}},
      {"square", {"pow", "square", "mul"}, {"pow", "square", "mul"}},
      {"pow", {"pow", "pows", "mul"}, {"pow", "mul"}},
      {"mean", {"reducemean", "reducemeand"}, {"mean"}},
      {"max", {"reducemax", "reducemaxd"}, {"max", "amax"}},
      {"sum", {"reducesum", "reducesumd"}, {"sum"}},
      {"exp", {"exp"}, {"exp"}},
      {"rsqrt", {"rsqrt"}, {"rsqrt"}},
      {"root", {"rsqrt", "sqrt"}, {"rsqrt", "sqrt"}},
      {"neg", {"neg"}, {"neg"}},
      {"cat", {"concat", "concatd", "pack"}, {"cat", "stack"}},
      {"mask",
       {"add", "maskedfill", "maskedfillscalar", "select"},
       {"add", "masked_fill", "where"}},
      {"softmax",
       {"softmax", "maskedsoftmax", "maskedsoftmaxwithrelposbias"},
       {"softmax", "_softmax"}},
      {"rms_norm", {"rmsnorm"}, {"rms_norm"}},
      {"layer_norm", {"layernorm", "layernormwithimplmode"}, {"layer_norm", "native_layer_norm"}},
      {"group_norm", {"groupnorm", "groupnormalization"}, {"group_norm", "native_group_norm"}},
      {"pad", {"pad", "padd", "constantpad", "constantpadnd"}, {"constant_pad_nd", "pad"}},
      {"dequant", {"ascenddequant", "ascendrequant", "dequant", "requant", "ascendquant"}, {}},
      {"topk", {"topk", "topkd"}, {"topk"}},
      // What breaks fusions.
      {"trans_data", {"transdata", "transdatarnn"}, {}},
      {"transpose",
       {"transpose", "transposed", "confusiontranspose", "confusiontransposed"},
       {"transpose", "permute"}},
      {"cast", {"cast"}, {"to", "_to_copy", "type_as"}},
      {"reshape",
       {"reshape", "flatten", "squeeze", "unsqueeze", "expanddims", "view"},
       {"reshape", "flatten", "view"}},
      {"dropout",
       {"dropout", "dropoutdomask", "dropoutdomaskv3d", "dropoutdomaskd", "dropoutv"},
       {"dropout", "native_dropout"}},
      {"copy",
       {"tensormove", "viewcopy", "identity", "asstrided", "contiguous"},
       {"contiguous", "clone", "copy"}},
  };
  return roles;
}

FusionRoles RolesNamed(std::string_view names) {
  FusionRoles found;
  for (const std::string_view name : Split(names, '|')) {
    const auto role = std::ranges::find(Roles(), name, &FusionRole::name);
    if (role == Roles().end()) Fail(ErrorKind::kInternal, "no role of fusions: {}", name);
    found.set(static_cast<std::size_t>(role - Roles().begin()));
  }
  return found;
}

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

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }

std::string_view WithoutDigits(std::string_view text) {
  while (!text.empty() && IsDigit(text.back())) text.remove_suffix(1);
  return text;
}

// "MatMulV2" -> "MatMul".
std::string_view WithoutVersion(std::string_view type) {
  const std::string_view rest = WithoutDigits(type);
  const bool has_version = rest.size() < type.size() && rest.size() > 1 && rest.ends_with('v');
  return has_version ? rest.substr(0, rest.size() - 1) : type;
}

// The type with which the name of a kernel ends, in front of its number.
std::string_view TypeIn(std::string_view name) {
  for (;;) {
    const std::size_t before = name.rfind('_');
    if (before == std::string_view::npos) return name;
    const std::string_view last = name.substr(before + 1);
    if (!WithoutDigits(last).empty()) return last;
    name = name.substr(0, before);
  }
}

template <typename Is>
FusionRoles RolesOf(std::vector<std::string_view> FusionRole::*names, Is is) {
  FusionRoles roles;
  for (std::size_t i = 0; i < Roles().size(); ++i)
    roles[i] = std::ranges::any_of(Roles()[i].*names, is);
  return roles;
}

}  // namespace

FusionRoles RolesOfKernel(std::string_view type) {
  const std::string lower = ToLower(TypeIn(type));
  // Names of static kernels are numbered: "Conv2D1", but "Relu6".
  const auto roles_of = [](std::string_view text) {
    return RolesOf(&FusionRole::kernels, [&](std::string_view word) { return word == text; });
  };
  for (const std::string_view text : {std::string_view(lower), WithoutVersion(lower),
                                      WithoutDigits(lower), WithoutVersion(WithoutDigits(lower))}) {
    const FusionRoles roles = roles_of(text);
    if (roles.any()) return roles;
  }
  return {};
}

FusionRoles RolesOfOperator(std::string_view name) {
  constexpr std::string_view kSpace = "aten::";
  if (!name.starts_with(kSpace)) return {};
  name.remove_prefix(kSpace.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  return RolesOf(&FusionRole::operators, [&](std::string_view word) { return word == name; });
}

bool HasRole(const FusionRoles& roles, std::string_view name) {
  const auto role = std::ranges::find(Roles(), name, &FusionRole::name);
  return role != Roles().end() && roles[static_cast<std::size_t>(role - Roles().begin())];
}

const std::vector<FusionBreaker>& FusionBreakers() {
  static const std::vector<FusionBreaker> breakers = {
      {"TransData", "trans_data", true, "use one memory format for all of them",
       "使用统一的内存格式"},
      {"Transpose", "transpose", true, "give the next operator the transposed view",
       "直接传入转置视图"},
      {"Cast", "cast", true, "compute all of them in one data type", "使用统一的数据类型"},
      {"Reshape", "reshape", true, "reshape before or after them", "将 reshape 移到其前或其后"},
      {"Dropout", "dropout", false, "drop out behind them, and not at all in inference",
       "将 dropout 移到其后，推理时关闭"},
      {"copy", "copy", true, "keep tensors contiguous", "使用连续张量"},
  };
  return breakers;
}

const FusionBreaker* BreakerOf(const FusionRoles& roles) {
  for (const FusionBreaker& breaker : FusionBreakers()) {
    if (HasRole(roles, breaker.role)) return &breaker;
  }
  return nullptr;
}

const std::vector<FusionPattern>& FusionPatterns() {
  static constexpr std::string_view kGraph = "use graph mode (TorchAir) or torch.compile",
                                    kGraphChinese = "使用图模式（TorchAir）或 torch.compile",
                                    kLinear = "use torch.nn.Linear with its bias, and graph mode",
                                    kLinearChinese = "使用带 bias 的 torch.nn.Linear 和图模式",
                                    kAttention = "use torch_npu.npu_fusion_attention",
                                    kAttentionChinese = "使用 torch_npu.npu_fusion_attention",
                                    kSdpa = "use scaled_dot_product_attention",
                                    kSdpaChinese = "使用 scaled_dot_product_attention";
  static const std::vector<FusionPattern> patterns = {
      // Convolutions.
      {.place = "conv_bn_act",
       .english = "Conv + BN + activation",
       .chinese = "Conv + BN + 激活",
       .chains = Chains({"conv bn add? act", "conv bn_reduce bn_update! add? act"}),
       .remedy_english = "in inference fold BN into Conv; else graph mode (TorchAir)",
       .remedy_chinese = "推理时将 BN 合入 Conv；否则使用图模式（TorchAir）"},
      {.place = "conv_bn",
       .english = "Conv + BN",
       .chinese = "Conv + BN",
       .chains = Chains({"conv bn", "conv bn_reduce bn_update!"}),
       .remedy_english = "in inference fold BN into Conv; else graph mode (TorchAir)",
       .remedy_chinese = "推理时将 BN 合入 Conv；否则使用图模式（TorchAir）"},
      {.place = "conv_act",
       .english = "Conv + activation",
       .chinese = "Conv + 激活",
       .chains = Chains({"conv add? act"}),
       .remedy_english = kGraph,
       .remedy_chinese = kGraphChinese},
      {.place = "conv_bias",
       .english = "Conv + bias",
       .chinese = "Conv + bias",
       .chains = Chains({"conv bias|add"}),
       .remedy_english = "use bias=True of the convolution",
       .remedy_chinese = "使用卷积自带的 bias"},
      {.place = "conv_swish",
       .english = "Conv + sigmoid + Mul",
       .chinese = "Conv + sigmoid + Mul",
       .chains = Chains({"conv sigmoid mul"}),
       .remedy_english = kGraph,
       .remedy_chinese = kGraphChinese},
      {.place = "conv_hardswish",
       .english = "Conv + hard swish",
       .chinese = "Conv + hardswish",
       .chains = Chains({"conv add relu6 mul mul|div?"}),
       .remedy_english = "use torch.nn.functional.hardswish, and graph mode",
       .remedy_chinese = "使用 torch.nn.functional.hardswish 和图模式"},
      {.place = "conv_dequant",
       .english = "Conv + dequantisation",
       .chinese = "Conv + 反量化",
       .chains = Chains({"conv dequant"}),
       .remedy_english = "use torch_npu.npu_quant_conv2d",
       .remedy_chinese = "使用 torch_npu.npu_quant_conv2d"},
      {.place = "pad_conv",
       .english = "Pad + Conv",
       .chinese = "Pad + Conv",
       .chains = Chains({"pad conv"}),
       .remedy_english = "use padding= of the convolution",
       .remedy_chinese = "使用卷积的 padding 参数"},
      {.place = "conv_grad_act",
       .english = "gradients of Conv + activation",
       .chinese = "Conv + 激活的梯度",
       .chains = Chains({"conv_grad act_grad"}),
       .remedy_english = kGraph,
       .remedy_chinese = kGraphChinese},
      {.place = "bn_act",
       .english = "BN + activation",
       .chinese = "BN + 激活",
       .chains = Chains({"bn add? act", "bn_reduce! bn_update add? act"}),
       .remedy_english = kGraph,
       .remedy_chinese = kGraphChinese},
      // Products of matrices.
      {.place = "matmul_bias_act",
       .english = "MatMul + bias + activation",
       .chinese = "MatMul + bias + 激活",
       .chains = Chains({"product add act"}),
       .remedy_english = kLinear,
       .remedy_chinese = kLinearChinese},
      {.place = "matmul_bias",
       .english = "MatMul + bias",
       .chinese = "MatMul + bias",
       .chains = Chains({"product bias|add"}),
       .remedy_english = "use torch.nn.Linear with its bias (addmm)",
       .remedy_chinese = "使用带 bias 的 torch.nn.Linear（addmm）"},
      {.place = "matmul_act",
       .english = "MatMul + activation",
       .chinese = "MatMul + 激活",
       .chains = Chains({"product act"}),
       .remedy_english = kGraph,
       .remedy_chinese = kGraphChinese},
      {.place = "matmul_dequant",
       .english = "MatMul + dequantisation",
       .chinese = "MatMul + 反量化",
       .chains = Chains({"product dequant"}),
       .remedy_english = "use torch_npu.npu_quant_matmul",
       .remedy_chinese = "使用 torch_npu.npu_quant_matmul"},
      {.place = "matmul_softmax",
       .english = "MatMul + Softmax",
       .chinese = "MatMul + Softmax",
       .chains = Chains({"product scale? mask? softmax"}),
       .remedy_english = kAttention,
       .remedy_chinese = kAttentionChinese,
       .gpu_english = kSdpa,
       .gpu_chinese = kSdpaChinese},
      {.place = "attention",
       .english = "MatMul + Softmax + MatMul",
       .chinese = "MatMul + Softmax + MatMul",
       .chains = Chains({"product! scale? mask? softmax dropout? product!"}),
       .remedy_english = kAttention,
       .remedy_chinese = kAttentionChinese,
       .gpu_english = kSdpa,
       .gpu_chinese = kSdpaChinese,
       .api = "torch_npu.npu_fusion_attention",
       .runs = {"matmul add? mul? masked_fill_? softmax dropout? matmul",
                "matmul add? mul? add? softmax dropout? matmul"}},
      // Normalisation, softmax and activations in pieces.
      {.place = "masked_softmax",
       .english = "scaled and masked Softmax",
       .chinese = "缩放掩码 Softmax",
       .chains = Chains({"scale mask softmax"}),
       .api = "torch_npu.npu_scaled_masked_softmax",
       .runs = {"softmax mul? masked_fill_|add"}},
      {.place = "rms_norm",
       .english = "RMSNorm in pieces",
       .chinese = "拆开的 RMSNorm",
       .chains = Chains({"square mean add rsqrt mul mul?"}),
       .in_pieces = true,
       .api = "torch_npu.npu_rms_norm",
       .runs = {"pow? mean? add? rsqrt mul type_as?"}},
      {.place = "add_rms_norm",
       .english = "Add + RMSNorm",
       .chinese = "Add + RMSNorm",
       .chains = Chains({"add rms_norm"}),
       .remedy_english = "use torch_npu.npu_add_rms_norm",
       .remedy_chinese = "使用 torch_npu.npu_add_rms_norm"},
      {.place = "layer_norm",
       .english = "LayerNorm in pieces",
       .chinese = "拆开的 LayerNorm",
       .chains = Chains({"mean sub square mean add root mul|div mul? add?"}),
       .in_pieces = true,
       .remedy_english = "use torch.nn.LayerNorm",
       .remedy_chinese = "使用 torch.nn.LayerNorm"},
      {.place = "add_layer_norm",
       .english = "Add + LayerNorm",
       .chinese = "Add + LayerNorm",
       .chains = Chains({"add layer_norm"}),
       .in_pieces = true,
       .api = "torch_npu.npu_add_layer_norm",
       .runs = {"add layer_norm"}},
      {.place = "group_norm_silu",
       .english = "GroupNorm + SiLU",
       .chinese = "GroupNorm + SiLU",
       .chains = Chains({"group_norm silu", "group_norm sigmoid mul"}),
       .api = "torch_npu.npu_group_norm_silu",
       .runs = {"group_norm silu"}},
      {.place = "softmax",
       .english = "Softmax in pieces",
       .chinese = "拆开的 Softmax",
       .chains = Chains({"max sub exp sum div"}),
       .in_pieces = true,
       .remedy_english = "use torch.softmax",
       .remedy_chinese = "使用 torch.softmax"},
      {.place = "gelu",
       .english = "GELU in pieces",
       .chinese = "拆开的 GELU",
       .chains = Chains({"pow mul add mul tanh add mul mul?", "scale erf add mul mul?"}),
       .in_pieces = true,
       .remedy_english = "use torch.nn.functional.gelu",
       .remedy_chinese = "使用 torch.nn.functional.gelu"},
      {.place = "", .api = "torch_npu.fast_gelu", .runs = {"gelu"}},
      {.place = "hardswish",
       .english = "hard swish in pieces",
       .chinese = "拆开的 hardswish",
       .chains = Chains({"add relu6 mul mul|div?", "add relu6 div mul"}),
       .in_pieces = true,
       .remedy_english = "use torch.nn.functional.hardswish",
       .remedy_chinese = "使用 torch.nn.functional.hardswish"},
      {.place = "swiglu",
       .english = "SwiGLU in pieces",
       .chinese = "拆开的 SwiGLU",
       .chains = Chains({"silu mul", "sigmoid mul mul?"}),
       .in_pieces = true,
       .api = "torch_npu.npu_swiglu",
       .runs = {"slice|chunk silu mul", "slice|chunk mul silu", "slice|chunk sigmoid mul mul",
                "slice|chunk mul sigmoid mul", "slice|chunk mul mul sigmoid"}},
      {.place = "geglu",
       .english = "GeGLU in pieces",
       .chinese = "拆开的 GeGLU",
       .chains = Chains({"gelu mul"}),
       .in_pieces = true,
       .api = "torch_npu.npu_geglu",
       .runs = {"slice|chunk gelu mul", "slice|chunk mul gelu"}},
      {.place = "rotary_mul",
       .english = "rotary embedding in pieces",
       .chinese = "拆开的旋转位置编码",
       .chains = Chains({"neg cat mul mul? add"}),
       .in_pieces = true,
       .api = "torch_npu.npu_rotary_mul",
       .runs = {"chunk|slice neg cat mul? mul? add"}},
      // The rest.
      {.place = "cat_cat",
       .english = "Concat + Concat",
       .chinese = "Concat + Concat",
       .chains = Chains({"cat cat"}),
       .needs_shapes = true,
       .remedy_english = "concatenate all of them at once",
       .remedy_chinese = "一次拼接全部张量"},
      {.place = "gating",
       .english = "Softmax + TopK of experts",
       .chinese = "专家路由 Softmax + TopK",
       .chains = Chains({"softmax topk"}),
       .remedy_english = "use torch_npu.npu_moe_gating_top_k_softmax",
       .remedy_chinese = "使用 torch_npu.npu_moe_gating_top_k_softmax"},
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
