// SPDX-License-Identifier: Apache-2.0
#include "iteration_account.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/quantiles.h"

namespace mpa::recipes::rl_roles {
namespace {

// A time with the role that began first of those that run then; -1: none runs.
struct Stretch {
  Interval time;
  std::int32_t role = -1;
};

using TimesByDevice = std::map<std::size_t, std::vector<Interval>>;

class Accountant {
 public:
  // `others`: when devices run roles of other iterations.
  Accountant(const std::vector<JobRun>& runs, TimesByDevice others)
      : runs_(runs), others_(std::move(others)) {
    account_.iteration = runs.front().iteration;
    account_.time = {runs.front().begin, runs.front().end};
    for (const JobRun& run : runs) {
      account_.time.begin = std::min(account_.time.begin, run.begin);
      account_.time.end = std::max(account_.time.end, run.end);
    }
  }

  IterationAccount Make() && {
    AddRoles();
    FindStretches();
    AddBubbles();
    for (const auto& [device, own] : own_) AddDevice(device, own);
    account_.devices = own_.size();
    AddTail();
    return std::move(account_);
  }

 private:
  void AddRoles() {
    std::map<std::string, std::vector<Interval>> times;
    std::map<std::string, std::set<std::size_t>> devices;
    TimesByDevice own;
    for (const JobRun& run : runs_) {
      const std::string& name = run.run->role;
      auto role = std::ranges::find(account_.roles, name, &RoleAccount::role);
      if (role == account_.roles.end()) {
        account_.roles.push_back({.iteration = run.iteration, .role = name, .begin = run.begin});
        role = account_.roles.end() - 1;
      }
      role->end = std::max(role->end, run.end);
      role->times.Add(run.run->times);
      times[name].push_back({run.begin, run.end});
      devices[name].insert(run.device);
      own[run.device].push_back({run.begin, run.end});
    }
    for (auto& [device, intervals] : own) {
      for (const Interval& time : intervals) account_.shared += time.end - time.begin;
      own_[device] = Union(std::move(intervals));
      account_.shared -= Length(own_[device]);
    }
    std::map<std::string, Intervals> of_role;
    for (auto& [name, intervals] : times) of_role[name] = Union(std::move(intervals));
    for (RoleAccount& role : account_.roles) {
      Intervals rest;
      for (const auto& [name, intervals] : of_role) {
        if (name != role.role) rest = Union(rest, intervals);
      }
      role.devices = devices[role.role].size();
      role.wall = Length(of_role[role.role]);
      role.overlap = Length(Intersection(of_role[role.role], rest));
    }
  }

  // Runs are contenders for the time; the one that began first wins, which is their order.
  void FindStretches() {
    std::vector<Contender> contenders;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      contenders.push_back(
          {.begin = runs_[i].begin, .end = runs_[i].end, .index = static_cast<std::uint32_t>(i)});
    TimeNs reached = account_.time.begin;
    const auto add = [&](const Interval& time, std::int32_t role) {
      if (time.begin >= time.end) return;
      const bool goes_on = !stretches_.empty() && stretches_.back().role == role;
      if (goes_on)
        stretches_.back().time.end = time.end;
      else
        stretches_.push_back({time, role});
    };
    Skyline(std::move(contenders), Tie::kLeastIndex, [&](const Won& won) {
      add({reached, won.begin}, -1);
      const auto role =
          std::ranges::find(account_.roles, runs_[won.index].run->role, &RoleAccount::role);
      add({won.begin, won.end}, static_cast<std::int32_t>(role - account_.roles.begin()));
      reached = won.end;
    });
  }

  void AddBubbles() {
    for (const Stretch& stretch : stretches_) {
      if (stretch.role >= 0) continue;
      // What ended last before it, and what begins behind it.
      const JobRun *before = nullptr, *behind = nullptr;
      for (const JobRun& run : runs_) {
        if (run.end == stretch.time.begin) before = &run;
        if (run.begin == stretch.time.end && behind == nullptr) behind = &run;
      }
      account_.bubbles.push_back(
          {account_.iteration, stretch.time, before->run->role, behind->run->role});
    }
  }

  void AddDevice(std::size_t device, const Intervals& own) {
    const Intervals idle = Difference({account_.time}, own);
    const Intervals busy = Intersection(idle, Union(std::move(others_[device])));
    account_.other += Length(busy);
    for (const Interval& free : Difference(idle, busy)) {
      auto stretch = std::ranges::partition_point(
          stretches_, [&](const Stretch& one) { return one.time.end <= free.begin; });
      for (; stretch != stretches_.end() && stretch->time.begin < free.end; ++stretch) {
        const TimeNs time =
            std::min(stretch->time.end, free.end) - std::max(stretch->time.begin, free.begin);
        if (stretch->role < 0) {
          account_.bubble += time;
        } else {
          account_.roles[static_cast<std::size_t>(stretch->role)].waiting += time;
          account_.waiting += time;
        }
      }
    }
  }

  void AddTail() {
    struct Finish {
      TimeNs time = 0;
      RankId rank;
    };
    std::map<std::size_t, Finish> finishes;
    Tail& tail = account_.tail;
    for (const JobRun& run : runs_) {
      if (run.Kind() != RoleKind::kRollout) continue;
      if (finishes.empty()) tail.begin = run.begin;  // they are in order of time
      Finish& finish = finishes[run.device];
      finish.time = std::max(finish.time, run.finish);
      finish.rank = run.rank;
      tail.decode.Add(run.run->decode);
    }
    if (finishes.empty()) return;
    std::vector<TimeNs> times;
    for (const auto& [device, finish] : finishes) {
      times.push_back(finish.time);
      if (finish.time <= tail.last && tail.devices > 0) continue;
      tail.last = finish.time;
      tail.last_rank = finish.rank;
      tail.devices = finishes.size();
    }
    tail.first = *std::ranges::min_element(times);
    for (const TimeNs time : times) tail.idle += tail.last - time;
    tail.median = Median(std::move(times));
  }

  const std::vector<JobRun>& runs_;
  TimesByDevice others_;
  IterationAccount account_;
  std::map<std::size_t, Intervals> own_;  // by device
  std::vector<Stretch> stretches_;        // they fill the iteration
};

// How much shorter the captures were if this role took half of its time, in ns. A stretch of a
// role begins as long as it does now behind the last stretch that ended before it, of any role;
// stretches that overlap do not wait for each other.
TimeNs GainOfHalving(const JobRoles& job, const std::string& role) {
  struct Node {
    Interval time;
    bool is_halved = false;
  };
  std::map<std::pair<std::int64_t, std::string>, std::vector<Interval>> times;
  for (const JobRun& run : job.runs)
    times[{run.iteration, run.run->role}].push_back({run.begin, run.end});
  std::vector<Node> nodes;
  for (auto& [key, intervals] : times) {
    for (const Interval& time : Union(std::move(intervals)))
      nodes.push_back({time, key.second == role});
  }
  if (nodes.empty()) return 0;
  StableSort(nodes, {}, [](const Node& node) { return node.time.begin; });
  std::vector<std::size_t> by_end(nodes.size());
  for (std::size_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
  StableSort(by_end, {}, [&](std::size_t node) { return nodes[node].time.end; });
  // Those that ended before a node begins were replayed before it, because they began earlier.
  std::vector<TimeNs> ends(nodes.size());
  const TimeNs begin = nodes.front().time.begin;
  TimeNs last = begin, reached = begin, replayed = begin, old_end = begin;
  auto ended = by_end.begin();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    for (; ended != by_end.end() && nodes[*ended].time.end <= node.time.begin; ++ended) {
      reached = std::max(reached, nodes[*ended].time.end);
      replayed = std::max(replayed, ends[*ended]);
    }
    const TimeNs length = node.time.end - node.time.begin;
    ends[i] = replayed + (node.time.begin - reached) + (node.is_halved ? length / 2 : length);
    last = std::max(last, ends[i]);
    old_end = std::max(old_end, node.time.end);
  }
  return old_end - last;
}

}  // namespace

double Tail::IdlePercent() const {
  const auto all = static_cast<double>(last - begin) * static_cast<double>(devices);
  return all > 0 ? 100 * static_cast<double>(idle) / all : 0;
}

TimeNs IterationAccount::RoleTime() const {
  TimeNs sum = 0;
  for (const RoleAccount& role : roles) sum += role.DeviceTime();
  return sum;
}

TimeNs IterationAccount::BubbleWall() const {
  TimeNs sum = 0;
  for (const Bubble& one : bubbles) sum += one.time.end - one.time.begin;
  return sum;
}

std::vector<IterationAccount> AccountIterations(const JobRoles& job) {
  std::map<std::string, TimeNs> gains;
  std::vector<IterationAccount> accounts;
  for (const std::vector<JobRun>& runs : job.Iterations()) {
    TimesByDevice others;
    for (const JobRun& run : job.runs) {
      if (run.iteration != runs.front().iteration)
        others[run.device].push_back({run.begin, run.end});
    }
    IterationAccount& account = accounts.emplace_back(Accountant(runs, std::move(others)).Make());
    for (RoleAccount& role : account.roles) {
      const auto [gain, is_new] = gains.insert({role.role, 0});
      if (is_new) gain->second = GainOfHalving(job, role.role);
      role.gain = gain->second;
    }
  }
  return accounts;
}

}  // namespace mpa::recipes::rl_roles
