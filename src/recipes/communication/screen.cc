// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/measure/quantiles.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/rank_spread.h"
#include "mpa/report/report.h"
#include "sums.h"

namespace mpa::communication {
namespace {

constexpr std::size_t kKindsOfGroups = 6;

// What a source sent to a destination over one transport, all steps and operators together.
struct Link {
  std::int64_t source = -1, destination = -1;
  double megabytes = 0, milliseconds = 0;

  double Bandwidth() const { return RatioOf(megabytes, milliseconds); }
};

// Links to other ranks that took time. The sums of the captures where they have them.
std::map<std::string, std::vector<Link>> LinksByTransport(const LinkSums& sums) {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Link> links;
  for (const RankLink& part : sums.totals.empty() ? sums.links : sums.totals) {
    if (part.source == part.destination) continue;
    Link& link = links[{part.transport, part.source, part.destination}];
    link.source = part.source;
    link.destination = part.destination;
    link.megabytes += part.megabytes;
    link.milliseconds += part.milliseconds;
  }
  std::map<std::string, std::vector<Link>> transports;
  for (const auto& [key, link] : links) {
    if (link.Bandwidth() > 0) transports[std::get<0>(key)].push_back(link);
  }
  for (auto& [transport, of_transport] : transports) {
    std::ranges::stable_sort(of_transport, {}, &Link::Bandwidth);
  }
  return transports;
}

double MedianBandwidth(const std::vector<Link>& links) {
  std::vector<double> bandwidths;
  for (const Link& link : links) bandwidths.push_back(link.Bandwidth());
  return Median(std::move(bandwidths));
}

}  // namespace

void AddStepLines(const std::vector<StepTraceRow>& rows, Report& report) {
  const auto of_ranks = [&](TimeNs StepTimes::Row::*time, const char* name) {
    std::vector<RankValue> values;
    for (const auto& row : rows) {
      if (!row.stage) values.push_back({row.rank, InMs(row.times.*time)});
    }
    if (values.empty()) return;
    const RankSpread spread = SpreadOf(MeansOfRanks(values));
    report.lines.push_back(fmt::format("  {:<24} {:>12.3f} {:>12.3f} {:>12.3f}  ({})", name,
                                       spread.min.value, spread.median, spread.max.value,
                                       RankText(spread.max.rank)));
  };
  if (rows.empty()) return;
  report.lines.push_back(
      fmt::format("  {:<24} {:>12} {:>12} {:>12}", "ms in a step", "min", "median", "max (rank)"));
  of_ranks(&StepTimes::Row::computing, "computing");
  of_ranks(&StepTimes::Row::exposed_communication, "exposed communication");
  // The profiler's own words for these mean other things than those of the account.
  of_ranks(&StepTimes::Row::free, "free between tasks");
  of_ranks(&StepTimes::Row::bubble, "receives (Bubble)");
}

void AddGroupLines(const std::vector<Group>& groups, Report& report) {
  if (groups.empty()) return;
  report.lines.push_back("  " + Counted(groups.size(), "communication group"));
  // Type, name in the job, number of ranks.
  std::map<std::tuple<std::string, std::string, std::size_t>, std::size_t> kinds;
  for (const Group& group : groups) {
    ++kinds[{group.Type(), group.process_group, group.ranks.size()}];
  }
  std::size_t shown = 0;
  for (const auto& [kind, count] : kinds) {
    const auto& [type, name, ranks] = kind;
    if (shown++ == kKindsOfGroups) break;
    report.lines.push_back(fmt::format("    {:<10}  {:<16.16}  {} of {}", type,
                                       name.empty() ? "(no name)" : name, Counted(count, "group"),
                                       Counted(ranks, "rank")));
  }
  AddMoreLine(kinds.size(), kKindsOfGroups, "kind", report.lines);
}

void AddOperatorLines(const OpSums& ops, Report& report) {
  const RankOp* longest = nullptr;
  for (const auto& op : ops.ops) {
    if (longest == nullptr || op.op.time.elapse > longest->op.time.elapse) longest = &op;
  }
  if (longest == nullptr) return;
  report.lines.push_back(fmt::format("  longest operator: {} on {}",
                                     ShortenName(Printable(longest->op.name), NameColumns(50)),
                                     RankText(longest->rank)));
  report.lines.push_back(fmt::format("    {:.3f} ms, of it {:.3f} ms transfer",
                                     longest->op.time.elapse, longest->op.time.transit));
}

void AddLinkLines(const LinkSums& sums, Report& report) {
  const auto transports = LinksByTransport(sums);
  if (transports.empty()) return;
  report.lines.push_back(fmt::format("  {:<16} {:>6} {:>12} {:>12} {:>12}  {}", "GB/s of links",
                                     "links", "min", "median", "max", "slowest"));
  for (const auto& [transport, links] : transports) {
    report.lines.push_back(fmt::format("  {:<16.16} {:>6} {:>12.3f} {:>12.3f} {:>12.3f}  {} to {}",
                                       transport, links.size(), links.front().Bandwidth(),
                                       MedianBandwidth(links), links.back().Bandwidth(),
                                       links.front().source, links.front().destination));
  }
}

}  // namespace mpa::communication
