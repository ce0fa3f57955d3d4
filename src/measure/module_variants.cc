// SPDX-License-Identifier: Apache-2.0
#include "module_variants.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace mpa {
namespace {

// The variants of one module, by number.
using Variants = std::set<std::uint32_t>;

void Rename(const Variants& variants, VariantRow& row) {
  if (variants.size() < 2) return;
  const auto number = std::distance(variants.begin(), variants.find(row.variant));
  row.row.module += "_" + std::to_string(number);
}

bool SameModule(const VariantRow& a, const VariantRow& b) {
  return std::tie(a.row.parent, a.row.module) == std::tie(b.row.parent, b.row.module);
}

void NamePerRun(std::vector<VariantRow>& rows) {
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    Variants variants;
    for (; end < rows.size() && SameModule(rows[end], rows[begin]); ++end) {
      variants.insert(rows[end].variant);
    }
    for (std::size_t i = begin; i < end; ++i) Rename(variants, rows[i]);
  }
}

void NameOnce(std::vector<VariantRow>& rows) {
  std::map<std::pair<std::string, std::string>, Variants> modules;
  for (const VariantRow& row : rows) {
    modules[{row.row.parent, row.row.module}].insert(row.variant);
  }
  for (VariantRow& row : rows) Rename(modules[{row.row.parent, row.row.module}], row);
}

}  // namespace

void OrderRows(std::vector<VariantRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const VariantRow& a, const VariantRow& b) {
    const auto key = [](const VariantRow& row) {
      return std::tie(row.op_start, row.position, row.row.parent, row.row.module, row.row.op,
                      row.row.kernels, row.variant);
    };
    return key(a) < key(b);
  });
}

void NameVariants(VariantNaming naming, std::vector<VariantRow>& rows) {
  naming == VariantNaming::kOnce ? NameOnce(rows) : NamePerRun(rows);
}

}  // namespace mpa
