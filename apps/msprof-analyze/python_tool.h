// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

/// What the Python tool of the same name has and this one does not have yet: a mode or command that
/// arrives leaves its list here.
namespace mpa {

std::span<const std::string_view> CommandsOfPythonToolOnly();
std::span<const std::string_view> ModesOfPythonToolOnly();

}  // namespace mpa
