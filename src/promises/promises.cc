// SPDX-License-Identifier: Apache-2.0
// The list of promises. docs/broken-input.md and `check` show it.
#include <algorithm>

#include "checks.h"
#include "mpa/promises/promise.h"

namespace mpa {
namespace {

using namespace promises;

constexpr Formats kTablesOfNpus = Formats::kNpuText | Formats::kDatabase;
constexpr Tables kWork = Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications;

constexpr PromiseRule kRules[] = {
    {.promise = Promise::kReadable,
     .name = "readable",
     .says = "Each record can be read.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .broken = "event left out, it is not valid JSON",
     .mend = "copy or parse the capture again",
     .consequence = Consequence::kLeftOut},
    {.promise = Promise::kFileIsWhole,
     .name = "file_is_whole",
     .says = "A file has all its pages and rows, and ends where it should.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .broken = "the trace breaks off, the end of the run is missing",
     .mend = "copy the capture again",
     .consequence = Consequence::kTold},
    {.promise = Promise::kColumnsThere,
     .name = "columns_are_there",
     .says = "A table has the columns, and an event the members, that its kind has.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .broken = "the column \"Overlapped\" is missing, its numbers are unknown",
     .mend = "parse again",
     .consequence = Consequence::kUnknown},
    {.promise = Promise::kOnceEach,
     .name = "one_record_once",
     .says = "Each record is there once.",
     .formats = Formats::kAll,
     .reads = kWork | Tables::kCommTasks | Tables::kSteps | Tables::kStepTimes,
     .broken = "row left out, it was written twice",
     .mend = "parse again",
     .consequence = Consequence::kLeftOut,
     .leave_out = LeaveOutRepeatedTasks},
    {.promise = Promise::kLaunchesHaveWork,
     .name = "launches_have_work",
     .says = "Each launch of a kernel or a copy has work on the device.",
     .formats = Formats::kAll,
     .reads = Tables::kLaunches,
     .broken = "launches have no work on the device, it was lost",
     .mend = "collect again",
     .consequence = Consequence::kUnknown,
     .check = CheckUnansweredLaunches},
    {.promise = Promise::kWorkHasLaunch,
     .name = "work_has_a_launch",
     .says = "Most work of the device has a launch; work without one was queued before the window.",
     .formats = Formats::kAll,
     .reads = Tables::kHostOps | Tables::kLaunches | kWork,
     .broken = "work of the device without a launch in the trace, operators lack its time",
     .mend = "collect again, or export again with another version",
     .consequence = Consequence::kUnknown,
     .check = CheckWorkHasLaunch},
    {.promise = Promise::kWorkAfterLaunch,
     .name = "work_follows_its_launch",
     .says = "Work begins after its launch.",
     .formats = Formats::kAll,
     .reads = Tables::kLaunches | kWork,
     .broken = "work left out, it begins before its launch",
     .mend = "collect again",
     .consequence = Consequence::kLeftOut},
    {.promise = Promise::kOneLaunchOneNumber,
     .name = "one_launch_one_number",
     .says = "Two kernels of plain launches do not share the number of one launch.",
     .formats = Formats::kKineto,
     .reads = Tables::kNone,
     .broken = "kernels share the number of one launch, and another launch has none",
     .mend = "collect again with another version of the profiler",
     .consequence = Consequence::kUnknown},
    {.promise = Promise::kArrowsHaveEnds,
     .name = "arrows_have_both_ends",
     .says = "An arrow has a number, a beginning and an end.",
     .formats = Formats::kNpuText | Formats::kKineto,
     .reads = Tables::kNone,
     .broken = "arrow left out, it has no number",
     .mend = "parse again",
     .consequence = Consequence::kUnknown},
    {.promise = Promise::kReferences,
     .name = "references_lead_to_rows",
     .says = "A number that ties tables together leads to a row.",
     .formats = Formats::kDatabase,
     .reads = Tables::kNone,
     .broken = "row left out, TASK does not have its globalTaskId",
     .mend = "parse again",
     .consequence = Consequence::kTold},
    {.promise = Promise::kTablesAgree,
     .name = "tables_agree",
     .says = "Tables, trace and their sums agree on what they share.",
     .formats = kTablesOfNpus,
     .reads = Tables::kKernels | Tables::kOverlaps | Tables::kKernelStatistics |
              Tables::kStepTimes | Tables::kCommSummary,
     .broken = "kernel_details.csv and op_statistic.csv contradict each other, one of them was cut",
     .mend = "copy both again",
     .consequence = Consequence::kTold,
     .check = CheckActivities},
    {.promise = Promise::kOneDevice,
     .name = "one_device",
     .says = "A capture holds the work of one device and one rank.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .broken = "work of another device left out, the trace holds several",
     .mend = "profile each device by a process of its own",
     .consequence = Consequence::kLeftOut},
    {.promise = Promise::kOwnRun,
     .name = "one_run",
     .says = "All files of a capture are of the same rank, device and run.",
     .formats = Formats::kAll,
     .reads = Tables::kNone,
     .broken = "the file is of another run",
     .mend = "copy the whole capture again",
     .consequence = Consequence::kTold},
    {.promise = Promise::kTimesPossible,
     .name = "times_are_possible",
     .says = "Times lie within the session, fit each other's clocks, and are not all 0.",
     .formats = Formats::kAll,
     .reads = kWork | Tables::kLaunches,
     .broken = "device task left out: its time is far from the others",
     .mend = "collect again",
     .consequence = Consequence::kLeftOut,
     .leave_out = LeaveOutFarRows,
     .check = CheckTimes},
    {.promise = Promise::kStreamsInOrder,
     .name = "streams_run_in_order",
     .says = "Work on one stream of a GPU ends before its successor does.",
     .formats = Formats::kKineto,
     .reads = Tables::kKernels | Tables::kDeviceTasks,
     .broken = "kernel runs on under its successor on the same stream, which is impossible",
     .mend = "collect again",
     .consequence = Consequence::kTold,
     .check = CheckStreams},
    {.promise = Promise::kStepsFollow,
     .name = "steps_follow",
     .says = "Steps do not overlap, and the profiler is not off between two of them.",
     .formats = Formats::kAll,
     .reads = Tables::kSteps | Tables::kHostOps | kWork,
     .broken = "steps overlap, their times are wrong or belong to several runs",
     .mend = "give each collection alone",
     .consequence = Consequence::kTold,
     .leave_out = LeaveOutRepeatedSteps},
    {.promise = Promise::kCategoriesKnown,
     .name = "categories_are_known",
     .says = "Work of the device is of a known category.",
     .formats = Formats::kKineto | Formats::kNpuText,
     .reads = Tables::kNone,
     .broken = "work of the device is of an unknown category, it is counted as other work",
     .mend = "say which program wrote the trace",
     .consequence = Consequence::kTold},
    {.promise = Promise::kGroupsPossible,
     .name = "groups_are_possible",
     .says = "A group has no more members than the job has ranks.",
     .formats = Formats::kAll,
     .reads = Tables::kCommunications | Tables::kCommTasks | Tables::kJobInfo,
     .broken = "members of a group left out, no job has such",
     .mend = "correct its description, or collect again",
     .consequence = Consequence::kLeftOut},
    {.promise = Promise::kCommunicationRecorded,
     .name = "communication_is_recorded",
     .says = "Where operators communicate, the collectives of the device are there.",
     .formats = Formats::kAll,
     .reads = Tables::kHostOps | Tables::kCommunications,
     .broken = "operators communicate, but the trace holds no collectives of the device",
     .mend = "collect communication, too",
     .consequence = Consequence::kUnknown,
     .check = CheckCommunicationRecorded},
};

Formats FormatOf(const RankTrace& trace) {
  if (trace.device == DeviceKind::kGpu || trace.source == "torch.profiler") return Formats::kKineto;
  if (trace.source == "database") return Formats::kDatabase;
  return trace.source == "raw" ? Formats::kRaw : Formats::kNpuText;
}

bool Concerns(Formats formats, Formats format) {
  return (static_cast<unsigned>(formats) & static_cast<unsigned>(format)) != 0;
}

}  // namespace

std::span<const PromiseRule> AllPromises() { return kRules; }

Tables TablesOfPromises() {
  Tables all = Tables::kNone;
  for (const PromiseRule& rule : kRules) all = all | rule.reads;
  return all;
}

void LeaveOutBroken(RankTrace& trace) {
  // Rows that lie years apart come first: they would be steps and gaps of their own.
  LeaveOutFarRows(trace);
  for (const PromiseRule& rule : kRules) {
    if (rule.leave_out != nullptr && rule.leave_out != LeaveOutFarRows) rule.leave_out(trace);
  }
}

void CheckPromises(Tables read, RankTrace& trace) {
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
    if (!kept.lines.empty()) kept.kept = Kept::kBroken;
    judged.push_back(std::move(kept));
  }
  return judged;
}

}  // namespace mpa
