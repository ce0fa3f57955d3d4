// SPDX-License-Identifier: Apache-2.0
#include "find_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "mpa/base/stable_sort.h"
#include "mpa/base/time.h"
#include "mpa/measure/device_work.h"
#include "mpa/report/amount.h"

namespace mpa::bottleneck {
namespace {

// The events of the fast rank by name, each name from the last one back.
class FastEvents {
 public:
  FastEvents(const PackedEvents& packed, TimeNs end) : events_(packed.EndingBy(end)) {
    const std::vector<std::string>& names = packed.Names();
    places_.resize(names.size());
    for (std::size_t i = 0; i < events_.size(); ++i) places_[events_[i].name].push_back(i);
    for (std::size_t i = 0; i < names.size(); ++i) number_of_.try_emplace(names[i], i);
    passed_ = events_.size();
  }

  // The last event of the name before the one that was found last; null when there is none.
  const Event* LastOf(std::string_view name) {
    const auto number = number_of_.find(name);
    if (number == number_of_.end()) return nullptr;
    std::vector<std::size_t>& places = places_[number->second];
    while (!places.empty() && places.back() >= passed_) places.pop_back();
    if (places.empty()) return nullptr;
    passed_ = places.back();
    return &events_[passed_];
  }

 private:
  std::vector<Event> events_;
  std::unordered_map<std::string_view, std::size_t> number_of_;
  std::vector<std::vector<std::size_t>> places_;  // by name, ascending
  std::size_t passed_ = 0;
};

}  // namespace

std::optional<Lags> FindLags(const PackedEvents& slow, TimeNs slow_end, const PackedEvents& fast,
                             TimeNs fast_end, TimeNs shift, TimeNs together) {
  FastEvents others(fast, fast_end);
  const std::vector<Event> events = slow.EndingBy(slow_end);
  std::optional<Lags> lags;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const std::string& name = slow.Names()[event->name];
    const Event* const other = others.LastOf(name);
    if (other == nullptr) continue;
    const TimeNs start = event->start - other->start + shift;
    const TimeNs duration = event->dur - other->dur;
    if (!lags) lags = Lags{{name, duration}, {name, start}};
    if (duration > lags->duration.diff) lags->duration = {name, duration};
    if (start > lags->start.diff) lags->start = {name, start};
    if (start < together) return lags;
  }
  return std::nullopt;
}

namespace {

std::string LagText(const char* level, const Lags& lags) {
  return fmt::format(
      "{}: max duration-diff op {}, diff {} us, max start-time-diff op {}, diff {} us.", level,
      lags.duration.name, PythonUs(lags.duration.diff), lags.start.name, PythonUs(lags.start.diff));
}

// A run of the operator on one rank.
struct Member {
  const OfRank<RankEvents>* rank = nullptr;
  TimeNs start = 0, dur = 0;

  TimeNs End() const { return start + dur; }
};

// The runs of one rank with their runs on all ranks. Those of a name that the ranks ran differently
// often are alone: which belong together is not known.
class Partners {
 public:
  Partners(const Ranks& ranks, std::size_t target) : ranks_(ranks), instances_(Join(ranks)) {
    for (const CollectiveInstance& instance : instances_) {
      for (const auto& member : instance.members) {
        if (member.rank == target && !instance.is_uneven) instance_of_[member.row] = &instance;
      }
    }
  }

  /// `row`: position in the runs of the target.
  std::vector<Member> Of(std::size_t row) const {
    std::vector<Member> members;
    const auto instance = instance_of_.find(row);
    if (instance == instance_of_.end()) return members;
    for (const auto& member : instance->second->members) {
      const RankRuns::Row& run = ranks_[member.rank].part.runs.rows[member.row];
      members.push_back({&ranks_[member.rank], run.start, run.dur});
    }
    return members;
  }

 private:
  static CollectiveInstances Join(const Ranks& ranks) {
    std::vector<const RankRuns*> parts;
    for (const auto& rank : ranks) parts.push_back(&rank.part.runs);
    return JoinInstancesOfRuns(parts);
  }

  const Ranks& ranks_;
  CollectiveInstances instances_;
  std::unordered_map<std::size_t, const CollectiveInstance*> instance_of_;
};

class CauseFinder {
 public:
  explicit CauseFinder(const Limits& limits) : limits_(limits) {}

  // Says in `found` which of the members came last, and why.
  void Find(const std::vector<Member>& members, SlowRun& found) const {
    if (members.size() < 2) {
      found.bound = Bound::kUnknown;
      found.reason = "[Failed] No other rank recorded the communication operator";
      return;
    }
    const auto shorter = [](const Member& a, const Member& b) { return a.dur < b.dur; };
    const Member& slow = *std::ranges::min_element(members, shorter);
    const Member& fast = *std::ranges::max_element(members, shorter);
    const auto longest = static_cast<double>(fast.dur);
    if (static_cast<double>(fast.dur - slow.dur) < limits_.slow_npu_happen * longest ||
        fast.dur == 0) {
      found.reason = fmt::format(
          "[Completed] No slow NPU detected: execution time difference is less than {}%",
          PlainNumber(100 * limits_.slow_npu_happen));
      return;
    }
    found.slow = slow.rank->rank;
    found.fast = fast.rank->rank;
    Explain(slow, fast, found);
  }

 private:
  void Explain(const Member& slow, const Member& fast, SlowRun& found) const {
    const RankEvents &late = slow.rank->part, &early = fast.rank->part;
    const TimeNs shift = fast.End() - slow.End();
    found.bound = BoundOf(late, fast.start - shift, slow.End());
    const auto lags = [&](PackedEvents RankEvents::*events) {
      return FindLags(late.*events, slow.start, early.*events, fast.start, shift,
                      static_cast<TimeNs>(limits_.start_ns_shifted));
    };
    if (found.bound == Bound::kUnknown) {
      found.reason = "[Failed] Insufficient data for analyzing slow NPU bottleneck";
      return;
    }
    constexpr const char* kNotTogether =
        " Tasks are not aligned between slow and fast NPU from the beginning";
    if (found.bound == Bound::kDevice) {
      const auto device = lags(&RankEvents::device);
      found.reason = "[Device-bound]" + (device ? LagText("Device", *device) : kNotTogether);
      return;
    }
    const auto framework = lags(&RankEvents::framework);
    found.reason = "[Host-bound]";
    if (!framework) {
      found.reason += kNotTogether;
      return;
    }
    found.reason += " " + LagText("PyTorch", *framework);
    if (const auto runtime = lags(&RankEvents::runtime)) {
      found.reason += " | " + LagText("CANN", *runtime);
    }
  }

  // Whether the work of the late rank waited on the device or for the host.
  Bound BoundOf(const RankEvents& late, TimeNs begin, TimeNs end) const {
    std::size_t all = 0, on_device = 0;
    for (const LaunchedTask& task : late.tasks) {
      if (task.start <= begin || task.end >= end) continue;
      ++all;
      const auto longer = static_cast<double>(task.device_wait - task.host_wait);
      on_device += longer > limits_.diff_waiting_time ? 1 : 0;
    }
    if (all == 0) return Bound::kUnknown;
    const bool is_device =
        static_cast<double>(on_device) > limits_.device_bound_proportion * static_cast<double>(all);
    return is_device ? Bound::kDevice : Bound::kHost;
  }

  const Limits& limits_;
};

}  // namespace

std::vector<SlowRun> FindCauses(const Ranks& ranks, std::size_t target, std::size_t most,
                                const Limits& limits) {
  const RankEvents& part = ranks[target].part;
  std::vector<const RankRuns::Row*> longest;
  for (std::size_t i = 0; i < std::min(part.runs.rows.size(), part.is_looked_at.size()); ++i) {
    if (part.is_looked_at[i]) longest.push_back(&part.runs.rows[i]);
  }
  StableSort(longest, [](const auto* a, const auto* b) { return a->dur > b->dur; });
  if (longest.size() > most) longest.resize(most);
  const Partners partners(ranks, target);
  const CauseFinder finder(limits);
  std::vector<SlowRun> found;
  for (const RankRuns::Row* run : longest) {
    SlowRun& slow = found.emplace_back();
    slow.name = part.runs.texts[run->name];
    slow.operation = run->operation;
    slow.start = run->start;
    slow.dur = run->dur;
    finder.Find(partners.Of(static_cast<std::size_t>(run - part.runs.rows.data())), slow);
  }
  return found;
}

}  // namespace mpa::bottleneck
