// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "mpa/compare/comparison.h"
#include "mpa/measure/kernel_masks.h"

namespace mpa {

/// Reads the file of --compare_config, an INI file in the dialect of Python's configparser. Throws
/// Error (kUsage) that names the file and the line of the mistake.
KernelMasks ReadCompareConfig(const std::filesystem::path& file);
/// The same of the content; `name` stands for the file in messages.
KernelMasks ParseCompareConfig(std::string_view text, const std::string& name);

/// A file with the masks that hold without one.
std::string DefaultCompareConfig();

/// Reads the value of --op_name_map, a Python dictionary of texts such as {'aten::add': 'add'};
/// JSON is fine, too. Throws Error (kUsage) that names the place of the mistake.
OpNames ParseOpNameMap(std::string_view text);

}  // namespace mpa
