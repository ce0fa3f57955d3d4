// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "host_records.h"
#include "tensors.h"

namespace mpa::raw {

/// The bytes of capture_op_info before the tensors.
inline constexpr std::size_t kCapturedOpHead = 88;

/// An operator of a captured graph (capture_op_info).
struct CapturedOp {
  std::uint64_t name = 0, op_type = 0;  ///< hashes
  std::uint64_t attributes = 0;         ///< hash; 0: none
  std::uint32_t core = 0;               ///< number of the GE task type
  std::uint32_t blocks = 0;             ///< low half blocks, high half the mix ratio
  std::uint32_t tensors = 0;            ///< in TensorSets
  bool hf32 = false, dynamic = false;
};

/// Graphs that the program captured from streams and runs repeatedly (aclgraph). Their tasks were
/// handed over during the capture, so no call encloses the tasks of a run.
class GraphCapture {
 public:
  GraphCapture() = default;
  /// `sets` takes the tensors.
  GraphCapture(const HostInput& input, TensorSets& sets);

  /// The model that a task was captured for; kNoModel: none. A stream that is captured again after
  /// its destruction, which begins a batch, may serve another model.
  std::int64_t ModelOf(const HostTask& task) const;

  /// The operator of a task; null: not recorded.
  const CapturedOp* OpOf(const HostTask& task) const;

  /// Adds the streams that were captured from `streams`.
  void AddCapturedStreams(std::set<std::int64_t>& streams) const;

 private:
  struct Start {
    TimeNs time = 0;
    std::uint32_t model = 0, original_stream = 0;
    auto operator<=>(const Start&) const = default;
  };
  using TaskKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

  void ReadStreams(const HostInput& input);
  void AddOp(const Record<kCapturedOpHead>& head, std::string_view tensors, bool aging,
             TensorSets& sets);
  void ReadOps(const HostInput& input, TensorSets& sets);
  void ReadLongOps(const HostInput& input, TensorSets& sets);

  // By device and stream, in order of time.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Start>> starts_;
  std::map<TaskKey, CapturedOp> ops_;  // by device, stream and task
  bool wide_task_ids_ = false;
};

/// The streams on which kernels arrange collectives for kernels that compute and communicate
/// (mc2_comm_info), those of captured graphs too; in order.
std::vector<std::int64_t> ReadScheduleStreams(const HostInput& input, const GraphCapture& capture);

}  // namespace mpa::raw
