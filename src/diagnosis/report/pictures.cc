// SPDX-License-Identifier: Apache-2.0
// What a page draws of a job beside its findings.
#include "mpa/diagnosis/report/pictures.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/diagnosis/causes/bandwidths.h"

namespace mpa {
namespace {

// By type, of the mean rank and counted step, the longest first.
std::vector<std::pair<std::string, TimeNs>> TopKernels(const Job& job) {
  constexpr std::size_t kMost = 15;
  std::map<std::string, TimeNs> times;
  for (const auto& steps : job.work) {
    for (std::size_t step = job.first_step; step < steps.size(); ++step) {
      for (const auto& [type, sum] : steps[step].kernels) times[type] += sum.time;
    }
  }
  const auto count = static_cast<TimeNs>(job.ranks.size() * job.CountedSteps());
  std::vector<std::pair<std::string, TimeNs>> kernels;
  for (const auto& [type, time] : times)
    kernels.emplace_back(type, time / std::max<TimeNs>(1, count));
  std::ranges::stable_sort(kernels, std::greater{}, &std::pair<std::string, TimeNs>::second);
  if (kernels.size() > kMost) kernels.resize(kMost);
  return kernels;
}

std::vector<LinkPicture> LinksOf(const Job& job) {
  constexpr std::size_t kMostLinks = 4096;
  std::vector<LinkPicture> links;
  const LinkSpeeds speeds(job);
  if (speeds.Links().size() > kMostLinks) return links;
  for (const auto& [link, traffic] : speeds.Links()) {
    if (traffic.time > 0)
      links.push_back({link.low, link.high, Ratio(traffic.bytes, traffic.time)});
  }
  return links;
}

// The operation for whose last member another one waited longest, in the counted steps.
class LongestWait {
 public:
  explicit LongestWait(const Job& job) : job_(job) {
    TimeNs longest = 0;
    for (const JobOperation& operation : job.operations.all) {
      const auto& members = operation.joint.members;
      if (members.size() < 2 || operation.is_apart || !IsBarrierKind(operation.kind) ||
          !job.Counts(operation.step))
        continue;
      const auto [first, last] = std::ranges::minmax_element(
          members, {}, [&](const auto& member) { return Start(member); });
      if (Start(*last) - Start(*first) <= longest) continue;
      longest = Start(*last) - Start(*first);
      operation_ = &operation;
      first_ = *first;
      last_ = *last;
    }
  }

  std::optional<Timeline> Draw() const {
    if (operation_ == nullptr) return std::nullopt;
    const TimeNs begin = Start(first_), came = Start(last_);
    TimeNs end = came;
    for (const auto& member : {first_, last_}) end = std::max(end, Start(member) + DurOf(member));
    const TimeNs margin = (end - begin) / 5 + 1;
    Timeline timeline;
    timeline.begin = begin - margin;
    timeline.end = end + margin;
    timeline.kinds = {{"var(--compute)", "kernels"},
                      {"var(--copy)", "copies"},
                      {"var(--transfer)", "communication"},
                      {"var(--wait)", "waiting for a rank"},
                      {"var(--free)", "work of the host"}};
    for (const auto& member : {first_, last_}) AddRank(member.rank, timeline);
    const std::size_t lanes = 3;
    timeline.arrows.push_back({.from = lanes - 1,
                               .to = 2 * lanes - 1,
                               .begin = begin,
                               .end = came,
                               .label = job_.Part(first_.rank).names[job_.PartOf(first_).name]});
    return timeline;
  }

 private:
  enum Kind : std::size_t { kKernels, kCopies, kCommunication, kWaiting, kHost };

  TimeNs OnJob(std::size_t rank, TimeNs time) const {
    return job_.operations.clock[rank].Convert(time);
  }
  TimeNs Start(const JointOperation::Member& member) const {
    return OnJob(member.rank, job_.PartOf(member).start);
  }
  TimeNs DurOf(const JointOperation::Member& member) const { return job_.PartOf(member).dur; }

  // Lanes of the host, the device and its communication.
  void AddRank(std::size_t rank, Timeline& timeline) const {
    constexpr std::size_t kMostSpans = 2000;
    const RankDiagnosis& part = job_.Part(rank);
    const std::string name = "rank " + std::to_string(job_.ranks[rank].rank);
    const auto add = [&](TimeNs begin, TimeNs dur, Kind kind, const std::string& text) {
      const TimeNs start = OnJob(rank, begin);
      if (start < timeline.end && start + dur > timeline.begin &&
          timeline.lanes.back().spans.size() < kMostSpans)
        timeline.Add({start, start + dur, kind, text, ""});
    };
    timeline.Lane(name + ", host");
    for (const HostShare& share : part.shares) {
      const GraphEdge& edge = part.graph.edges[share.edge];
      const TimeNs end = part.graph.nodes[edge.node].start;
      add(end - share.time, share.time, kHost, std::string(NameOf(share.leaf)));
    }
    timeline.Lane(name + ", device");
    for (const GraphNode& node : part.graph.nodes) {
      if (node.kind == NodeKind::kKernel)
        add(node.start, node.dur, kKernels, part.names[part.KindOf(node).name]);
      if (node.kind == NodeKind::kCopy) add(node.start, node.dur, kCopies, "copy");
    }
    timeline.Lane(name + ", communication");
    for (std::size_t i = 0; i < part.operations.size(); ++i) {
      const OperationPart& operation = part.operations[i];
      const JobOperation& joint = job_.operations.all[job_.operations.of_rank[rank][i]];
      TimeNs wait = 0;
      if (IsBarrierKind(joint.kind)) {
        for (const auto& member : joint.joint.members)
          wait = std::max(wait, Start(member) - OnJob(rank, operation.start));
      }
      wait = std::clamp<TimeNs>(wait, 0, operation.dur);
      const std::string& text = part.names[operation.name];
      if (wait > 0) add(operation.start, wait, kWaiting, text);
      add(operation.start + wait, operation.dur - wait, kCommunication, text);
    }
  }

  const Job& job_;
  const JobOperation* operation_ = nullptr;
  JointOperation::Member first_{}, last_{};
};

}  // namespace

JobPictures PicturesOf(const Job& job) {
  return {TopKernels(job), LinksOf(job), LongestWait(job).Draw()};
}

}  // namespace mpa
