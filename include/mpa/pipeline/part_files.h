// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "mpa/pipeline/cluster.h"

namespace mpa {

/// Writes each part as `<recipe>.rank<N>.part` into the directory, with the recipe's name and
/// arguments, the notes and the version of the program. Returns the paths. Throws Error (kOutput).
std::vector<std::filesystem::path> WriteParts(const Recipe& recipe,
                                              const RecipeArguments& arguments,
                                              const MappedRanks& mapped,
                                              const std::filesystem::path& directory);

/// Reads the parts of the recipe in the directory, in order of rank. A damaged one, and one of
/// another version, costs a note. Throws Error (kInput) if no part is left, two are of one
/// rank, or some were made with other arguments.
MappedRanks ReadParts(const Recipe& recipe, const RecipeArguments& arguments,
                      const std::filesystem::path& directory);

}  // namespace mpa
