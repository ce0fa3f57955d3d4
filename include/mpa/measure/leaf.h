// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "mpa/base/time.h"

namespace mpa {

/// What the time of a device was spent on. Every instant of a step belongs to one leaf. Of several
/// kernels that run at once the leaf that comes first counts.
enum class Leaf : std::uint8_t {
  kAttention,  ///< comp.*: a kernel computes
  kConvolution,
  kMatmul,
  kGroupedMatmul,
  kMc2,  ///< fused with communication
  kVector,
  kFormat,  ///< layout and type conversions
  kMove,    ///< copies by kernels
  kAiCpu,
  kOtherKernel,
  kTransfer,   ///< comm.*: nothing computes, a collective or p2p operation runs
  kSlow,       ///< the part of a transfer that a slow link costs
  kInnerWait,  ///< a peer is slow within the operation
  kInnerIdle,
  kUnsplit,   ///< waiting or transferring, the capture does not tell
  kBubble,    ///< a receive waits for its sender
  kWaitPeer,  ///< before the last member arrived
  kCopyIn,    ///< copy.*: only copies run; from the host
  kCopyOut,
  kCopyDevice,
  kGarbage,   ///< free.*: the device has nothing to do; what the host did instead
  kProfiler,  ///< starts or stops, which the run has only while it is captured
  kCheckpoint,
  kDataLoader,
  kScalarSync,
  kHostCopy,
  kExplicitSync,
  kCompile,
  kAclOp,
  kMemory,
  kDispatchComm,
  kDispatchCann,
  kDispatchOp,
  kPython,
  kQueue,          ///< nothing: the work waited in the task queue
  kLaunchLatency,  ///< nothing: from the end of the launch to the start of the work
  kStreamWait,     ///< the work was queued, its stream waited for an event
  kDeviceQueue,    ///< the work was queued, the device did not start it
  kHostIdle,
  kUnrecorded,  ///< there is no record of the host
  kUnknown,     ///< nothing says who launched the work
};

inline constexpr std::size_t kLeaves = static_cast<std::size_t>(Leaf::kUnknown) + 1;

/// "free.sync.scalar"
std::string_view NameOf(Leaf leaf);
/// The leaf of that name; empty: there is none.
std::optional<Leaf> LeafNamed(std::string_view name);
/// "scalar reads"
std::string_view TitleOf(Leaf leaf);

constexpr bool IsCompute(Leaf leaf) { return leaf <= Leaf::kOtherKernel; }
constexpr bool IsCommunication(Leaf leaf) {
  return leaf >= Leaf::kTransfer && leaf <= Leaf::kWaitPeer;
}
constexpr bool IsDeviceCopy(Leaf leaf) {
  return leaf >= Leaf::kCopyIn && leaf <= Leaf::kCopyDevice;
}
constexpr bool IsFree(Leaf leaf) { return leaf >= Leaf::kGarbage; }

/// The time of every leaf.
class LeafTimes {
 public:
  TimeNs& operator[](Leaf leaf) { return times_[static_cast<std::size_t>(leaf)]; }
  TimeNs operator[](Leaf leaf) const { return times_[static_cast<std::size_t>(leaf)]; }

  /// The time of all leaves for which `belongs` says so.
  template <typename Belongs>
  TimeNs SumOf(Belongs belongs) const {
    TimeNs sum = 0;
    for (std::size_t leaf = 0; leaf < kLeaves; ++leaf) {
      if (belongs(static_cast<Leaf>(leaf))) sum += times_[leaf];
    }
    return sum;
  }
  TimeNs Sum() const {
    return SumOf([](Leaf) { return true; });
  }

 private:
  std::array<TimeNs, kLeaves> times_{};
};

}  // namespace mpa
