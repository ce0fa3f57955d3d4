// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"

namespace mpa {

/// What the time of a device was spent on. Every instant of a step belongs to one category. Of
/// several kernels that run at once the category that comes first counts.
enum class TimeCategory : std::uint8_t {
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
  kGil,         ///< the thread waited for the lock of Python's interpreter
  kLock,        ///< it was in a call that takes or waits for a lock
  kSystemCall,  ///< it was in another call into the operating system
  kDispatchComm,
  kDispatchCann,
  kDispatchOp,
  kPython,         ///< a function of Python, as recorded
  kQueue,          ///< nothing: the work waited in the task queue
  kLaunchLatency,  ///< nothing: from the end of the launch to the start of the work
  kStreamWait,     ///< the work was queued, its stream waited for an event
  kDeviceQueue,    ///< the work was queued, the device did not start it
  kHostIdle,       ///< nothing is recorded of the thread then
  kUnrecorded,     ///< there is no record of the host
  kUnknown,        ///< nothing says who launched the work
};

inline constexpr std::size_t kTimeCategories = static_cast<std::size_t>(TimeCategory::kUnknown) + 1;

/// "free.sync.scalar"
std::string_view NameOf(TimeCategory category);
/// The category of that name; empty: the name is unknown.
std::optional<TimeCategory> CategoryNamed(std::string_view name);
/// "scalar reads"
std::string_view TitleOf(TimeCategory category);

constexpr bool IsCompute(TimeCategory category) { return category <= TimeCategory::kOtherKernel; }
constexpr bool IsCommunication(TimeCategory category) {
  return category >= TimeCategory::kTransfer && category <= TimeCategory::kWaitPeer;
}
constexpr bool IsDeviceCopy(TimeCategory category) {
  return category >= TimeCategory::kCopyIn && category <= TimeCategory::kCopyDevice;
}
constexpr bool IsFree(TimeCategory category) { return category >= TimeCategory::kGarbage; }

/// The time of every category.
class CategoryTimes {
 public:
  TimeNs& operator[](TimeCategory category) { return times_[static_cast<std::size_t>(category)]; }
  TimeNs operator[](TimeCategory category) const {
    return times_[static_cast<std::size_t>(category)];
  }

  /// The time of all categories for which `belongs` says so.
  template <typename Belongs>
  TimeNs SumOf(Belongs belongs) const {
    TimeNs sum = 0;
    for (std::size_t category = 0; category < kTimeCategories; ++category) {
      if (belongs(static_cast<TimeCategory>(category))) sum += times_[category];
    }
    return sum;
  }
  TimeNs Sum() const {
    return SumOf([](TimeCategory) { return true; });
  }

 private:
  std::array<TimeNs, kTimeCategories> times_{};
};

/// What the name of something on the host says of its class. Operators of the kinds kScalarSync and
/// kHostCopy are of these classes only if a blocking call is inside.
TimeCategory ClassOfOp(std::string_view name);
TimeCategory ClassOfPython(std::string_view frame);
/// Of a call of the runtime, "AscendCL@aclrtMemcpy" or without its level.
TimeCategory ClassOfCall(std::string_view name);
/// Of a range that the program marked; kPython: none.
TimeCategory ClassOfMark(std::string_view message);

/// Answers of one of these functions, or of another one, by text of a pool, each asked once.
template <typename Class>
class NamedClasses {
 public:
  NamedClasses(const StringPool& strings, Class (*class_of)(std::string_view))
      : strings_(strings), class_of_(class_of), known_(strings.Size(), kNotAsked) {}
  Class Of(StringId name) {
    std::uint8_t& known = known_[Index(name)];
    if (known == kNotAsked) known = static_cast<std::uint8_t>(class_of_(strings_.View(name)));
    return static_cast<Class>(known);
  }

 private:
  static constexpr std::uint8_t kNotAsked = 255;
  const StringPool& strings_;
  Class (*class_of_)(std::string_view);
  std::vector<std::uint8_t> known_;
};

}  // namespace mpa
