// SPDX-License-Identifier: Apache-2.0
#include "mpa/change/step_account.h"

#include <algorithm>
#include <utility>

#include "mpa/measure/launch_chain.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

// What a piece is named by, without its name: there are many pieces of a name. `what` is a text or,
// of communication, an OperationId().
struct PieceKey {
  TimeCategory category{};
  std::int64_t what = 0;
  std::int32_t group = -1, peer = -1;
  std::size_t step = 0;

  friend auto operator<=>(const PieceKey&, const PieceKey&) = default;
};

struct TimeOfKey {
  const Piece* example = nullptr;
  TimeNs time = 0;
};
using TimesByKey = std::map<PieceKey, TimeOfKey>;

void AddTime(const Piece& piece, const PieceKey& key, TimesByKey& times) {
  TimeOfKey& of_key = times[key];
  if (of_key.example == nullptr) of_key.example = &piece;
  of_key.time += piece.end - piece.begin;
}

// The name and the type of an operation; its group is a part of the key.
std::int64_t OperationId(const RankTrace& trace, std::size_t row) {
  const Communications& table = trace.communications;
  return static_cast<std::int64_t>(Index(table.op_type[row])) << 32 |
         static_cast<std::int64_t>(Index(table.name[row]));
}

class PieceTimes {
 public:
  PieceTimes(const RankTrace& trace, const RankAccount& account, AccountNaming naming)
      : trace_(trace), account_(account), names_(trace, account.clock, std::move(naming)) {}

  void Add(const Piece& piece, std::size_t step) {
    AddTime(piece, PartKey(piece, step), parts_);
    if (!IsFree(piece.category)) return;
    if (const std::string call = CallBefore(piece); !call.empty()) {
      lines_[{AccountKey(NameOf(piece.category), "after " + call), step}] +=
          piece.end - piece.begin;
      return;
    }
    if (IsIssuing(piece.category) || !names_.KnowsLines()) {
      AddTime(piece, PlaceKey(piece, step), places_);
      return;
    }
    // The line of the program depends on the time of the piece.
    const std::string place = names_.PlaceOf(piece);
    if (!place.empty()) lines_[{place, step}] += piece.end - piece.begin;
  }

  AccountTimes Medians(std::size_t steps) const {
    StepTable parts(steps), places(steps);
    for (const auto& [key, of_key] : parts_) {
      parts.Add(names_.PartOf(*of_key.example), key.step, of_key.time);
    }
    for (const auto& [key, of_key] : places_) {
      const std::string place = names_.PlaceOf(*of_key.example);
      if (!place.empty()) places.Add(place, key.step, of_key.time);
    }
    for (const auto& [key, time] : lines_) places.Add(key.first, key.second, time);
    return {parts.Medians(), places.Medians(), {}};
  }

 private:
  // The call that waited until the device had nothing to do, behind which the host issues work
  // again: that is what holds the device up, whichever operator comes next. Empty: there is none.
  std::string CallBefore(const Piece& piece) const {
    if ((piece.tags & kAfterSync) == 0 || !IsIssuing(piece.category)) return "";
    const auto gap = std::ranges::upper_bound(account_.drained, piece.begin, {},
                                              [](const DrainedGap& row) { return row.gap.end; });
    if (gap == account_.drained.end() || piece.begin < gap->gap.begin) return "";
    const bool on_gpu = trace_.device == DeviceKind::kGpu;
    const PieceTable table = on_gpu ? PieceTable::kHostOps : PieceTable::kHostCalls;
    return std::string(WithoutLevel(trace_.strings.View(HostTextOf(trace_, table, gap->call))));
  }

  PieceKey PartKey(const Piece& piece, std::size_t step) const {
    PieceKey key{.category = piece.category, .step = step};
    const auto row = static_cast<std::size_t>(piece.row);
    if (IsCompute(piece.category)) {
      key.category = TimeCategory{};
      key.what = static_cast<std::int64_t>(Index(names_.KernelTextOf(piece)));
    } else if (IsCommunication(piece.category)) {
      key.what = OperationId(trace_, row);
      key.group = trace_.communications.group[row];
      key.peer = piece.peer;
    }
    return key;
  }

  PieceKey PlaceKey(const Piece& piece, std::size_t step) const {
    const auto text = Index(HostTextOf(trace_, piece.table, piece.row));
    return {.category = piece.category,
            .what = static_cast<std::int64_t>(text),
            .group = static_cast<std::int32_t>(piece.table),
            .step = step};
  }

  const RankTrace& trace_;
  const RankAccount& account_;
  const AccountPieces names_;
  TimesByKey parts_, places_;
  std::map<std::pair<std::string, std::size_t>, TimeNs> lines_;
};

}  // namespace

void StepTable::Add(std::string_view name, std::size_t step, TimeNs time, std::int64_t calls) {
  auto found = names_.find(name);
  if (found == names_.end()) {
    found = names_.emplace(name, OfName{}).first;
    found->second.time.resize(steps_);
    found->second.calls.resize(steps_);
  }
  found->second.time[step] += time;
  found->second.calls[step] += calls;
}

TimesByName StepTable::Medians() const {
  TimesByName medians;
  for (const auto& [name, of_name] : names_) {
    medians[name] = {Median(of_name.time), Median(of_name.calls)};
  }
  return medians;
}

AccountTimes MedianAccount(const RankTrace& trace, const RankAccount& account, std::size_t first,
                           AccountNaming naming, bool together) {
  PieceTimes times(trace, account, std::move(naming));
  for (std::size_t step = first; step < account.steps.size(); ++step) {
    const std::size_t number = together ? 0 : step - first;
    for (const Piece& piece : account.PiecesOf(account.steps[step])) times.Add(piece, number);
  }
  const std::size_t steps = account.steps.size() - std::min(first, account.steps.size());
  return times.Medians(together ? 1 : steps);
}

}  // namespace mpa
