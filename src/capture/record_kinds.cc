// SPDX-License-Identifier: Apache-2.0
// Every known kind of record file. docs/formats.md has the same table.
#include "mpa/capture/record_kinds.h"

#include <algorithm>
#include <array>

#include "mpa/io/numbers.h"

namespace mpa {
namespace {

// The first kind that matches a name counts. Those without a use are read.
constexpr auto kRecordKinds = [] {
  using enum RecordSide;
  using enum RecordUse;
  return std::to_array<RecordKind>({
      {kHost, "api_event", "api_event.data", "calls of CANN"},
      {kHost, "type_info_dic", "additional.type_info_dic", "names of calls and tasks"},
      {kHost, "hash_dic", "additional.hash_dic", "all other texts"},
      {kHost, "task_track", "compact.task_track", "tasks that were handed to the runtime"},
      {kHost, "task_track_v2", "compact.task_track_v2",
       "tasks that were handed to the runtime, with wider stream numbers"},
      {kHost, "node_basic_info", "compact.node_basic_info", "types and cores of kernels"},
      {kHost, "node_attr_info", "compact.node_attr_info", "attributes of kernels"},
      {kHost, "tensor_info", "additional.tensor_info", "shapes, types and formats"},
      {kHost, "context_id_info", "additional.context_id_info", "contexts of FFTS+ groups"},
      {kHost, "memcpy_info", "compact.memcpy_info", "sizes and directions of copies"},
      {kHost, "hccl_op_info", "compact.hccl_op_info", "collectives"},
      {kHost, "hccl_info", "additional.hccl_info", "parts of collectives"},
      {kHost, "task_memory_info", "additional.task_memory_info", "memory of CANN's operators"},
      {kHost, "msproftx", "additional.msproftx", "marks and ranges of the program"},
      {kHost, "expand_stream_spec", "compact.expand_stream_spec",
       "width of the numbers of streams"},
      {kHost, "capture_stream_info", "compact.capture_stream_info*", "streams of captured graphs"},
      {kHost, "capture_op_info", "*.capture_op_info", "operators of captured graphs"},
      {kHost, "mc2_comm_info", "additional.mc2_comm_info",
       "streams of MC2 kernels, which compute and communicate"},
      {kHost, "dpu_track", "compact.dpu_track", "tasks of the DPU", kWorkNotRead},
      {kHost, "dpu_hccl_info", "additional.dpu_hccl_info", "collectives of the DPU", kNotRead},
      {kHost, "fusion_op_info", "additional.fusion_op_info", "operators that were fused into one",
       kNotRead},
      {kHost, "graph_id_map", "additional.graph_id_map", "graphs of models", kNotRead},
      {kHost, "logic_stream_info", "additional.logic_stream_info", "logical streams of graphs",
       kNotRead},
      {kHost, "model_exeom", "additional.model_exeom", "models of nano chips", kNotRead},
      {kHost, "static_op_mem", "additional.static_op_mem", "memory of operators of static graphs",
       kNotRead},
      {kHost, "memory_application", "additional.memory_application", "memory that models ask for",
       kNotRead},
      {kHost, "Multi_Thread", "additional.Multi_Thread", "threads that launch one operator",
       kNotRead},
      {kHost, "memcpy_ext_info", "compact.memcpy_ext_info", "addresses of copies", kNotRead},
      {kHost, "memset_info", "compact.memset_info", "sizes of fills", kNotRead},
      {kHost, "memmng_info", "compact.memmng_info", "memory that the runtime manages", kNotRead},
      {kHost, "stream_sq_info", "compact.stream_sq_info", "queues of streams", kNotRead},
      {kHost, "data_format_dic", "additional.data_format_dic*", "names of tensor formats",
       kNotRead},
      {kHost, "ccu_task_info", "additional.ccu_*", "tasks, groups and signals of the CCU",
       kNotRead},
      {kHost, "invalid", "*.invalid", "records of a type that was not registered", kNotRead},
      {kHost, "host_cpu", "host_cpu.data", "processor use of the program"},
      {kHost, "host_mem", "host_mem.data", "memory use of the program"},
      {kHost, "host_disk", "host_disk.data", "use of disks"},
      {kHost, "host_network", "host_network.data", "use of the network"},
      {kHost, "host_syscall", "host_syscall.data", "system calls", kNotRead},
      {kHost, "host_pthreadcall", "host_pthreadcall.data", "calls of the thread library", kNotRead},
      {kHost, "host_sys_cpu", "host_sys_cpu.data", "processor use of the machine", kNotRead},
      {kHost, "host_sys_mem", "host_sys_mem.data", "memory use of the machine", kNotRead},
      {kHost, "host_platform_uncore", "host_platform_uncore.bin",
       "counters of the host's processors", kNotRead},
      {kHost, "process_cpu", "*-CpuUsage.data", "processor use of each process", kNotRead},
      {kHost, "process_mem", "*-Memory.data", "memory use of each process", kNotRead},
      {kHost, "framework_of_old", "Framework.*", "graphs and kernels, as early versions wrote them",
       kWorkNotRead},
      {kHost, "runtime_of_old", "Runtime.* runtime.*", "tasks, as early versions wrote them",
       kWorkNotRead},
      {kHost, "acl_of_old", "AclModule.*", "calls of AscendCL, as early versions wrote them",
       kNotRead},
      {kHost, "hccl_of_old", "HCCL.*", "collectives, as early versions wrote them", kWorkNotRead},
      {kHost, "debug", "*.dbg", "debug logs of the program's libraries", kNotRead},

      {kDevice, "stars_soc", "stars_soc.data", "tasks of STARS chips (910B, 910C, 310B, 950)"},
      {kDevice, "hwts", "hwts.data hwts.aiv_data hwts.log.data",
       "tasks of HWTS chips (910A, 310P)"},
      {kDevice, "ts_track", "ts_track.data", "wraps of task numbers, steps, marks"},
      {kDevice, "ffts_profile", "ffts_profile.data", "counters of kernels of STARS chips"},
      {kDevice, "aicore", "aicore.data aiVectorCore.data", "counters of kernels of HWTS chips"},
      {kDevice, "lpmFreqConv", "lpmFreqConv.data", "clock of the cores"},
      {kDevice, "npu_mem", "npu_mem.data", "device memory in use"},
      {kDevice, "npu_module_mem", "npu_module_mem.data", "memory of the parts of CANN"},
      {kDevice, "nano_stars_profile", "nano_stars_profile.data", "tasks and counters of nano chips",
       kWorkNotRead},
      {kDevice, "stars_block", "stars_block.data", "blocks of kernels of the 950", kWorkNotRead},
      {kDevice, "aicpu", "aicpu.data", "kernels of the AI CPU, queues of input data"},
      {kDevice, "data_preprocess_aicpu", "DATA_PREPROCESS.*AICPU.*",
       "kernels of the AI CPU, as early versions wrote them"},
      {kDevice, "data_preprocess_dp", "DATA_PREPROCESS.*DP.*", "queues of input data"},
      {kDevice, "data_preprocess", "DATA_PREPROCESS.*", "models and queues of input data",
       kNotRead},
      {kDevice, "ts_track_aiv", "ts_track.aiv_data", "steps and marks of the vector cores",
       kNotRead},
      {kDevice, "training_trace", "training_trace.*", "steps, as early versions wrote them",
       kNotRead},
      {kDevice, "npu_mem_app", "npu_mem.app.*", "memory of the device that the program uses",
       kNotRead},
      {kDevice, "stars_soc_profile", "stars_soc_profile.data",
       "accelerators (acc PMU), links of dies (SIO), levels"},
      {kDevice, "hbm", "hbm.data", "reads and writes of the high bandwidth memory"},
      {kDevice, "ddr", "ddr.data", "reads and writes of the DDR memory"},
      {kDevice, "llc", "llc.data", "reads and writes of the last level cache"},
      {kDevice, "l2_cache", "l2_cache.data", "hits and misses of the L2 cache"},
      {kDevice, "soc_pmu", "socpmu.data", "hits and misses of address translation", kNotRead},
      {kDevice, "qos", "qos.data", "bandwidths by quality of service"},
      {kDevice, "hccs", "hccs.data", "traffic between devices (HCCS)"},
      {kDevice, "pcie", "pcie.data", "traffic of PCIe"},
      {kDevice, "nic", "nic.data", "traffic of the network card"},
      {kDevice, "roce", "roce.data", "traffic of RoCE"},
      {kDevice, "ub", "ub.data", "traffic of the unified bus", kNotRead},
      {kDevice, "netdev_stats", "netdev_stats.data", "counters of network devices", kNotRead},
      {kDevice, "dvpp", "dvpp.data", "engines for pictures and videos", kNotRead},
      {kDevice, "biu_perf", "instr.*", "instructions of the cores (PC sampling, BIU)", kNotRead},
      {kDevice, "lpmInfoConv", "lpmInfoConv.data", "power, voltage and temperature", kNotRead},
      {kDevice, "ccu_instr", "ccu*.instr.*", "tasks of the CCU", kNotRead},
      {kDevice, "ccu_stat", "ccu*.stat.*", "channels of the CCU", kNotRead},
      {kDevice, "tscpu", "tscpu.data", "counters of the task scheduler's processor", kNotRead},
      {kDevice, "ctrl_cpu", "ai_ctrl_cpu.data ctrlcpu.data", "counters of the control processor",
       kNotRead},
      {kDevice, "device_cpu", "SystemCpuUsage.data", "use of the device's processors", kNotRead},
      {kDevice, "device_mem", "Memory.data", "memory use of the device's own system", kNotRead},
      {kDevice, "device_process_cpu", "*-CpuUsage.data", "processor use of the device's processes",
       kNotRead},
      {kDevice, "device_process_mem", "*-Memory.data", "memory use of the device's processes",
       kNotRead},
      {kDevice, "device_debug", "*.dbg", "debug logs of the device's libraries", kNotRead},

      {kFramework, "torch_op_range", "torch.op_range", "operators"},
      {kFramework, "torch_op_mark", "torch.op_mark", "task queue"},
      {kFramework, "torch_memory_usage", "torch.memory_usage", "allocators"},
      {kFramework, "torch_gc_record", "torch.gc_record", "garbage collections"},
      {kFramework, "torch_python_tracer", "torch.python_tracer_func torch.python_tracer_hash",
       "Python functions"},
      {kFramework, "torch_param_tensor_info", "torch.param_tensor_info",
       "parameters and states of the optimizer"},
      {kFramework, "mindspore_op_range", "mindspore.op_range op_range_*",
       "operators and steps of MindSpore", kNotRead},
      {kFramework, "mindspore_py_stack", "mindspore.py_stack", "Python functions of MindSpore",
       kNotRead},
      {kFramework, "mindspore_memory_usage", "mindspore.memory_usage", "allocators of MindSpore",
       kNotRead},
      {kFramework, "mindspore_record_shapes", "mindspore.record_shapes",
       "shapes of MindSpore's operators", kNotRead},
      {kFramework, "mindspore_cpu_ops", "cpu_op_execute_timestamp_*",
       "kernels of the host's processor", kNotRead},
      {kFramework, "mindspore_data",
       "pipeline_profiling_* minddata_* device_queue_profiling_* dataset_iterator_profiling_*",
       "preparation of input data by MindSpore", kNotRead},
  });
}();

// True when `text` matches `pattern`.
bool Fits(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (!text.starts_with(head)) return false;
  text.remove_prefix(head.size());
  if (tail.find('*') == std::string_view::npos) return text.ends_with(tail);
  for (std::size_t skip = 0; skip <= text.size(); ++skip) {
    if (Fits(text.substr(skip), tail)) return true;
  }
  return false;
}

bool FitsAny(std::string_view text, std::string_view patterns) {
  while (!patterns.empty()) {
    const std::string_view pattern = patterns.substr(0, patterns.find(' '));
    if (Fits(text, pattern)) return true;
    patterns.remove_prefix(std::min(patterns.size(), pattern.size() + 1));
  }
  return false;
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The end of "data", either as a part of the name or as the end of a part; npos: not found.
std::size_t EndOfData(std::string_view name) {
  constexpr std::string_view kData = "data";
  for (std::size_t at = name.find(kData, 1); at < name.size(); at = name.find(kData, at + 1)) {
    const std::size_t end = at + kData.size();
    const bool begins = name[at - 1] == '.' || name[at - 1] == '_';
    if (begins && (end == name.size() || name[end] == '.')) return end;
  }
  return std::string_view::npos;
}

// The last of three numbers after "data": files of the first profilers, which had no slices.
std::string_view EarlySliceOf(std::string_view name) {
  const std::size_t data = EndOfData(name);
  if (data >= name.size()) return {};
  std::string_view rest = name.substr(data + 1), part;
  for (int i = 0; i < 3; ++i) {
    part = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (!IsNumber(part)) return {};
  }
  return rest.empty() ? part : std::string_view();
}

}  // namespace

std::span<const RecordKind> AllRecordKinds() { return kRecordKinds; }

std::optional<RecordFileName> ParseRecordFileName(std::string_view name) {
  constexpr std::string_view kSlice = ".slice_";
  const std::size_t at = name.rfind(kSlice);
  const bool sliced = at != std::string_view::npos;
  const std::string_view digits = sliced ? name.substr(at + kSlice.size()) : EarlySliceOf(name);
  const auto number = IsNumber(digits) ? io::ParseInt(digits) : std::nullopt;
  if (!number) return std::nullopt;
  RecordFileName parts{.stem = name.substr(0, at), .number = *number};
  constexpr std::string_view kAging = "aging.", kUnaging = "unaging.";
  if (parts.stem.starts_with(kAging) || parts.stem.starts_with(kUnaging)) {
    parts.aging = parts.stem.starts_with(kAging);
    parts.stem.remove_prefix(parts.aging ? kAging.size() : kUnaging.size());
  } else {
    parts.stem = parts.stem.substr(0, EndOfData(parts.stem));
  }
  return parts;
}

const RecordKind* KindOfRecords(RecordSide side, std::string_view file_name) {
  const auto parts = ParseRecordFileName(file_name);
  const std::string_view stem = parts && side != RecordSide::kFramework ? parts->stem : file_name;
  for (const RecordKind& kind : kRecordKinds) {
    if (kind.side != side || !FitsAny(stem, kind.files)) continue;
    const bool is_whole = parts || side == RecordSide::kFramework || kind.use != RecordUse::kRead;
    return is_whole ? &kind : nullptr;
  }
  return nullptr;
}

}  // namespace mpa
