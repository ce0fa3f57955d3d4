// SPDX-License-Identifier: Apache-2.0
// Cuts the steps of a rank into pieces: what occupied the device, and what kept it waiting while it
// was free.
#include "mpa/measure/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "free_time.h"
#include "mpa/base/error.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/quantiles.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// What occupies the device, with operations of communication divided into their phases.
class Occupants {
 public:
  Occupants(const RankTrace& trace, const AccountInput& input, std::span<const DeviceItem> items)
      : trace_(trace), input_(input), parts_(trace) {
    if (input.arrivals.size() == trace.communications.Size()) {
      arrivals_.assign(input.arrivals.begin(), input.arrivals.end());
    } else {
      arrivals_ = OwnLastArrivals(trace, parts_);
    }
    contenders_.reserve(items.size());
    pieces_.reserve(items.size());
    for (const DeviceItem& item : items) {
      if (item.table == PieceTable::kCommunications) {
        AddOperation(item);
      } else {
        Add({.begin = item.begin,
             .end = item.end,
             .row = item.row,
             .category = item.category,
             .table = item.table});
      }
    }
  }

  // In order of time; free time is left out.
  std::vector<Piece> Resolve() {
    std::vector<Piece> resolved;
    resolved.reserve(contenders_.size());
    Skyline(std::move(contenders_), Tie::kLeastIndex, [&](const Won& won) {
      Piece& piece = resolved.emplace_back(pieces_[won.index]);
      piece.begin = won.begin;
      piece.end = won.end;
    });
    return resolved;
  }

 private:
  // Of two with one category the one counts that began earlier: items come in that order.
  void Add(const Piece& piece) {
    contenders_.push_back({piece.begin, piece.end, static_cast<std::int32_t>(piece.category),
                           static_cast<std::uint32_t>(pieces_.size())});
    pieces_.push_back(piece);
  }

  void AddOperation(const DeviceItem& item) {
    const auto row = static_cast<std::size_t>(item.row);
    const TimeNs slow = row < input_.slow.size() ? input_.slow[row] : 0;
    for (const CollectivePhase& phase :
         PhasesOf({item.begin, item.end}, arrivals_[row], parts_.Of(row), IsReceive(trace_, row),
                  input_.arrival_tolerance, slow)) {
      const bool waits =
          phase.category == TimeCategory::kWaitPeer || phase.category == TimeCategory::kBubble;
      Add({.begin = phase.begin,
           .end = phase.end,
           .row = item.row,
           .peer = waits ? arrivals_[row].peer : -1,
           .category = phase.category,
           .table = PieceTable::kCommunications});
    }
  }

  const RankTrace& trace_;
  const AccountInput& input_;
  CollectiveParts parts_;
  std::vector<LastArrival> arrivals_;
  std::vector<Contender> contenders_;
  std::vector<Piece> pieces_;
};

// Fills a window with what occupies the device, and with gaps, which are explained afterwards.
struct WindowParts {
  std::vector<Piece> occupied;
  std::vector<FreeGap> gaps;
};

class Accountant {
 public:
  Accountant(const RankTrace& trace, const HostTimeline* host, const AccountInput& input)
      : items_(FindDeviceItems(trace)), input_(input), trace_(trace), host_(host) {
    account_.clock = HostClockOf(trace, items_);
    const std::vector<StepWindow> windows = FindStepWindows(trace, account_.clock, input.steps);
    for (const StepWindow& window : windows) account_.steps.push_back({window});
    account_.earlier = EarlierTimeOf(trace, account_.clock, windows, input.steps);
  }

  RankAccount Account() && {
    std::vector<Piece> occupied = Occupants(trace_, input_, items_).Resolve();
    FreeTime free(trace_, account_.clock, items_, host_);
    std::vector<WindowParts> windows = Divide(std::exchange(occupied, {}), free);
    free.Learn(GapsOf(windows));
    std::size_t pieces = 0;  // gaps may have several
    for (const WindowParts& window : windows) pieces += window.occupied.size() + window.gaps.size();
    account_.pieces.reserve(pieces);
    for (std::size_t step = 0; step < windows.size(); ++step) {
      Fill(std::exchange(windows[step], {}), free, account_.steps[step]);
    }
    account_.pieces.shrink_to_fit();  // comparisons keep those of both sides
    return std::move(account_);
  }

 private:
  std::vector<WindowParts> Divide(const std::vector<Piece>& occupied, const FreeTime& free) const {
    std::vector<WindowParts> windows(account_.steps.size());
    auto first = occupied.begin();
    for (std::size_t step = 0; step < windows.size(); ++step) {
      const Interval& window = account_.steps[step].window;
      while (first != occupied.end() && first->end <= window.begin) ++first;
      TimeNs reached = window.begin;
      for (auto piece = first; piece != occupied.end() && piece->begin < window.end; ++piece) {
        Piece cut = *piece;
        cut.begin = std::max(cut.begin, window.begin);
        cut.end = std::min(cut.end, window.end);
        if (cut.begin >= cut.end) continue;
        if (reached < cut.begin) {
          AddGap({reached, cut.begin}, window, free.StartingAt(cut.begin), windows[step].gaps);
        }
        windows[step].occupied.push_back(cut);
        reached = cut.end;
      }
      if (reached < window.end) {
        AddGap({reached, window.end}, window, std::nullopt, windows[step].gaps);
      }
    }
    return windows;
  }

  static std::vector<FreeGap> GapsOf(const std::vector<WindowParts>& windows) {
    std::vector<FreeGap> gaps;
    for (const WindowParts& window : windows)
      gaps.insert(gaps.end(), window.gaps.begin(), window.gaps.end());
    return gaps;
  }

  void AddGap(const Interval& gap, const Interval& window, std::optional<std::uint32_t> next,
              std::vector<FreeGap>& gaps) const {
    FreeGap added{.begin = gap.begin, .end = gap.end, .next = next};
    if (!next) {
      added.tags = kTail;
    } else if (gap.begin == window.begin) {
      added.tags = kPrepare;
    }
    // The last one that began before the gap; it ended by then.
    const auto after =
        std::partition_point(items_.begin(), items_.end(),
                             [&](const DeviceItem& item) { return item.begin < gap.begin; });
    if (after != items_.begin()) {
      added.last = static_cast<std::uint32_t>(after - items_.begin()) - 1;
    }
    gaps.push_back(added);
  }

  void Fill(const WindowParts& window, FreeTime& free, StepAccount& step) {
    std::vector<Piece>& pieces = account_.pieces;
    step.first_piece = pieces.size();
    auto gap = window.gaps.begin();
    const auto explain_until = [&](TimeNs time) {
      for (; gap != window.gaps.end() && gap->begin < time; ++gap) Explain(*gap, free);
    };
    for (const Piece& piece : window.occupied) {
      explain_until(piece.begin);
      pieces.push_back(piece);
    }
    explain_until(step.window.end);
    step.end_piece = pieces.size();
    TimeNs reached = step.window.begin;
    for (const Piece& piece : account_.PiecesOf(step)) {
      if (piece.begin != reached) break;
      reached = piece.end;
      step.categories[piece.category] += piece.end - piece.begin;
    }
    if (reached != step.window.end) {
      Fail(ErrorKind::kInternal, "the pieces of step {} do not fill it at {}", step.id, reached);
    }
  }

  void Explain(FreeGap gap, FreeTime& free) {
    if (const auto call = free.DrainingCall(gap)) {
      gap.tags |= kAfterSync;
      account_.drained.push_back({{gap.begin, gap.end}, *call});
    }
    const std::size_t first = account_.pieces.size();
    free.Explain(gap, account_.pieces);
    if (!free.HasHost()) return;
    const Interval host = free.HostSpan();
    for (std::size_t i = first; i < account_.pieces.size(); ++i) {
      Piece& piece = account_.pieces[i];
      if (piece.begin < host.begin || piece.end > host.end) piece.tags |= kBoundary;
    }
  }

  std::vector<DeviceItem> items_;
  const AccountInput& input_;
  const RankTrace& trace_;
  const HostTimeline* host_;  // null without a host timeline
  RankAccount account_;
};

}  // namespace

std::vector<StepWindow> FindStepWindows(const RankTrace& trace, const HostClock& clock,
                                        const Steps* steps) {
  const Interval work = DeviceSpan(trace);
  if (work.begin >= work.end) return {};
  const StepBounds bounds(trace, steps != nullptr ? *steps : trace.steps, clock.offset);
  if (bounds.Count() == 0) return {{.window = work}};
  if (trace.is_one_step)
    return {{.id = bounds.Id(0), .window = {trace.step_begin, trace.step_end}}};
  std::vector<StepWindow> windows;
  for (std::size_t step = 0; step < bounds.Count(); ++step) {
    const TimeNs end =
        step + 1 < bounds.Count() ? bounds.DeviceBegin(step + 1) : bounds.DeviceFinish(step);
    windows.push_back({.id = bounds.Id(step), .window = {bounds.DeviceBegin(step), end}});
  }
  return windows;
}

std::string EarlierTimeText(const EarlierTime& earlier) {
  if (earlier.time <= 0) return "";
  const TimeNs us = (earlier.time + 500) / 1000;
  const std::string ms = fmt::format("{}.{:03}", us / 1000, us % 1000);
  return earlier.was_recorded
             ? Say("left out: {} ms, device busy with earlier work (launched before)", ms)
             : Say("left out: {} ms, device busy with earlier work (not in the trace)", ms);
}

EarlierTime EarlierTimeOf(const RankTrace& trace, const HostClock& clock,
                          const std::vector<StepWindow>& windows, const Steps* steps) {
  EarlierTime earlier{.time = 0, .was_recorded = trace.earlier_work_was_recorded};
  if (trace.earlier_work_end == 0 || windows.empty()) return earlier;
  const HostSteps of_host(steps != nullptr ? *steps : trace.steps);
  const TimeNs opens = windows.front().window.begin;
  TimeNs begin = std::numeric_limits<TimeNs>::max();
  if (of_host.Count() > 0) {
    if (opens == trace.earlier_work_end) begin = of_host.HostBegin(0);
  } else if (opens >= trace.earlier_work_end) {
    for (const TimeNs launched : trace.launches.host_time) begin = std::min(begin, launched);
  }
  if (begin - clock.offset < trace.earlier_work_end)
    earlier.time = trace.earlier_work_end - (begin - clock.offset);
  return earlier;
}

RankAccount AccountRank(const RankTrace& trace, const AccountInput& input) {
  return Accountant(trace, nullptr, input).Account();
}

RankAccount AccountRank(const RankTrace& trace, const HostTimeline& host,
                        const AccountInput& input) {
  return Accountant(trace, &host, input).Account();
}

// Whether the first step counts.

namespace {

double MedianOfOthers(const std::vector<TimeNs>& all) {
  return static_cast<double>(Median(std::vector<TimeNs>(all.begin() + 1, all.end())));
}

}  // namespace

bool FirstStepIsWarmUp(const std::vector<TimeNs>& lengths, const std::vector<TimeNs>& compiling,
                       std::size_t ranks, const WarmUpLimits& limits) {
  if (lengths.size() < 3) return false;
  const double usual = MedianOfOthers(lengths), length = static_cast<double>(lengths[0]);
  if (usual > 0 && length > limits.ratio * usual) return true;
  const double first = static_cast<double>(compiling[0]);
  return first > 0 && first >= limits.compiling * length * static_cast<double>(ranks) &&
         MedianOfOthers(compiling) <= limits.rest * first;
}

}  // namespace mpa
