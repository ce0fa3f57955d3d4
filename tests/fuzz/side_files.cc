// SPDX-License-Identifier: Apache-2.0
// The files beside a trace: tables as CSV, small documents as JSON.
#include "fuzz/analysed_rank.h"
#include "fuzz/fuzzing.h"
#include "support/reading.h"

namespace mpa::test {
namespace {

struct SideFile {
  FileKind kind;
  const char* name;
  const char* folder;  // below the capture
};

constexpr const char* kDeviceInfo =
    R"({"DeviceInfo":[{"id":0,"ai_core_num":24,"aiv_num":48,"aic_frequency":"1800"}]})";

// Kernels under the names that CANN's msprof has for the columns, of two devices.
constexpr const char* kOpSummary =
    "Device_id,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
    "0,2,MatMul_1,MatMulV2,AI_CORE,1700000000200000.000\t,30.5\n"
    "1,2,Add_1,Add,AI_VECTOR_CORE,1700000000200100.000\t,2.5\n";

// Operators as CANN's msprof writes them, without steps and kinds.
constexpr const char* kFlatCommunication = R"json({"hcom_send__586_0_1@1":
  {"Communication Time Info": {"Elapse Time(ms)": 2.5, "Wait Time(ms)": 1},
   "Communication Bandwidth Info": {"HCCS": {"Transit Size(MB)": 4, "Transit Time(ms)": 0.5}}},
 "Total Op Info": {"Communication Bandwidth Info": {}}})json";

constexpr const char* kSystemCalls =
    "Pid,Tid,Function,StartTime(ns),Duration(ns)\n"
    "70,71,ioctl,1725398319218640000,512040720\n"
    "70,70,pthread_cond_wait,1725398310787080000,3088062410\n";

// As gil_tracer leaves it, and as it makes it ready for a viewer.
constexpr const char* kFunctions =
    "[2026-11-30 10:00:00,123][INFO][function_monitor.py:190] name:f start:5000001.5"
    " duration:1200.25 rankId:0 pid:70 pname:python3 tid:71 tname:Thread-1 (worker)"
    " extraInfo:event-cycles:900;event-instructions:400;event-LLC-load-misses:7\n";
constexpr const char* kLocks = R"json([
{"name":"take_gil","ph":"X","ts":"1700000000000001.000","dur":3.0,"pid":7,"tid":70},
{"name":"take_gil","ph":"X","ts":1700000000000002.5,"dur":450.5,"pid":7,"tid":71},
{"name":"drop_gil","ph":"X","ts":"1700000000000606.000","dur":0.1,"pid":7,"tid":70}])json";
constexpr const char* kShownLocks = R"json([
{"name":"take_gil","ph":"X","ts":"1700000000000001.000","dur":3.0,"pid":7,"tid":70},
{"name":"hold_gil","ph":"X","ts":"1700000000000004","dur":2.0,"pid":7,"tid":70},
{"name":"process_name","ph":"M","pid":7,"tid":0,"args":{"name":"GIL Trace"}}])json";

constexpr const char* kModuleMemory =
    "Component,Timestamp(us),Total Reserved(MB),Device\n"
    "HCCL,1736405443839379.660\t,404.0625,NPU:0\nHCCL,1736405443859379.660\t,405,NPU:0\n";

void Read(const std::filesystem::path& path, FileKind kind, unsigned choice) {
  RankTrace trace;
  // The groups that profiler_metadata.json has names for.
  trace.comm_groups.Append({.name = trace.strings.Intern("Group 0 Communication")});
  if (Try(path.filename().string(), [&] { ReadInto(trace, kind, path); })) {
    AnalyseRank(trace, choice);
  }
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  std::vector<Target> targets;
  for (const SideFile& file :
       {SideFile{FileKind::kKernelDetails, "kernel_details.csv", "ASCEND_PROFILER_OUTPUT/"},
        SideFile{FileKind::kOperatorMemory, "operator_memory.csv", "ASCEND_PROFILER_OUTPUT/"},
        SideFile{FileKind::kMemoryRecord, "memory_record.csv", "ASCEND_PROFILER_OUTPUT/"},
        SideFile{FileKind::kOpStatistic, "op_statistic.csv", "ASCEND_PROFILER_OUTPUT/"},
        SideFile{FileKind::kStepTraceTime, "step_trace_time.csv", "ASCEND_PROFILER_OUTPUT/"},
        SideFile{FileKind::kCommunication, "communication.json", "ASCEND_PROFILER_OUTPUT/"},
        SideFile{FileKind::kProfilerMetadata, "profiler_metadata.json", ""}}) {
    Target target{file.name, {}, [file](std::string_view content) {
                    Read(scratch.Write(file.name, content), file.kind,
                         static_cast<unsigned>(content.size()));
                  }};
    for (const char* capture : {"text_base_ascend_pt/", "twin_text_base_ascend_pt/"}) {
      target.seeds.push_back(Captured(std::string(capture) + file.folder + file.name));
    }
    if (file.kind == FileKind::kKernelDetails) target.seeds.emplace_back(kOpSummary);
    if (file.kind == FileKind::kCommunication) target.seeds.emplace_back(kFlatCommunication);
    targets.push_back(target);
  }
  targets.push_back({"info.json", {kDeviceInfo}, [](std::string_view content) {
                       Read(scratch.Write("info.json.0", content), FileKind::kDeviceInfo, 0);
                     }});
  targets.push_back({"npu_module_mem.csv", {kModuleMemory}, [](std::string_view content) {
                       Read(scratch.Write("npu_module_mem.csv", content), FileKind::kHardwareTable,
                            static_cast<unsigned>(content.size()));
                     }});
  targets.push_back({"msosrt_trace", {kSystemCalls}, [](std::string_view content) {
                       Read(scratch.Write("msosrt_trace_70_python.csv", content),
                            FileKind::kSystemCalls, static_cast<unsigned>(content.size()));
                     }});
  targets.push_back({"GIL", {kLocks, kShownLocks}, [](std::string_view content) {
                       Read(scratch.Write("GIL_7_rank_0.json", content), FileKind::kLockTrace,
                            static_cast<unsigned>(content.size()));
                     }});
  scratch.Write("start_info",
                R"({"clockMonotonicRaw": "5000000000", "collectionTimeBegin": "100000000"})");
  targets.push_back({"function_monitor", {kFunctions}, [](std::string_view content) {
                       Read(scratch.Write("function_monitor_70.log", content),
                            FileKind::kFunctionLog, 0);
                     }});
  return targets;
}

}  // namespace mpa::test
