// SPDX-License-Identifier: Apache-2.0
// What the threads that issue work do between two of their moments: by class, and where.
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/step_bounds.h"
#include "part_facts.h"

namespace mpa {
namespace {

// No rule calls a shorter operator one that stands still.
constexpr TimeNs kStandsStill = 1'000'000;

class ShareMaker {
 public:
  ShareMaker(const RankTrace& trace, const HostTimeline& timeline, const CallSites& sites,
             PartNames& names, RankDiagnosis& part)
      : trace_(trace),
        timeline_(timeline),
        sites_(sites),
        names_(names),
        part_(part),
        garbage_(Covered(trace.garbage_collections)),
        optimizer_(OptimizerSpans(trace)),
        named_(Covered(trace.serving_marks)) {}

  void Add(const HostStretch& stretch) {
    begin_ = stretch.begin;
    times_ = between_ = {};
    found_.clear();
    const auto add_idle = [&](TimeNs begin, TimeNs end) {
      AddTime(TimeCategory::kHostIdle, begin, end, WithoutGarbage(begin, end));
    };
    timeline_.Walk(
        stretch.track, stretch.begin, stretch.end,
        [&](const HostPiece& piece) { AddPiece(piece, stretch.track, stretch.before); },
        [&](TimeNs begin, TimeNs end) {
          timeline_.Walk(
              stretch.before, begin, end,
              [&](const HostPiece& piece) { AddPiece(piece, stretch.before, -1); }, add_idle);
        });
    AddGarbage({stretch.begin, stretch.end});
    StableSort(found_, [](const Found& a, const Found& b) {
      return std::pair{a.category, a.place.name} < std::pair{b.category, b.place.name};
    });
    auto next = found_.begin();
    for (std::size_t category = 0; category < kTimeCategories; ++category) {
      if (times_[category] == 0) continue;
      const auto share = static_cast<std::uint32_t>(part_.shares.size());
      part_.shares.push_back({.edge = stretch.edge,
                              .category = static_cast<TimeCategory>(category),
                              .in_optimizer = Contains(optimizer_, stretch.begin),
                              .time = times_[category]});
      if (!named_.empty()) part_.between.push_back(between_[category]);
      while (next != found_.end() && next->category < static_cast<TimeCategory>(category)) ++next;
      while (next != found_.end() && next->category == static_cast<TimeCategory>(category))
        next = AddPlace(share, next);
    }
  }

 private:
  struct Found {
    TimeCategory category{};
    HostPlace place;
    NestSpan longest;
    std::pair<PieceTable, std::int32_t> event;
  };

  // The thread that holds the interpreter lock collects garbage; all other threads stand still.
  TimeNs WithoutGarbage(TimeNs begin, TimeNs end) const {
    return end - begin - (garbage_.empty() ? 0 : LengthWithin(garbage_, {begin, end}));
  }

  void AddTime(TimeCategory category, TimeNs begin, TimeNs end, TimeNs time) {
    times_[static_cast<std::size_t>(category)] += time;
    if (!named_.empty())
      between_[static_cast<std::size_t>(category)] +=
          std::min(time, end - begin - LengthWithin(named_, {begin, end}));
  }

  void AddPiece(const HostPiece& piece, std::int32_t track, std::int32_t before) {
    const TimeNs time = WithoutGarbage(piece.begin, piece.end);
    if (time == 0) return;
    AddTime(piece.category, piece.begin, piece.end, time);
    const StringId text = HostTextOf(trace_, piece.table, piece.row);
    if (text == StringId::kEmpty || IsMark(piece, trace_.strings.View(text)) ||
        WaitsForOther(piece, track, before))
      return;
    const TimeNs start = StartOfPiece(piece);
    // A call that goes on from an earlier stretch was counted there.
    found_.push_back({piece.category,
                      {.name = NameOf(piece, text),
                       .count = start >= begin_ ? 1u : 0u,
                       .time = time,
                       .longest = piece.end - piece.begin,
                       .start = start},
                      {piece.begin, piece.end, track},
                      {piece.table, piece.row}});
  }

  void AddGarbage(const Interval& within) {
    auto at = std::ranges::partition_point(
        garbage_, [&](const Interval& row) { return row.end <= within.begin; });
    for (; at != garbage_.end() && at->begin < within.end; ++at) {
      const TimeNs begin = std::max(within.begin, at->begin), end = std::min(within.end, at->end);
      times_[static_cast<std::size_t>(TimeCategory::kGarbage)] += end - begin;
      found_.push_back(
          {TimeCategory::kGarbage,
           {.name = names_.Of(kCollection),
            .count = 1,
            .time = end - begin,
            .longest = end - begin,
            .start = at->begin},
           {begin, end, -1},
           {PieceTable::kGarbageCollections, static_cast<std::int32_t>(at - garbage_.begin())}});
    }
  }

  // Joins all of the name and adds them; returns what comes behind them.
  std::vector<Found>::iterator AddPlace(std::uint32_t share, std::vector<Found>::iterator first) {
    HostPlace place = first->place;
    place.share = share;
    NestSpan longest = first->longest;
    auto next = std::next(first);
    for (; next != found_.end() && next->category == first->category &&
           next->place.name == first->place.name;
         ++next) {
      if (next->event != std::prev(next)->event) place.count += next->place.count;
      place.time += next->place.time;
      if (next->place.longest <= place.longest) continue;
      place.longest = next->place.longest;
      place.start = next->place.start;
      longest = next->longest;
    }
    // Operators are issued from many lines; one that stands still is at one.
    const bool has_line =
        !IsIssuing(first->category) || longest.end - longest.start >= kStandsStill;
    place.line = names_.Of(has_line ? sites_.At(longest) : "");
    part_.places.push_back(place);
    return next;
  }

  // A frame in which the thread only waits for operators of the one that issued work before it, as
  // that of the backward pass, is not what takes the time.
  bool WaitsForOther(const HostPiece& piece, std::int32_t track, std::int32_t before) const {
    if (piece.table != PieceTable::kPythonCalls || piece.category != TimeCategory::kPython ||
        before == track)
      return false;
    TimeNs busy = 0;
    timeline_.Walk(
        before, piece.begin, piece.end,
        [&](const HostPiece& other) {
          const bool works =
              other.category != TimeCategory::kPython && other.category != TimeCategory::kHostIdle;
          if (works) busy += other.end - other.begin;
        },
        [](TimeNs, TimeNs) {});
    return 2 * busy > piece.end - piece.begin;
  }

  // The mark of a step is everywhere. Traces of GPUs list marks of the user among the operators:
  // they say nothing of who works.
  bool IsMark(const HostPiece& piece, std::string_view name) const {
    if (piece.table != PieceTable::kHostOps) return false;
    if (IsStepMark(name)) return true;
    if (trace_.device != DeviceKind::kGpu || piece.category != TimeCategory::kDispatchOp)
      return false;
    return !ContainsAny(name, {"::", "Backward", "Optimizer."}) && !name.starts_with("cu") &&
           !name.starts_with("hip") && !name.starts_with("nccl");
  }

  // Millions of pieces have a few names.
  NameId NameOf(const HostPiece& piece, StringId text) {
    auto& known = piece.table == PieceTable::kPythonCalls ? of_frames_ : of_others_;
    const auto [found, is_new] = known.try_emplace(text, NameId{});
    if (is_new) found->second = names_.Of(HostNameOf(trace_, piece.table, piece.row));
    return found->second;
  }

  // Of the event, which may have begun before the piece of it that counts.
  TimeNs StartOfPiece(const HostPiece& piece) const {
    const auto row = static_cast<std::size_t>(piece.row);
    switch (piece.table) {
      case PieceTable::kHostOps:
        return trace_.host_ops.start[row];
      case PieceTable::kPythonCalls:
        return trace_.python_calls.start[row];
      case PieceTable::kHostCalls:
        return trace_.host_calls.start[row];
      case PieceTable::kMstx:
        return trace_.mstx.start[row];
      case PieceTable::kSystemCalls:
        return trace_.system_calls.start[row];
      case PieceTable::kLockUses:
        return trace_.lock_uses.start[row];
      default:
        return piece.begin;
    }
  }

  const RankTrace& trace_;
  const HostTimeline& timeline_;
  const CallSites& sites_;
  PartNames& names_;
  RankDiagnosis& part_;
  const Intervals garbage_, optimizer_, named_;
  std::unordered_map<StringId, NameId> of_frames_, of_others_;
  // Of the stretch at hand.
  TimeNs begin_ = 0;
  std::array<TimeNs, kTimeCategories> times_{}, between_{};
  std::vector<Found> found_;
};

}  // namespace

void AddShares(const RankTrace& trace, const HostTimeline& timeline, const CallSites& sites,
               const std::vector<HostStretch>& stretches, PartNames& names, RankDiagnosis& part) {
  ShareMaker maker(trace, timeline, sites, names, part);
  for (const HostStretch& stretch : stretches) maker.Add(stretch);
}

namespace {

// Shorter gaps lie between any two records. What is made of longer ones is a matter of the rules,
// and none of them can ask for shorter ones.
constexpr TimeNs kMinGap = 1'000'000;

// When nothing of the host is recorded on any thread.
Intervals SilentTimes(const RankTrace& trace, const HostTimeline& timeline,
                      const Interval& within) {
  std::vector<Interval> busy;
  for (std::size_t track = 0; track < trace.tracks.Size(); ++track) {
    timeline.Walk(
        static_cast<std::int32_t>(track), within.begin, within.end,
        [&](const HostPiece& piece) {
          const bool is_mark = piece.table == PieceTable::kHostOps &&
                               IsStepMark(trace.strings.View(
                                   trace.host_ops.name[static_cast<std::size_t>(piece.row)]));
          if (!is_mark) busy.push_back({piece.begin, piece.end});
        },
        [](TimeNs, TimeNs) {});
  }
  return Difference({within}, Union(std::move(busy)));
}

}  // namespace

std::vector<SilentGap> FindSilentGaps(const RankTrace& trace, const HostTimeline& timeline,
                                      const std::vector<HostStretch>& stretches) {
  std::vector<SilentGap> gaps;
  if (!timeline.HasAny()) return gaps;
  for (const HostStretch& stretch : stretches) {
    const Interval within = {std::max(stretch.begin, timeline.Span().begin),
                             std::min(stretch.end, timeline.Span().end)};
    if (within.end - within.begin < kMinGap) continue;
    for (const Interval& gap : SilentTimes(trace, timeline, within)) {
      if (gap.end - gap.begin >= kMinGap)
        gaps.push_back({stretch.edge, gap.begin, gap.end - gap.begin});
    }
  }
  return gaps;
}

}  // namespace mpa
