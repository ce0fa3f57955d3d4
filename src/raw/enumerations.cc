// SPDX-License-Identifier: Apache-2.0
// The numbers and names that are fixed by the record formats and the profiler's databases.
#include "mpa/raw/enumerations.h"

#include <algorithm>

namespace mpa::raw {

std::span<const NamedNumber> CommunicationDataTypes() {
  return kNumbered<
      "0: INT8, INT16, INT32, FP16, FP32, INT64, UINT64, UINT8, UINT16, UINT32, FP64, BFP16, "
      "INT128, 14: HIF8, FP8E4M3, FP8E5M2, FP8E8M0, 255: RESERVED, 65534: N/A, INVALID_TYPE">;
}

std::span<const NamedNumber> LinkTypes() {
  return kNumbered<
      "0: ON_CHIP, HCCS, PCIE, ROCE, SIO, HCCS_SW, STANDARD_ROCE, UB, UBoE, 255: RESERVED, "
      "65534: N/A, INVALID_TYPE">;
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
      "0: host to host, host to device, device to host, device to device, managed memory, "
      "addr device to device, host to device ex, device to host ex, 65535: other">;
}

std::span<const NamedNumber> Modules() {
  return kNumbered<
      "0: SLOG, IDEDD, SCC, HCCL, FMK, CCU, DVPP, RUNTIME, CCE, HDC, DRV, NET, 22: DEVMM, KERNEL, "
      "LIBMEDIA, CCECPU, 27: ROS, HCCP, ROCE, TEFUSION, PROFILING, DP, APP, TS, TSDUMP, AICPU, LP, "
      "TDT, FE, MD, MB, ME, IMU, IMP, GE, 47: CAMERA, ASCENDCL, TEEOS, ISP, SIS, HSM, DSS, "
      "PROCMGR, BBOX, AIVECTOR, TBE, FV, 60: TUNE, HSS, FFTS, OP, UDF, HICAID, TSYNC, AUDIO, TPRT, "
      "ASCENDCKERNEL, ASYS, ATRACE, RTC, SYSMONITOR, AMP, ADETECT, MBUFF, CUSTOM">;
}

std::span<const NamedNumber> ApiLevels() {
  return kNumbered<
      "5000: runtime, 5500: communication, 10000: node, 15000: model, 20000: acl, 50001: op, "
      "queue, trace, mstx">;
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
