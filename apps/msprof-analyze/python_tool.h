// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

/// What the Python tool of the same name has and this one does not have yet: a command that arrives
/// leaves the list here.
namespace mpa {

std::span<const std::string_view> CommandsOfPythonToolOnly();

}  // namespace mpa
