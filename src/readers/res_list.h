// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mpa::readers {

/// A request in a batch.
struct BatchedRequest {
  std::string id{};  ///< empty: not stated
  bool is_prefill = false;
  std::int64_t tokens = -1;  ///< that are computed for it; -1: not stated
};

/// The requests in the column res_list: a list of objects as Python or JSON writes it,
/// [{'rid': '7', 'iter': 0, 'type': 0, 'num_scheduled_tokens': 512}]. What is not in this form is
/// passed over.
std::vector<BatchedRequest> RequestsIn(std::string_view res_list);

/// The ids of a list of requests, which are objects as above or ids alone: ["7", "8"], or 7.
std::vector<std::string> IdsIn(std::string_view list);

}  // namespace mpa::readers
