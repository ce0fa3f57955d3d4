// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "help.h"

namespace mpa {

/// What --version prints: the version in the first line; commit, architecture, compiler, libraries
/// and the instructions that are used below.
std::string VersionText();

/// The program or one of its commands, with what its page says.
struct ManualPart {
  const CLI::App* app = nullptr;
  HelpPage page;
};

/// The page for man(1), in the macros of man(7).
std::string ManualPage(const ManualPart& part);

}  // namespace mpa
