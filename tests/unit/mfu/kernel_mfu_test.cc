// SPDX-License-Identifier: Apache-2.0
// The utilisation of kernels: whose operations are whose, recorded or by shapes.
#include "mpa/mfu/kernel_mfu.h"

#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa {
namespace {

using Counts = std::vector<std::int64_t>;

constexpr const char* kFp16 = "FLOAT16;FLOAT16";

// 20 cores at 1800 MHz: 294 912 operations of FP16 in a ns.
ChipPeak Chip() {
  ChipPeak chip;
  chip.cores = 20;
  chip.frequency_mhz = 1800;
  return chip;
}

class KernelRank : public test::RankBuilder {
 public:
  // A kernel of the operator that runs at `launched`.
  std::size_t Work(TimeNs launched, TimeNs dur, std::string_view op_type,
                   std::string_view types = kFp16, std::string_view inputs = "\"8,8;8,8\"",
                   std::string_view outputs = "\"8,8\"", std::int32_t track = -1) {
    LaunchedKernel(launched, track < 0 ? main : track, dur, op_type);
    Kernels& kernels = trace.kernels;
    kernels.op_type.back() = Text(op_type);
    kernels.input_types.Stored().back() = Text(types);
    kernels.shapes.back() = Text(inputs);
    kernels.output_shapes.Stored().back() = Text(outputs);
    return kernels.Size() - 1;
  }
  void Range(std::string_view label, TimeNs start, TimeNs end) {
    Mstx("mfu_flops", label, start, end, main);
  }

  RankMfu Find(const ChipPeak& chip = Chip(), MfuRule rule = MfuRule::kRangesAndShapes) const {
    return FindKernelMfu(trace, ThreadGroups(trace), FindOpWork(trace), chip, rule);
  }
  // The operations of each kernel, -1 where they are not known.
  Counts Flops() const {
    Counts counts;
    for (const KernelMfu& kernel : Find().kernels) {
      counts.push_back(kernel.flops.Known() ? kernel.flops.count : -1);
    }
    return counts;
  }

  std::int32_t main = Thread(1), autograd = Thread(2);
};

TEST(RecordedFlops, AreANumberADashAndAName) {
  EXPECT_EQ(ParseRecordedFlops("147456000-mm")->count, 147456000);
  EXPECT_EQ(ParseRecordedFlops("5-npu_grouped-matmul")->name, "npu_grouped-matmul");
  for (const char* label : {"", "100:legacy", "12.5-x", "abc", "123", "123-", "-5-x", "+5-x",
                            " 5-x", "0-x", "9223372036854775808-x"}) {
    EXPECT_EQ(ParseRecordedFlops(label), std::nullopt) << label;
  }
}

// The worked example of the Python tool.
TEST(KernelMfu, OfARangeIsThatOfEachOfItsKernelsByTheRuleOfThePythonTool) {
  KernelRank rank;
  rank.Range("73728000-linear", 300, 400);
  rank.Op("aten::linear", 310, 380, rank.main);
  const std::size_t cast = rank.Work(320, 500, "Cast", "FLOAT");
  const std::size_t matmul = rank.Work(330, 1000, "MatMulV2");
  const std::size_t memset = rank.Work(340, 500, "MemSet", "INT32", "N/A");
  rank.Range("294912000-int8mm", 600, 620);
  rank.Op("aten::int8mm", 605, 615, rank.main);
  const std::size_t int8 = rank.Work(606, 1000, "MatMulV2", ";INT8;INT8");
  rank.Range("147456000-mm", 700, 720);
  rank.Op("aten::mm", 705, 715, rank.main);
  const std::size_t unknown = rank.Work(706, 1000, "MatMulV2", "INT32;INT32");
  rank.Op("aten::mm", 800, 810, rank.main);
  const std::size_t outside = rank.Work(806, 1000, "MatMulV2");
  const RankMfu mfu = rank.Find(Chip(), MfuRule::kRangesOnly);
  EXPECT_DOUBLE_EQ(mfu.kernels[cast].use.ratio, 0.5);
  EXPECT_DOUBLE_EQ(mfu.kernels[matmul].use.ratio, 0.25);
  EXPECT_DOUBLE_EQ(mfu.kernels[int8].use.ratio, 0.5);
  EXPECT_DOUBLE_EQ(mfu.kernels[unknown].use.ratio, 0.5);
  EXPECT_FALSE(mfu.kernels[memset].flops.Known());
  EXPECT_FALSE(mfu.kernels[outside].flops.Known());
  EXPECT_FALSE(mfu.kernels[outside].use.Known());
}

// The worked example of recorded operations: one range each.
TEST(KernelMfu, OfARangeIsThatOfItsMatrixKernels) {
  KernelRank rank;
  rank.Range("147456000-mm", 100, 200);
  rank.Op("aten::mm", 110, 150, rank.main);
  rank.Work(110, 1000, "MatMulV2");
  rank.Range("73728000-linear", 300, 400);
  rank.Op("aten::linear", 310, 380, rank.main);
  rank.Work(310, 500, "Cast", "FLOAT");
  rank.Work(310, 1000, "MatMulV2");
  rank.Range("294912000-int8mm", 600, 620);
  rank.Op("aten::int8mm", 605, 615, rank.main);
  rank.Work(605, 1000, "QuantBatchMatmulV3", "INT8;INT8");
  rank.Range("147456000-zd", 750, 760);
  rank.Op("aten::zd", 750, 760, rank.main);
  rank.Work(750, 0, "MatMulV2");
  const RankMfu mfu = rank.Find();
  EXPECT_DOUBLE_EQ(mfu.kernels[0].use.ratio, 0.5);
  EXPECT_EQ(mfu.kernels[1].flops.gap, FlopsGap::kNotMatrixWork);  // not half the chip for a Cast
  EXPECT_EQ(mfu.kernels[1].use.gap, PeakGap::kNoFlops);
  EXPECT_DOUBLE_EQ(mfu.kernels[2].use.ratio, 0.25);
  EXPECT_DOUBLE_EQ(mfu.kernels[3].use.ratio, 0.5);  // of twice the peak
  EXPECT_NEAR(mfu.kernels[3].peak_tflops, 589.824, 1e-9);
  EXPECT_EQ(mfu.kernels[4].use.gap, PeakGap::kNoDuration);
  EXPECT_EQ(mfu.kernels[0].source, FlopsSource::kRecorded);
  EXPECT_EQ(mfu.ranges[static_cast<std::size_t>(mfu.kernels[2].range)].name, "linear");
}

TEST(KernelMfu, RecordedOperationsComeBeforeThoseByShapes) {
  KernelRank rank;
  rank.Range("700-mm", 100, 200);
  rank.Op("aten::mm", 110, 150, rank.main);
  rank.Work(110, 10, "MatMulV2");
  rank.Op("aten::mm", 210, 250, rank.main);
  rank.Work(210, 10, "MatMulV2");  // behind the range: 2 x 8 x 8 x 8
  EXPECT_EQ(rank.Flops(), (Counts{700, 1024}));
  const RankMfu mfu = rank.Find();
  EXPECT_EQ(mfu.kernels[0].source, FlopsSource::kRecorded);
  EXPECT_EQ(mfu.kernels[1].source, FlopsSource::kShapes);
}

TEST(KernelMfu, AnOperatorThatBeginsAtTheEndOfARangeIsInIt) {
  KernelRank rank;
  rank.Range("700-edge", 500, 520);
  rank.Op("aten::mm", 520, 530, rank.main);
  rank.Work(520, 10, "MatMulV2");
  EXPECT_EQ(rank.Flops(), Counts{700});
}

TEST(KernelMfu, TheInnermostRangeCounts) {
  KernelRank rank;
  rank.Range("900-linear", 100, 300);
  rank.Range("700-addmm", 150, 250);
  rank.Op("aten::addmm", 160, 200, rank.main);
  rank.Work(160, 10, "MatMulV2");
  rank.Op("aten::add", 260, 270, rank.main);
  rank.Work(260, 10, "MatMulV2");
  EXPECT_EQ(rank.Flops(), (Counts{700, 900}));
}

TEST(KernelMfu, ARangeOfAnotherThreadDoesNotCount) {
  KernelRank rank;
  rank.Op("aten::add", 0, 10, rank.autograd);  // a thread that runs operators of its own
  rank.Mstx("mfu_flops", "700-mm", 100, 200, rank.autograd);
  rank.Op("aten::mm", 110, 150, rank.main);
  rank.Work(110, 10, "MatMulV2");
  EXPECT_EQ(rank.Flops(), Counts{1024});
}

TEST(KernelMfu, MatrixKernelsOfARangeShareItByTheirShapes) {
  KernelRank rank;
  rank.Range("1000-grouped", 100, 200);
  rank.Op("aten::grouped", 110, 150, rank.main);
  rank.Work(110, 10, "MatMulV2", kFp16, "\"8,8;8,8\"", "\"8,8\"");    // 1024
  rank.Work(110, 90, "MatMulV2", kFp16, "\"8,8;8,16\"", "\"8,16\"");  // 2048
  EXPECT_EQ(rank.Flops(), (Counts{333, 667}));
}

TEST(KernelMfu, MatrixKernelsOfUnknownShapesShareByTheirDurations) {
  KernelRank rank;
  rank.Range("1000-grouped", 100, 200);
  rank.Op("aten::grouped", 110, 150, rank.main);
  rank.Work(110, 10, "MatMulV2", kFp16, "N/A", "N/A");
  rank.Work(110, 90, "MatMulV2");
  EXPECT_EQ(rank.Flops(), (Counts{100, 900}));
}

TEST(KernelMfu, WhereNoOperatorIsKnownTheCubeCoresTell) {
  KernelRank rank;
  rank.Range("1000-sparse_attention", 100, 200);
  rank.Op("npu::block_sparse", 110, 150, rank.main);
  const std::size_t cast = rank.Work(110, 10, "Cast");
  rank.trace.kernels.core[cast] = rank.Text("AI_VECTOR_CORE");
  const std::size_t own = rank.Work(110, 10, "BlockSparseAttention");
  rank.trace.kernels.core[own] = rank.Text("MIX_AIC");
  EXPECT_EQ(rank.Flops(), (Counts{-1, 1000}));
}

TEST(KernelMfu, HugeNumbersAreSharedWithoutLoss) {
  KernelRank rank;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  rank.Range("9223372036854775807-x", 100, 200);
  rank.Op("x", 110, 150, rank.main);
  constexpr const char* kHuge = "\"1048576,1048576;1048576,1048576\"";  // 2^61 operations
  for (int i = 0; i < 5; ++i) {
    rank.Work(110, 10, "MatMulV2", kFp16, kHuge, "\"1048576,1048576\"");
  }
  const Counts counts = rank.Flops();
  EXPECT_EQ(counts[0], kMax / 5);
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) sum += count;
  EXPECT_EQ(sum, kMax);
}

TEST(KernelMfu, ATypeWithoutAPeakConcernsItsKernelOnly) {
  KernelRank rank;
  rank.Op("aten::mm", 110, 150, rank.main);
  rank.Work(110, 1000, "MatMulV2", "INT32;INT32");
  rank.Op("aten::mm", 210, 250, rank.main);
  rank.Work(210, 1000, "MatMulV2");
  const RankMfu mfu = rank.Find();
  EXPECT_TRUE(mfu.kernels[0].flops.Known());
  EXPECT_EQ(mfu.kernels[0].use.gap, PeakGap::kUnknownType);
  EXPECT_TRUE(mfu.kernels[1].use.Known());
}

TEST(KernelMfu, ComparesWithTheClockThatWasMeasured) {
  KernelRank rank;
  rank.Op("aten::mm", 110, 150, rank.main);
  rank.Work(110, 1000, "MatMulV2");  // from 0 to 1000
  rank.trace.core_clocks.Append({.start = 0, .mhz = 1800});
  rank.trace.core_clocks.Append({.start = 500, .mhz = 900});
  const KernelMfu kernel = rank.Find().kernels[0];
  EXPECT_NEAR(*kernel.use_of_measured_clock, kernel.use.ratio * 1800 / 1350, 1e-12);
  EXPECT_EQ(rank.Find(ChipPeak()).kernels[0].use_of_measured_clock, std::nullopt);
}

// Attention of one head of 4 over 8 values: 2 x 8 x 8 x (4 + 4) = 1024 operations, half of it below
// a causal mask.
constexpr const char* kAttention = "\"1,1,8,4;1,1,8,4;1,1,8,4\"";
constexpr const char* kThree = "BF16;BF16;BF16";
constexpr const char* kFull = R"({"input_layout": "BNSD", "sparse_mode": 0})";
constexpr const char* kCausal = R"({"input_layout": "BNSD", "sparse_mode": 2})";

class AttentionRank : public KernelRank {
 public:
  void Mark(std::string_view args, TimeNs time) { Mark(args, time, main); }
  void Mark(std::string_view args, TimeNs time, std::int32_t track) {
    Mstx("flash_attn_args", args, time, time, track);
  }
  void Attend(TimeNs start) {
    Op("aclnnFlashAttentionScore", start, start + 10, main);
    Work(start, 10, "FlashAttentionScore", kThree, kAttention, "\"1,1,8,4\"");
  }
};

TEST(AttentionMarks, BelongToTheNextAttentionOfTheirThread) {
  AttentionRank rank;
  rank.Op("aten::add", 0, 10, rank.autograd);
  rank.Mark(kCausal, 100);
  rank.Attend(5'000'000);  // no matter how much later
  rank.Attend(6'000'000);  // has none
  rank.Mark(kFull, 7'000'000);
  rank.Mark(kCausal, 7'000'005, rank.autograd);
  rank.Attend(7'000'010);
  rank.Mark(kCausal, 8'000'000);  // behind all
  EXPECT_EQ(rank.Flops(), (Counts{512, -1, 1024}));
  EXPECT_EQ(rank.Find().kernels[1].flops.gap, FlopsGap::kNoArguments);
}

TEST(AttentionMarks, TheLastOfSeveralCounts) {
  AttentionRank rank;
  rank.Mark(kFull, 90);
  rank.Mark(R"({"is_causal": true})", 95);
  rank.Attend(100);
  EXPECT_EQ(rank.Flops(), Counts{512});
}

TEST(AttentionMarks, SkipOtherOperators) {
  AttentionRank rank;
  rank.Mark(kFull, 90);
  rank.Op("aten::mm", 100, 110, rank.main);
  rank.Work(100, 10, "MatMulV2");
  rank.Attend(200);
  EXPECT_EQ(rank.Flops(), (Counts{1024, 1024}));
}

TEST(AttentionMarks, TheGradientHasTheArgumentsOfItsForwardOperator) {
  AttentionRank rank;
  rank.Mark(kFull, 90);
  rank.Op("npu::npu_fusion_attention", 95, 120, rank.main);
  rank.Attend(100);
  rank.Mark(kCausal, 190);
  rank.Op("npu::npu_fusion_attention", 195, 220, rank.main);
  rank.Attend(200);
  const auto backward = [&](TimeNs forward, TimeNs start) {
    rank.trace.backward_links.Append({.forward_time = forward,
                                      .forward_track = rank.main,
                                      .backward_time = start,
                                      .backward_track = rank.autograd});
    rank.Op("NpuFusionAttentionBackward0", start, start + 50, rank.autograd);
    rank.Op("aclnnFlashAttentionScoreGrad", start + 10, start + 20, rank.autograd);
    rank.Work(start + 10, 10, "FlashAttentionScoreGrad", kThree, kAttention,
              "\"1,1,8,4;1,1,8,4;1,1,8,4\"", rank.autograd);
  };
  backward(195, 1000);  // the last comes first
  backward(95, 2000);
  // Five products in place of two.
  EXPECT_EQ(rank.Flops(), (Counts{1024, 512, 1280, 2560}));
}

TEST(AttentionMarks, LeaveAttentionUnknownWithoutThem) {
  AttentionRank rank;
  rank.Mark("no arguments", 90);
  rank.Attend(100);
  EXPECT_EQ(rank.Find().kernels[0].flops.gap, FlopsGap::kNoArguments);
}

// A rank of a GPU, whose operators have the shapes.
class GpuRank : public test::RankBuilder {
 public:
  GpuRank() : RankBuilder(DeviceKind::kGpu) {}

  void Op(std::string_view name, TimeNs start, TimeNs end, std::string_view shapes,
          std::string_view types_and_values = "['c10::Half', 'c10::Half']") {
    RankBuilder::Op(name, start, end, main);
    trace.host_ops.shapes.Stored().back() = Text(shapes);
    trace.host_ops.types.Stored().back() = Text(types_and_values);
  }
  RankMfu Find() const {
    return FindKernelMfu(trace, ThreadGroups(trace), FindOpWork(trace), ChipPeak());
  }

  std::int32_t main = Thread(1);
};

TEST(GpuMfu, TheOperationsAreThoseOfTheInnermostOperatorThatHasAFormula) {
  GpuRank rank;
  rank.Op("vllm::rocm_unquantized_gemm", 0, 100, "[[4, 8], [16, 8]]");
  rank.Op("aten::mm", 10, 40, "[[4, 8], [8, 32]]");
  rank.Op("aten::to", 20, 30, "[[4, 8]]");
  rank.LaunchedKernel(25, rank.main, 10, "Cijk_gemm");      // of aten::mm
  rank.LaunchedKernel(50, rank.main, 10, "wvSplitK_gemm");  // of the outer one
  rank.LaunchedKernel(55, rank.main, 90, "elementwise_kernel");
  const RankMfu mfu = rank.Find();
  EXPECT_EQ(mfu.kernels[0].flops.count, 2 * 4 * 8 * 32);
  EXPECT_EQ(mfu.kernels[0].counted_op, 1);
  EXPECT_EQ(mfu.kernels[0].op, 2);
  EXPECT_EQ(mfu.kernels[1].flops.count, 2 * 4 * 8 * 16);
  EXPECT_EQ(mfu.kernels[1].counted_op, 0);
  EXPECT_EQ(mfu.kernels[2].flops.gap, FlopsGap::kUnknownOperator);
}

TEST(GpuMfu, SeveralKernelsOfAnOperatorShareItsOperationsByTheirTime) {
  GpuRank rank;
  rank.Op("aten::convolution_backward", 0, 100, "[[1, 2, 4, 4], [1, 3, 4, 4], [2, 3, 1, 1]]",
          "['c10::Half', 'c10::Half', 'c10::Half']\n['', '', '', '[0]', '[1, 1]', '[0, 0]',"
          " '[1, 1]', 'False', '[0, 0]', '1', '[True, True, False]']");
  rank.LaunchedKernel(10, rank.main, 100, "dgrad_engine");
  rank.LaunchedKernel(20, rank.main, 60, "wgrad_alg0_engine");
  rank.LaunchedKernel(30, rank.main, 40, "nchwToNhwcKernel");
  const RankMfu mfu = rank.Find();
  // Two gradients of 2 x 4 x 4 values, 3 multiply-adds each: 384 operations, 5 / 8 and 3 / 8.
  EXPECT_EQ(mfu.kernels[0].flops.count, 240);
  EXPECT_EQ(mfu.kernels[1].flops.count, 144);
  EXPECT_EQ(mfu.kernels[2].flops.gap, FlopsGap::kUnknownOperator);
  EXPECT_EQ(mfu.kernels[0].type, TypeClass::kFp16);
}

TEST(GpuMfu, MatrixWorkThatIsNotCountedHasAReason) {
  GpuRank rank;
  rank.Op("Torch-Compiled Region: 0/0", 0, 100, "N/A");
  rank.LaunchedKernel(10, rank.main, 10, "Cijk_gemm");
  rank.LaunchedKernel(200, rank.main, 10, "attn_fwd");
  rank.Op("aten::mm", 300, 310, "N/A");
  rank.LaunchedKernel(305, rank.main, 10, "ampere_sgemm_128x64_tn");
  const RankMfu mfu = rank.Find();
  EXPECT_EQ(mfu.kernels[0].flops.gap, FlopsGap::kUnknownLauncher);
  EXPECT_EQ(mfu.kernels[1].flops.gap, FlopsGap::kNoLauncher);
  EXPECT_EQ(mfu.kernels[1].work, KernelClass::kAttention);
  EXPECT_EQ(mfu.kernels[2].flops.gap, FlopsGap::kNoShapes);
}

TEST(KernelMfu, ATypeThatMultipliesMatricesWithoutAFormulaIsNotTakenForOtherWork) {
  KernelRank rank;
  rank.Op("npu::paged", 100, 110, rank.main);
  rank.Work(100, 10, "PagedAttentionMaskNd");
  rank.Work(105, 10, "Add");
  const RankMfu mfu = rank.Find();
  EXPECT_EQ(mfu.kernels[0].flops.gap, FlopsGap::kNoFormula);
  EXPECT_EQ(mfu.kernels[1].flops.gap, FlopsGap::kUnknownOperator);
}

}  // namespace
}  // namespace mpa
