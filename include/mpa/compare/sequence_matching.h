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

/// What two sequences of keys have in common, longest block first: the longest block of keys found
/// in both is matched, then what lies left of it in both sequences and what lies right of it are
/// matched alike. Of equally long blocks the one that begins first in `base` is taken, of these the
/// one that begins first in `comparison`.
///
/// Long runs are never torn for a stray key, but fewer keys may match than in a longest common
/// subsequence: a long block of the comparison's end that `base` also has at its beginning leaves
/// nearly everything else without a partner.
///
/// The blocks come in the order of both sequences; none goes on where the one before it ends in
/// both. The time grows with the number of keys, times how many blocks of different length nest in
/// each other: a few dozen usually, about the square root of that number at worst. Each sequence
/// holds less than 2^30 keys.
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
