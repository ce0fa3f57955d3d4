// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fuzz/fuzzing.h"

namespace mpa::test {

/// A target for each file of copies of the generated raw captures that `belongs`; it is told the
/// path below the capture ("FRAMEWORK/torch.op_mark"). The file gets the input as its content, all
/// others stay whole.
std::vector<Target> BrokenCaptures(const std::function<bool(const std::string&)>& belongs);

}  // namespace mpa::test
