// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "iteration_account.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"

namespace mpa::rl_roles {
namespace {

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
    std::ranges::stable_sort(job_.runs, {}, [](const JobRun& run) {
      return std::tuple(run.iteration, run.begin, run.device);
    });
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
           "rl_roles: the captures below directories of roles hold no work of a device; collect "
           "with the activity NPU");
    }
    if (!has_role) {
      Fail(ErrorKind::kInput,
           "rl_roles: no roles of reinforcement learning found: neither directories "
           "(\"actor_update\") nor ranges (\"generate_sequences\") have the name of a role; give "
           "the "
           "directory that holds those of the roles, or mark roles with mstx or record_function, "
           "see "
           "docs/rl.md");
    }
    const HostClocks clocks = AlignHosts(captures);
    if (!clocks.unaligned.empty()) {
      job_.notes.push_back(fmt::format(
          "the clocks of {} are not aligned with the others: no three collectives of ranks on both "
          "were captured, so gaps and overlaps of roles are only as good as the clocks of the "
          "hosts",
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
      job_.notes.push_back(fmt::format(
          "{} of {} captures are left out, because no directory or range names their role, or they "
          "hold no work of a device: {}",
          without.size(), ranks_.size(), FirstOf(without)));
    }
  }

  void NumberIterations() {
    std::ranges::stable_sort(job_.runs, {},
                             [](const JobRun& run) { return std::tuple(run.device, run.begin); });
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
    std::map<std::size_t, std::int64_t> rank_of_device;
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
        if (!devices.contains(device)) missing.push_back(std::to_string(rank_of_device[device]));
      }
      if (missing.empty()) continue;
      job_.notes.push_back(fmt::format(
          "iteration {}: {} was not captured on {} {}, where other roles ran; it counts as "
          "not running there",
          key.first, key.second, Plural(static_cast<std::int64_t>(missing.size()), "rank"),
          FirstOf(missing)));
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
      job_.notes.push_back(fmt::format(
          "iteration {}: {} overlaps no other capture of {}; it may be of another iteration, or of "
          "a host with another clock",
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

}  // namespace mpa::rl_roles
