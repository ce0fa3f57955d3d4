// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace mpa {

/// Prints the completion script if the shell asks for one in the environment; false if it does not.
bool AnswerShell(const CLI::App& program);

}  // namespace mpa
