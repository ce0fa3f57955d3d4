// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpa {

/// What --version prints: the version in the first line; commit, architecture, compiler, libraries
/// and the instructions that are used below.
std::string VersionText();

/// "2026-12-31": when the sources were committed; empty if that is not known.
std::string DateOfCommit();

}  // namespace mpa
