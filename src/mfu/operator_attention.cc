// SPDX-License-Identifier: Apache-2.0
// Attention of PyTorch and of serving libraries by the inputs of their operators.
#include <algorithm>

#include "flops_families.h"
#include "operator_products.h"

namespace mpa {
namespace {

constexpr std::int64_t kFromUpperLeft = 2, kToLowerRight = 3;  // causal, see sparse_mode

struct AttentionForm {
  std::string_view op;
  std::size_t query;  // keys and values follow
  std::string_view layout;
  std::size_t causal;        // place of is_causal
  std::int64_t causal_mode;  // where the triangle lies
  bool gradient = false;
};
// Arguments by the declarations of PyTorch (native_functions.yaml) and of the package flash-attn,
// whose causal mask ends in the lower right corner since version 2.1.
constexpr AttentionForm kAttentionForms[] = {
    {"aten::_scaled_dot_product_flash_attention", 0, "BNSD", 4, kFromUpperLeft},
    {"aten::_scaled_dot_product_efficient_attention", 0, "BNSD", 6, kFromUpperLeft},
    {"aten::_scaled_dot_product_cudnn_attention", 0, "BNSD", 6, kFromUpperLeft},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, "BNSD", 11, kFromUpperLeft, true},
    {"aten::_scaled_dot_product_efficient_attention_backward", 1, "BNSD", 11, kFromUpperLeft, true},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, "BNSD", 14, kFromUpperLeft, true},
    {"flash_attn::_flash_attn_forward", 0, "BSND", 5, kToLowerRight},
    {"flash_attn::_flash_attn_backward", 1, "BSND", 11, kToLowerRight, true}};

// Operators that read keys and values from the pages of a cache: how many is on the device alone.
constexpr std::string_view kPaged[] = {"vllm::unified_attention", "vllm::unified_mla_attention",
                                       "_C::paged_attention",     "_rocm_C::paged_attention",
                                       "aiter::paged_attention",  "aiter::pa_",
                                       "aiter::mla_decode",       "aiter::mha_batch_prefill"};

Flops CountAttention(const OperatorInputs& inputs, std::size_t query, bool gradient,
                     const AttentionArgs& args) {
  KernelTensors tensors;
  for (std::size_t i = query; i < query + 3; ++i) {
    const Shape* const shape = inputs.Tensor(i);
    tensors.inputs.push_back(shape != nullptr ? *shape : Shape());
  }
  return FlopsOf(gradient ? "FlashAttentionScoreGrad" : "FlashAttentionScore", tensors, &args);
}

Flops OfForm(const AttentionForm& form, const OperatorInputs& inputs) {
  std::size_t causal_place = form.causal;
  // Until PyTorch 2.4 cuDNN's had the arguments of flash attention.
  if (form.op == "aten::_scaled_dot_product_cudnn_attention" && inputs.IsScalar(3))
    causal_place = 4;
  const bool windowed = form.layout == "BSND";
  const auto causal = inputs.Flag(causal_place);
  if (!causal) return flops::Unknown(FlopsGap::kNoValues);
  for (std::size_t i = causal_place + 1; windowed && i <= causal_place + 2; ++i) {
    const auto window = inputs.Number(i);
    if (!window) return flops::Unknown(FlopsGap::kNoValues);
    if (*window >= 0) return flops::Unknown(FlopsGap::kUnsupportedMask);
  }
  AttentionArgs args;
  args.layout = form.layout;
  args.sparse_mode = *causal ? form.causal_mode : 0;
  return CountAttention(inputs, form.query, form.gradient, args);
}

// aiter::mha_batch_prefill(q, k, v, cu_seqlens_q, kv_indptr, kv_page_indices, max_seqlen_q,
// max_seqlen_k, dropout, scale, soft cap, zero_tensors, is_causal, window left, window right, ...).
// A cache holds the tokens of the query, too. Where all queries are as long as the longest and no
// sequence is longer, all lengths are known: a prefill from the beginning.
Flops OfPagedPrefill(const OperatorInputs& inputs) {
  const Flops unknown = flops::Unknown(FlopsGap::kPagedCache);
  const Shape* const query = inputs.Tensor(0);
  const Shape* const ends = inputs.Tensor(3);
  const auto most_q = inputs.Number(6), most_k = inputs.Number(7);
  const auto left = inputs.Number(13), right = inputs.Number(14);
  if (query == nullptr || ends == nullptr || !most_q || most_q != most_k) return unknown;
  if (inputs.Flag(12) != true || left != -1 || right != -1) return unknown;
  const std::int64_t sequences = ends->front() - 1, length = *most_q;
  constexpr std::int64_t kMostSequences = 1 << 20;
  if (sequences <= 0 || sequences > kMostSequences || length <= 0 ||
      query->front() / length != sequences || query->front() % length != 0) {
    return unknown;
  }
  AttentionArgs args;
  args.layout = "TND";
  args.sparse_mode = kToLowerRight;
  for (std::int64_t i = 1; i <= sequences; ++i) args.query_ends.push_back(i * length);
  args.kv_ends = args.query_ends;
  return CountAttention(inputs, 0, false, args);
}

}  // namespace

std::optional<OperatorProduct> AttentionOf(std::string_view op, const OperatorInputs& inputs) {
  OperatorProduct product;
  product.work = KernelClass::kAttention;
  const auto form = std::ranges::find(kAttentionForms, op, &AttentionForm::op);
  if (form != std::end(kAttentionForms)) {
    product.flops = OfForm(*form, inputs);
    product.type = inputs.TypeOf(form->query);
    return product;
  }
  const bool paged =
      std::ranges::any_of(kPaged, [&](std::string_view name) { return op.starts_with(name); });
  if (!paged) return std::nullopt;
  product.flops = op == "aiter::mha_batch_prefill" ? OfPagedPrefill(inputs)
                                                   : flops::Unknown(FlopsGap::kPagedCache);
  product.type = inputs.TypeOf(0);
  return product;
}

}  // namespace mpa
