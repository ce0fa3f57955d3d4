// SPDX-License-Identifier: Apache-2.0
// Two runs beside each other, as the Python tool's advisor shows them.
#include "advisor_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "advisor_baseline.h"
#include "mpa/compare/comparison.h"
#include "mpa/pipeline/compare.h"
#include "mpa/pipeline/find_ranks.h"

namespace mpa {
namespace {

using Times = std::map<std::int64_t, std::int64_t>;  // ns of the mean step, by rank

// What the leaves that begin with `prefix` take.
Times TimesOf(const nlohmann::json& diagnosis, std::string_view prefix) {
  Times sums;
  for (const auto& [rank, account] : MeanAccounts(diagnosis)) {
    for (const auto& [leaf, time] : account) {
      if (leaf.starts_with(prefix)) sums[rank] += time.ns;
    }
  }
  return sums;
}

// A rank of the target and its like in the benchmark.
struct RankPair {
  const FoundRank* target = nullptr;
  const FoundRank* benchmark = nullptr;
};

// The pair that lost most. The numbers of single ranks need not agree.
std::optional<RankPair> LargestLoss(const FoundRanks& targets, const Times& target,
                                    const FoundRanks& benchmarks, const Times& benchmark) {
  if (targets.ranks.size() == 1 && benchmarks.ranks.size() == 1) {
    return RankPair{&targets.ranks[0], &benchmarks.ranks[0]};
  }
  std::optional<RankPair> worst;
  std::int64_t most = 0;
  for (const FoundRank& of_target : targets.ranks) {
    const auto same = [&](const FoundRank& other) { return other.rank == of_target.rank; };
    const auto found = std::find_if(benchmarks.ranks.begin(), benchmarks.ranks.end(), same);
    const auto own = target.find(of_target.rank), other = benchmark.find(of_target.rank);
    if (found == benchmarks.ranks.end() || own == target.end() || other == benchmark.end())
      continue;
    const std::int64_t loss = own->second - other->second;
    if (worst && loss <= most) continue;
    worst = RankPair{&of_target, &*found};
    most = loss;
  }
  return worst;
}

// 0 where there is none.
double NumberIn(const Row& row, std::size_t column) {
  if (column >= row.cells.size()) return 0;
  if (const auto* whole = std::get_if<std::int64_t>(&row.cells[column]))
    return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&row.cells[column]);
  return real == nullptr ? 0 : *real;
}

// The first columns of times of both sides.
std::pair<std::size_t, std::size_t> TotalsOf(const Sheet& sheet) {
  std::size_t own = 0, other = 0;
  for (std::size_t i = sheet.columns.size(); i-- > 0;) {
    if (!sheet.columns[i].name.starts_with("Total Duration")) continue;
    (sheet.columns[i].side == Side::kBase ? own : other) = i;
  }
  return {own, other};
}

// The sheet of compare as the advisor of the Python tool has it. What lost most stands first.
Sheet AsBenchmarkSheet(Sheet sheet, std::string name) {
  const auto [own, other] = TotalsOf(sheet);
  const auto loss = [own = own, other = other](const Row& row) {
    return NumberIn(row, own) - NumberIn(row, other);
  };
  std::stable_sort(sheet.rows.begin(), sheet.rows.end(),
                   [&](const Row& a, const Row& b) { return loss(a) > loss(b); });
  for (std::size_t i = 0; i < sheet.rows.size(); ++i) {
    sheet.rows[i].cells[0] = static_cast<std::int64_t>(i + 1);
  }
  for (Column& column : sheet.columns) {
    // Two blanks, as the Python tool writes it.
    if (column.side == Side::kComparison) column.name = "Benchmark  " + column.name;
    column.side = Side::kNeither;
  }
  sheet.banners.clear();
  sheet.look = Look::kList;
  sheet.name = std::move(name);
  return sheet;
}

class BenchmarkComparison {
 public:
  BenchmarkComparison(const ClusterRequest& target, const ClusterRequest& benchmark, Report& report)
      : steps_{target.step, benchmark.step},
        targets_(FindRanks(target.directory, target.ranks, target.open)),
        benchmarks_(FindRanks(benchmark.directory, benchmark.ranks, benchmark.open)),
        report_(report) {}

  void Add(std::string_view comparison, std::string_view title, const Times& target,
           const Times& benchmark) {
    const auto pair = LargestLoss(targets_, target, benchmarks_, benchmark);
    if (!pair) {
      report_.notes.push_back(fmt::format(
          "{}: no rank was captured in both runs; give runs with the same ranks", title));
      return;
    }
    CompareRequest request;
    request.base = pair->target->input;
    request.comparison = pair->benchmark->input;
    if (steps_[0] && steps_[1]) {
      request.base_step = steps_[0];
      request.comparison_step = steps_[1];
    }
    request.options.kernel_types = true;
    for (const Comparison& known : AllComparisons()) {
      if (known.name == comparison) request.comparisons.push_back(known);
    }
    CompareOutcome outcome = Compare(request);
    const std::string whose = targets_.ranks.size() == 1
                                  ? "Target and Benchmark"
                                  : fmt::format("Rank{}", pair->target->rank);
    for (Sheet& sheet : outcome.report.sheets) {
      report_.sheets.push_back(
          AsBenchmarkSheet(std::move(sheet), fmt::format("{} of {}", title, whose)));
    }
    for (const std::string& note : outcome.report.notes) {
      if (std::find(report_.notes.begin(), report_.notes.end(), note) == report_.notes.end())
        report_.notes.push_back(note);
    }
  }

 private:
  std::optional<std::int32_t> steps_[2];
  FoundRanks targets_, benchmarks_;
  Report& report_;
};

}  // namespace

void AddBenchmarkSheets(const ClusterRequest& target, const nlohmann::json& diagnosis,
                        const ClusterRequest& benchmark, const nlohmann::json& benchmark_diagnosis,
                        Report& report) {
  BenchmarkComparison comparison(target, benchmark, report);
  comparison.Add("kernel", "Kernel compare", TimesOf(diagnosis, "comp."),
                 TimesOf(benchmark_diagnosis, "comp."));
  comparison.Add("api", "Api compare", TimesOf(diagnosis, "free."),
                 TimesOf(benchmark_diagnosis, "free."));
}

}  // namespace mpa
