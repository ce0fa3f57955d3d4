// SPDX-License-Identifier: Apache-2.0
// The numbers of all calls, of each graph and of each step.
#include "summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "mpa/measure/quantiles.h"

namespace mpa::head {

std::optional<CallSpread> SpreadOf(std::vector<TimeNs> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const auto count = static_cast<std::int64_t>(values.size());
  const TimeNs sum = std::accumulate(values.begin(), values.end(), TimeNs{0});
  const auto mean = std::llround(static_cast<double>(sum) / static_cast<double>(count));
  return CallSpread{.count = count,
                    .sum = sum,
                    .max = values.back(),
                    .mean = mean,
                    .p50 = Percentile(values, 50),
                    .p90 = Percentile(values, 90)};
}

namespace {

std::optional<double> Ratio(TimeNs part, TimeNs all) {
  if (all <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(all);
}

using ThreadStep = std::pair<std::int32_t, std::int32_t>;

// Of the steps by their ids.
std::map<std::int32_t, TimeNs> DurationsOf(const HostSteps& steps) {
  std::map<std::int32_t, TimeNs> durations;
  for (std::size_t step = 0; step < steps.Count(); ++step) {
    durations[steps.Id(step)] = steps.HostEnd(step) - steps.HostBegin(step);
  }
  return durations;
}

// Calls of one scope and phase.
class Summary {
 public:
  Summary(const std::vector<Call>& calls, const Scope& scope, Phase phase,
          const std::map<std::int32_t, TimeNs>& durations)
      : scope_(scope), phase_(phase), calls_(CallsOf(calls, scope, phase)) {
    for (const Call* call : calls_) {
      heads_ += call->Head();
      idle_ += call->IdleOf(Measure::kHead).value_or(0);
    }
    for (const auto& [track, step] : StepsOf(calls_)) step_time_ += durations.at(step);
  }

  void Add(Measure measure, std::vector<SummaryRow>& rows) const {
    std::vector<TimeNs> values;
    TimeNs in_steps = 0;
    MaybeNs exposed;
    for (const Call* call : calls_) {
      if (const MaybeNs idle = call->IdleOf(measure)) exposed = exposed.value_or(0) + *idle;
      const MaybeNs value = call->Of(measure);
      if (!value) continue;
      values.push_back(*value);
      if (call->step >= 0) in_steps += *value;
    }
    const auto spread = SpreadOf(std::move(values));
    if (!spread) return;
    SummaryRow& row = rows.emplace_back();
    row.scope = scope_.name;
    row.phase = phase_;
    row.measure = measure;
    row.spread = *spread;
    row.exposed_sum = exposed;
    const bool in_head = measure < Measure::kFirstTaskLatency && measure != Measure::kLag;
    if (in_head) {
      row.share = Ratio(spread->sum, heads_);
      row.share_of_step = Ratio(in_steps, step_time_);
    }
    if (exposed) row.exposed_share = Ratio(*exposed, idle_);
  }

 private:
  const Scope& scope_;
  Phase phase_;
  std::vector<const Call*> calls_;
  TimeNs heads_ = 0, idle_ = 0, step_time_ = 0;
};

}  // namespace

std::vector<Scope> FindScopes(const std::vector<Call>& calls) {
  std::map<std::string, std::set<std::int32_t>> threads;
  for (const Call& call : calls) {
    if (call.Counts()) threads[call.graph].insert(call.track);
  }
  std::vector<Scope> scopes = {{"all", {}}};
  std::map<std::pair<std::string, std::int32_t>, std::size_t> scope_of;
  for (const Call& call : calls) {
    if (!call.Counts()) continue;
    const auto [scope, is_new] = scope_of.try_emplace({call.graph, call.track}, scopes.size());
    if (is_new) {
      std::string name = call.graph;
      if (threads[call.graph].size() > 1) name += fmt::format(" (thread {})", call.tid);
      scopes.push_back({std::move(name), {}});
    }
    for (const std::size_t of : {std::size_t{0}, scope->second}) {
      scopes[of].calls.push_back(static_cast<std::size_t>(call.id));
    }
  }
  return scopes;
}

std::vector<const Call*> CallsOf(const std::vector<Call>& calls, const Scope& scope,
                                 std::optional<Phase> phase) {
  std::vector<const Call*> found;
  for (const std::size_t i : scope.calls) {
    if (!phase || calls[i].phase == *phase) found.push_back(&calls[i]);
  }
  return found;
}

std::set<std::pair<std::int32_t, std::int32_t>> StepsOf(const std::vector<const Call*>& calls) {
  std::set<std::pair<std::int32_t, std::int32_t>> steps;
  for (const Call* call : calls) {
    if (call->step >= 0) steps.emplace(call->track, call->step);
  }
  return steps;
}

std::vector<SummaryRow> Summarise(const std::vector<Call>& calls, const std::vector<Scope>& scopes,
                                  const HostSteps& steps) {
  const auto durations = DurationsOf(steps);
  std::vector<SummaryRow> rows;
  for (const Scope& scope : scopes) {
    for (const Phase phase : {Phase::kSteady, Phase::kCompile}) {
      const Summary summary(calls, scope, phase, durations);
      for (std::size_t i = 0; i < Index(Measure::kEpilogue); ++i) {
        summary.Add(static_cast<Measure>(i), rows);
      }
    }
  }
  return rows;
}

const SummaryRow* FindRow(const std::vector<SummaryRow>& rows, Phase phase, Measure measure) {
  const auto found = std::ranges::find_if(rows, [&](const SummaryRow& row) {
    return row.scope == "all" && row.phase == phase && row.measure == measure;
  });
  return found != rows.end() ? &*found : nullptr;
}

std::vector<StepRow> SumSteps(const std::vector<Call>& calls, const HostSteps& steps) {
  std::map<std::int32_t, std::size_t> step_of_id;
  for (std::size_t step = 0; step < steps.Count(); ++step) step_of_id[steps.Id(step)] = step;
  const auto durations = DurationsOf(steps);
  std::map<ThreadStep, StepRow> rows;  // by step, then thread
  for (const Call& call : calls) {
    if (call.step < 0 || !call.KnowsHead() || call.parent >= 0) continue;
    StepRow& row = rows[{call.step, call.track}];
    row.step = call.step;
    row.tid = call.tid;
    row.duration = durations.at(call.step);
    ++row.calls;
    if (call.phase == Phase::kCompile) ++row.compile_calls;
    for (std::size_t part = 0; part < kPartsOfCall; ++part) {
      row.parts[part] += call.Of(call.Parts()[part]).value_or(0);
    }
    row.knows_serving = row.knows_serving || call.Of(Measure::kServing);
    row.head += call.Head();
    if (const MaybeNs idle = call.IdleOf(Measure::kHead)) {
      row.exposed = row.exposed.value_or(0) + *idle;
    }
    row.tail = steps.HostEnd(step_of_id.at(call.step)) - call.end;
    row.outside = row.duration - row.head - row.tail;
  }
  std::vector<StepRow> list;
  list.reserve(rows.size());
  for (const auto& [key, row] : rows) list.push_back(row);
  return list;
}

namespace {

using ChildKey = std::tuple<Measure, std::string_view, std::string_view>;

// The children of a scope.
struct ChildSums {
  std::int64_t calls = 0;
  std::array<TimeNs, kMeasures> times{};  // of the parts, that the shares are of
  std::map<ChildKey, Child> of_key;       // all together
  std::map<ChildKey, TimeNs> max;

  void Add(const Call& call, const std::vector<Child>& children) {
    ++calls;
    for (std::size_t i = 0; i < kMeasures; ++i) {
      const auto part = static_cast<Measure>(i);
      const MaybeNs exec = part == Measure::kGe ? call.Of(Measure::kGeExec) : std::nullopt;
      times[i] += exec ? *exec : call.Of(part).value_or(0);
    }
    for (const Child& child : children) {
      Child& sum = of_key[child.Key()];
      sum.count += child.count;
      sum.total += child.total;
      if (child.exposed) sum.exposed = sum.exposed.value_or(0) + *child.exposed;
      TimeNs& most = max[child.Key()];
      most = std::max(most, child.total);
    }
  }
};

}  // namespace

std::vector<ChildRow> SumChildren(const std::vector<Scope>& scopes, Phase phase,
                                  HeadAnalysis& analysis) {
  std::vector<std::size_t> scope_of_call(analysis.calls.size(), 0);
  for (std::size_t scope = 1; scope < scopes.size(); ++scope) {
    for (const std::size_t call : scopes[scope].calls) scope_of_call[call] = scope;
  }
  std::vector<ChildSums> sums(scopes.size());
  const ChildFinder finder(analysis);
  for (std::size_t i = 0; i < analysis.calls.size(); ++i) {
    const std::vector<Child> children = finder.Of(i);
    Call& call = analysis.calls[i];
    CountConversions(children, call);
    if (scope_of_call[i] == 0 || call.phase != phase) continue;
    sums[0].Add(call, children);
    sums[scope_of_call[i]].Add(call, children);
  }
  std::vector<ChildRow> rows;
  for (std::size_t scope = 0; scope < scopes.size(); ++scope) {
    const auto first = static_cast<std::ptrdiff_t>(rows.size());
    for (const auto& [key, sum] : sums[scope].of_key) {
      const auto& [part, kind, name] = key;
      rows.push_back({scopes[scope].name, part, std::string(kind), std::string(name), sum.count,
                      sums[scope].calls, sum.total, sums[scope].max[key], sum.exposed,
                      Ratio(sum.total, sums[scope].times[Index(part)])});
    }
    std::stable_sort(rows.begin() + first, rows.end(), [](const ChildRow& a, const ChildRow& b) {
      return std::pair{a.part, -a.total} < std::pair{b.part, -b.total};
    });
  }
  return rows;
}

}  // namespace mpa::head
