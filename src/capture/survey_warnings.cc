// SPDX-License-Identifier: Apache-2.0
// What makes a capture misleading: settings that cost host time, missing steps, unclear ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "survey_parts.h"

namespace mpa {
namespace {

struct Switch {
  const char* name;
  bool on;
};

void WarnOfOverhead(const char* id, std::initializer_list<Switch> switches, const char* effect,
                    RankFacts& facts) {
  std::vector<std::string> on, off;
  for (const Switch& setting : switches) {
    if (!setting.on) continue;
    on.emplace_back(setting.name);
    off.push_back(fmt::format("{}=False", setting.name));
  }
  if (on.empty()) return;
  facts.warnings.push_back({id,
                            fmt::format("{} on: {}", fmt::join(on, " and "), effect),
                            fmt::format("{} for measuring times", fmt::join(off, ", ")),
                            {}});
}

void WarnOfSchedule(const ProfilerSchedule& schedule, RankFacts& facts) {
  if (schedule.active <= 0) return;
  if (schedule.warmup == 0) {
    facts.warnings.push_back({"no_warmup",
                              "no warm-up step: the first recorded step includes the start of the "
                              "profiler and looks slower than it is",
                              "warmup=1 or more in the schedule; leave the first step out",
                              {}});
  }
  const auto recorded = facts.steps ? static_cast<std::int64_t>(facts.steps->size()) : -1;
  if (recorded < 0 || recorded >= schedule.active) return;
  facts.warnings.push_back(
      {"steps_missing",
       fmt::format("{} active steps were scheduled, {} {} in the capture", schedule.active,
                   recorded, recorded == 1 ? "is" : "are"),
       fmt::format("call step() after each iteration, for at least {} iterations before the end "
                   "(skip_first + wait + warmup + active)",
                   schedule.skip_first + schedule.wait + schedule.warmup + schedule.active),
       {}});
}

bool IsProfilerInfo(const ProfilerInfo& settings) {
  return settings.path.filename().string().starts_with("profiler_info");
}

void WarnOfEnd(RankFacts& facts) {
  const bool no_end = facts.settings && IsProfilerInfo(*facts.settings) && !facts.settings->has_end;
  if (no_end || facts.stopped == Recorded::kNo) {
    facts.warnings.push_back({"not_stopped",
                              "no end_info: the profiler was not stopped properly, and the end of "
                              "the run may be missing",
                              "call stop() on the profiler, or use it in a with statement",
                              {}});
  }
}

}  // namespace

void WarnOfCollection(RankFacts& facts) {
  WarnOfEnd(facts);
  if (!facts.settings) return;
  const ProfilerInfo& settings = *facts.settings;
  if (settings.schedule) WarnOfSchedule(*settings.schedule, facts);
  WarnOfOverhead("stacks_inflate_host_time",
                 {{"with_stack", settings.with_stack}, {"with_modules", settings.with_modules}},
                 "host times are inflated, most for small operators; with a slower host the device "
                 "waits more, so free time grows too",
                 facts);
  WarnOfOverhead(
      "details_inflate_host_time",
      {{"record_shapes", settings.record_shapes}, {"profile_memory", settings.profile_memory}},
      "every operator and allocation takes a little longer on the host", facts);
}

void WarnOfRanks(Survey& survey) {
  std::map<std::int64_t, std::vector<std::filesystem::path>> paths_of_rank;
  std::vector<std::filesystem::path> unknown;
  for (const RankFacts& facts : survey.ranks) {
    (facts.rank ? paths_of_rank[*facts.rank] : unknown).push_back(facts.path);
  }
  for (auto& [rank, paths] : paths_of_rank) {
    if (paths.size() < 2) continue;
    survey.warnings.push_back(
        {"rank_claimed_twice", fmt::format("{} captures claim rank {}", paths.size(), rank),
         "analyse one run at a time, or correct rank_id in profiler_info", std::move(paths)});
  }
  if (!unknown.empty() && survey.ranks.size() > 1) {
    survey.warnings.push_back(
        {"rank_unknown",
         fmt::format("{} of {} captures have no rank", unknown.size(), survey.ranks.size()),
         "keep profiler_info_<rank>.json beside each capture", std::move(unknown)});
  }
}

}  // namespace mpa
