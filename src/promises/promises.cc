// SPDX-License-Identifier: Apache-2.0
// The list of promises. docs/broken-input.md and `check` show it.
#include <algorithm>

#include "breaches.h"
#include "checks.h"
#include "mpa/base/language.h"
#include "mpa/promises/promise.h"

namespace mpa {
namespace {

using namespace promises;

constexpr Formats kTablesOfNpus = Formats::kNpuText | Formats::kDatabase;
constexpr Tables kWork = Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications;

bool HasLaunches(const RankTrace& trace) {
  return !trace.launches.Empty() || !trace.unanswered_launches.Empty();
}
bool HasWork(const RankTrace& trace) {
  return !trace.kernels.Empty() || !trace.device_tasks.Empty() || !trace.communications.Empty();
}
bool HasKernels(const RankTrace& trace) { return !trace.kernels.Empty(); }
bool HasSeveralSteps(const RankTrace& trace) { return trace.steps.Size() > 1; }
bool HasGroups(const RankTrace& trace) {
  return !trace.comm_groups.Empty() || !trace.job.groups.empty();
}
bool HasOperators(const RankTrace& trace) { return !trace.host_ops.Empty(); }

constexpr PromiseRule kRules[] = {
    {.promise = Promise::kReadable,
     .name = "readable",
     .says = "Each record can be read.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .breaches = kUnreadable,
     .consequence = Consequence::kLeftOut},
    {.promise = Promise::kFileIsWhole,
     .name = "file_is_whole",
     .says = "A file has all its pages and rows, and ends where it should.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .breaches = kCut,
     .consequence = Consequence::kTold},
    {.promise = Promise::kColumnsThere,
     .name = "columns_are_there",
     .says = "A table has the columns, and an event the members, that its kind has.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .breaches = kNoColumns,
     .consequence = Consequence::kUnknown},
    {.promise = Promise::kOnceEach,
     .name = "one_record_once",
     .says = "Each record is there once.",
     .formats = Formats::kAll,
     .reads = kWork | Tables::kCommTasks | Tables::kSteps | Tables::kStepTimes,
     .breaches = kTwice,
     .consequence = Consequence::kLeftOut,
     .leave_out = LeaveOutRepeatedTasks},
    {.promise = Promise::kLaunchesHaveWork,
     .name = "launches_have_work",
     .says = "Each launch of a kernel or a copy has work on the device.",
     .formats = Formats::kAll,
     .reads = Tables::kLaunches,
     .breaches = kLostWork,
     .consequence = Consequence::kUnknown,
     .check = CheckUnansweredLaunches,
     .applies = HasLaunches},
    {.promise = Promise::kWorkHasLaunch,
     .name = "work_has_a_launch",
     .says = "Most work of the device has a launch, but for what was queued before the capture.",
     .formats = Formats::kAll,
     .reads = Tables::kHostOps | Tables::kLaunches | kWork,
     .breaches = kNoLaunch,
     .consequence = Consequence::kUnknown,
     .check = CheckWorkHasLaunch,
     .applies = HasWork},
    {.promise = Promise::kWorkAfterLaunch,
     .name = "work_follows_its_launch",
     .says = "Work begins after its launch.",
     .formats = Formats::kAll,
     .reads = Tables::kLaunches | kWork,
     .breaches = kEarlyWork,
     .consequence = Consequence::kLeftOut,
     .check = LeaveOutWorkBeforeLaunch,
     .applies = HasLaunches},
    {.promise = Promise::kOneLaunchOneNumber,
     .name = "one_launch_one_number",
     .says = "Two kernels of plain launches do not share the number of one launch.",
     .formats = Formats::kKineto,
     .reads = Tables::kNone,
     .breaches = kSharedNumbers,
     .consequence = Consequence::kUnknown,
     .applies = HasLaunches},
    {.promise = Promise::kArrowsHaveEnds,
     .name = "arrows_have_both_ends",
     .says = "An arrow has a number, a beginning and an end.",
     .formats = Formats::kNpuText | Formats::kKineto,
     .reads = Tables::kNone,
     .breaches = kBrokenArrows,
     .consequence = Consequence::kUnknown,
     .applies = HasLaunches},
    {.promise = Promise::kReferences,
     .name = "references_lead_to_rows",
     .says = "A number that ties tables together leads to a row.",
     .formats = Formats::kDatabase,
     .reads = Tables::kNone,
     .breaches = kBrokenReferences,
     .consequence = Consequence::kTold},
    {.promise = Promise::kTablesAgree,
     .name = "tables_agree",
     .says = "Tables, trace and their sums agree on what they share.",
     .formats = kTablesOfNpus,
     .reads = Tables::kKernels | Tables::kOverlaps | Tables::kKernelStatistics |
              Tables::kStepTimes | Tables::kCommSummary,
     .breaches = kContradictions,
     .consequence = Consequence::kTold,
     .check = CheckActivities,
     .applies = HasKernels},
    {.promise = Promise::kOneDevice,
     .name = "one_device",
     .says = "A capture holds the work of one device and one rank.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .breaches = kSeveralDevices,
     .consequence = Consequence::kLeftOut},
    {.promise = Promise::kOwnRun,
     .name = "one_run",
     .says = "All files of a capture are of the same rank, device and run.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .breaches = kOtherRun,
     .consequence = Consequence::kTold},
    {.promise = Promise::kTimesPossible,
     .name = "times_are_possible",
     .says = "Times lie within the session, fit each other's clocks, and are not all 0.",
     .formats = Formats::kAll,
     .reads = kWork | Tables::kLaunches,
     .breaches = kImpossibleTimes,
     .consequence = Consequence::kLeftOut,
     .leave_out = LeaveOutFarRows,
     .check = CheckTimes,
     .applies = HasWork},
    {.promise = Promise::kStreamsInOrder,
     .name = "streams_run_in_order",
     .says = "Work on one stream of a GPU ends before its successor does.",
     .formats = Formats::kKineto,
     .reads = Tables::kKernels | Tables::kDeviceTasks,
     .breaches = kOverlapsOnStream,
     .consequence = Consequence::kTold,
     .check = CheckStreams,
     .applies = HasKernels},
    {.promise = Promise::kStepsFollow,
     .name = "steps_follow",
     .says = "Steps do not overlap, and the profiler is not off between two of them.",
     .formats = Formats::kAll,
     .reads = Tables::kSteps | Tables::kHostOps | kWork,
     .breaches = kStepsApart,
     .consequence = Consequence::kTold,
     .leave_out = LeaveOutRepeatedSteps,
     .applies = HasSeveralSteps},
    {.promise = Promise::kCategoriesKnown,
     .name = "categories_are_known",
     .says = "Work of the device is of a known category.",
     .formats = Formats::kKineto | Formats::kNpuText,
     .reads = Tables::kNone,
     .breaches = kUnknownWork,
     .consequence = Consequence::kTold},
    {.promise = Promise::kGroupsPossible,
     .name = "groups_are_possible",
     .says = "A group has no more members than the job has ranks.",
     .formats = Formats::kAll,
     .reads = Tables::kCommunications | Tables::kCommTasks | Tables::kJobInfo,
     .breaches = kImpossibleGroups,
     .consequence = Consequence::kLeftOut,
     .applies = HasGroups},
    {.promise = Promise::kCommunicationRecorded,
     .name = "communication_is_recorded",
     .says = "Where operators communicate, the collectives of the device are there.",
     .formats = Formats::kAll,
     .reads = Tables::kHostOps | Tables::kCommunications,
     .breaches = kNoCommunication,
     .consequence = Consequence::kUnknown,
     .check = CheckCommunicationRecorded,
     .applies = HasOperators},
};

Formats FormatOf(const RankTrace& trace) {
  if (IsKinetoTrace(trace)) return Formats::kKineto;
  if (trace.source == "database") return Formats::kDatabase;
  return trace.source == "raw" ? Formats::kRaw : Formats::kNpuText;
}

bool Concerns(Formats formats, Formats format) {
  return (static_cast<unsigned>(formats) & static_cast<unsigned>(format)) != 0;
}

}  // namespace

std::span<const PromiseRule> AllPromises() { return kRules; }

std::string_view MendOf(const PromiseRule& rule, std::string_view line) {
  const auto breach = std::ranges::find_if(
      rule.breaches, [&](const Breach& known) { return line.starts_with(Translated(known.says)); });
  if (breach != rule.breaches.end()) return breach->mend;
  return rule.breaches.empty() ? kCopyOrParse : rule.breaches.front().mend;
}

void LeaveOutBroken(RankTrace& trace) {
  // Rows that lie years apart come first: they would be steps and gaps of their own.
  LeaveOutFarRows(trace);
  for (const PromiseRule& rule : kRules) {
    if (rule.leave_out != nullptr && rule.leave_out != LeaveOutFarRows) rule.leave_out(trace);
  }
}

void CheckPromises(Tables read, RankTrace& trace) {
  CheckGaps(read, trace);
  for (const PromiseRule& rule : kRules) {
    if (rule.check == nullptr) continue;
    if (rule.check == CheckWorkHasLaunch && !Intersects(read, Tables::kLaunches)) continue;
    if (rule.check == CheckCommunicationRecorded &&
        !(Intersects(read, Tables::kHostOps) && Intersects(read, Tables::kCommunications)))
      continue;
    rule.check(trace);
  }
}

std::vector<KeptPromise> JudgePromises(const RankTrace& trace) {
  std::vector<KeptPromise> judged;
  for (const PromiseRule& rule : kRules) {
    if (!Concerns(rule.formats, FormatOf(trace))) continue;
    KeptPromise kept{&rule, Kept::kKept, trace.issues.Lines(rule.promise)};
    if (!kept.lines.empty()) {
      kept.kept = Kept::kBroken;
    } else if (rule.applies != nullptr && !rule.applies(trace)) {
      kept.kept = Kept::kNotChecked;
    }
    judged.push_back(std::move(kept));
  }
  return judged;
}

}  // namespace mpa
