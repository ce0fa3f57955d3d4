// SPDX-License-Identifier: Apache-2.0
// Finds what kept the device waiting: walks the chain from the asking thread over the queue and the
// launch to the work that ended the gap.
#include "free_time.h"

#include <algorithm>
#include <limits>

#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

// Work asked for: what went into the queue, and what operators launched.
std::vector<std::pair<TimeNs, std::int32_t>> FindRequests(const RankTrace& trace) {
  std::vector<std::pair<TimeNs, std::int32_t>> requests;
  requests.reserve(trace.queued_work.Size() + trace.launches.Size());
  const QueuedWork& work = trace.queued_work;
  for (std::size_t i = 0; i < work.Size(); ++i) {
    requests.emplace_back(work.queued[i], work.queued_track[i]);
  }
  for (std::size_t i = 0; i < trace.launches.Size(); ++i) {
    requests.emplace_back(trace.launches.host_time[i], trace.launches.host_track[i]);
  }
  std::ranges::sort(requests);
  // Only where another thread begins to ask.
  const auto same_thread = [](const auto& a, const auto& b) { return a.second == b.second; };
  requests.erase(std::unique(requests.begin(), requests.end(), same_thread), requests.end());
  requests.shrink_to_fit();
  return requests;
}

std::map<std::int64_t, std::vector<std::uint32_t>> FindEventWaits(const DeviceTasks& tasks,
                                                                  const StringPool& strings) {
  std::map<std::int64_t, std::vector<std::uint32_t>> waits;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (tasks.dur[i] == 0 || !strings.View(tasks.type[i]).starts_with("EVENT_WAIT")) continue;
    waits[tasks.stream[i]].push_back(static_cast<std::uint32_t>(i));
  }
  for (auto& [stream, rows] : waits) {
    std::ranges::stable_sort(rows, [&](std::uint32_t a, std::uint32_t b) {
      return tasks.start[a] + tasks.dur[a] < tasks.start[b] + tasks.dur[b];
    });
  }
  return waits;
}

// A thread that waits for another one is within a function of Python, or the mark of the step.
bool TellsLittle(const HostPiece& piece) {
  return piece.category == TimeCategory::kPython || piece.category == TimeCategory::kHostIdle;
}

}  // namespace

FreeTime::FreeTime(const RankTrace& trace, const HostClock& clock,
                   std::span<const DeviceItem> items, const HostTimeline* host)
    : trace_(trace),
      clock_(clock),
      items_(items),
      chains_(trace),
      host_(host),
      collections_(Covered(trace.garbage_collections)),
      requests_(FindRequests(trace)),
      waits_(FindEventWaits(trace.device_tasks, trace.strings)) {}

std::optional<LaunchChain> FreeTime::ChainOf(std::uint32_t item) const {
  return chains_.Find(items_[item], items_[item].begin + clock_.offset);
}

std::optional<std::uint32_t> FreeTime::StartingAt(TimeNs time) const {
  auto at = std::partition_point(items_.begin(), items_.end(),
                                 [&](const DeviceItem& item) { return item.begin < time; });
  std::optional<std::uint32_t> best;
  std::pair<TimeNs, std::int64_t> best_place;
  for (; at != items_.end() && at->begin == time; ++at) {
    if (at->end <= time) continue;
    const auto item = static_cast<std::uint32_t>(at - items_.begin());
    const bool alone = std::next(at) == items_.end() || std::next(at)->begin != time;
    if (alone && !best) return item;
    const auto chain = ChainOf(item);
    const std::pair place{chain ? chain->launched : std::numeric_limits<TimeNs>::min(),
                          -at->stream};
    if (!best || place > best_place) {
      best = item;
      best_place = place;
    }
  }
  return best;
}

void FreeTime::Learn(const std::vector<FreeGap>& gaps) {
  std::vector<TimeNs> latencies;
  Intervals of_host;  // in which the host is what matters, on its clock
  for (const FreeGap& gap : gaps) {
    const auto chain = gap.next ? ChainOf(*gap.next) : std::nullopt;
    const TimeNs launched = chain ? chain->launched - clock_.offset : gap.begin;
    if (launched > gap.begin || !gap.next)
      of_host.push_back({gap.begin + clock_.offset, gap.end + clock_.offset});
    if (launched > gap.begin && launched < gap.end) latencies.push_back(gap.end - launched);
  }
  if (host_ == nullptr) host_ = &own_host_.emplace(trace_, of_host);
  if (latencies.empty()) return;
  usual_latency_ = ValueAtPosition(latencies, PercentileIndexAbove(latencies.size(), 50));
}

std::optional<std::int32_t> FreeTime::DrainingCall(const FreeGap& gap) const {
  const std::vector<BlockingCall>& calls = host_->Blocking();
  const TimeNs begin = gap.begin + clock_.offset;
  const auto after = std::partition_point(
      calls.begin(), calls.end(),
      [&](const BlockingCall& call) { return call.end <= gap.end + clock_.offset; });
  if (after == calls.begin()) return std::nullopt;
  const BlockingCall& call = *std::prev(after);
  const bool drained = call.end >= begin && call.begin < begin;
  return drained ? std::optional(call.row) : std::nullopt;
}

// A task that waited for an event in the gap on the stream of the work that ended it.
std::optional<std::int32_t> FreeTime::StreamWait(const FreeGap& gap) const {
  const auto found = waits_.find(items_[*gap.next].stream);
  if (found == waits_.end()) return std::nullopt;
  const DeviceTasks& tasks = trace_.device_tasks;
  const std::vector<std::uint32_t>& rows = found->second;
  const auto row = std::partition_point(rows.begin(), rows.end(), [&](std::uint32_t at) {
    return tasks.start[at] + tasks.dur[at] <= gap.begin;
  });
  if (row == rows.end() || tasks.start[*row] >= gap.end) return std::nullopt;
  return static_cast<std::int32_t>(*row);
}

// Both sides of the gap are of one launch of a graph.
bool FreeTime::IsInGraph(const FreeGap& gap, const LaunchChain& chain) const {
  if (!gap.last) return false;
  const DeviceItem& next = items_[*gap.next];
  const DeviceItem& last = items_[*gap.last];
  if (next.connection >= 0 && next.connection == last.connection) return true;
  return next.model >= 0 && next.model == last.model &&
         last.begin + clock_.offset >= chain.call_begin;
}

void FreeTime::Explain(const FreeGap& gap, std::vector<Piece>& pieces) {
  pieces_ = &pieces;
  first_piece_ = pieces.size();
  tags_ = gap.tags;
  const bool has_calls = chains_.calls().HasCalls();
  known_ = has_calls && clock_.trusted ? Confidence::kExact : Confidence::kPartial;
  const Cut whole{gap.begin + clock_.offset, gap.end + clock_.offset};
  const auto explain_as = [&](TimeCategory category, PieceTable table = PieceTable::kNone,
                              std::int32_t row = -1) { Add(whole, category, table, row, known_); };
  if (!host_->HasAny()) return explain_as(TimeCategory::kUnrecorded);
  if (!gap.next) return ExplainTail(whole);
  const auto chain = ChainOf(*gap.next);
  if (!chain) return explain_as(TimeCategory::kUnknown);
  if (!chain->complete) known_ = Confidence::kPartial;
  if (chain->launched <= whole.begin) {
    if (const auto wait = StreamWait(gap)) {
      return explain_as(TimeCategory::kStreamWait, PieceTable::kDeviceTasks, *wait);
    }
    return explain_as(TimeCategory::kDeviceQueue);
  }
  if (IsInGraph(gap, *chain)) return explain_as(TimeCategory::kDeviceQueue);
  ExplainChain(whole, *chain, IsDeviceCopy(items_[*gap.next].category));
}

void FreeTime::ExplainTail(const Cut& gap) {
  host_->Walk(
      host_->MainTrack(), gap.begin, gap.end,
      [&](const HostPiece& piece) { AddHost(piece, known_); },
      [&](TimeNs begin, TimeNs end) {
        Add({begin, end}, TimeCategory::kHostIdle, PieceTable::kNone, -1, known_);
      });
}

void FreeTime::ExplainChain(const Cut& gap, const LaunchChain& chain, bool ends_in_copy) {
  const TimeNs launched = std::min(chain.launched, gap.end);
  const TimeNs taken = std::clamp(chain.taken, gap.begin, launched);
  const TimeNs asked = std::clamp(chain.asked, gap.begin, taken);
  const auto add_launching = [&](TimeNs from, TimeNs to, TimeCategory idle) {
    host_->Walk(
        chain.launching_track, from, to, [&](const HostPiece& piece) { AddHost(piece, known_); },
        [&](TimeNs begin, TimeNs end) {
          Add({begin, end}, idle, PieceTable::kNone, -1, known_);
        });
  };
  AddProducer(chain.asking_track, {gap.begin, asked});
  add_launching(asked, taken, TimeCategory::kQueue);
  add_launching(taken, launched, TimeCategory::kDispatchCann);
  AddLatency({launched, gap.end}, ends_in_copy ? chain.asking_track : -1);
}

// What takes far longer than usual was held up by the device; or by the host, if it is a copy that
// the asking thread (else -1) waits for: memory that is not pinned is copied on the host first.
void FreeTime::AddLatency(const Cut& range, std::int32_t blocked_track) {
  constexpr TimeNs kFactor = 10;
  const TimeNs usual = std::min(range.end, range.begin + kFactor * usual_latency_);
  Add({range.begin, usual}, TimeCategory::kLaunchLatency, PieceTable::kNone, -1, known_);
  const auto add_queue = [&](TimeNs begin, TimeNs end) {
    Add({begin, end}, TimeCategory::kDeviceQueue, PieceTable::kNone, -1, known_);
  };
  host_->Walk(
      blocked_track, usual, range.end,
      [&](const HostPiece& piece) {
        const bool blocked = piece.category == TimeCategory::kHostCopy ||
                             piece.category == TimeCategory::kScalarSync;
        if (blocked) {
          AddHost(piece, known_);
        } else {
          add_queue(piece.begin, piece.end);
        }
      },
      add_queue);
}

// The thread that had to ask for the work. While it has nothing to tell, because it waits for
// another thread (the main one within backward()) or did not run yet, the one that works counts.
void FreeTime::AddProducer(std::int32_t track, const Cut& range) {
  if (range.begin >= range.end) return;
  host_->Walk(
      track, range.begin, range.end,
      [&](const HostPiece& piece) {
        if (TellsLittle(piece)) {
          AddOther(track, {piece.begin, piece.end}, &piece);
        } else {
          AddHost(piece, known_);
        }
      },
      [&](TimeNs begin, TimeNs end) {
        AddOther(track, {begin, end}, nullptr);
      });
}

// The thread that asked for work last at each time.
void FreeTime::AddOther(std::int32_t track, const Cut& range, const HostPiece* own) {
  auto next = std::upper_bound(requests_.begin(), requests_.end(),
                               std::pair{range.begin, std::numeric_limits<std::int32_t>::max()});
  for (TimeNs begin = range.begin; begin < range.end;) {
    const std::int32_t other = next == requests_.begin() ? -1 : std::prev(next)->second;
    const TimeNs end = next == requests_.end() ? range.end : std::min(range.end, next->first);
    if (next != requests_.end()) ++next;
    if (begin >= end) continue;
    if (other < 0 || other == track) {
      AddRest(track, {begin, end}, own);
    } else {
      host_->Walk(
          other, begin, end,
          [&](const HostPiece& piece) {
            if (TellsLittle(piece)) {
              AddRest(track, {piece.begin, piece.end}, own);
            } else {
              AddHost(piece, Confidence::kGuess);
            }
          },
          [&](TimeNs from, TimeNs to) {
            AddRest(track, {from, to}, own);
          });
    }
    begin = end;
  }
}

void FreeTime::AddRest(std::int32_t track, const Cut& range, const HostPiece* own) {
  if (own != nullptr) {
    HostPiece piece = *own;
    piece.begin = range.begin;
    piece.end = range.end;
    return AddHost(piece, known_);
  }
  const auto idle = [&](TimeNs begin, TimeNs end) {
    Add({begin, end}, TimeCategory::kHostIdle, PieceTable::kNone, -1, Confidence::kGuess);
  };
  if (track == host_->MainTrack()) return idle(range.begin, range.end);
  host_->Walk(
      host_->MainTrack(), range.begin, range.end,
      [&](const HostPiece& piece) { AddHost(piece, Confidence::kGuess); }, idle);
}

void FreeTime::AddHost(const HostPiece& piece, Confidence confidence) {
  Add({piece.begin, piece.end}, piece.category, piece.table, piece.row, confidence);
}

// Time in which garbage is collected is that of no thread: the collection holds the interpreter.
void FreeTime::Add(const Cut& range, TimeCategory category, PieceTable table, std::int32_t row,
                   Confidence confidence) {
  const auto append = [&](TimeNs begin, TimeNs end, const Piece& like) {
    if (begin >= end) return;
    Piece piece = like;
    piece.begin = begin - clock_.offset;
    piece.end = end - clock_.offset;
    if (pieces_->size() > first_piece_ && pieces_->back().end == piece.begin) {
      Piece longer = pieces_->back();
      longer.end = piece.end;
      Piece same = piece;
      same.begin = longer.begin;
      if (longer == same) {
        pieces_->back() = longer;
        return;
      }
    }
    pieces_->push_back(piece);
  };
  const Piece own{
      .row = row, .category = category, .table = table, .tags = tags_, .confidence = confidence};
  TimeNs begin = range.begin;
  const bool from_host =
      category != TimeCategory::kLaunchLatency && category != TimeCategory::kDeviceQueue &&
      category != TimeCategory::kStreamWait && category != TimeCategory::kUnrecorded;
  if (from_host) {
    auto collection = std::partition_point(collections_.begin(), collections_.end(),
                                           [&](const Interval& at) { return at.end <= begin; });
    for (; collection != collections_.end() && collection->begin < range.end; ++collection) {
      append(begin, collection->begin, own);
      const TimeNs from = std::max(begin, collection->begin);
      const TimeNs to = std::min(range.end, collection->end);
      append(from, to,
             {.category = TimeCategory::kGarbage,
              .table = PieceTable::kGarbageCollections,
              .tags = tags_,
              .confidence = known_});
      begin = to;
    }
  }
  append(begin, range.end, own);
}

}  // namespace mpa
