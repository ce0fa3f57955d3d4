// SPDX-License-Identifier: Apache-2.0
// What the screens of the recipes of communication say.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/collectives/lateness.h"
#include "mpa/measure/quantiles.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/recipe/rank_spread.h"
#include "mpa/report/report.h"
#include "mpa/report/screen_list.h"
#include "sums.h"

namespace mpa::recipes::communication {
namespace {

constexpr std::size_t kKindsOfGroups = 6;

// What a source sent to a destination over one transport, all steps and operators together.
struct Link {
  std::string source, destination;
  double megabytes = 0, milliseconds = 0;

  double Bandwidth() const { return RatioOf(megabytes, milliseconds); }
};

// "3", or "group rank 3" of a rank that the job does not name.
std::string EndText(RankId rank, std::int64_t in_group) {
  return rank >= 0 ? RankName(rank) : Say("group rank {}", in_group);
}

// Links to other ranks that took time. The sums of the captures where they have them.
std::map<std::string, std::vector<Link>> LinksByTransport(const LinkSums& sums) {
  // Transport and ends; the same number in another group is another rank.
  using Ends = std::tuple<RankId, std::int64_t, std::string_view>;
  const auto end_of = [](const RankLink& part, RankId rank, std::int64_t in_group) {
    return rank >= 0 ? Ends(rank, -1, std::string_view()) : Ends(RankId(), in_group, part.group);
  };
  std::map<std::tuple<std::string_view, Ends, Ends>, Link> links;
  for (const RankLink& part : sums.totals.empty() ? sums.links : sums.totals) {
    if (part.source_in_group == part.destination_in_group) continue;
    Link& link = links[{part.transport, end_of(part, part.source, part.source_in_group),
                        end_of(part, part.destination, part.destination_in_group)}];
    link.source = EndText(part.source, part.source_in_group);
    link.destination = EndText(part.destination, part.destination_in_group);
    link.megabytes += part.megabytes;
    link.milliseconds += part.milliseconds;
  }
  std::map<std::string, std::vector<Link>> transports;
  for (const auto& [key, link] : links) {
    if (link.Bandwidth() > 0) transports[std::string(std::get<0>(key))].push_back(link);
  }
  for (auto& [transport, of_transport] : transports) {
    StableSort(of_transport, {}, &Link::Bandwidth);
  }
  return transports;
}

double MedianBandwidth(const std::vector<Link>& links) {
  std::vector<double> bandwidths;
  for (const Link& link : links) bandwidths.push_back(link.Bandwidth());
  return Median(std::move(bandwidths));
}

// In ms, of each rank that has steps.
std::vector<RankValue> OfRanks(const std::vector<StepTraceRow>& rows,
                               TimeNs StepTimes::Row::*time) {
  std::vector<RankValue> values;
  for (const auto& row : rows) {
    if (!row.stage) values.push_back({row.rank, InMs(row.times.*time)});
  }
  return values;
}

const RankOp* LongestOf(const OpSums& ops) {
  const RankOp* longest = nullptr;
  for (const auto& op : ops.ops) {
    if (longest == nullptr || op.op->time.elapse > longest->op->time.elapse) longest = &op;
  }
  return longest;
}

}  // namespace

void AddAnswer(const std::vector<StepTraceRow>& steps, const OpSums& ops, const LinkSums& links,
               Report& report) {
  if (const auto transports = LinksByTransport(links); !transports.empty()) {
    const auto& [transport, of] = *transports.begin();
    AddSentence(Say("link {} to {} is the slowest of {} over {}: {:.3f} GB/s, the median is"
                    " {:.3f}",
                    of.front().source, of.front().destination, of.size(), transport,
                    of.front().Bandwidth(), MedianBandwidth(of)),
                report.lines);
  } else if (const std::vector<RankValue> exposed =
                 OfRanks(steps, &StepTimes::Row::exposed_communication);
             !exposed.empty()) {
    const RankSpread spread = SpreadOf(exposed);
    AddSentence(Say("exposed communication takes {:.3f} ms of a step (median), most on {}:"
                    " {:.3f} ms",
                    spread.median, RankText(spread.max.rank), spread.max.value),
                report.lines);
  } else if (const RankOp* longest = LongestOf(ops)) {
    AddSentence(Say("{} on {} takes longest: {:.3f} ms, {:.3f} ms of it transfer",
                    ShortenName(Printable(longest->op->name), 28), RankText(longest->rank),
                    longest->op->time.elapse, longest->op->time.transit),
                report.lines);
  }
}

void AddStepLines(const std::vector<StepTraceRow>& rows, Report& report) {
  const ScreenList list = SpreadList({ScreenText("ms in a step", 24)}, ScreenNumber("", 12, 3));
  const auto of_ranks = [&](TimeNs StepTimes::Row::*time, const char* name) {
    const std::vector<RankValue> values = OfRanks(rows, time);
    if (values.empty()) return;
    report.lines.push_back(
        list.LineOf(SpreadCells({CellOf(Translated(name))}, MeansOfRanks(values))));
  };
  if (rows.empty()) return;
  report.lines.push_back(list.Heading());
  of_ranks(&StepTimes::Row::computing, ToTranslate("computing"));
  of_ranks(&StepTimes::Row::exposed_communication, ToTranslate("exposed communication"));
  // Other commands count all of the free time; the table may lack both ends of the device's work.
  of_ranks(&StepTimes::Row::free, ToTranslate("free (profiler's table)"));
  of_ranks(&StepTimes::Row::bubble, ToTranslate("receives (Bubble)"));
}

void AddGroupLines(const std::vector<Group>& groups, std::size_t captured, Report& report) {
  if (groups.empty()) return;
  std::size_t of_job = captured;
  for (const Group& group : groups) {
    of_job = std::max(of_job, group.size);
    const RankId last = group.ranks.empty() ? RankId() : *group.ranks.rbegin();
    if (last.IsNumber()) of_job = std::max(of_job, static_cast<std::size_t>(last.Number()) + 1);
  }
  const std::string coverage = CoverageText(captured, of_job, report.absent);
  report.lines.push_back(fmt::format("  {}{}{}", Counted(groups.size(), "communication group"),
                                     coverage.empty() ? "" : Translated("; "), coverage));
  // Type, name in the job, number of ranks.
  std::map<std::tuple<std::string, std::string, std::size_t>, std::size_t> kinds;
  for (const Group& group : groups) {
    ++kinds[{group.Type(), group.process_group, group.size}];
  }
  std::size_t shown = 0;
  for (const auto& [kind, count] : kinds) {
    const auto& [type, name, ranks] = kind;
    if (shown++ == kKindsOfGroups) break;
    const std::string shown_name = name.empty() ? Say("(no name)") : fmt::format("{:.16}", name);
    report.lines.push_back(Say("    {:<10}  {}  {} of {}", type, PaddedBehind(shown_name, 16),
                               Counted(count, "group"), Counted(ranks, "rank")));
  }
  AddMoreLine(kinds.size(), kKindsOfGroups, "kind", report.lines);
}

void AddOperatorLines(const OpSums& ops, Report& report) {
  const RankOp* longest = LongestOf(ops);
  if (longest == nullptr) return;
  report.lines.push_back(Say("  longest operator: {} on {}",
                             ShortenName(Printable(longest->op->name), NameColumns(50)),
                             RankText(longest->rank)));
  report.lines.push_back(Say("    {:.3f} ms, {:.3f} ms of it transfer", longest->op->time.elapse,
                             longest->op->time.transit));
}

void AddLinkLines(const LinkSums& sums, Report& report) {
  const auto transports = LinksByTransport(sums);
  if (transports.empty()) return;
  const ScreenList list(
      2, {ScreenText("GB/s of links", 13), ScreenNumber("links", 5), ScreenNumber("min", 9, 3),
          ScreenNumber("median", 9, 3), ScreenNumber("max", 9, 3), ScreenText("slowest")});
  report.lines.push_back(list.Heading());
  for (const auto& [transport, links] : transports) {
    const Link &slowest = links.front(), &fastest = links.back();
    report.lines.push_back(list.Line(transport, links.size(), slowest.Bandwidth(),
                                     MedianBandwidth(links), fastest.Bandwidth(),
                                     Say("{} to {}", slowest.source, slowest.destination)));
  }
}

}  // namespace mpa::recipes::communication
