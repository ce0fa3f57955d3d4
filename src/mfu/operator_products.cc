// SPDX-License-Identifier: Apache-2.0
// Matrix work from the shapes of the operators that launch it: GPUs record none of kernels.
#include "operator_products.h"

#include "flops_families.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

enum class Right : std::uint8_t {
  kPlain,       // rows, columns
  kTransposed,  // columns, rows: the weight of a linear layer
  kPacked,      // the same, two values of 4 bits in each element of both factors
};

struct Form {
  std::string_view op;      // of a library's family of kernels the beginning
  std::size_t left, right;  // places of the factors among the inputs
  Right form = Right::kPlain;
};
constexpr Form kForms[] = {{"aten::mm", 0, 1},
                           {"aten::addmm", 1, 2},
                           {"aten::_addmm_activation", 1, 2},
                           {"aten::bmm", 0, 1},
                           {"aten::baddbmm", 1, 2},
                           {"aten::addbmm", 1, 2},
                           {"aten::_scaled_mm", 0, 1},
                           {"aten::_int_mm", 0, 1},
                           {"aten::linear", 0, 1, Right::kTransposed},
                           {"vllm::rocm_unquantized_gemm", 0, 1, Right::kTransposed},
                           {"_rocm_C::LLMM1", 0, 1, Right::kTransposed},
                           {"_rocm_C::wvSplitK", 0, 1, Right::kTransposed},
                           {"_rocm_C::wvSplitKQ", 0, 1, Right::kTransposed},
                           {"_C::cutlass_scaled_mm", 1, 2},
                           {"_C::cutlass_scaled_mm_azp", 1, 2},
                           {"sgl_kernel::fp8_scaled_mm", 0, 1},
                           {"sgl_kernel::int8_scaled_mm", 0, 1},
                           {"sgl_kernel::fp8_blockwise_scaled_mm", 0, 1}};
constexpr Form kFormFamilies[] = {{"aiter::gemm_a16w16", 0, 1, Right::kTransposed},
                                  {"aiter::gemm_a8w8", 0, 1, Right::kTransposed},
                                  {"aiter::batched_gemm_a8w8", 0, 1, Right::kTransposed},
                                  {"aiter::flatmm_a8w8", 0, 1, Right::kTransposed},
                                  {"vllm::rocm_aiter_gemm_a8w8", 0, 1, Right::kTransposed},
                                  {"vllm::rocm_aiter_triton_gemm_a8w8", 0, 1, Right::kTransposed},
                                  {"aiter::gemm_a4w4", 0, 1, Right::kPacked}};

const Form* FormOf(std::string_view op) {
  for (const Form& form : kForms) {
    if (form.op == op) return &form;
  }
  for (const Form& family : kFormFamilies) {
    if (op.starts_with(family.op)) return &family;
  }
  return nullptr;
}

Flops Multiply(const Shape* left, const Shape* right, Right form) {
  if (left == nullptr || right == nullptr || left->size() < 2 || right->size() < 2)
    return flops::Unknown(FlopsGap::kNoShapes);
  const bool plain = form == Right::kPlain;
  const std::size_t inner = right->size() - (plain ? 2 : 1);
  const std::size_t columns = right->size() - (plain ? 1 : 2);
  if (left->back() != (*right)[inner]) return flops::Unknown(FlopsGap::kMismatch);
  Checked count = form == Right::kPacked ? 4 : 2;
  for (const std::int64_t size : *left) count = count * size;
  return flops::Counted(count * (*right)[columns]);
}

}  // namespace

std::optional<OperatorProduct> ProductOf(std::string_view op, const OperatorTexts& texts) {
  if (const Form* form = FormOf(op)) {
    const OperatorInputs inputs(texts);
    return OperatorProduct{
        .flops = Multiply(inputs.Tensor(form->left), inputs.Tensor(form->right), form->form),
        .type = form->form == Right::kPacked ? TypeClass::kUnknown : inputs.TypeOf(form->left)};
  }
  const OperatorInputs inputs(texts);
  auto product = ConvolutionOf(op, inputs);
  return product ? product : AttentionOf(op, inputs);
}

}  // namespace mpa
