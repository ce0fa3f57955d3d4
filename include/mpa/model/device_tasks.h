// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpa {

/// True for the name or type of a task that copies between memories.
bool IsCopy(std::string_view name_or_type);

/// True for a task that does something for who launched it: a copy, or a kernel, which alone has a
/// name that is no type. Other tasks wait, signal or mark a place.
bool IsWork(std::string_view name, std::string_view type);

}  // namespace mpa
