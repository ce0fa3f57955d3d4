// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/promises/promise.h"

/// How promises are broken: what happened, the message and its place, and the mend, by promise. The
/// rows of docs/broken-input.md.
namespace mpa::promises {

constexpr const char* kCopyOrParse = "copy or parse the capture again";
constexpr const char* kParse = "parse again";
constexpr const char* kCollect = "collect again";
constexpr const char* kNotWritten =
    "collect again, or export again with another version: the exporter did not write it";

constexpr Breach kUnreadable[] = {
    {"an event is not valid JSON: `NaN`, bytes that are not UTF-8, a missing quote or bracket",
     "event left out, it is not valid JSON", "trace_view.json: byte 812: \"...\"", kCopyOrParse},
    {"a comma too many", "comma without an event in the trace", "trace_view.json: byte 31287",
     kParse},
    {"something other than an event",
     "text left out, it is not an event; reading went on at the next one", "x.json: byte 912",
     kParse},
    {"a span has no duration", "event left out, its duration is missing",
     "trace_view.json: \"MatMul\" at 1000.5 us", kNotWritten},
    {"a span has no name", "event left out, it has no name", "x.json: byte 912", kNotWritten},
    {"a beginning (ph B) without an end (ph E)", "span left out, its end (ph E) is missing",
     "x.json: \"step\" at 1000 us", kNotWritten},
    {"an end alone", "end of a span left out, its beginning (ph B) is missing",
     "x.json: \"step\" at 1000 us", kNotWritten},
    {"an invalid time: text, negative, infinite, beyond 2^63 ns; of tables and databases alike",
     "event left out, invalid start or duration", "trace_view.json: byte 812: \"...\"",
     kCopyOrParse},
    {"an invalid size", "allocation left out, invalid size", "operator_memory.csv:4", kParse},
    {"an invalid sum", "sums of a type of kernels left out, invalid count or time",
     "op_statistic.csv:4", kParse},
    {"an invalid counter", "counter left out, invalid value", "kernel_details.csv:4", kParse},
    {"a row that ends early", "row left out, it has fewer cells than the header",
     "kernel_details.csv:12", kParse},
    {"a cell of `Type` or `Accelerator Core` is neither a name nor `N/A`",
     "kernel without class, its Type names nothing; parse again", "kernel_details.csv:4", kParse},
    {"a step without a valid number", "step left out, its number is invalid", "table STEP_TIME",
     kParse},
};

constexpr Breach kCut[] = {
    {"the trace ends in the middle: a killed job, a full disk",
     "the trace breaks off, the end of the run is missing", "trace_view.json: byte 5779",
     kCopyOrParse},
    {"pages of a disk were lost",
     "NUL bytes in place of text in the trace, events may be lost; copy it again",
     "trace_view.json: byte 4096", kCopyOrParse},
    {"events behind the end: `[A],B]`, `[A][B]`",
     "events behind the end of the trace were read, too", "trace_view.json: byte 31287",
     "check that they belong to one run"},
    {"other text behind the end", "text behind the end of the trace was left out",
     "trace_view.json: byte 31287", kParse},
    {"rows of a database were deleted, or lost when it was mended",
     "rows of TASK were deleted, what is counted from them is too small; copy or parse the capture"
     " again",
     "ascend_pytorch_profiler_0.db: 12 rows", kCopyOrParse},
    {"a table of a database that always has rows has none",
     "table STRING_IDS is empty, what it says is unknown; copy or parse the capture again",
     "ascend_pytorch_profiler_0.db", kCopyOrParse},
    {"a trace without events beside full tables",
     "the trace holds no events, what it tells is unknown; copy or parse the capture again",
     "trace_view.json", kCopyOrParse},
    {"a trace of `torch.profiler` without operators and work",
     "the trace holds no operators and no work of the device; collect again", "x.json", kCollect},
};

constexpr Breach kNoColumns[] = {
    {"a table of a database is missing or empty, `COMPUTE_TASK_INFO`; computing comes from the"
     " types of `TASK`",
     "kernel has no name, type and shapes, table COMPUTE_TASK_INFO is missing or empty: its class"
     " is unknown; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"`TASK`", "kernels have no times, table TASK is missing: computing is unknown; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"`CONNECTION_IDS`; device times of operators are N/A, null in JSON",
     "operator has no device times, table CONNECTION_IDS is missing: what it launched is unknown;"
     " parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"`COMMUNICATION_TASK_INFO`; waits are empty",
     "waits, traffic and peers of collectives are unknown, table COMMUNICATION_TASK_INFO is"
     " missing or empty; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"a column of a text table",
     "the column \"Overlapped\" is missing, what it holds is unknown; parse again",
     "step_trace_time.csv", kParse},
    {"one of two columns of a database that are written together",
     "column releaseTime of OP_MEMORY is missing, its values are unknown; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"`pid` or `tid` of an event",
     "thread of an event is unknown, its pid or tid is missing; parse again",
     "trace_view.json: \"aten::add\"", kParse},
    {"the same in a trace of `torch.profiler`",
     "event without process or thread, where it ran is unknown; collect again",
     "x.json: \"aten::add\"", kCollect},
    {"`correlation_id` of queued work",
     "work of the task queue left out, it has no correlation_id; parse again",
     "trace_view.json: \"Enqueue\"", kParse},
};

constexpr Breach kTwice[] = {
    {"rows of `TASK`, `PYTORCH_API`, `CONNECTION_IDS`, `STEP_TIME` or `step_trace_time.csv` are"
     " there twice",
     "row left out, it was written twice; parse the capture again if there are many", "TASK",
     kParse},
    {"events of a text capture are there twice",
     "row left out, it was written twice; parse the capture again if there are many",
     "trace_view.json", kParse},
    {"two tables were joined with `cat`",
     "the header stands in the table twice, two tables were joined; parse again",
     "kernel_details.csv:188", kParse},
    {"kernels, copies, collectives or operators of a trace of `torch.profiler` are there twice",
     "kernel left out, it was recorded twice; collect again", "\"gemm\" at 1000100 us", kCollect},
};

constexpr Breach kLostWork[] = {
    {"the profiler lost records of the device",
     "launches have no work on the device, it was lost: times of the device are too small, those"
     " of operators are unknown; collect again",
     "8 of 32 launches, within 3.120 ms", kCollect},
};

constexpr Breach kNoLaunch[] = {
    {"an exporter left out launches: those of all kernels, on GPUs of a quarter of the work",
     "work of the device without a launch in the trace, operators lack its time",
     "12.043 of 40.120 ms", kNotWritten},
    {"an NPU trace of `torch.profiler` does not say which operators launched work",
     "work of the device whose operator the trace does not name, operators lack its time",
     "x.json: \"hcom_allReduce__001_0_1\" at 1000400 us",
     "collect with torch_npu.profiler instead of torch.profiler"},
    {"an exporter lost the numbers that launches and work share",
     "work of the device without a launch in the trace, and launches without work: they lack the"
     " numbers that they share, operators lack its time",
     "x.json: 4 and 4", kNotWritten},
};

constexpr Breach kBrokenReferences[] = {
    {"a number that ties tables together has no row",
     "row left out, TASK does not have its globalTaskId; parse again", "table COMPUTE_TASK_INFO",
     kParse},
    {"it is NULL", "the operator of a task is unknown, its connectionId is NULL; parse again",
     "table TASK", kParse},
    {"texts are NULL or not there", "text left empty, STRING_IDS does not have it", "id 10",
     kParse},
    {"`COMMUNICATION_OP` is missing or empty, tasks of collectives are there",
     "the collective of a task is unknown, COMMUNICATION_OP does not have its opId; parse again",
     "table COMMUNICATION_TASK_INFO", kParse},
    {"details of kernels were lost",
     "kernels of TASK are not in COMPUTE_TASK_INFO: computing is too small; parse again",
     "ascend_pytorch_profiler_0.db: 3 kernels, 1.250 ms", kParse},
    {"details of the tasks of collectives were lost",
     "tasks of collectives are not in COMMUNICATION_TASK_INFO: their waits and traffic are too"
     " small; parse again",
     "ascend_pytorch_profiler_0.db: 8 of 24 tasks", kParse},
    {"operators were lost",
     "operators are missing in PYTORCH_API, CONNECTION_IDS has what they launched: numbers of"
     " operators are too small; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
};

constexpr Breach kContradictions[] = {
    {"kernel_details.csv was cut between two rows",
     "kernel_details.csv and op_statistic.csv contradict each other, one of them was cut; copy"
     " both again",
     "120 and 187 kernels", "copy both again"},
    {"the same, where another table or the trace says it",
     "kernel_details.csv lacks kernels, step_trace_time.csv has more computing; copy the file"
     " again",
     "1200 of 4028 us", "copy the file again"},
    {"events of the trace were lost",
     "kernels of the trace were lost: its overlap analysis and its events contradict each other;"
     " copy or parse the capture again",
     "12.400 of 30.944 ms", kCopyOrParse},
    {"work of the device was lost, the table of kernels was not",
     "the trace holds no work of the device, kernel_details.csv does: events were lost; copy both"
     " again",
     "187 kernels", "copy both again"},
    {"operators were lost, their work was not",
     "operators that launched work were lost, it is of no operator; copy or parse the capture"
     " again",
     "12 of 200 launches", kCopyOrParse},
    {"step_trace_time.csv is of another run, or was cut",
     "step_trace_time.csv and trace_view.json contradict each other, one of them was cut or is of"
     " another run; copy both again",
     "computing: 64000 and 24000 us", "copy both again"},
    {"`{}` in communication.json",
     "communication.json is empty, the trace has collectives: what they moved is unknown; copy or"
     " parse the capture again",
     "14 collectives", kCopyOrParse},
    {"operator_memory.csv has a header alone",
     "operator_memory.csv has no rows, memory_record.csv has allocations; copy both again",
     "120 samples", "copy both again"},
    {"`OP_MEMORY` of a database is empty",
     "OP_MEMORY is empty, but MEMORY_RECORD has allocations of the framework: memory of operators"
     " is unknown; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"steps of a database were lost",
     "steps are missing in STEP_TIME, PYTORCH_API has more of them: sums and means of steps lack"
     " them; parse again",
     "ascend_pytorch_profiler_0.db: 1 of 2", kParse},
    {"rows of analysis.db were lost",
     "collectives of the profiler database are missing in analysis.db, its sums are too small;"
     " copy or parse the capture again",
     "analysis.db: 3 of 14", kCopyOrParse},
};

constexpr Breach kSeveralDevices[] = {
    {"several devices in a GPU trace", "work of another device left out, the trace holds several",
     "x.json: device 1 with 5 pieces of work, in place of 0", "record each device and rank alone"},
    {"several ranks in a GPU trace",
     "work of another process left out, the trace holds several ranks",
     "x.json: process 43 with 5 pieces of work, in place of 42",
     "record each device and rank alone"},
    {"several devices or ranks in an NPU trace",
     "events of another device or rank left out, the trace holds several",
     "process 8195 \"Ascend Hardware\" with 1 events, in place of 7171",
     "record each device and rank alone"},
    {"several devices in a table of msprof",
     "row of another device left out, the table holds several", "op_summary_20260101.csv:8",
     "profile each device by a process of its own"},
    {"several devices in a database",
     "work of other devices left out, the database holds several; profile each device by a process"
     " of its own",
     "ascend_pytorch_profiler_0.db: device 1 with 12 tasks, in place of 0",
     "profile each device by a process of its own"},
    {"the same of collectives alone",
     "collectives of other devices left out, the database holds several; profile each device by a"
     " process of its own",
     "ascend_pytorch_profiler_0.db", "profile each device by a process of its own"},
};

constexpr Breach kImpossibleTimes[] = {
    {"single times that are far from all others (0, another year), or a row that lasts longer than"
     " a day; of steps, operators, kernels, collectives alike",
     "device task left out: times span more than a day, and its own is far from the others",
     "at 0.000 s, most begin between ...", kCollect},
    {"none of the kernels, device tasks or collectives takes any time",
     "all kernels take no time, their durations are damaged", "316 of them", kCollect},
    {"device times still span more than a day",
     "times of the device span more than a day, some of them are damaged", "0.000 s to ...",
     kCollect},
    {"device times lie outside of the session",
     "times of the device lie outside of the session, they are damaged", "0.000 s to ...",
     kCollect},
    {"a table and the trace have other clocks",
     "the clocks of kernel_details.csv and trace_view.json do not fit, operators have no kernels",
     "17.000 s and 29.000 s", "use files of one capture, as the profiler wrote them"},
    {"a spreadsheet rounded the table",
     "times of kernel_details.csv are not those of trace_view.json; a spreadsheet may have rounded"
     " them",
     "3 of 187 kernels are in both", "use files of one capture, as the profiler wrote them"},
    {"all work of the device begins minutes after its launch, or before it",
     "the clocks of host and device do not fit, waits between them are wrong",
     "launches from 1700000000.010 s, work from 1700003600.100 s", kCollect},
    {"a few rows of the device make the run more than twice as long",
     "kernel left out, its times are impossible: the run would be more than twice as long, and"
     " nothing else was recorded then; collect again",
     "at 17.000 s, for 60000.000 ms; all else from 1.000 s to 2.000 s", kCollect},
};

constexpr Breach kOverlapsOnStream[] = {
    {"a kernel runs on under its successor",
     "kernel runs on under its successor on the same stream, which is impossible",
     "\"gemm\" at 1000100 us", kCollect},
};

constexpr Breach kStepsApart[] = {
    {"steps overlap", "steps overlap, their times are wrong or belong to several runs",
     "step 2 begins 5000 us before step 1 ends", "give each collection alone"},
    {"nothing was recorded between two steps: the profiler was off",
     "nothing was recorded between two steps, which counts as free in the first and end to end",
     "9989 ms before step 5", "give each collection alone"},
};

constexpr Breach kUnknownWork[] = {
    {"work of a kind of device that is not supported (MTIA, HPU)",
     "event of the device left out, its category is not supported", "x.json: mtia_ccp_events",
     "none: work of such devices is not read"},
    {"work on a GPU stream has an unknown category",
     "work of the device is of an unknown category, it is counted as a kernel; say which program"
     " wrote the trace",
     "x.json: gpu_video", "say which program wrote the trace"},
    {"operators without `cat`", "event of the program left out, it has no category; parse again",
     "trace_view.json: \"aten::add\"", kParse},
    {"metadata events of an NPU trace were lost",
     "names of processes are missing, what they hold is guessed by their events; parse again",
     "trace_view.json", kParse},
};

constexpr Breach kImpossibleGroups[] = {
    {"a group has more members than the job has ranks, or members whose numbers are out of range",
     "group members left out, they are more than the job has ranks or out of range; correct the"
     " description, or collect again",
     "group group_0: 5 members in a job of 4", "correct the description of the groups"},
    {"a task of a collective names a rank that is out of range",
     "rank of a collective's task left out, it is in no group; parse again", "rank 2147483648",
     kParse},
};

constexpr Breach kNoCommunication[] = {
    {"an NPU trace of `torch.profiler` lacks collectives",
     "operators communicate, but the trace holds no collectives of the device",
     "x.json: c10d::allreduce_", "collect with torch_npu.profiler instead of torch.profiler"},
    {"operators of collectives without one on the device, of NPUs",
     "operators communicate, but no collective of the device was recorded: times of communication"
     " are unknown, not 0; collect communication, too",
     "HcclAllReduce", "collect communication, too"},
    {"`COMMUNICATION_OP` of a database is missing or empty",
     "operators communicate, but table COMMUNICATION_OP is missing or empty: times of"
     " communication are unknown and count as free; parse or collect again",
     "ascend_pytorch_profiler_0.db", "parse or collect again"},
};

constexpr Breach kEarlyWork[] = {
    {"a few pieces of work begin before their launch",
     "work left out, it begins before its launch: its time is wrong; collect again",
     "\"gemm\" at 1000100 us, 50.000 ms before", kCollect},
    {"the same in a text capture: the work stays, because its tables sum it, too",
     "launch of an operator left out, its work begins before it; collect again",
     "trace_view.json: \"MatMul\" at 1000100 us", kCollect},
};

constexpr Breach kSharedNumbers[] = {
    {"kernels of two launches have the number of one",
     "kernels share the number of one launch, and another launch has none: operators have the time"
     " of others; collect again with another version of the profiler",
     "x.json: 2 kernels", "collect again with another version of the profiler"},
};

constexpr Breach kBrokenArrows[] = {
    {"arrows without a number, of `torch.profiler`",
     "arrow left out, it has no number: operators may lack their work; export again", "x.json",
     kNotWritten},
    {"the same in a text capture",
     "arrow left out, it has no number: what launched what is unknown; parse again",
     "trace_view.json: \"HostToDevice\"", kParse},
    {"an end of an arrow without its beginning",
     "arrow left out, its other end is missing, work of the device is of no operator; copy or"
     " parse the capture again",
     "trace_view.json", kCopyOrParse},
    {"a half of queued work",
     "work of the task queue lacks the event that asked for it or did it; parse again",
     "trace_view.json", kParse},
};

constexpr Breach kOtherRun[] = {
    {"communication.json of another run",
     "communication.json is of another run, the trace has other collectives; copy the whole"
     " capture again",
     "12 of 14, the first is hcom_allReduce__123_0_1", "copy the whole capture again"},
    {"operator_memory.csv of another run",
     "operator_memory.csv and memory_record.csv are of different runs; copy the whole capture"
     " again",
     "0 of 10 allocations are in both", "copy the whole capture again"},
    {"analysis.db of another rank or run",
     "analysis.db is of another rank or run, the profiler database does not have its collectives"
     " at their times; copy the whole capture again",
     "analysis.db: 14 of 14", "copy the whole capture again"},
};

}  // namespace mpa::promises
