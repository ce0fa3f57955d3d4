// SPDX-License-Identifier: Apache-2.0
// Where the host's time of each class goes.
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/base/text.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/step_bounds.h"
#include "part_facts.h"

namespace mpa {
namespace {

class PlaceFinder {
 public:
  PlaceFinder(const RankTrace& trace, const HostTimeline& timeline, PartNames& names)
      : trace_(trace), timeline_(timeline), names_(names) {}

  std::vector<HostPlace> Find(const CallSites& sites) && {
    const Interval& span = timeline_.Span();
    for (std::size_t track = 0; track < trace_.tracks.Size(); ++track) {
      std::optional<Intervals> beside;
      timeline_.Walk(
          static_cast<std::int32_t>(track), span.begin, span.end,
          [&](const HostPiece& piece) { Add(piece, track, beside); }, [](TimeNs, TimeNs) {});
    }
    return Largest(sites);
  }

 private:
  struct Found {
    HostPlace place;
    NestSpan longest;
  };

  // A frame in which the thread only waits for operators of another one, as that of the backward
  // pass, is not what takes the time.
  void Add(const HostPiece& piece, std::size_t track, std::optional<Intervals>& beside) {
    const StringId text = HostTextOf(trace_, piece.table, piece.row);
    if (IsMarkOfUser(piece, trace_.strings.View(text))) return;
    const TimeNs time = piece.end - piece.begin;
    if (piece.table == PieceTable::kPythonCalls && piece.leaf == Leaf::kPython) {
      if (!beside) beside = OpsBeside(track);
      if (2 * LengthWithin(*beside, {piece.begin, piece.end}) > time) return;
    }
    const NameId name = NameOf(piece, text);
    Found& found =
        places_
            .try_emplace(std::uint64_t{name} * kLeaves + static_cast<std::size_t>(piece.leaf),
                         Found{{piece.leaf, name}, {}})
            .first->second;
    HostPlace& place = found.place;
    ++place.count;
    place.time += time;
    if (time > place.longest) {
      place.longest = time;
      place.start = StartOfPiece(piece);
      found.longest = {piece.begin, piece.end, static_cast<std::int32_t>(track)};
    }
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
      default:
        return piece.begin;
    }
  }

  // When operators run on other threads than this one.
  Intervals OpsBeside(std::size_t track) const {
    std::vector<Interval> ops;
    const HostOps& rows = trace_.host_ops;
    for (std::size_t i = 0; i < rows.Size(); ++i) {
      const bool is_beside = rows.track[i] != static_cast<std::int32_t>(track) &&
                             !IsStepMark(trace_.strings.View(rows.name[i]));
      if (is_beside) ops.push_back({rows.start[i], rows.start[i] + rows.dur[i]});
    }
    return Union(std::move(ops));
  }

  // Traces of GPUs list marks of the user among the operators: they say nothing of who works.
  bool IsMarkOfUser(const HostPiece& piece, std::string_view name) const {
    if (trace_.device != DeviceKind::kGpu || piece.table != PieceTable::kHostOps ||
        piece.leaf != Leaf::kDispatchOp)
      return false;
    return !ContainsAny(name, {"::", "Backward", "Optimizer."}) && !name.starts_with("cu") &&
           !name.starts_with("nccl");
  }

  std::vector<HostPlace> Largest(const CallSites& sites) {
    constexpr std::size_t kMost = 5;
    std::map<Leaf, std::vector<const Found*>> by_leaf;
    for (const auto& [key, found] : places_) by_leaf[found.place.leaf].push_back(&found);
    std::vector<HostPlace> largest;
    for (auto& [leaf, list] : by_leaf) {
      std::sort(list.begin(), list.end(), [](const Found* a, const Found* b) {
        return a->place.time != b->place.time ? a->place.time > b->place.time
                                              : a->place.name < b->place.name;
      });
      list.resize(std::min(list.size(), kMost));
      for (const Found* found : list) {
        largest.push_back(found->place);
        largest.back().line = names_.Of(IsIssuing(leaf) ? "" : sites.At(found->longest));
      }
    }
    return largest;
  }

  const RankTrace& trace_;
  const HostTimeline& timeline_;
  PartNames& names_;
  std::unordered_map<StringId, NameId> of_frames_, of_others_;
  std::unordered_map<std::uint64_t, Found> places_;  // by name and class
};

}  // namespace

void AddPlaces(const RankTrace& trace, const HostTimeline& timeline, const CallSites& sites,
               PartNames& names, RankDiagnosis& part) {
  part.places = PlaceFinder(trace, timeline, names).Find(sites);
}

}  // namespace mpa
