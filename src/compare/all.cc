// SPDX-License-Identifier: Apache-2.0
// The analyses of `compare`. Plain calls: nothing for the linker to drop, and the order can be
// seen.
#include "mpa/compare/comparison.h"

namespace mpa {
namespace comparisons {

Comparison Overall();
Comparison Communication();
Comparison Operators();
Comparison Memory();
Comparison Api();
Comparison Kernel();

}  // namespace comparisons

const std::vector<Comparison>& AllComparisons() {
  static const std::vector<Comparison> all = {
      comparisons::Overall(), comparisons::Communication(), comparisons::Operators(),
      comparisons::Memory(),  comparisons::Api(),           comparisons::Kernel()};
  return all;
}

}  // namespace mpa
