// SPDX-License-Identifier: Apache-2.0
// Which collectives should take the same time, and do not.
#include "link_classes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/recipe/rank_spread.h"

namespace mpa::recipes::slow_link {
namespace {

constexpr std::size_t kMinForDeviations = 11;

bool BeyondThreeDeviations(const LinkClass& same) {
  const auto count = static_cast<double>(same.stats.count);
  if (!same.stats.deviation || *same.stats.deviation == 0) return false;
  const double limit = 3 * *same.stats.deviation * std::sqrt((count - 1) / count);
  return static_cast<double>(same.stats.max) - same.stats.mean > limit ||
         same.stats.mean - static_cast<double>(same.stats.min) > limit;
}

// One value for each collective, however many ranks took part.
std::vector<RankValue> TransfersOf(const LinkClass& same) {
  std::map<const CollectiveInstance*, TimeNs> transfers;
  for (const LinkRow& row : same.rows) transfers.emplace(row.op, row.transmit);
  std::vector<RankValue> values;
  for (const auto& [op, transmit] : transfers)
    values.push_back({-1, static_cast<double>(transmit)});
  return values;
}

bool Deviates(const LinkClass& same) {
  const std::vector<RankValue> transfers = TransfersOf(same);
  if (transfers.size() >= kMinForDeviations) return BeyondThreeDeviations(same);
  const std::vector<RankValue> outliers = OutliersOf(transfers);
  if (outliers.empty()) return false;
  constexpr double kLongerBy = 1.5;
  const double limit = kLongerBy * SpreadOf(transfers).median;
  return std::ranges::any_of(outliers,
                             [&](const RankValue& outlier) { return outlier.value > limit; });
}

void Measure(LinkClass& same) {
  StableSort(same.rows, [](const LinkRow& a, const LinkRow& b) {
    return std::tie(a.member.rank, a.member.row) < std::tie(b.member.rank, b.member.row);
  });
  std::vector<TimeNs> transfers;
  for (const LinkRow& row : same.rows) transfers.push_back(row.transmit);
  same.stats = StatsOf(DurationSample(std::move(transfers)));
  const double farthest = std::max(static_cast<double>(same.stats.max) - same.stats.mean,
                                   same.stats.mean - static_cast<double>(same.stats.min));
  const double deviation = same.stats.deviation.value_or(0);
  same.offset = deviation > 0 ? farthest / deviation : 0;
}

}  // namespace

const LinkRow& LinkClass::Longest() const {
  return *std::ranges::max_element(rows, {}, &LinkRow::transmit);
}

const LinkRow& LinkClass::Shortest() const {
  return *std::ranges::min_element(rows, {}, &LinkRow::transmit);
}

LinkClasses FindLinkClasses(const std::vector<const RankRuns*>& parts,
                            const CollectiveInstances& collectives) {
  LinkClasses found;
  const auto run_of = [&](const CollectiveInstance::Member& member) -> const RankRuns::Row& {
    return parts[member.rank]->rows[member.row];
  };
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, LinkClass> classes;
  for (const CollectiveInstance& op : collectives) {
    TimeNs transmit = run_of(op.members.front()).dur;
    for (const auto& member : op.members) transmit = std::min(transmit, run_of(member).dur);
    const auto ranks = static_cast<std::int64_t>(op.members.size());
    for (const auto& member : op.members) {
      const RankRuns& part = *parts[member.rank];
      const RankRuns::Row& run = run_of(member);
      const auto bytes = BytesOfElements(run.count, part.texts[run.data_type]);
      if (!bytes) {
        ++found.unsized;
        continue;
      }
      LinkClass& same = classes[{part.texts[run.type], *bytes, ranks}];
      same.rows.push_back({&op, member, transmit});
    }
  }
  found.count = classes.size();
  for (auto& [key, same] : classes) {
    std::tie(same.type, same.bytes, same.ranks) = key;
    Measure(same);
    if (Deviates(same)) found.deviating.push_back(std::move(same));
  }
  return found;
}

}  // namespace mpa::recipes::slow_link
