// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mpa {

/// Numbers the names of kernels, so that those of two traces can be compared: one may write a name
/// mangled, cut short, or without its arguments.
class KernelNames {
 public:
  std::int32_t Of(std::string_view name);
  /// True for the names of one kernel.
  bool AreSame(std::int32_t a, std::int32_t b);

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<const std::string*> texts_;  // of each number
  std::unordered_map<std::uint64_t, bool> same_;
};

}  // namespace mpa
