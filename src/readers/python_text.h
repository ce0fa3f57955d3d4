// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpa::readers {

/// A JSON array as Python prints it, the form in which reports show the shapes of GPU operators:
/// [[1,2],["int"],null] becomes [[1, 2], ['int'], None]. Other text stays as it is.
std::string PythonText(std::string_view json);

}  // namespace mpa::readers
