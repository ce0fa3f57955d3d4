// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace mpa {

/// True where a shell asks for words or its script.
bool IsAskedByShell();

/// Answers a shell that completes a command line, which asks in the environment: prints the script
/// that sets completion up, or the words that may stand at the end of a line. False if none asks.
bool AnswerShell(const CLI::App& program);

}  // namespace mpa
