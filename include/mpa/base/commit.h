// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// Which sources the program was made of.
namespace mpa {

/// "0123456789ab", "0123456789ab with changes"; "unknown" where the sources were no checkout of
/// git.
std::string_view BuildCommit();

/// "2026-12-31": when it was committed; empty if that is not known.
std::string_view BuildCommitDate();

}  // namespace mpa
