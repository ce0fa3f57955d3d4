// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string_view>

namespace mpa {

/// By id of a finding the test with a job that shows its symptom and speaks against it.
inline std::map<std::string_view, std::string_view>& RefutingTests() {
  static std::map<std::string_view, std::string_view> tests;
  return tests;
}

template <typename... Ids>
bool AddRefutation(std::string_view test, Ids... ids) {
  (RefutingTests().emplace(ids, test), ...);
  return true;
}

/// Stands above such a test: MPA_REFUTES(GraphBubbles, SlowGraphsHaveNone, "graph.bubbles").
#define MPA_REFUTES(suite, name, ...) \
  const bool kRefutes##suite##name = AddRefutation(#suite "." #name, __VA_ARGS__)

}  // namespace mpa
