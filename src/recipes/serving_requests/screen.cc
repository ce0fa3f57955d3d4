// SPDX-License-Identifier: Apache-2.0
// What was found, in a few lines.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/measure/quantiles.h"
#include "mpa/report/amount.h"
#include "mpa/report/screen_list.h"
#include "outputs.h"
#include "overview.h"

namespace mpa::recipes::serving_requests {
namespace {

std::string TitleWithShare(const Finding& finding) {
  std::string text = finding.title;
  if (!finding.where.empty()) text += fmt::format(" ({})", finding.where);
  if (finding.share >= 0)
    text += Say(", at most {} of the time of requests", ShareText(finding.share));
  return text;
}

void AddVerdict(const Scene& scene, const std::vector<Finding>& findings, ScreenLines& lines) {
  if (!findings.empty()) {
    AddSentence(fmt::format("{}: {}", TitleWithShare(findings[0]), findings[0].evidence), lines);
    return;
  }
  const Group& all = scene.All();
  const TimeNs first = all.At(RequestTime::kFirstToken, 50);
  if (first < 0) {
    AddSentence(Say("no cause stands out; times of requests are not recorded"), lines);
    return;
  }
  AddSentence(Say("no cause stands out; the first token takes {} (median), {} at most for 99 %"
                  " of the requests",
                  TimeText(first), TimeText(all.At(RequestTime::kFirstToken, 99))),
              lines);
}

void AddTotals(const Scene& scene, ScreenLines& lines) {
  const Group& all = scene.All();
  std::string text = Counted(static_cast<std::int64_t>(all.requests.size()), "request");
  if (scene.HasInstances()) text += Say(" on {} instances", scene.servers.size());
  if (all.Seconds() > 0) {
    text += Say(" in {:.1f} s: {:.2f} requests/s, {:.1f} tokens of replies/s", all.Seconds(),
                all.RequestsPerSecond(), all.ReplyTokensPerSecond());
  }
  AddSentence(text, lines);
}

void AddTimes(const Group& all, ScreenLines& lines) {
  const ScreenList list(
      0, {ScreenText("time of a request", 24), ScreenMs("p50 ms", 12), ScreenMs("p90 ms", 12),
          ScreenMs("p99 ms", 12), ScreenMs("max ms", 12)});
  lines.push_back(list.Heading());
  for (std::size_t i = 0; i < kRequestTimes; ++i) {
    const auto time = static_cast<RequestTime>(i);
    const auto at = [&](int percent) { return kIfKnown(all.At(time, percent)); };
    lines.push_back(list.Line(Translated(TitleOf(time)), at(50), at(90), at(99), at(100)));
  }
}

void AddGroups(const Scene& scene, std::size_t room, ScreenLines& lines) {
  if (scene.groups.size() < 2) return;
  const ScreenList list(
      0, {ScreenName("where", 20), ScreenNumber("requests", 9), ScreenNumber("tokens", 10),
          ScreenMs("ttft p90 ms", 12), ScreenMs("tpot p50 ms", 12), ScreenMs("queue p90 ms", 12)});
  lines.push_back(list.Heading());
  std::size_t shown = 0;
  for (const Group& group : scene.groups) {
    if (group.instance < 0) continue;
    if (shown == room) break;
    ++shown;
    const std::string rank = group.dp_rank < 0 ? "" : fmt::format("dp {}", group.dp_rank);
    const std::string where = !scene.HasInstances() ? rank
                              : rank.empty()        ? Printable(group.name)
                                             : fmt::format("{}, {}", Printable(group.name), rank);
    lines.push_back(list.Line(where, static_cast<std::int64_t>(group.requests.size()),
                              group.prompt_tokens + group.reply_tokens,
                              kIfKnown(group.At(RequestTime::kFirstToken, 90)),
                              kIfKnown(group.At(RequestTime::kPerToken, 50)),
                              kIfKnown(group.At(RequestTime::kQueue, 90))));
  }
  AddMoreLine(scene.groups.size() - 1, shown, "group", lines);
}

void AddBatches(const Scene& scene, ScreenLines& lines) {
  std::int64_t steps = 0, requests = 0, largest = 0;
  for (const BatchKind& kind : BatchKindsOf(scene)) {
    steps += static_cast<std::int64_t>(kind.lengths.size());
    requests += kind.requests;
    largest = std::max(largest, kind.most_requests);
  }
  if (steps == 0) return;
  LaneTimes times;
  for (const Lane& lane : scene.lanes) times += lane.times;
  lines.emplace_back(Say("batches: {} with {:.1f} requests each, the largest {}", steps,
                         static_cast<double>(requests) / static_cast<double>(steps), largest));
  lines.emplace_back(
      Say("while requests are there: batches run {:.1f} %, scheduling {:.1f} %, sampling {:.1f} %",
          PercentOf(times.ran, times.active), PercentOf(times.scheduled, times.active),
          PercentOf(times.sampled, times.active)));
}

void AddCache(const Scene& scene, ScreenLines& lines) {
  std::int64_t total = 0, least = -1;
  double used = -1;
  for (const ServerPart* server : scene.servers) {
    const Blocks blocks = BlocksOf(*server);
    if (blocks.total < 0) continue;
    total += blocks.total;
    least = least < 0 ? blocks.least_free : std::min(least, blocks.least_free);
    used = std::max(used, blocks.most_used);
  }
  if (used >= 0)
    lines.emplace_back(Say("KV cache: {} blocks, {} free at least, {} used at most", total, least,
                           ShareText(used)));
  if (const double rate = scene.All().HitRate(); rate >= 0)
    lines.emplace_back(Say("prefix cache: hit by {:.1f} % of the tokens of prompts", 100 * rate));
}

void AddTransfers(const Scene& scene, ScreenLines& lines) {
  std::vector<TimeNs> lengths;
  for (const TransfersOfRank& of_rank : TransfersOf(scene))
    lengths.insert(lengths.end(), of_rank.lengths.begin(), of_rank.lengths.end());
  if (lengths.empty()) return;
  std::ranges::sort(lengths);
  lines.emplace_back(Say("transfers to decode: {}, {} (median), {} at most", lengths.size(),
                         TimeText(Percentile(lengths, 50)), TimeText(lengths.back())));
}

void AddFindings(const std::vector<Finding>& findings, std::size_t most, ScreenLines& lines) {
  std::size_t shown = 0;
  for (const Finding& finding : findings) {
    if (shown == most) break;
    if (shown++ > 0)
      AddSentence(fmt::format("{}: {}", TitleWithShare(finding), finding.evidence), lines);
    AddSentence(Say("  mend: {}", finding.mend), lines);
  }
  AddMoreLine(findings.size(), shown, "finding", lines);
}

}  // namespace

void AddLines(const Scene& scene, const std::vector<Finding>& findings, bool all, Report& report) {
  ScreenLines& lines = report.lines;
  constexpr std::size_t kGroups = 8, kFindings = 3;
  AddVerdict(scene, findings, lines);
  AddTotals(scene, lines);
  AddTimes(scene.All(), lines);
  AddGroups(scene, all ? scene.groups.size() : kGroups, lines);
  AddBatches(scene, lines);
  AddCache(scene, lines);
  AddTransfers(scene, lines);
  AddFindings(findings, all ? findings.size() : kFindings, lines);
}

}  // namespace mpa::recipes::serving_requests
