// SPDX-License-Identifier: Apache-2.0
// What kernels and operators do in chains.
#include <algorithm>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/part/fusion_patterns.h"

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

FusionRoles RolesNamed(std::string_view names) {
  FusionRoles found;
  for (const std::string_view name : Split(names, '|')) {
    const auto role = std::ranges::find(Roles(), name, &FusionRole::name);
    if (role == Roles().end()) Fail(ErrorKind::kInternal, "no role of fusions: {}", name);
    found.set(static_cast<std::size_t>(role - Roles().begin()));
  }
  return found;
}

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
      {"TransData", "trans_data", true, "use one memory format for all of them"},
      {"Transpose", "transpose", true, "give the next operator the transposed view"},
      {"Cast", "cast", true, "compute all of them in one data type"},
      {"Reshape", "reshape", true, "reshape before or after them"},
      {"Dropout", "dropout", false, "apply dropout after them, and not at all in inference"},
      {"copy", "copy", true, "keep tensors contiguous"},
  };
  return breakers;
}

const FusionBreaker* BreakerOf(const FusionRoles& roles) {
  for (const FusionBreaker& breaker : FusionBreakers()) {
    if (HasRole(roles, breaker.role)) return &breaker;
  }
  return nullptr;
}

}  // namespace mpa
