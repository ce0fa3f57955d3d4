// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "call.h"

namespace mpa::head {

/// A part of the head for people.
struct Part {
  std::string_view measure;  ///< in SummaryRow
  std::string_view title, owner;
};
inline constexpr Part kPlatformPart{"platform", "platform", "serving framework / script"};
inline constexpr Part kDynamoPart{"dynamo", "dynamo", "PyTorch"};
inline constexpr Part kPythonPart{"torchair_py", "torchair python", "TorchAir"};
inline constexpr Part kCppPart{"torchair_cpp", "torchair C++", "TorchAir"};
inline constexpr Part kGePart{"ge", "GE and epilogue", "GE, TorchAir (epilogue)"};
/// Of aclgraph: the last segment has nothing of GE.
inline constexpr Part kReplayPart{"aclgraph", "aclgraph replay", "TorchAir, CANN runtime"};
inline constexpr Part kParts[] = {kPlatformPart, kDynamoPart, kPythonPart,
                                  kCppPart,      kGePart,     kReplayPart};

/// What the segment of the call is to people.
inline const Part& PartOf(const Call& call, Segment segment) {
  return segment == Segment::kGe && call.Replays() ? kReplayPart : kParts[Index(segment)];
}

}  // namespace mpa::head
