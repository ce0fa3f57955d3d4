// SPDX-License-Identifier: Apache-2.0
// Windows of time as lanes of ranks: around the longest wait for another rank, and around the place
// of a finding.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/job/metric_names.h"
#include "mpa/diagnosis/report/pictures.h"

namespace mpa {
namespace {

// Streams, and operations at the same time, that a rank has lanes for; the last lane has the rest.
constexpr std::size_t kMaxStreams = 4, kMaxAtOnce = 3;
constexpr std::size_t kMaxArrows = 20;

class JobLanes {
 public:
  /// `window`: on the clock of the job. `most_spans`: of a lane, the longest ones.
  JobLanes(const Job& job, const Interval& window, std::size_t most_spans)
      : job_(job), most_spans_(most_spans) {
    timeline_.begin = window.begin;
    timeline_.end = window.end;
    timeline_.kinds = {{"var(--compute)", Say("kernels")},
                       {"var(--copy)", Say("copies")},
                       {"var(--unsplit)", Say("communication")},
                       {"var(--wait)", Say("waiting for a rank")},
                       {"var(--t0)", Say("work of the host")},
                       {"var(--base)", Say("the host waits for the device")}};
  }

  void AddRank(RankIndex rank) {
    AddHost(rank);
    AddStreams(rank);
    AddCommunication(rank);
  }

  void Mark(TimeNs time, std::string label) { timeline_.marks.push_back({time, std::move(label)}); }

  Timeline Take() && {
    AddArrows();
    for (TimelineLane& lane : timeline_.lanes) KeepLongest(lane);
    return std::move(timeline_);
  }

 private:
  enum Kind : std::size_t { kKernels, kCopies, kCommunication, kWaiting, kHost, kBlocked };

  // Part of an operation that is drawn, and for whom it waits.
  struct Wait {
    RankIndex rank{};
    std::size_t lane = 0;
    TimeNs begin = 0, end = 0;
    std::optional<std::size_t> last_rank;  // empty: it was not analysed
    TimeNs came = 0;
    std::string text;
  };

  // The ranks that came last to an operation, captured or not.
  struct LastComer {
    std::optional<std::size_t> rank;
    TimeNs came = 0;
    std::string name;
  };

  LastComer LastOf(const JointOperation& joint) const {
    const auto last = std::ranges::max_element(joint.members, {},
                                               [&](const auto& member) { return Start(member); });
    // Without late members nobody but these is known to have come.
    if (joint.late.empty() || joint.last <= Start(*last))
      return {last->rank, Start(*last), NameOfRank(last->rank)};
    const bool named = !joint.late.front().ranks.empty();
    return {
        std::nullopt, joint.last,
        named ? RankList(joint.late.front().ranks).Text() : Say("a rank that was not analysed")};
  }

  TimeNs OnJob(RankIndex rank, TimeNs time) const {
    return job_.operations.clock[rank].Convert(time);
  }
  TimeNs Start(const JointOperation::Member& member) const {
    return OnJob(member.rank, job_.PartOf(member).start);
  }
  TimeNs DurOf(const JointOperation::Member& member) const { return job_.PartOf(member).dur; }
  std::string NameOfRank(RankIndex rank) const { return "rank " + RankName(job_.ranks[rank].rank); }

  bool IsSeen(TimeNs begin, TimeNs end) const {
    return begin < timeline_.end && end > timeline_.begin;
  }
  void Add(TimelineLane& lane, TimelineSpan span) const {
    if (IsSeen(span.begin, span.end)) lane.spans.push_back(std::move(span));
  }

  void KeepLongest(TimelineLane& lane) const {
    if (lane.spans.size() <= most_spans_) return;
    StableSort(lane.spans, [](const TimelineSpan& a, const TimelineSpan& b) {
      return a.end - a.begin > b.end - b.begin;
    });
    lane.spans.resize(most_spans_);
    StableSort(lane.spans, {}, &TimelineSpan::begin);
  }

  // Of work before a moment of the threads, what the thread of the task queue did is a lane of its
  // own. Shares of one piece of work follow each other.
  void AddHost(RankIndex rank) {
    const RankDiagnosis& part = job_.Part(rank);
    TimelineLane host{.title = Say("{}, host", NameOfRank(rank))},
        queue{.title = Say("{}, queue", NameOfRank(rank))};
    std::map<std::uint32_t, TimeNs> before;  // what is drawn of the edge, from its end
    for (const HostShare& share : part.shares) {
      const GraphEdge& edge = part.graph.edges[share.edge];
      const GraphNode& node = part.graph.nodes[edge.node];
      TimeNs& drawn = before[share.edge];
      const TimeNs end = OnJob(rank, node.start - drawn);
      drawn += share.time;
      const bool queued =
          node.kind == NodeKind::kQueue || part.graph.nodes[edge.on].kind == NodeKind::kQueue;
      Add(queued ? queue : host,
          {end - share.time, end, kHost, std::string(NameOf(share.category)), ""});
    }
    for (const BlockedPart& blocked : part.blocked) {
      const TimeNs end = OnJob(rank, part.graph.nodes[part.graph.edges[blocked.edge].node].start);
      Add(host, {end - blocked.dur, end, kBlocked, part.names[blocked.name], ""});
    }
    timeline_.lanes.push_back(std::move(host));
    if (!queue.spans.empty()) timeline_.lanes.push_back(std::move(queue));
  }

  void AddStreams(RankIndex rank) {
    const RankDiagnosis& part = job_.Part(rank);
    std::map<std::int32_t, TimelineLane> streams;
    for (const GraphNode& node : part.graph.nodes) {
      if (node.kind != NodeKind::kKernel && node.kind != NodeKind::kCopy) continue;
      const TimeNs start = OnJob(rank, node.start);
      if (!IsSeen(start, start + node.dur)) continue;
      const bool known = streams.contains(node.stream) || streams.size() < kMaxStreams;
      TimelineLane& lane = known ? streams[node.stream] : std::prev(streams.end())->second;
      const bool copies = node.kind == NodeKind::kCopy;
      Add(lane, {start, start + node.dur, copies ? kCopies : kKernels,
                 copies ? Say("copy") : part.names[part.KindOf(node).name], ""});
    }
    if (streams.empty()) streams[-1];
    for (auto& [stream, lane] : streams) {
      lane.title = stream < 0 ? Say("{}, device", NameOfRank(rank))
                              : Say("{}, stream {}", NameOfRank(rank), stream);
      timeline_.lanes.push_back(std::move(lane));
    }
  }

  // Operations that run at once are in lanes below each other.
  void AddCommunication(RankIndex rank) {
    const RankDiagnosis& part = job_.Part(rank);
    std::vector<TimelineLane> lanes(1);
    std::vector<TimeNs> until(1);
    const std::size_t first = timeline_.lanes.size();
    for (std::size_t i = 0; i < part.operations.size(); ++i) {
      const OperationPart& operation = part.operations[i];
      const TimeNs begin = OnJob(rank, operation.start), end = begin + operation.dur;
      if (!IsSeen(begin, end)) continue;
      std::size_t at = 0;
      while (at + 1 < kMaxAtOnce && at < until.size() && until[at] > begin) ++at;
      if (at == lanes.size()) {
        lanes.emplace_back();
        until.push_back(0);
      }
      until[at] = std::max(until[at], end);
      AddOperation(rank, i, first + at, lanes[at]);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i].title = Say("{}, communication", NameOfRank(rank));
      if (i > 0) lanes[i].title += fmt::format(" {}", i + 1);
      timeline_.lanes.push_back(std::move(lanes[i]));
    }
  }

  // Up to the last arrival it waits.
  void AddOperation(RankIndex rank, std::size_t at, std::size_t lane_number, TimelineLane& lane) {
    const RankDiagnosis& part = job_.Part(rank);
    const OperationPart& operation = part.operations[at];
    const JobOperation& joint = job_.operations.all[job_.operations.of_rank[rank][at]];
    const TimeNs begin = OnJob(rank, operation.start), end = begin + operation.dur;
    const std::string& name = part.names[operation.name];
    TimeNs wait = 0;
    if (IsBarrierKind(joint.kind) && !joint.joint.members.empty()) {
      const LastComer last = LastOf(joint.joint);
      wait = std::clamp<TimeNs>(last.came - begin, 0, operation.dur);
      if (wait > 0) {
        waits_.push_back({rank, lane_number, begin, begin + wait, last.rank, last.came, name});
        Add(lane, {begin, begin + wait, kWaiting, Say("{} waits for {}", name, last.name), name});
      }
    }
    Add(lane, {begin + wait, end, kCommunication, name, ""});
    arrivals_.push_back({rank, lane_number, begin, end, rank, begin, name});
  }

  // From each wait to the operation of the rank that came last, where that rank is drawn; the
  // longest waits first.
  void AddArrows() {
    StableSort(waits_,
               [](const Wait& a, const Wait& b) { return a.end - a.begin > b.end - b.begin; });
    for (const Wait& wait : waits_) {
      if (timeline_.arrows.size() == kMaxArrows) break;
      const auto to = std::ranges::find_if(arrivals_, [&](const Wait& arrival) {
        return arrival.rank == wait.last_rank && arrival.begin == wait.came;
      });
      if (!wait.last_rank || wait.last_rank == wait.rank || to == arrivals_.end()) continue;
      timeline_.arrows.push_back(
          {.from = wait.lane,
           .to = to->lane,
           .begin = wait.begin,
           .end = wait.came,
           .label = Say("{} of {} waits for {}", wait.text, NameOfRank(wait.rank),
                        NameOfRank(*wait.last_rank))});
    }
  }

  const Job& job_;
  const std::size_t most_spans_;
  Timeline timeline_;
  std::vector<Wait> waits_, arrivals_;
};

// The operation for whose last member another one waited longest.
struct LongWait {
  JointOperation::Member first{}, last{};
  Interval time;  // from the first begin to the last end, on the clock of the job
};

std::optional<LongWait> FindLongestWait(const Job& job) {
  const auto start = [&](const JointOperation::Member& member) {
    return job.operations.clock[member.rank].Convert(job.PartOf(member).start);
  };
  std::optional<LongWait> found;
  TimeNs longest = 0;
  for (const JobOperation& operation : job.operations.all) {
    const auto& members = operation.joint.members;
    if (members.empty() || operation.is_apart || !IsBarrierKind(operation.kind) ||
        !job.Counts(operation.step))
      continue;
    const auto [first, last] = std::ranges::minmax_element(members, {}, start);
    const TimeNs wait = std::max(operation.joint.last, start(*last)) - start(*first);
    if (wait <= longest) continue;
    longest = wait;
    found = {*first, *last, {start(*first), start(*last)}};
  }
  if (!found) return found;
  for (const auto& member : {found->first, found->last})
    found->time.end = std::max(found->time.end, start(member) + job.PartOf(member).dur);
  return found;
}

// Of a card: what can be told apart there.
constexpr std::size_t kSpansOfPlace = 150, kMostPlaces = 10;

std::optional<Timeline> PlaceOf(const Job& job, const Finding& finding) {
  for (const Evidence& place : finding.evidence) {
    const auto of_place =
        std::ranges::find(job.ranks, place.rank, [](const auto& rank) { return rank.rank; });
    if (of_place == job.ranks.end()) continue;
    const RankIndex rank(static_cast<std::size_t>(of_place - job.ranks.begin()));
    const TimeNs begin = job.operations.clock[rank].Convert(place.start);
    JobLanes lanes(job, WindowAround(begin, place.dur), kSpansOfPlace);
    lanes.AddRank(rank);
    if (job.ranks.size() > 1) lanes.AddRank(rank == RankIndex(0) ? RankIndex(1) : RankIndex(0));
    const std::string name = ShortenName(Printable(place.name), 40);
    lanes.Mark(begin, name);
    Timeline timeline = std::move(lanes).Take();
    timeline.title = Say("{} on {}", name, RankText(place.rank));
    return timeline;
  }
  return std::nullopt;
}

}  // namespace

Interval WindowAround(TimeNs begin, TimeNs dur) {
  constexpr TimeNs kMin = 1'000'000;
  const TimeNs margin = std::max(dur, kMin);
  return {begin - margin, begin + dur + margin};
}

std::optional<Timeline> LongestWait(const Job& job) {
  const auto wait = FindLongestWait(job);
  if (!wait) return std::nullopt;
  constexpr std::size_t kMaxSpans = 2000;
  const TimeNs margin = (wait->time.end - wait->time.begin) / 5 + 1;
  JobLanes lanes(job, {wait->time.begin - margin, wait->time.end + margin}, kMaxSpans);
  lanes.AddRank(wait->first.rank);
  if (wait->last.rank != wait->first.rank) lanes.AddRank(wait->last.rank);
  return std::move(lanes).Take();
}

std::vector<std::pair<std::string, Timeline>> PlacesOf(const Job& job,
                                                       const std::vector<Finding>& findings) {
  std::vector<std::pair<std::string, Timeline>> places;
  for (const Finding& finding : findings) {
    if (places.size() == kMostPlaces) break;
    if (auto place = PlaceOf(job, finding)) places.emplace_back(finding.key, std::move(*place));
  }
  return places;
}

}  // namespace mpa
