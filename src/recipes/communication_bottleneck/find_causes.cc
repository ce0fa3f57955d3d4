// SPDX-License-Identifier: Apache-2.0
#include "find_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "alignment.h"
#include "mpa/measure/device_work.h"
#include "mpa/report/amount.h"

namespace mpa::bottleneck {
namespace {

std::string Us(TimeNs time) { return PythonFloat(static_cast<double>(time) / 1000); }

std::string LagText(const char* level, const Lags& lags) {
  return fmt::format(
      "{}: max duration-diff op {}, diff {} us, max start-time-diff op {}, diff {} us.", level,
      lags.duration.name, Us(lags.duration.diff), lags.start.name, Us(lags.start.diff));
}

struct Member {
  const OfRank<RankEvents>* rank = nullptr;
  const CommunicationRun* run = nullptr;
};

// The runs of all ranks by operator.
class RunIndex {
 public:
  explicit RunIndex(const Ranks& ranks) {
    for (const auto& rank : ranks) {
      for (const CommunicationRun& run : rank.part.runs)
        members_[KeyOf(run)].push_back({&rank, &run});
    }
  }

  // The same run on all ranks that ran its name as often: on others it may be another one.
  const std::vector<Member>& Of(const CommunicationRun& run) const {
    return members_.at(KeyOf(run));
  }

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::uint32_t, std::uint32_t>;
  static Key KeyOf(const CommunicationRun& run) {
    return {run.group, run.name, run.occurrence, run.runs};
  }
  std::map<Key, std::vector<Member>> members_;
};

class CauseFinder {
 public:
  explicit CauseFinder(const Limits& limits) : limits_(limits) {}

  SlowRun Find(const CommunicationRun& run, const std::vector<Member>& members) const {
    SlowRun found;
    found.run = &run;
    if (members.size() < 2) {
      found.bound = Bound::kUnknown;
      found.reason = "[Failed] No other rank recorded the communication operator";
      return found;
    }
    const auto shorter = [](const Member& a, const Member& b) { return a.run->dur < b.run->dur; };
    const Member& slow = *std::min_element(members.begin(), members.end(), shorter);
    const Member& fast = *std::max_element(members.begin(), members.end(), shorter);
    const auto longest = static_cast<double>(fast.run->dur);
    if (static_cast<double>(fast.run->dur - slow.run->dur) < limits_.slow_npu_happen * longest ||
        fast.run->dur == 0) {
      found.reason = fmt::format(
          "[Completed] No slow NPU detected: execution time difference is less than {}%",
          PlainNumber(100 * limits_.slow_npu_happen));
      return found;
    }
    found.slow = slow.rank->rank;
    found.fast = fast.rank->rank;
    Explain(slow, fast, found);
    return found;
  }

 private:
  void Explain(const Member& slow, const Member& fast, SlowRun& found) const {
    const RankEvents &late = slow.rank->part, &early = fast.rank->part;
    const TimeNs shift = fast.run->End() - slow.run->End();
    found.bound = BoundOf(late, fast.run->start - shift, slow.run->End());
    const auto lags = [&](PackedEvents RankEvents::*events) {
      return FindLags(late.*events, slow.run->start, early.*events, fast.run->start, shift,
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
  std::vector<const CommunicationRun*> longest;
  for (const CommunicationRun& run : ranks[target].part.runs) {
    if (run.in_step) longest.push_back(&run);
  }
  std::stable_sort(
      longest.begin(), longest.end(),
      [](const CommunicationRun* a, const CommunicationRun* b) { return a->dur > b->dur; });
  if (longest.size() > most) longest.resize(most);
  const RunIndex index(ranks);
  const CauseFinder finder(limits);
  std::vector<SlowRun> found;
  for (const CommunicationRun* run : longest) found.push_back(finder.Find(*run, index.Of(*run)));
  return found;
}

}  // namespace mpa::bottleneck
