// SPDX-License-Identifier: Apache-2.0
#include "summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "call_children.h"
#include "mpa/measure/quantiles.h"

namespace mpa::head {

std::optional<Spread> SpreadOf(std::vector<TimeNs> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<std::int64_t>(values.size());
  const TimeNs sum = std::accumulate(values.begin(), values.end(), TimeNs{0});
  const auto mean = std::llround(static_cast<double>(sum) / static_cast<double>(count));
  return Spread{.count = count,
                .sum = sum,
                .max = values.back(),
                .mean = mean,
                .p50 = Percentile(values, 50),
                .p90 = Percentile(values, 90)};
}

// The numbers of all calls, of each graph and of each step.

namespace {

// A number that calls have: a segment, a part of one, or a time to the first kernel.
struct Measure {
  std::string_view name;
  MaybeNs (*of)(const Call& call);
  MaybeNs (*exposed)(const Call& call);  // null: idle time of the device is not told of it
  bool in_head = true;                   // a part of the head, or all of it
};

template <Segment kSegment>
MaybeNs Of(const Call& call) {
  return call.Of(kSegment);
}
template <Segment kSegment>
MaybeNs Exposed(const Call& call) {
  return call.ExposedOf(kSegment);
}

// The execution of the graph: GE's part, or the replay that is not GE's.
template <bool kReplays>
MaybeNs Graph(const Call& call) {
  return call.Replays() == kReplays ? call.Of(Segment::kGe) : std::nullopt;
}
template <bool kReplays>
MaybeNs ExposedGraph(const Call& call) {
  return call.Replays() == kReplays ? call.ExposedOf(Segment::kGe) : std::nullopt;
}

constexpr Measure kMeasures[] = {
    {"platform", Of<Segment::kPlatform>, Exposed<Segment::kPlatform>},
    {"platform_wait", [](const Call& call) { return call.platform_wait; },
     [](const Call& call) { return call.exposed_wait; }},
    {"dynamo", Of<Segment::kDynamo>, Exposed<Segment::kDynamo>},
    {"lookup", [](const Call& call) { return call.lookup; },
     [](const Call& call) { return call.exposed_lookup; }},
    {"dynamo_compile", [](const Call& call) { return call.dynamo_compile; }, nullptr},
    {"region_other", [](const Call& call) { return call.region_other; }, nullptr},
    {"frontend",
     [](const Call& call) -> MaybeNs {
       return *call.Of(Segment::kPlatform) + *call.Of(Segment::kDynamo);
     },
     [](const Call& call) -> MaybeNs {
       const MaybeNs platform = call.ExposedOf(Segment::kPlatform);
       const MaybeNs dynamo = call.ExposedOf(Segment::kDynamo);
       return platform && dynamo ? MaybeNs(*platform + *dynamo) : std::nullopt;
     }},
    {"torchair_py", Of<Segment::kTorchairPy>, Exposed<Segment::kTorchairPy>},
    {"torchair_cpp", Of<Segment::kTorchairCpp>, Exposed<Segment::kTorchairCpp>},
    {"ge", Graph<false>, ExposedGraph<false>},
    {"aclgraph", Graph<true>, ExposedGraph<true>},
    {"ge_exec", [](const Call& call) { return call.ge_exec; },
     [](const Call& call) { return call.exposed_ge_exec; }},
    {"epilogue_cpp", [](const Call& call) { return call.epilogue_cpp; }, nullptr},
    {"epilogue_py", [](const Call& call) { return call.epilogue_py; }, nullptr},
    {"lag",
     [](const Call& call) {
       return Since(call.first_kernel, call.t4).value_or(0) > 0 ? Since(call.first_kernel, call.t4)
                                                                : std::nullopt;
     },
     [](const Call& call) { return call.exposed_lag; }, false},
    {"head", [](const Call& call) -> MaybeNs { return call.Head(); },
     [](const Call& call) { return call.idle; }},
    {"compile", [](const Call& call) -> MaybeNs { return call.compile; },
     [](const Call& call) { return call.exposed_compile; }},
    {"head_net", [](const Call& call) -> MaybeNs { return call.Head() - call.compile; }, nullptr},
    {"first_task_latency", [](const Call& call) { return Since(call.first_task, call.t3); },
     nullptr, false},
    {"first_kernel_latency", [](const Call& call) { return Since(call.first_kernel, call.t3); },
     nullptr, false},
    {"head_to_first_kernel", [](const Call& call) { return Since(call.first_kernel, call.w0); },
     nullptr, false},
};

std::optional<double> Ratio(TimeNs part, TimeNs all) {
  if (all <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(all);
}

using ThreadStep = std::pair<std::int32_t, std::int32_t>;

TimeNs DurationOf(const HostSteps& steps, std::size_t step) {
  return steps.HostEnd(step) - steps.HostBegin(step);
}

class Summary {
 public:
  Summary(const std::vector<Call>& calls, const HostSteps& steps) : calls_(calls) {
    for (std::size_t step = 0; step < steps.Count(); ++step) {
      durations_[steps.Id(step)] = DurationOf(steps, step);
    }
  }

  void Add(const Scope& scope, Phase phase, std::vector<SummaryRow>& rows) const {
    std::vector<const Call*> chosen;
    TimeNs heads = 0, idle = 0;
    std::set<ThreadStep> steps;
    for (const std::size_t i : scope.calls) {
      const Call& call = calls_[i];
      if (call.phase != phase) continue;
      chosen.push_back(&call);
      heads += call.Head();
      idle += call.idle.value_or(0);
      if (call.step >= 0) steps.emplace(call.track, call.step);
    }
    TimeNs step_time = 0;
    for (const auto& [track, step] : steps) step_time += durations_.at(step);
    for (const Measure& measure : kMeasures) {
      std::vector<TimeNs> values;
      TimeNs in_steps = 0;
      MaybeNs exposed;
      for (const Call* call : chosen) {
        const MaybeNs value = measure.of(*call);
        const MaybeNs idle_then =
            measure.exposed != nullptr ? measure.exposed(*call) : std::nullopt;
        if (idle_then) exposed = exposed.value_or(0) + *idle_then;
        if (!value) continue;
        values.push_back(*value);
        if (call->step >= 0) in_steps += *value;
      }
      const auto spread = SpreadOf(std::move(values));
      if (!spread) continue;
      SummaryRow row{.scope = scope.name,
                     .phase = phase,
                     .measure = std::string(measure.name),
                     .spread = *spread,
                     .share = {},
                     .share_of_step = {},
                     .exposed_sum = exposed,
                     .exposed_share = {}};
      if (measure.in_head) {
        row.share = Ratio(spread->sum, heads);
        row.share_of_step = Ratio(in_steps, step_time);
      }
      if (exposed) row.exposed_share = Ratio(*exposed, idle);
      rows.push_back(std::move(row));
    }
  }

 private:
  const std::vector<Call>& calls_;
  std::map<std::int32_t, TimeNs> durations_;
};

}  // namespace

std::vector<Scope> FindScopes(const std::vector<Call>& calls,
                              const std::vector<std::string>& graphs) {
  std::map<std::size_t, std::set<std::int32_t>> threads;
  for (const Call& call : calls) {
    if (call.Counts()) threads[call.graph].insert(call.track);
  }
  std::vector<Scope> scopes = {{"all", {}}};
  std::map<std::pair<std::size_t, std::int32_t>, std::size_t> scope_of;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    if (!call.Counts()) continue;
    const auto [scope, is_new] = scope_of.try_emplace({call.graph, call.track}, scopes.size());
    if (is_new) {
      std::string name = graphs[call.graph];
      if (threads[call.graph].size() > 1) name += fmt::format(" (thread {})", call.tid);
      scopes.push_back({std::move(name), {}});
    }
    scopes[0].calls.push_back(i);
    scopes[scope->second].calls.push_back(i);
  }
  return scopes;
}

std::vector<SummaryRow> Summarise(const std::vector<Call>& calls, const std::vector<Scope>& scopes,
                                  const HostSteps& steps) {
  const Summary summary(calls, steps);
  std::vector<SummaryRow> rows;
  for (const Scope& scope : scopes) {
    for (const Phase phase : {Phase::kSteady, Phase::kCompile}) summary.Add(scope, phase, rows);
  }
  return rows;
}

std::vector<StepRow> SumSteps(const std::vector<Call>& calls, const HostSteps& steps) {
  std::map<std::int32_t, std::size_t> step_of_id;
  for (std::size_t step = 0; step < steps.Count(); ++step) step_of_id[steps.Id(step)] = step;
  std::map<ThreadStep, StepRow> rows;  // by step, then thread
  for (const Call& call : calls) {
    if (call.step < 0 || !call.KnowsHead() || call.parent >= 0) continue;
    const std::size_t step = step_of_id.at(call.step);
    const ThreadStep key{call.step, call.track};
    const auto [found, is_first] = rows.try_emplace(key);
    StepRow& row = found->second;
    if (is_first) {
      row.step = call.step;
      row.tid = call.tid;
      row.duration = DurationOf(steps, step);
    }
    ++row.calls;
    if (call.phase == Phase::kCompile) ++row.compile_calls;
    for (const Segment segment : kAllSegments) {
      row.segments[Index(segment)] += call.Of(segment).value_or(0);
    }
    row.head += call.Head();
    if (call.idle) row.exposed = row.exposed.value_or(0) + *call.idle;
    row.tail = steps.HostEnd(step) - call.t4;
    row.outside = row.duration - row.head - row.tail;
  }
  std::vector<StepRow> list;
  list.reserve(rows.size());
  for (const auto& [key, row] : rows) list.push_back(row);
  return list;
}

namespace {

// The time of a segment that the shares are of.
TimeNs TimeOf(ChildSegment segment, const Call& call) {
  switch (segment) {
    case ChildSegment::kPlatform:
      return call.Of(Segment::kPlatform).value_or(0);
    case ChildSegment::kTorchairPy:
      return call.Of(Segment::kTorchairPy).value_or(0);
    case ChildSegment::kTorchairCpp:
      return call.Of(Segment::kTorchairCpp).value_or(0);
    case ChildSegment::kGe:
      if (call.Replays()) return 0;
      return call.ge_exec ? *call.ge_exec : call.Of(Segment::kGe).value_or(0);
    case ChildSegment::kReplay:
      return call.Replays() ? call.Of(Segment::kGe).value_or(0) : 0;
    case ChildSegment::kEpilogue:
      return call.epilogue_cpp.value_or(0) + call.epilogue_py.value_or(0);
  }
  return 0;
}

}  // namespace

ChildSums::ChildSums(const std::vector<Call>& calls, const std::vector<Scope>& scopes, Phase phase)
    : calls_(calls),
      scopes_(scopes),
      phase_(phase),
      scope_of_call_(calls.size(), 0),
      sums_(scopes.size()) {
  for (std::size_t scope = 1; scope < scopes.size(); ++scope) {
    for (const std::size_t call : scopes[scope].calls) scope_of_call_[call] = scope;
  }
}

void ChildSums::Sum::Add(const Sum& other) {
  count += other.count;
  total += other.total;
  max = std::max(max, other.max);
  if (other.exposed) exposed = exposed.value_or(0) + *other.exposed;
}

void ChildSums::Add(std::size_t call, const std::vector<Child>& children) {
  const std::size_t scope = scope_of_call_[call];
  if (scope == 0 || calls_[call].phase != phase_) return;
  ScopeSums& sums = sums_[scope];
  ++sums.calls;
  for (std::size_t segment = 0; segment < kChildSegments; ++segment) {
    sums.times[segment] += TimeOf(static_cast<ChildSegment>(segment), calls_[call]);
  }
  for (const Child& child : children) {
    sums.of_key[child.Key()].Add({child.count, child.total, child.total, child.exposed});
  }
}

std::vector<ChildRow> ChildSums::Rows() const {
  ScopeSums all;
  for (const ScopeSums& sums : sums_) {
    all.calls += sums.calls;
    for (std::size_t i = 0; i < kChildSegments; ++i) all.times[i] += sums.times[i];
    for (const auto& [key, part] : sums.of_key) {
      all.of_key[key].Add(part);
    }
  }
  std::vector<ChildRow> rows;
  for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
    const ScopeSums& sums = scope == 0 ? all : sums_[scope];
    const auto first = static_cast<std::ptrdiff_t>(rows.size());
    for (const auto& [key, sum] : sums.of_key) {
      const auto& [segment, kind, name] = key;
      const TimeNs time = sums.times[static_cast<std::size_t>(segment)];
      std::optional<double> share;
      if (time > 0) share = static_cast<double>(sum.total) / static_cast<double>(time);
      rows.push_back({scopes_[scope].name, segment, std::string(kind), std::string(name), sum.count,
                      sums.calls, sum.total, sum.max, sum.exposed, share});
    }
    std::stable_sort(rows.begin() + first, rows.end(), [](const ChildRow& a, const ChildRow& b) {
      return std::pair{a.segment, -a.total} < std::pair{b.segment, -b.total};
    });
  }
  return rows;
}

}  // namespace mpa::head
