// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "mpa/measure/leaf.h"

/// What parts of the account are called in baselines, "comm.wait_peer: allreduce, rank 5", and in
/// reports: "waiting for rank 5 in allreduce".
namespace mpa::gate {

/// Of all leaves of kernels: their types distinguish them.
inline constexpr std::string_view kComputeKey = "comp";

/// `what` may be empty.
std::string AccountKey(std::string_view leaf, std::string_view what);

struct AccountName {
  std::string leaf;  ///< "comm.wait_peer"; of kernels kComputeKey
  std::string what;  ///< "allreduce, rank 5"

  bool IsCompute() const { return leaf == kComputeKey; }
  bool IsCommunication() const { return leaf.starts_with("comm."); }
  /// Copies occupy the device and compute nothing.
  bool IsFree() const { return leaf.starts_with("free.") || leaf.starts_with("copy."); }
  /// "kernel", "collective" or "component"
  const char* Kind() const;
  /// "waiting for rank 5 in allreduce"
  std::string Title() const;
};
AccountName ReadAccountKey(std::string_view key);

}  // namespace mpa::gate
