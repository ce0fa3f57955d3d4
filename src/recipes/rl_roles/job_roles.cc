// SPDX-License-Identifier: Apache-2.0
// The roles of all captures on one clock, by device and iteration.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "iteration_account.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/collectives/clock_line.h"
#include "mpa/collectives/rank_clocks.h"

namespace mpa::recipes::rl_roles {
namespace {

// Where a capture was made.
struct CapturedOn {
  std::size_t device = 0;  // a number of its own for each device of the job
  RankId rank;             // of replicas of the rollout, whose ranks begin anew, counted through
};

std::vector<RankId> CountRanks(const Ranks& ranks) {
  std::int64_t of_replica = 1;
  for (const auto& [rank, capture] : ranks) {
    if (capture.directories.replica >= 0 && rank.IsNumber())
      of_replica = std::max(of_replica, rank.Number() + 1);
  }
  std::vector<RankId> counted;
  for (const auto& [rank, capture] : ranks) {
    const std::int64_t replica = std::max<std::int64_t>(0, capture.directories.replica);
    counted.push_back(rank.IsNumber() ? RankId(replica * of_replica + rank.Number()) : rank);
  }
  return counted;
}

// Where every process sees one device alone, all numbers of devices are the same.
bool DevicesAreNumbered(const Ranks& ranks, const std::vector<RankId>& counted) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, RankId> rank_of;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const CaptureRoles& capture = ranks[i].part;
    if (capture.runs.empty()) continue;
    if (capture.device < 0) return false;
    const auto [found, added] =
        rank_of.insert({{capture.directories.role, capture.host, capture.device}, counted[i]});
    if (!added && found->second != counted[i]) return false;
  }
  return true;
}

bool Generates(const CaptureRoles& capture) {
  return std::ranges::any_of(
      capture.runs, [](const RoleRun& run) { return KindOf(run.role) == RoleKind::kRollout; });
}

// One device does not spend half of a role in another one as well.
bool RolloutIsApart(const Ranks& ranks, const std::vector<CapturedOn>& on) {
  std::map<std::size_t, std::vector<const CaptureRoles*>> of_device;
  for (std::size_t i = 0; i < ranks.size(); ++i) of_device[on[i].device].push_back(&ranks[i].part);
  const auto overlap = [](const RoleRun& a, const RoleRun& b) {
    const TimeNs common = std::min(a.end, b.end) - std::max(a.begin, b.begin);
    return 2 * common > std::min(a.end - a.begin, b.end - b.begin);
  };
  const auto are_apart = [&](const CaptureRoles& a, const CaptureRoles& b) {
    return Generates(a) && !Generates(b) && std::ranges::any_of(a.runs, [&](const RoleRun& one) {
             return std::ranges::any_of(b.runs,
                                        [&](const RoleRun& other) { return overlap(one, other); });
           });
  };
  return std::ranges::any_of(of_device, [&](const auto& device) {
    return std::ranges::any_of(device.second, [&](const CaptureRoles* one) {
      return std::ranges::any_of(
          device.second, [&](const CaptureRoles* other) { return are_apart(*one, *other); });
    });
  });
}

// By capture. Captures with the same number of the device on a host are of one device; where two
// ranks of a role share that number, or it is unknown, those of one rank are. If the rollout
// overlaps another role on its devices, it has devices of its own.
std::vector<CapturedOn> FindDevices(const Ranks& ranks) {
  const std::vector<RankId> counted = CountRanks(ranks);
  const bool numbered = DevicesAreNumbered(ranks, counted);
  const auto find = [&](bool is_apart) {
    std::map<std::tuple<std::string, std::int64_t, std::size_t, bool>, std::size_t> devices;
    std::vector<CapturedOn> on;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const CaptureRoles& capture = ranks[i].part;
      const std::int64_t number = numbered ? capture.device : counted[i].Number();
      const auto [device, added] =
          devices.insert({{numbered ? capture.host : std::string(), number, number < 0 ? i : 0,
                           is_apart && Generates(capture)},
                          devices.size()});
      on.push_back({device->second, counted[i]});
    }
    return on;
  };
  std::vector<CapturedOn> on = find(false);
  return RolloutIsApart(ranks, on) ? find(true) : on;
}

struct Edge {
  std::string host, other;
  ClockLine line;  // from the clock of `host` to that of `other`
};

// Ranks that run collectives together: those of one directory, each once.
std::vector<std::vector<const CaptureRoles*>> JobsOf(
    const std::vector<const CaptureRoles*>& captures) {
  std::map<std::pair<std::string, std::size_t>, std::vector<const CaptureRoles*>> jobs;
  std::map<std::pair<std::string, RankId>, std::size_t> seen;
  for (const CaptureRoles* capture : captures) {
    const std::size_t number = seen[{capture->group, capture->collectives.rank}]++;
    jobs[{capture->group, number}].push_back(capture);
  }
  std::vector<std::vector<const CaptureRoles*>> all;
  for (auto& [key, job] : jobs) all.push_back(std::move(job));
  return all;
}

void AddEdges(const std::vector<const CaptureRoles*>& job, std::vector<Edge>& edges) {
  JobCollectives ranks;
  for (const CaptureRoles* capture : job) ranks.emplace_back(capture->collectives);
  const RankClocks clocks = AlignClocks(ranks, JoinInstances(ranks));
  constexpr TimeNs kMaxSpread = 1'000'000;  // what is less sure does not compare clocks
  for (std::size_t i = 0; i < job.size(); ++i) {
    const RankClock& clock = clocks.clocks[i];
    if (!clock.known || clock.sigma > kMaxSpread || job[i]->host == job[clock.root]->host) continue;
    edges.push_back({job[i]->host, job[clock.root]->host, clock.line});
    edges.push_back({job[clock.root]->host, job[i]->host, clock.line.Inverse()});
  }
}

// The clocks of hosts against that of the first capture's host.
struct HostClocks {
  std::map<std::string, ClockLine> lines;  // by host, to the common clock
  std::vector<std::string> unaligned;      // hosts whose clocks no collective compares with it

  TimeNs Convert(const std::string& host, TimeNs own) const {
    const auto found = lines.find(host);
    return found == lines.end() ? own : found->second.Convert(own);
  }
};

// From collectives that ranks of several hosts left at one time. Captures of one host share a
// clock.
HostClocks AlignHosts(const std::vector<const CaptureRoles*>& captures) {
  HostClocks clocks;
  std::set<std::string> hosts;
  for (const CaptureRoles* capture : captures) hosts.insert(capture->host);
  if (hosts.size() < 2) return clocks;
  std::vector<Edge> edges;
  for (const auto& job : JobsOf(captures)) AddEdges(job, edges);
  std::vector<std::string> reached = {captures.front()->host};
  clocks.lines[reached.front()] = {};
  for (std::size_t at = 0; at < reached.size(); ++at) {
    const std::string from = reached[at];
    for (const Edge& edge : edges) {
      if (edge.other != from || clocks.lines.contains(edge.host)) continue;
      clocks.lines[edge.host] = edge.line.Then(clocks.lines[from]);
      reached.push_back(edge.host);
    }
  }
  for (const std::string& host : hosts) {
    if (!clocks.lines.contains(host)) clocks.unaligned.push_back(host);
  }
  return clocks;
}

std::string PathOf(const CaptureRoles& capture) {
  return capture.group.empty() ? capture.name : fmt::format("{}/{}", capture.group, capture.name);
}

// "a, b, c, ..."
std::string FirstOf(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size()));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                     names.size() > kShown ? ", ..." : "");
}

class JobMaker {
 public:
  explicit JobMaker(const Ranks& ranks) : ranks_(ranks) {}

  JobRoles Make() && {
    AddRuns();
    NumberIterations();
    StableSort(job_.runs, {},
               [](const JobRun& run) { return std::tuple(run.iteration, run.begin, run.device); });
    Choose();
    NoteMissing();
    NoteApart();
    return std::move(job_);
  }

 private:
  void AddRuns() {
    bool has_role = false, has_directory = false;
    std::vector<const CaptureRoles*> captures;
    for (const auto& rank : ranks_) {
      const CaptureRoles& capture = rank.part;
      for (const RoleRun& run : capture.runs)
        has_role = has_role || KindOf(run.role) != RoleKind::kOther;
      has_directory = has_directory || KindOf(capture.directories.role) != RoleKind::kOther;
      captures.push_back(&capture);
    }
    if (!has_role && has_directory) {
      Fail(ErrorKind::kInput,
           "rl_roles: the captures below the role directories hold no device work; collect with the"
           " activity NPU");
    }
    if (!has_role) {
      Fail(ErrorKind::kInput,
           "rl_roles: no roles of reinforcement learning found: neither directories"
           " (\"actor_update\") nor ranges (\"generate_sequences\") have the name of a role; give"
           " the directory that holds the role directories, or mark roles with mstx or"
           " record_function, see docs/rl.md");
    }
    const HostClocks clocks = AlignHosts(captures);
    if (!clocks.unaligned.empty()) {
      job_.notes.push_back(Say(
          "the clocks of {} are not aligned with the others: no three collectives of ranks on both"
          " were captured, so gaps and overlaps of roles are only as accurate as the hosts' clocks",
          FirstOf(clocks.unaligned)));
    }
    const std::vector<CapturedOn> on = FindDevices(ranks_);
    std::vector<std::string> without;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const CaptureRoles& capture = ranks_[i].part;
      if (capture.runs.empty()) without.push_back(PathOf(capture));
      for (const RoleRun& run : capture.runs) {
        // Of a drifting clock the length stays that of the capture, or its parts would not add up.
        const TimeNs shift = clocks.Convert(capture.host, run.begin) - run.begin;
        job_.runs.push_back({&capture, &run, on[i].rank, on[i].device,
                             capture.directories.iteration, run.begin + shift, run.end + shift,
                             run.finish + shift});
      }
    }
    if (!without.empty()) {
      job_.partial = true;
      job_.notes.push_back(
          Say("{} of {} captures are left out because no directory or range names their role, or"
              " because they hold no device work: {}",
              without.size(), ranks_.size(), FirstOf(without)));
    }
  }

  void NumberIterations() {
    StableSort(job_.runs, {}, [](const JobRun& run) { return std::tuple(run.device, run.begin); });
    for (auto first = job_.runs.begin(); first != job_.runs.end();) {
      auto end = first;
      std::set<std::string> roles;
      for (; end != job_.runs.end() && end->device == first->device; ++end) {
        if (end->Kind() != RoleKind::kWeightSync) roles.insert(end->run->role);
      }
      NumberIterations(first, end, roles.size() == 1);
      first = end;
    }
  }

  // Of one device. Weights that are handed over do not begin an iteration; those that are within a
  // role cut it in two.
  static void NumberIterations(std::vector<JobRun>::iterator first,
                               std::vector<JobRun>::iterator end, bool has_one_role) {
    std::int64_t iteration = 0;
    std::set<std::string> had;
    std::string last;
    const JobRun* before = nullptr;
    for (; first != end; ++first) {
      const std::string& role = first->run->role;
      if (first->Kind() != RoleKind::kWeightSync) {
        const bool is_cut = before != nullptr && before->Kind() == RoleKind::kWeightSync &&
                            before->capture == first->capture &&
                            before->run->end == first->run->begin;
        const bool goes_on = role == last && (is_cut || !has_one_role);
        if (!goes_on && had.contains(role)) {
          ++iteration;
          had.clear();
        }
        last = role;
        had.insert(role);
      }
      before = &*first;
      if (first->iteration < 0) first->iteration = iteration;
    }
  }

  void Choose() {
    std::int64_t wanted = -1;
    for (const auto& rank : ranks_) wanted = std::max(wanted, rank.part.wanted);
    if (wanted < 0) return;
    std::set<std::int64_t> there;
    for (const JobRun& run : job_.runs) there.insert(run.iteration);
    if (!there.contains(wanted)) {
      Fail(ErrorKind::kInput, "no iteration {}; there are {}", wanted, fmt::join(there, ", "));
    }
    std::erase_if(job_.runs, [&](const JobRun& run) { return run.iteration != wanted; });
  }

  // Roles that share devices are of the same ranks.
  void NoteMissing() {
    std::map<std::size_t, RankId> rank_of_device;
    std::map<std::pair<std::int64_t, std::string>, std::set<std::size_t>> devices_of;
    for (const JobRun& run : job_.runs) {
      if (run.Kind() == RoleKind::kWeightSync) continue;  // also between devices of other roles
      rank_of_device[run.device] = run.rank;
      devices_of[{run.iteration, run.run->role}].insert(run.device);
    }
    for (const auto& [key, devices] : devices_of) {
      std::set<std::size_t> expected;
      for (const auto& [other_key, others] : devices_of) {
        std::vector<std::size_t> common;
        std::ranges::set_intersection(devices, others, std::back_inserter(common));
        if (!common.empty()) expected.insert(others.begin(), others.end());
      }
      std::vector<std::string> missing;
      for (const std::size_t device : expected) {
        if (!devices.contains(device)) missing.push_back(RankName(rank_of_device[device]));
      }
      if (missing.empty()) continue;
      job_.notes.push_back(
          missing.size() == 1
              ? Say("iteration {}: {} was not captured on rank {}, where other roles ran; it counts"
                    " as not running there",
                    key.first, key.second, FirstOf(missing))
              : Say("iteration {}: {} was not captured on ranks {}, where other roles ran; it"
                    " counts as not running there",
                    key.first, key.second, FirstOf(missing)));
    }
  }

  // What devices do in one role and iteration overlaps, unless their clocks or iterations differ.
  void NoteApart() {
    struct Time {
      TimeNs begin = 0, end = 0;
      const CaptureRoles* capture = nullptr;
    };
    std::map<std::pair<std::int64_t, std::string>, std::map<std::size_t, Time>> times;
    for (const JobRun& run : job_.runs) {
      if (run.Kind() == RoleKind::kWeightSync) continue;
      Time& time = times[{run.iteration, run.run->role}][run.device];
      time.begin = time.capture == nullptr ? run.begin : time.begin;  // they are in order of time
      time.end = std::max(time.end, run.end);
      time.capture = run.capture;
    }
    for (const auto& [key, of_devices] : times) {
      std::vector<std::string> apart;
      for (const auto& one : of_devices) {
        const bool overlaps = std::ranges::any_of(of_devices, [&](const auto& other) {
          return other.first != one.first && other.second.begin < one.second.end &&
                 one.second.begin < other.second.end;
        });
        if (!overlaps) apart.push_back(PathOf(*one.second.capture));
      }
      if (apart.empty() || of_devices.size() < 2) continue;
      job_.notes.push_back(Say(
          "iteration {}: {} overlaps no other capture of {}; it may belong to another iteration, or"
          " to a host with another clock",
          key.first, FirstOf(apart), key.second));
    }
  }

  const Ranks& ranks_;
  JobRoles job_;
};

}  // namespace

std::vector<std::vector<JobRun>> JobRoles::Iterations() const {
  std::vector<std::vector<JobRun>> iterations;
  for (const JobRun& run : runs) {
    if (iterations.empty() || iterations.back().front().iteration != run.iteration)
      iterations.emplace_back();
    iterations.back().push_back(run);
  }
  return iterations;
}

JobRoles RolesOfJob(const Ranks& ranks) { return JobMaker(ranks).Make(); }

}  // namespace mpa::recipes::rl_roles
