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
    {"something else than an event",
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
};

constexpr Breach kNoColumns[] = {
    {"a table of a database is missing or empty, `COMPUTE_TASK_INFO`; computing comes from the "
     "types of `TASK`",
     "kernel has no name, type and shapes, table COMPUTE_TASK_INFO is missing or empty: its class "
     "is unknown; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"`TASK`", "kernels have no times, table TASK is missing: computing is unknown; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"`CONNECTION_IDS`; device times of operators are N/A, null in JSON",
     "operator has no device times, table CONNECTION_IDS is missing: what it launched is unknown; "
     "parse again",
     "ascend_pytorch_profiler_0.db", kParse},
    {"`COMMUNICATION_TASK_INFO`; waits are empty",
     "waits, traffic and peers of collectives are unknown, table COMMUNICATION_TASK_INFO is "
     "missing or empty; parse again",
     "ascend_pytorch_profiler_0.db", kParse},
};

constexpr Breach kTwice[] = {
    {"rows of `TASK`, `PYTORCH_API`, `CONNECTION_IDS`, `STEP_TIME` or `step_trace_time.csv` are "
     "there twice",
     "row left out, it was written twice; parse the capture again if there are many", "TASK",
     kParse},
};

constexpr Breach kLostWork[] = {
    {"the profiler lost records of the device",
     "launches have no work on the device, it was lost: times of the device are too small, those "
     "of operators are unknown; collect again",
     "8 of 32 launches, within 3.120 ms", kCollect},
};

constexpr Breach kNoLaunch[] = {
    {"an exporter left out launches: those of all kernels, on GPUs of a quarter of the work",
     "work of the device without a launch in the trace, operators lack its time",
     "31.834 of 100.230 ms", kNotWritten},
    {"an NPU trace of `torch.profiler` does not say which operators launched work",
     "work of the device whose operator the trace does not name, operators lack its time",
     "x.json: \"hcom_allReduce__001_0_1\" at 1000400 us",
     "torch_npu.profiler in place of torch.profiler"},
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
};

constexpr Breach kContradictions[] = {
    {"kernel_details.csv was cut between two rows",
     "kernel_details.csv and op_statistic.csv contradict each other, one of them was cut; copy "
     "both again",
     "120 and 187 kernels", "copy both again"},
    {"the same, where another table or the trace says it",
     "kernel_details.csv lacks kernels, step_trace_time.csv has more computing; copy the file "
     "again",
     "1200 of 4028 us", "copy the file again"},
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
};

constexpr Breach kImpossibleTimes[] = {
    {"single times that are far from all others (0, another year), or a row that lasts longer than "
     "a day; of steps, operators, kernels, collectives alike",
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
     "times of kernel_details.csv are not those of trace_view.json; a spreadsheet may have rounded "
     "them",
     "3 of 187 kernels are in both", "use files of one capture, as the profiler wrote them"},
    {"all work of the device begins minutes after its launch, or before it",
     "the clocks of host and device do not fit, waits between them are wrong",
     "launches from 1700000000.010 s, work from 1700003600.100 s", kCollect},
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
};

constexpr Breach kImpossibleGroups[] = {
    {"a group has more members than the job, or numbers that no job has",
     "members of a group left out, no job has such; correct its description, or collect again",
     "group group_0: 5 members in a job of 4", "correct the description of the groups"},
    {"a task of a collective names a rank that no job has",
     "rank of a collective's task left out, no group has it; parse again", "rank 2147483648",
     kParse},
};

constexpr Breach kNoCommunication[] = {
    {"an NPU trace of `torch.profiler` lacks collectives",
     "operators communicate, but the trace holds no collectives of the device",
     "x.json: c10d::allreduce_", "torch_npu.profiler in place of torch.profiler"},
};

}  // namespace mpa::promises
