// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mpa {

/// Reads the value of --op_name_map, a Python dictionary of texts such as {'aten::add': 'add'};
/// JSON is fine, too. Throws Error (kUsage) that names the place of the mistake.
std::map<std::string, std::string, std::less<>> ParseOpNameMap(std::string_view text);

}  // namespace mpa
