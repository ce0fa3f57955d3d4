// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/measure/nesting.h"

namespace mpa {

/// Where an item belongs.
struct NestPlace {
  static constexpr std::int64_t kNone = Nesting::kNone;
  std::int64_t module = kNone;  ///< position in the modules
  bool straddles = false;       ///< begins within a module that ends before the item does
};

/// Modules within modules, and items within them, for each group of threads by itself. It differs
/// from Nesting in one thing: a module that ends behind another is not within it.
struct ModuleNest {
  std::vector<std::int64_t> parent;    ///< of each module, kNone for the outermost
  std::vector<std::uint32_t> modules;  ///< in order of start, outer ones first
  std::vector<NestPlace> places;       ///< of each item
  std::vector<std::uint32_t> items;    ///< in order of start, the longest first
};

/// Nests the spans. A module is within the innermost one that encloses it, both ends included; of
/// two equal ones the later is the inner one. So is an item; one that no module encloses belongs to
/// the innermost module in which it begins. Items never change where others belong. Modules on
/// kAnyThread hold the items that no module of their own threads holds.
ModuleNest Nest(const std::vector<NestSpan>& modules, const std::vector<NestSpan>& items);

}  // namespace mpa
