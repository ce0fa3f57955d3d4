// SPDX-License-Identifier: Apache-2.0
// Requests of a server before and after: their times by percentile, and how long batches run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare_sheet.h"
#include "mpa/base/language.h"
#include "mpa/base/time.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/request_times.h"
#include "mpa/measure/server_spans.h"
#include "mpa/report/amount.h"

namespace mpa::comparisons {
namespace {

using SortedTimes = std::vector<TimeNs>;

std::array<SortedTimes, kRequestTimes> RequestTimesOf(const RankTrace& trace) {
  std::array<SortedTimes, kRequestTimes> times;
  const mpa::ServerRequests& requests = trace.server_requests;
  for (std::size_t i = 0; i < requests.Size(); ++i) {
    const TimesOfRequest of_one = TimesOf(requests.first_token[i], requests.dur[i],
                                          requests.queued[i], requests.reply_tokens[i]);
    for (std::size_t time = 0; time < of_one.size(); ++time) {
      if (of_one[time] >= 0) times[time].push_back(of_one[time]);
    }
  }
  for (SortedTimes& one : times) std::ranges::sort(one);
  return times;
}

// Batches of one phase that ran, or were put together.
struct BatchTimes {
  SortedTimes lengths{};
  double requests = 0, tokens = 0;

  double MeanRequests() const { return requests / static_cast<double>(lengths.size()); }
  double MeanTokens() const { return tokens / static_cast<double>(lengths.size()); }
};
using BatchesByName = std::map<std::string, BatchTimes>;

std::string NameOfBatch(ServerSpan kind, std::int32_t prefill, std::int32_t decode) {
  if (kind == ServerSpan::kSchedule) return "scheduling";
  if (kind != ServerSpan::kExecute && kind != ServerSpan::kRunner) return "";
  if (prefill > 0) return decode > 0 ? "mixed batches" : "prefill batches";
  return decode > 0 ? "decode batches" : "batches";
}

BatchesByName BatchesOf(const RankTrace& trace) {
  BatchesByName batches;
  const ServerBatches& rows = trace.server_batches;
  for (std::size_t i = 0; i < rows.Size(); ++i) {
    const std::string name = NameOfBatch(KindOfSpan(trace.strings.View(rows.name[i])),
                                         rows.prefill_requests[i], rows.decode_requests[i]);
    if (name.empty()) continue;
    BatchTimes& times = batches[name];
    times.lengths.push_back(rows.dur[i]);
    times.requests += std::max(rows.requests[i], 0);
    times.tokens += static_cast<double>(std::max<std::int64_t>(rows.prefill_tokens[i], 0) +
                                        std::max<std::int64_t>(rows.decode_tokens[i], 0));
  }
  for (auto& [name, times] : batches) std::ranges::sort(times.lengths);
  return batches;
}

constexpr std::array kPercents = {50, 90, 99, 100};

void AddRows(const std::string& name, const SortedTimes& base, const SortedTimes& comparison,
             Sheet& sheet) {
  if (base.empty() && comparison.empty()) return;
  for (const int percent : kPercents) {
    Row row{{name, percent == 100 ? std::string("max") : fmt::format("p{}", percent)}};
    std::array<double, 2> at{};
    for (std::size_t side = 0; side < 2; ++side) {
      const SortedTimes& times = side == 0 ? base : comparison;
      at[side] = times.empty() ? 0 : InMs(Percentile(times, percent));
      const auto count = static_cast<std::int64_t>(times.size());
      AppendCells(row, count, times.empty() ? Cell() : Cell(at[side]));
    }
    const bool both = !base.empty() && !comparison.empty();
    AppendCells(row, both ? Cell(at[1] - at[0]) : Cell(),
                both && at[0] > 0 ? Cell(at[1] / at[0]) : Cell());
    sheet.rows.push_back(std::move(row));
  }
}

std::string Change(TimeNs base, TimeNs comparison) {
  return fmt::format("{} -> {} ({:+.1f} %)", AmountText(Quantity::kTime, base),
                     AmountText(Quantity::kTime, comparison), PercentOf(comparison - base, base));
}

// Batches that hold as much and take longer: the model got slower, not the load.
void AddSlowerBatches(const BatchesByName& base, const BatchesByName& comparison, Report& report) {
  constexpr double kSlower = 1.1, kAlike = 0.1;
  constexpr std::size_t kFew = 20;
  for (const auto& [name, before] : base) {
    const auto found = comparison.find(name);
    if (found == comparison.end() || name == "scheduling") continue;
    const BatchTimes& after = found->second;
    if (before.lengths.size() < kFew || after.lengths.size() < kFew) continue;
    const auto alike = [&](double a, double b) {
      return std::abs(a - b) <= kAlike * std::max(a, b);
    };
    if (!alike(before.MeanRequests(), after.MeanRequests()) ||
        !alike(before.MeanTokens(), after.MeanTokens()))
      continue;
    const TimeNs base_time = Percentile(before.lengths, 50);
    const TimeNs time = Percentile(after.lengths, 50);
    if (static_cast<double>(time) < kSlower * static_cast<double>(base_time)) continue;
    report.story.push_back(Say("{} run longer with as many requests and tokens: {}",
                               Translated(name), Change(base_time, time)));
  }
}

void RunServerRequests(const CompareInput& input, Report& report) {
  const auto has_any = [&](Side side) {
    const RankTrace& trace = input.Trace(side);
    return !trace.server_requests.Empty() || !trace.server_batches.Empty();
  };
  if (input.options().compat || !has_any(Side::kBase) || !has_any(Side::kComparison)) return;
  const RankTrace &base = input.Trace(Side::kBase), &comparison = input.Trace(Side::kComparison);
  Sheet sheet = CompareSheet(
      "RequestCompare",
      {{BoldColumn("Quantity", "A time of requests, or of batches of a phase."),
        PlainColumn("Percentile", "p50, p90, p99 or max.", 12)},
       ForBothSides({PlainColumn("Count", "Requests or batches of which the time is known.", 12),
                     Decimals("Time(ms)", "The time at the percentile, in ms.")}),
       {Difference("Diff Time(ms)", "Time of the comparison minus that of the base, in ms."),
        Growth("Diff Ratio", RatioMeaning("the time"))}},
      input);
  const auto base_times = RequestTimesOf(base), times = RequestTimesOf(comparison);
  for (std::size_t i = 0; i < kRequestTimes; ++i) {
    const auto time = static_cast<RequestTime>(i);
    AddRows(std::string(Translated(TitleOf(time))), base_times[i], times[i], sheet);
    if (base_times[i].empty() || times[i].empty()) continue;
    report.story.push_back(Say("{}: p50 {}, p99 {}", Translated(TitleOf(time)),
                               Change(Percentile(base_times[i], 50), Percentile(times[i], 50)),
                               Change(Percentile(base_times[i], 99), Percentile(times[i], 99))));
  }
  const BatchesByName base_batches = BatchesOf(base), batches = BatchesOf(comparison);
  for (const auto& [name, of_base] : base_batches) {
    const auto found = batches.find(name);
    AddRows(std::string(Translated(name)), of_base.lengths,
            found == batches.end() ? SortedTimes() : found->second.lengths, sheet);
  }
  AddSlowerBatches(base_batches, batches, report);
  report.sheets.push_back(std::move(sheet));
}

Verdict JudgeServerRequests(const RankFacts& facts) {
  if (facts.kind == CaptureKind::kServer) return {};
  return JudgeReadable(facts).LeaveApart(
      true, "a profile of a device has no requests; msServiceProfiler records them",
      "give the directory that ms_service_profiler.parse wrote");
}

}  // namespace

Comparison ServerRequests() {
  return {"request",       "requests of a server", "Requests of a server, by percentile",
          Tables::kServer, RunServerRequests,      JudgeServerRequests};
}

}  // namespace mpa::comparisons
