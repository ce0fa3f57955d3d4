// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/collective_phases.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/collectives.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/model/collective_tasks.h"

namespace mpa {
namespace {

Intervals PartsWithin(std::span<const CollectivePart> parts, bool waits, const Interval& bounds) {
  std::vector<Interval> found;
  for (const CollectivePart& part : parts) {
    const Interval cut{std::max(part.begin, bounds.begin), std::min(part.end, bounds.end)};
    if (part.waits == waits && cut.begin < cut.end) found.push_back(cut);
  }
  return Union(std::move(found));
}

}  // namespace

bool IsReceive(const RankTrace& trace, std::size_t operation) {
  const std::string kind = CollectiveKindOf(trace, operation);
  return kind == "receive" || kind == "recv";
}

std::vector<CollectivePhase> PhasesOf(const Interval& operation, const LastArrival& arrival,
                                      std::span<const CollectivePart> parts, bool receives,
                                      TimeNs tolerance, TimeNs slow) {
  std::vector<CollectivePhase> phases;
  const auto add = [&](const Intervals& intervals, TimeCategory category) {
    for (const Interval& part : intervals) phases.push_back({part.begin, part.end, category});
  };
  if (operation.begin >= operation.end) return phases;
  if (!arrival.known) {
    add({operation}, TimeCategory::kUnsplit);
    return phases;
  }
  TimeNs met = std::clamp(arrival.time, operation.begin, operation.end);
  if (met <= operation.begin + tolerance) met = operation.begin;
  if (operation.begin < met) {
    add({{operation.begin, met}}, receives ? TimeCategory::kBubble : TimeCategory::kWaitPeer);
  }
  const TimeNs slow_from = std::max(met, operation.end - std::max<TimeNs>(slow, 0));
  if (met < slow_from && parts.empty()) {
    add({{met, slow_from}}, TimeCategory::kTransfer);
  } else if (met < slow_from) {
    const Interval within{met, slow_from};
    const Intervals transfers = PartsWithin(parts, /*waits=*/false, within);
    const Intervals waits = Difference(PartsWithin(parts, /*waits=*/true, within), transfers);
    add(transfers, TimeCategory::kTransfer);
    add(waits, TimeCategory::kInnerWait);
    add(Difference({within}, Union(transfers, waits)), TimeCategory::kInnerIdle);
  }
  if (slow_from < operation.end) add({{slow_from, operation.end}}, TimeCategory::kSlow);
  StableSort(phases, {}, &CollectivePhase::begin);
  return phases;
}

// What the tasks of collectives say: who waited for whom, and what was transferred when.

namespace {

enum class PartKind : std::uint8_t { kUnknown, kNone, kWait, kTransfer, kSend };

// "Notify Wait" in the tasks of a device is "Notify_Wait" in those of collectives.
PartKind KindOfPart(std::string_view name) {
  std::string text = ToLower(name);
  std::replace(text.begin(), text.end(), ' ', '_');
  if (text.starts_with("notify_wait")) return PartKind::kWait;
  if (IsOneOf(text, {"memcpy", "reduce_inline", "sdma"})) return PartKind::kTransfer;
  return text == "rdmasend" ? PartKind::kSend : PartKind::kNone;
}

// By text of the rank.
class PartKinds {
 public:
  explicit PartKinds(const RankTrace& trace)
      : trace_(trace), kinds_(trace.strings.Size(), PartKind::kUnknown) {}
  PartKind Of(StringId name) {
    PartKind& kind = kinds_[Index(name)];
    if (kind == PartKind::kUnknown) kind = KindOfPart(trace_.strings.View(name));
    return kind;
  }

 private:
  const RankTrace& trace_;
  std::vector<PartKind> kinds_;
};

}  // namespace

CollectiveParts::CollectiveParts(const RankTrace& trace) {
  const auto& names = trace.comm_tasks.name;
  const bool has_names =
      std::ranges::any_of(names, [](StringId name) { return name != StringId::kEmpty; });
  if (has_names) {
    AddCommTasks(trace);
  } else if (!trace.lacks_comm_tasks) {
    AddDeviceTasks(trace);
  }
  const auto before = [](const CollectivePart& a, const CollectivePart& b) {
    return std::tie(a.operation, a.begin) < std::tie(b.operation, b.begin);
  };
  StableSort(parts_, before);
  begin_.assign(trace.communications.Size() + 1, 0);
  for (const CollectivePart& part : parts_) ++begin_[static_cast<std::size_t>(part.operation) + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
}

std::span<const CollectivePart> CollectiveParts::Of(std::size_t operation) const {
  return std::span(parts_).subspan(begin_[operation], begin_[operation + 1] - begin_[operation]);
}

// Databases name the operation of a task, whenever the task ran. Text captures do not, so there a
// task belongs to an operation at most the operation's length away (OperationsOfTasks()). The same
// limit holds here, so that both give the same parts.
void CollectiveParts::Add(const RankTrace& trace, const CollectivePart& part) {
  const Communications& operations = trace.communications;
  const auto row = static_cast<std::size_t>(part.operation);
  const TimeNs dur = operations.dur[row], into = part.begin - operations.start[row];
  if (into >= -dur && into <= 2 * dur) parts_.push_back(part);
}

void CollectiveParts::AddCommTasks(const RankTrace& trace) {
  const CommTasks& tasks = trace.comm_tasks;
  const std::vector<std::int64_t> operations = OperationsOfTasks(trace);
  PartKinds kinds(trace);
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (operations[i] < 0) continue;
    const PartKind kind = kinds.Of(tasks.name[i]);
    const bool waits = kind == PartKind::kWait;
    const bool transfers = (kind == PartKind::kTransfer && tasks.bytes[i] != 0) ||
                           (kind == PartKind::kSend && SendsPayload(trace, i));
    if (!waits && !transfers) continue;
    Add(trace, {static_cast<std::int32_t>(operations[i]), tasks.start[i],
                tasks.start[i] + tasks.dur[i], waits, tasks.peer[i]});
  }
}

// Tasks of the device that one call launched are of the operation that it launched, of several runs
// of a call of the last that had begun.
void CollectiveParts::AddDeviceTasks(const RankTrace& trace) {
  const Communications& operations = trace.communications;
  using Place = std::tuple<std::int64_t, TimeNs, std::size_t>;
  std::vector<Place> places;
  for (std::size_t i = 0; i < operations.Size(); ++i) {
    if (operations.connection[i] < 0) continue;
    places.emplace_back(operations.connection[i], operations.start[i], i);
  }
  std::ranges::sort(places);
  const DeviceTasks& tasks = trace.device_tasks;
  PartKinds kinds(trace);
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (tasks.connection[i] < 0) continue;
    const PartKind kind = kinds.Of(tasks.type[i]);
    if (kind != PartKind::kWait && kind != PartKind::kTransfer) continue;
    const auto after =
        std::upper_bound(places.begin(), places.end(),
                         Place{tasks.connection[i], tasks.start[i], operations.Size()});
    if (after == places.begin()) continue;
    const auto& [connection, start, row] = *std::prev(after);
    if (connection != tasks.connection[i]) continue;
    Add(trace, {static_cast<std::int32_t>(row), tasks.start[i], tasks.start[i] + tasks.dur[i],
                kind == PartKind::kWait, -1});
  }
}

namespace {

constexpr TimeNs kMinWait = 2000;

}  // namespace

std::vector<SeenPeer> FindSeenPeers(const RankTrace& trace, const CollectiveParts& parts) {
  std::vector<SeenPeer> seen;
  for (std::size_t operation = 0; operation < trace.communications.Size(); ++operation) {
    std::map<std::int32_t, const CollectivePart*> first;  // by peer
    for (const CollectivePart& part : parts.Of(operation)) {
      if (part.waits && part.peer >= 0) first.try_emplace(part.peer, &part);
    }
    for (const auto& [peer, wait] : first) {
      const bool waited = wait->end - wait->begin > kMinWait;
      seen.push_back({static_cast<std::int32_t>(operation), peer,
                      waited ? wait->end : trace.communications.start[operation], waited,
                      wait->begin});
    }
  }
  return seen;
}

namespace {

// Where no peers are recorded: all wait for each other before the first transfer between them, so
// the waits that begin before it are those of the meeting. What is copied before the first wait
// stays on the device.
std::optional<TimeNs> EndOfMeeting(std::span<const CollectivePart> parts) {
  std::optional<TimeNs> end;
  for (const CollectivePart& part : parts) {
    if (!part.waits && end) break;
    if (!part.waits) continue;
    const bool waited = part.end - part.begin > kMinWait;
    end = std::max(end.value_or(part.begin), waited ? part.end : part.begin);
  }
  return end;
}

}  // namespace

std::vector<LastArrival> OwnLastArrivals(const RankTrace& trace, const CollectiveParts& parts) {
  std::vector<LastArrival> arrivals(trace.communications.Size());
  for (const SeenPeer& seen : FindSeenPeers(trace, parts)) {
    LastArrival& last = arrivals[static_cast<std::size_t>(seen.operation)];
    if (!last.known)
      last = {true, trace.communications.start[static_cast<std::size_t>(seen.operation)]};
    if (seen.waited && seen.time > last.time) last = {true, seen.time, seen.peer};
  }
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (arrivals[i].known) continue;
    if (const auto end = EndOfMeeting(parts.Of(i))) arrivals[i] = {true, *end};
  }
  return arrivals;
}

}  // namespace mpa
