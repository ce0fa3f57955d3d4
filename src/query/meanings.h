// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace mpa::query {

/// What the declaration of a table says of it and of its columns: the comments in the sources,
/// which are part of the program for that. A new field so has a meaning without another edit.
struct Meanings {
  struct Field {
    std::string type;  ///< "TimeNs", "Rare<StringId>"
    std::string meaning;
  };
  std::string table;
  std::map<std::string, Field, std::less<>> fields;

  std::string Of(std::string_view field) const;
  /// "ns", "bytes"; empty: a number without a unit, or a text.
  std::string UnitOf(std::string_view field) const;
};

/// Those of the declaration "KernelFields"; empty for one that is unknown.
const Meanings& MeaningsOf(std::string_view declaration);

}  // namespace mpa::query
