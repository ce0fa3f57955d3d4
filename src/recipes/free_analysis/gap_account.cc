// SPDX-License-Identifier: Apache-2.0
#include "gap_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "mpa/measure/device_work.h"

namespace mpa::free_analysis {
namespace {

std::string TextOf(const LeafTimes& leaves) {
  std::vector<std::pair<TimeNs, Leaf>> largest;
  for (std::size_t i = 0; i < kLeaves; ++i) {
    const auto leaf = static_cast<Leaf>(i);
    if (leaves[leaf] > 0) largest.push_back({leaves[leaf], leaf});
  }
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [time, leaf] : largest) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} us", NameOf(leaf), PythonFloat(static_cast<double>(time) / 1000));
  }
  return text;
}

}  // namespace

StepAccounts::StepAccounts(const RankTrace& trace)
    : trace_(trace), account_(AccountRank(trace)), sites_(trace, account_.clock) {}

LeafTimes StepAccounts::Leaves() const {
  LeafTimes all;
  for (const StepAccount& step : account_.steps) {
    for (std::size_t i = 0; i < kLeaves; ++i) {
      all[static_cast<Leaf>(i)] += step.leaves[static_cast<Leaf>(i)];
    }
  }
  return all;
}

GapAccount StepAccounts::Of(const Interval& gap) const {
  LeafTimes leaves;
  using Doing = std::pair<PieceTable, std::int32_t>;
  std::map<Doing, std::pair<TimeNs, const Piece*>> doings;  // by row of a table of the host
  auto piece = std::partition_point(account_.pieces.begin(), account_.pieces.end(),
                                    [&](const Piece& one) { return one.end <= gap.begin; });
  for (; piece != account_.pieces.end() && piece->begin < gap.end; ++piece) {
    const TimeNs time = std::min(piece->end, gap.end) - std::max(piece->begin, gap.begin);
    leaves[piece->leaf] += time;
    if (!IsFree(piece->leaf) || piece->row < 0) continue;
    auto& [sum, first] = doings[{piece->table, piece->row}];
    sum += time;
    if (first == nullptr) first = &*piece;
  }
  GapAccount account{TextOf(leaves), ""};
  constexpr TimeNs kLeastShare = 10;  // what took less than a tenth of the gap does not explain it
  TimeNs longest = (gap.end - gap.begin) / kLeastShare;
  for (const auto& [doing, found] : doings) {
    if (found.first <= longest) continue;
    std::string place = HostPlaceOf(trace_, sites_, *found.second);
    if (place.empty()) continue;
    longest = found.first;
    account.place = std::move(place);
  }
  return account;
}

}  // namespace mpa::free_analysis
