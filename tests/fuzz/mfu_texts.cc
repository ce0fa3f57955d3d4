// SPDX-License-Identifier: Apache-2.0
// Texts from which the operations of kernels are computed: shapes, types, formats, arguments.
#include <algorithm>
#include <array>

#include "fuzz/fuzzing.h"
#include "mpa/mfu/attention_args.h"
#include "mpa/mfu/flops.h"
#include "mpa/mfu/shapes.h"

namespace mpa::test {
namespace {

constexpr std::array kTypes = {"MatMulV3",
                               "BatchMatMulV2",
                               "TransposeBatchMatMul",
                               "GroupedMatmul",
                               "AllGatherMatmul",
                               "Conv2D",
                               "Conv3DBackpropInputV2",
                               "Conv2DBackpropFilter",
                               "FlashAttentionScore",
                               "FlashAttentionScoreGrad",
                               "PromptFlashAttention",
                               "IncreFlashAttention",
                               "FusedInferAttentionScore",
                               "QuantBatchMatmulV3",
                               "GroupedMatmulFinalizeRouting",
                               "GroupedMatmulSwigluQuant"};

void Expect(const Flops& flops) {
  if (flops.Known() && flops.count < 0) Die("operations below 0");
  if (!flops.Known() && Text(flops.gap).empty()) Die("unknown operations without a reason");
}

// Lines: input shapes, input formats, output shapes, output formats, arguments of attention.
void CountOperations(std::string_view text) {
  std::array<std::string_view, 5> lines;
  for (std::string_view& line : lines) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const KernelTensors tensors = KernelTensors::Parse(lines[0], lines[1], lines[2], lines[3]);
  const auto attention = ParseAttentionArgs(lines[4]);
  for (const char* type : kTypes) {
    Expect(FlopsOf(type, tensors, attention ? &*attention : nullptr));
  }
}

}  // namespace

std::vector<Target> Targets() {
  return {{"kernel",
           {"32,4096;4096,4096\nFORMAT_ND;FRACTAL_NZ\n32,4096\nND",
            "8,64,56,56;64,64,3,3\nNCHW;NCHW\n8,64,56,56\nNCHW",
            ("\"2,8,128,64;2,8,128,64;2,8,128,64\"\nND;ND;ND\n2,8,128,64\nND\n"
             R"({"input_layout":"BNSD","sparse_mode":2,"head_num":8})"),
            ("256,8,64;256,8,64;256,8,64\n\n\n\n"
             R"({"input_layout":"TND","head_num":8,"actual_seq_qlen":[128,256],)"
             R"("actual_seq_kvlen":[128,256]})"),
            ("2,128,512;2,128,512;2,128,512\n\n\n\n"
             R"({"input_layout":"BSH","num_heads":8,"is_causal":true})")},
           CountOperations}};
}

}  // namespace mpa::test
