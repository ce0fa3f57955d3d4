// SPDX-License-Identifier: Apache-2.0
#include "mpa/change/step_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "mpa/measure/launch_chain.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

// What a piece is named by, without its name: there are many pieces of a name. `what` is a text or,
// of communication, an OperationId(). `group`: of a place the table of the text; -1: it is a call
// that the piece is behind.
struct PieceKey {
  TimeCategory category{};
  std::int64_t what = 0;
  std::int32_t group = -1, peer = -1;
  CallSite site = {};

  friend bool operator==(const PieceKey&, const PieceKey&) = default;
};

struct HashOfKey {
  std::size_t operator()(const PieceKey& key) const {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    std::uint64_t hash = static_cast<std::uint64_t>(key.category);
    for (const std::int64_t part :
         {key.what, std::int64_t{key.group}, std::int64_t{key.peer}, NumberOf(key.site.function),
          NumberOf(key.site.of_library), NumberOf(key.site.stack)}) {
      hash = (hash ^ static_cast<std::uint64_t>(part)) * kOdd;
      hash ^= hash >> 32;
    }
    return hash;
  }

 private:
  static std::int64_t NumberOf(StringId text) { return static_cast<std::int64_t>(Index(text)); }
};

// The times of a key by step, in order of the steps.
struct TimesOfKey {
  const Piece* example = nullptr;
  std::vector<std::pair<std::size_t, TimeNs>> times;
};
using TimesByKey = std::unordered_map<PieceKey, TimesOfKey, HashOfKey>;

void AddTime(const Piece& piece, const PieceKey& key, std::size_t step, TimesByKey& all) {
  auto& [example, times] = all[key];
  if (example == nullptr) example = &piece;
  if (times.empty() || times.back().first != step) times.emplace_back(step, 0);
  times.back().second += piece.end - piece.begin;
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

  // Steps come in their order.
  void Add(const Piece& piece, std::size_t step) {
    AddTime(piece, PartKey(piece), step, parts_);
    if (IsFree(piece.category)) AddTime(piece, PlaceKey(piece), step, places_);
  }

  AccountTimes Medians(std::size_t steps) const {
    StepTable parts(steps), places(steps);
    for (const auto& [key, of_key] : parts_) {
      const std::string name = names_.PartOf(*of_key.example);
      for (const auto& [step, time] : of_key.times) parts.Add(name, step, time);
    }
    // Several lines of a stack, and several stacks, may have one name.
    std::map<std::pair<std::string, std::size_t>, TimeNs> times;
    for (const auto& [key, of_key] : places_) {
      const std::string name = PlaceOf(*of_key.example);
      if (name.empty()) continue;
      for (const auto& [step, time] : of_key.times) times[{name, step}] += time;
    }
    for (const auto& [place, time] : times) places.Add(place.first, place.second, time);
    return {parts.Medians(), places.Medians(), {}};
  }

 private:
  // The call that waited until the device had nothing to do, behind which the host issues work
  // again: that is what holds the device up, whichever operator comes next. Empty: there is none.
  StringId CallBefore(const Piece& piece) const {
    if ((piece.tags & kAfterSync) == 0 || !IsIssuing(piece.category)) return StringId::kEmpty;
    const auto gap = std::ranges::upper_bound(account_.drained, piece.begin, {},
                                              [](const DrainedGap& row) { return row.gap.end; });
    if (gap == account_.drained.end() || piece.begin < gap->gap.begin) return StringId::kEmpty;
    const bool on_gpu = trace_.device == DeviceKind::kGpu;
    const PieceTable table = on_gpu ? PieceTable::kHostOps : PieceTable::kHostCalls;
    const StringId name = HostTextOf(trace_, table, gap->call);
    return WithoutLevel(trace_.strings.View(name)).empty() ? StringId::kEmpty : name;
  }

  std::string PlaceOf(const Piece& piece) const {
    const StringId call = CallBefore(piece);
    if (call == StringId::kEmpty) return names_.PlaceOf(piece);
    const std::string_view name = WithoutLevel(trace_.strings.View(call));
    return AccountKey(NameOf(piece.category), fmt::format("after {}", name));
  }

  PieceKey PartKey(const Piece& piece) const {
    PieceKey key{.category = piece.category};
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

  PieceKey PlaceKey(const Piece& piece) const {
    PieceKey key{.category = piece.category};
    StringId text = CallBefore(piece);
    if (text == StringId::kEmpty) {
      text = HostTextOf(trace_, piece.table, piece.row);
      key.group = static_cast<std::int32_t>(piece.table);
      key.site = names_.SiteOf(piece);
    }
    key.what = static_cast<std::int64_t>(Index(text));
    return key;
  }

  const RankTrace& trace_;
  const RankAccount& account_;
  const AccountPieces names_;
  TimesByKey parts_, places_;
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
