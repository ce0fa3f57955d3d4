// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpa/compare/comparison.h"

namespace mpa {

/// Of names that are declared equal, one by one or along a chain ("a" is "b", "b" is "c"), all get
/// one name to match by.
OpNames WithoutChains(const OpNames& given);

/// What the operators of a row have in common: their name, or what it is declared equal to. With
/// `compat` the name alone, as the Python tool has it.
std::string_view RowKeyOf(std::string_view name, const CompareOptions& options);

/// The names of the operators of one row, in the order in which they were first seen.
class NamesOfRow {
 public:
  void Add(std::string_view name);
  void Add(const NamesOfRow& others);
  /// "aten::conv2d = aten::_conv".
  std::string Text() const;

 private:
  std::vector<std::string_view> names_;
};

}  // namespace mpa
