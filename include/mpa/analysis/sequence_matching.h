// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mpa {

/// `length` keys that follow each other in both sequences.
struct MatchedBlock {
  std::size_t base_begin = 0, comparison_begin = 0, length = 0;
  friend bool operator==(const MatchedBlock&, const MatchedBlock&) = default;
};

/// What two sequences of keys have in common, by the rule people use when they align lists by eye:
/// the longest block of keys found in both is matched first, then what lies left of it in both
/// sequences and what lies right of it are matched alike. Of equally long blocks the one that
/// begins first in `base` is taken, of these the one that begins first in `comparison`. Fewer keys
/// may match than in a longest common subsequence, but long runs are never torn for a stray key.
///
/// The blocks come in the order of both sequences; no two of them touch in both. The time grows
/// with the number of keys times the nesting of blocks of different length, never with the product
/// of the lengths. Each sequence holds less than 2^30 keys.
std::vector<MatchedBlock> MatchSequences(const std::vector<std::uint32_t>& base,
                                         const std::vector<std::uint32_t>& comparison);

/// The places of an item in the two sequences; at least one is set.
struct AlignedPair {
  std::optional<std::size_t> base, comparison;
  friend bool operator==(const AlignedPair&, const AlignedPair&) = default;
};

/// Every item of both sequences once: those of a block as pairs, and ahead of them the items
/// without a partner, first those of `base`, then those of `comparison`.
std::vector<AlignedPair> AlignSequences(const std::vector<std::uint32_t>& base,
                                        const std::vector<std::uint32_t>& comparison);

}  // namespace mpa
