// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/gate/metric.h"
#include "support/failures.h"

namespace mpa::gate {
namespace {

using test::ErrorOf;

TEST(GateRule, ReadsSharesAndAmounts) {
  EXPECT_EQ(ParseRule("step_time>+3%"), (Rule{{MetricKind::kStepTime, ""}, {3.0, {}}, {}, {}}));
  EXPECT_EQ(ParseRule("comm_exposed>+5%&+200us"),
            (Rule{{MetricKind::kCommExposed, ""}, {5.0, 200'000}, {}, {}}));
  EXPECT_EQ(ParseRule("peak_memory>+256MB"),
            (Rule{{MetricKind::kPeakMemory, ""}, {{}, 256'000'000}, {}, {}}));
  EXPECT_EQ(ParseRule("op:MatMul*>+10%"), (Rule{{MetricKind::kOp, "MatMul*"}, {10.0, {}}, {}, {}}));
}

TEST(GateRule, TakesBlanksAndAnyOrder) {
  EXPECT_EQ(ParseRule(" e2e > 1.5ms & 0.5% "),
            (Rule{{MetricKind::kE2e, ""}, {0.5, 1'500'000}, {}, {}}));
}

TEST(GateRule, NamesOfKernelsMayHoldTheSign) {
  const Rule rule = ParseRule("kernel:void f<float>(int)>+10%");
  EXPECT_EQ(rule.metric.pattern, "void f<float>(int)");
  EXPECT_EQ(rule.limit.percent, 10.0);
}

TEST(GateRule, ErrorsNameThePlaceAndTheMend) {
  const auto message = [](const char* text) {
    const Error error = ErrorOf([&] { ParseRule(text); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << text;
    return std::string(error.what());
  };
  EXPECT_HAS_TEXT(message("step_time"), "'step_time' has no limit");
  EXPECT_HAS_TEXT(message("step_tiem>+3%"), "did you mean 'step_time'?");
  EXPECT_HAS_TEXT(message("speed>+3%"), "available: step_time, e2e,");
  EXPECT_HAS_TEXT(message("op:>+3%"), "op:MatMul*");
  EXPECT_HAS_TEXT(message("step_time>+3%&x"), "behind '>' at character 10: character 5: 'x'");
  EXPECT_HAS_TEXT(message("step_time>"), "character 1: '' is not a limit");
  EXPECT_HAS_TEXT(message("step_time>-3%"), "'-3%' is not a limit");
  EXPECT_HAS_TEXT(message("step_time>+256MB"), "+200us (ns, us, ms, s)");
  EXPECT_HAS_TEXT(message("peak_memory>+3us"), "+256MB (B, kB, MB, GB; KiB, MiB, GiB)");
  EXPECT_HAS_TEXT(message("step_time>+3%&+4%"), "'+4%' is the second share");
  EXPECT_HAS_TEXT(message("step_time>+3ms&+4ms"), "'+4ms' is the second amount");
  EXPECT_HAS_TEXT(message("step_time>nan%"), "is not a limit");
}

TEST(GateRule, AmountsAreWholeNanosecondsAndBytes) {
  EXPECT_EQ(ParseAmount("1.5us", Quantity::kTime), 1500);
  EXPECT_EQ(ParseAmount("+2 s", Quantity::kTime), 2'000'000'000);
  EXPECT_EQ(ParseAmount("1.5kB", Quantity::kBytes), 1500);
  EXPECT_EQ(ParseAmount("1.5KB", Quantity::kBytes), 1500);
  EXPECT_EQ(ParseAmount("256MB", Quantity::kBytes), 256'000'000);
  EXPECT_EQ(ParseAmount("1.5KiB", Quantity::kBytes), 1536);
  EXPECT_EQ(ParseAmount("256MiB", Quantity::kBytes), 268'435'456);
  EXPECT_EQ(ParseAmount("1GiB", Quantity::kBytes), 1'073'741'824);
  EXPECT_EQ(ParseAmount("20", Quantity::kTime), std::nullopt);
  EXPECT_EQ(ParseAmount("1e30s", Quantity::kTime), std::nullopt);
  EXPECT_EQ(ParseAmount("99999999999999s", Quantity::kTime), std::nullopt);
}

TEST(GateRule, LimitsAreShownWithTheirUnit) {
  EXPECT_EQ(LimitText({5.0, 200'000}, Quantity::kTime), "5 % and 200.0 us");
  EXPECT_EQ(LimitText({{}, 256'000'000}, Quantity::kBytes), "256.0 MB");
  EXPECT_EQ(LimitText({}, Quantity::kTime), "");
}

TEST(GateMetric, NamesAreReadAsTheyAreWritten) {
  for (const char* name : {"step_time", "e2e", "computing", "comm_exposed", "comm_total", "free",
                           "peak_memory", "op:a*", "kernel:x", "module:*Attention*", "api:y"}) {
    EXPECT_EQ(NameOf(ParseMetric(name)), name);
  }
}

TEST(GateMetric, PatternsOfOperatorsTellTheFrameworksByTheirColons) {
  EXPECT_TRUE(IsFrameworkOp(ParseMetric("op:aten::mm")));
  EXPECT_FALSE(IsFrameworkOp(ParseMetric("op:MatMul*")));
  EXPECT_FALSE(IsFrameworkOp(ParseMetric("api:aten::mm")));
}

TEST(GateMetric, PatternsFitWholeNames) {
  EXPECT_TRUE(FitsPattern("MatMul*", "MatMulV2"));
  EXPECT_TRUE(FitsPattern("MatMul*", "MatMul"));
  EXPECT_FALSE(FitsPattern("MatMul*", "BatchMatMul"));
  EXPECT_TRUE(FitsPattern("*MatMul*", "BatchMatMulV2"));
  EXPECT_TRUE(FitsPattern("?dd", "Add"));
  EXPECT_FALSE(FitsPattern("?dd", "dd"));
  EXPECT_TRUE(FitsPattern("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(FitsPattern("a*b*c", "a-b-b-d"));
  EXPECT_TRUE(FitsPattern("", ""));
  EXPECT_FALSE(FitsPattern("", "a"));
  EXPECT_TRUE(FitsPattern("*", ""));
}

}  // namespace
}  // namespace mpa::gate
