// SPDX-License-Identifier: Apache-2.0
#include "mpa/raw/labels.h"

#include "mpa/base/text.h"

namespace mpa::raw {
namespace {

// The type in the host record, unless it is only a placeholder for a more exact type.
StringId PlainType(const Session& session, std::size_t task) {
  const StringId host = session.tasks.host_type[task];
  return IsOneOf(session.strings.View(host), {"", "UNKNOWN", "FFTS_PLUS"})
             ? session.tasks.device_type[task]
             : host;
}

}  // namespace

StringId TaskName(const Session& session, std::size_t task) {
  if (session.tasks.kind[task] == TaskKind::kKernel) {
    return session.kernels.name[static_cast<std::size_t>(session.tasks.detail[task])];
  }
  return PlainType(session, task);
}

StringId TaskType(const Session& session, std::size_t task) {
  if (session.tasks.kind[task] == TaskKind::kKernel) {
    const auto kernel = static_cast<std::size_t>(session.tasks.detail[task]);
    const StringId core = session.kernels.core[kernel];
    if (session.strings.View(core) != "N/A") return core;
  }
  return PlainType(session, task);
}

StringId TimelineTaskType(const Session& session, std::size_t task) {
  const bool from_device = IsCopy(session, task) && !IsHwts(session);
  return from_device ? session.tasks.device_type[task] : TaskType(session, task);
}

bool IsHwts(const Session& session) {
  const std::vector<Device>& devices = session.info.devices;
  return !devices.empty() && devices.front().generation == Generation::kHwts;
}

bool IsCopy(const Session& session, std::size_t task) {
  return session.strings.View(session.tasks.host_type[task]) == "MEMCPY_ASYNC";
}

std::vector<std::int32_t> FirstCopiesOfCollectives(const Session& session) {
  std::vector<std::int32_t> copies(session.collectives.Size(), -1);
  const CollectiveParts& parts = session.parts;
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    if (parts.collective[i] < 0) continue;
    std::int32_t& copy = copies[static_cast<std::size_t>(parts.collective[i])];
    // Parts are in the order of their tasks, and those in the order of their starts.
    if (copy < 0 && IsCopy(session, static_cast<std::size_t>(parts.task[i]))) copy = parts.task[i];
  }
  return copies;
}

bool IsListedKernel(const Session& session, std::size_t kernel) {
  const std::string_view core = session.strings.View(session.kernels.core[kernel]);
  if (core == "COMMUNICATION") {
    return session.strings.View(session.kernels.name[kernel]).ends_with("AivKernel");
  }
  return !IsOneOf(core, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU"});
}

bool IsListedCounter(std::string_view name) {
  if (name.starts_with("aic_")) {
    return !name.starts_with("aic_vec") && !name.starts_with("aic_ub_") &&
           !IsOneOf(name, {"aic_l0c_read_bw", "aic_l0c_write_bw"});
  }
  if (name.starts_with("aiv_")) {
    return !IsOneOf(
        name.substr(4),
        {"mac_time", "mac_ratio", "mte1_time", "mte1_ratio", "fixpipe_time", "fixpipe_ratio",
         "l1_read_bw", "l1_write_bw", "l0a_read_bw", "l0a_write_bw", "l0b_read_bw", "l0b_write_bw",
         "l0c_read_bw_cube", "l0c_write_bw_cube", "mac_fp16_ratio", "mac_int8_ratio", "cube_fops"});
  }
  return true;
}

StringId CallName(const HostCalls& calls, std::size_t call) {
  const bool is_piece = calls.level[call] == Level::kCommunication;
  return is_piece && calls.item[call] != StringId::kEmpty ? calls.item[call] : calls.name[call];
}

std::string ListLines(std::string_view list) {
  std::string lines;
  lines.reserve(list.size() + list.size() / 4);
  for (const char c : list) {
    lines += c;
    if (c == ';') lines += "\r\n";
  }
  return lines;
}

std::string_view LevelPrefix(Level level) {
  const std::string_view name =
      NameOf(kNumbered<"5000: Runtime, 5500: Communication, 10000: Node, 15000: Model,"
                       " 20000: AscendCL">,
             static_cast<std::int64_t>(level));
  return name.empty() ? "Api" : name;
}

// The numbers and names that are fixed by the record formats and the profiler's databases.

std::span<const NamedNumber> CommunicationDataTypes() {
  return kNumbered<
      "0: INT8, INT16, INT32, FP16, FP32, INT64, UINT64, UINT8, UINT16, UINT32, FP64, BFP16,"
      " INT128, 14: HIF8, FP8E4M3, FP8E5M2, FP8E8M0, 255: RESERVED, 65534: N/A, INVALID_TYPE">;
}

std::span<const NamedNumber> LinkTypes() {
  return kNumbered<
      "0: ON_CHIP, HCCS, PCIE, ROCE, SIO, HCCS_SW, STANDARD_ROCE, UB, UBoE, 255: RESERVED,"
      " 65534: N/A, INVALID_TYPE">;
}

std::span<const NamedNumber> TransportTypes() {
  return kNumbered<"0: SDMA, RDMA, LOCAL, UB, ROCE, 255: RESERVED, 65534: N/A, INVALID_TYPE">;
}

std::span<const NamedNumber> RdmaTypes() {
  return kNumbered<
      "0: RDMA_SEND_NOTIFY, RDMA_SEND_PAYLOAD, 255: RESERVED, 65534: N/A, INVALID_TYPE">;
}

std::span<const NamedNumber> CopyDirections() {
  return kNumbered<
      "0: host to host, host to device, device to host, device to device, managed memory,"
      " addr device to device, host to device ex, device to host ex, 65535: other">;
}

std::span<const NamedNumber> Modules() {
  return kNumbered<
      "0: SLOG, IDEDD, SCC, HCCL, FMK, CCU, DVPP, RUNTIME, CCE, HDC, DRV, NET, 22: DEVMM, KERNEL,"
      " LIBMEDIA, CCECPU, 27: ROS, HCCP, ROCE, TEFUSION, PROFILING, DP, APP, TS, TSDUMP, AICPU, LP,"
      " TDT, FE, MD, MB, ME, IMU, IMP, GE, 47: CAMERA, ASCENDCL, TEEOS, ISP, SIS, HSM, DSS,"
      " PROCMGR, BBOX, AIVECTOR, TBE, FV, 60: TUNE, HSS, FFTS, OP, UDF, HICAID, TSYNC, AUDIO, TPRT,"
      " ASCENDCKERNEL, ASYS, ATRACE, RTC, SYSMONITOR, AMP, ADETECT, MBUFF, CUSTOM">;
}

std::span<const NamedNumber> ApiLevels() {
  return kNumbered<
      "5000: runtime, 5500: communication, 10000: node, 15000: model, 20000: acl, 50001: op,"
      " queue, trace, mstx">;
}

std::span<const NamedNumber> MarkTypes() {
  return kNumbered<"0: marker, push/pop, start/end, marker_ex">;
}

std::span<const NamedNumber> ActivityTypes() {
  return kNumbered<"0: COMPUTE, COMMUNICATION, COMM_NOT_OVERLAP_COMP, FREE, 65535: RESERVE">;
}

std::string_view NameOf(std::span<const NamedNumber> table, std::int64_t number) {
  const auto found = std::lower_bound(
      table.begin(), table.end(), number,
      [](const NamedNumber& entry, std::int64_t wanted) { return entry.number < wanted; });
  if (found == table.end() || found->number != number) return {};
  return found->name;
}

}  // namespace mpa::raw
