// SPDX-License-Identifier: Apache-2.0
// The analyses of `compare` and what they share. Plain calls: nothing for the linker to drop, and
// the order can be seen.
#include "mpa/compare/comparison.h"

#include <utility>

#include "mpa/measure/op_tree.h"
#include "op_groups.h"

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

CompareInput::Capture::Capture(const RankTrace& its_trace, std::string its_path)
    : trace(its_trace), path(std::move(its_path)) {}
CompareInput::Capture::~Capture() = default;

CompareInput::CompareInput(const RankTrace& base, std::string base_path,
                           const RankTrace& comparison, std::string comparison_path,
                           CompareOptions options)
    : base_(base, std::move(base_path)),
      comparison_(comparison, std::move(comparison_path)),
      options_(std::move(options)) {}
CompareInput::~CompareInput() = default;

const OpTree& CompareInput::Ops(Side side) const {
  const Capture& capture = Of(side);
  std::call_once(capture.once, [&] { capture.ops = std::make_unique<OpTree>(capture.trace); });
  return *capture.ops;
}

const std::vector<OpPair>& CompareInput::MatchedOps() const {
  std::call_once(matched_once_,
                 [&] { matched_ = MatchOps(Ops(Side::kBase), Ops(Side::kComparison), options_); });
  return matched_;
}

}  // namespace mpa
