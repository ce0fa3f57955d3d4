// SPDX-License-Identifier: Apache-2.0
// Matches two sequences longest block first. Both are put one behind the other and their suffixes
// sorted once; a block found in both is then a run of neighbours that begin alike. Every window of
// the search keeps its own suffixes in that order, so that nothing is sorted or compared again.
// Suffixes run on past their window, those of base even into the comparison: each use cuts them.
#include "mpa/compare/sequence_matching.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mpa {
namespace {

using Key = std::uint32_t;
using Place = std::uint32_t;  // in base and comparison, one behind the other
constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Suffix {
  Place place = 0;
  std::uint32_t shared = 0;  // keys that begin both this suffix and the one ahead of it in the list
};

// Replaces the keys by their numbers in ascending order, from 0 on; gives how many there are.
std::uint32_t NumberKeys(std::vector<Key>& text) {
  std::vector<Key> distinct = text;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (Key& key : text) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), key);
    key = static_cast<Key>(at - distinct.begin());
  }
  return static_cast<std::uint32_t>(distinct.size());
}

// The places of a text in the order of the suffixes that begin there. `rank` is the text itself,
// its keys numbered below `ranks`: the order by one key, which each round carries on to twice as
// many.
std::vector<Place> SortSuffixes(std::vector<std::uint32_t> rank, std::uint32_t ranks) {
  const auto size = static_cast<Place>(rank.size());
  std::vector<std::uint32_t> next_rank(size);
  std::vector<std::uint32_t> rank_end;
  std::vector<Place> order(size);
  std::vector<Place> by_rest(size);  // ordered by what follows the keys that rank compares
  std::iota(by_rest.begin(), by_rest.end(), Place{0});
  const auto sort_by_rank = [&] {
    rank_end.assign(ranks, 0);
    for (const std::uint32_t r : rank) ++rank_end[r];
    std::partial_sum(rank_end.begin(), rank_end.end(), rank_end.begin());
    for (auto at = by_rest.rbegin(); at != by_rest.rend(); ++at) order[--rank_end[rank[*at]]] = *at;
  };
  sort_by_rank();
  for (Place known = 1; ranks < size; known *= 2) {
    auto out = by_rest.begin();
    for (Place place = size - known; place < size; ++place) *out++ = place;
    for (const Place place : order) {
      if (place >= known) *out++ = place - known;
    }
    sort_by_rank();
    const auto rest = [&](Place place) {
      return place < size - known ? rank[place + known] + 1 : 0;  // the end sorts ahead of all keys
    };
    next_rank[order[0]] = 0;
    ranks = 1;
    for (Place i = 1; i < size; ++i) {
      const Place a = order[i - 1];
      const Place b = order[i];
      if (rank[a] != rank[b] || rest(a) != rest(b)) ++ranks;
      next_rank[b] = ranks - 1;
    }
    rank.swap(next_rank);
  }
  return order;
}

// Adds to each suffix what it shares with the one ahead of it. Taken in the order of the text, each
// shares at most one key less than the one before did, which keeps the comparing linear.
std::vector<Suffix> SortedSuffixes(const std::vector<Key>& text, std::uint32_t distinct_keys) {
  const auto size = static_cast<Place>(text.size());
  const std::vector<Place> order = SortSuffixes(text, distinct_keys);
  std::vector<Suffix> suffixes(size);
  std::vector<std::uint32_t> position(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    suffixes[i].place = order[i];
    position[order[i]] = i;
  }
  std::uint32_t shared = 0;
  for (Place place = 0; place < size; ++place) {
    if (position[place] == 0) {
      shared = 0;
      continue;
    }
    const Place ahead = order[position[place] - 1];
    while (std::max(place, ahead) + shared < size && text[place + shared] == text[ahead + shared]) {
      ++shared;
    }
    suffixes[position[place]].shared = shared;
    if (shared > 0) --shared;
  }
  return suffixes;
}

// Part of a sequence: [begin, end).
struct Range {
  Place begin = 0, end = 0;
  std::uint32_t Size() const { return end - begin; }
};

class Matcher {
 public:
  Matcher(const std::vector<Key>& base, const std::vector<Key>& comparison);

  /// Finds the blocks, in no order.
  std::vector<MatchedBlock> Match();

 private:
  /// Parts of both sequences that are matched with each other.
  struct Window {
    Range base, comparison;
    std::uint32_t longest = 0;                           // no block can be longer
    std::uint32_t suffixes_begin = 0, suffixes_end = 0;  // those of both parts, in suffixes_
  };
  /// A place of base where a longest block begins; the same block has the same group.
  struct BaseStart {
    Place place;
    std::uint32_t group;
  };
  /// The least `shared` from just behind the element before up to the suffix at hand.
  struct Minimum {
    std::uint32_t index, shared;
  };

  bool IsBase(Place place) const { return place < base_size_; }
  /// How long a block that begins at `place` may be without leaving the window.
  std::uint32_t Room(const Window& window, Place place) const {
    return (IsBase(place) ? window.base.end : window.comparison.end) - place;
  }
  std::uint32_t LongestLength(const Window& window) const;
  bool HasBlock(const Window& window, std::uint32_t length) const;
  void FindStarts(const Window& window, std::uint32_t length);
  void AddGroup(const Window& window, std::uint32_t length, std::uint32_t run_begin,
                std::uint32_t run_end);
  void TakeBlocks(const Window& window, std::uint32_t length);
  void AddPart(Range base, Range comparison, std::uint32_t longest);
  void HandOutSuffixes(const Window& window);

  Place base_size_;
  std::vector<Suffix> suffixes_;  // each open window has a stretch of it
  std::vector<Window> open_;
  std::vector<MatchedBlock> blocks_;

  // Of the window at hand; members because most windows are small and many.
  std::vector<BaseStart> base_starts_;
  std::vector<Place> comparison_starts_;  // group after group, ascending in each
  std::vector<std::uint32_t> group_end_;
  std::vector<Window> parts_;             // what is left around its blocks
  std::vector<std::uint32_t> part_of_;    // by place
  std::vector<std::uint32_t> latest_in_;  // by part: index of the suffix it got last
  std::vector<Suffix> window_suffixes_;
  std::vector<Minimum> minima_;
};

Matcher::Matcher(const std::vector<Key>& base, const std::vector<Key>& comparison)
    : base_size_(static_cast<Place>(base.size())) {
  std::vector<Key> text = base;
  text.insert(text.end(), comparison.begin(), comparison.end());
  const auto distinct_keys = NumberKeys(text);
  suffixes_ = SortedSuffixes(text, distinct_keys);
  part_of_.resize(text.size());
}

std::vector<MatchedBlock> Matcher::Match() {
  const auto size = static_cast<Place>(suffixes_.size());
  open_.push_back({.base = {0, base_size_},
                   .comparison = {base_size_, size},
                   .longest = size,
                   .suffixes_begin = 0,
                   .suffixes_end = size});
  while (!open_.empty()) {
    const Window window = open_.back();
    open_.pop_back();
    const auto length = LongestLength(window);
    if (length == 0) continue;
    FindStarts(window, length);
    TakeBlocks(window, length);
    if (parts_.empty()) continue;
    HandOutSuffixes(window);
    open_.insert(open_.end(), parts_.begin(), parts_.end());
  }
  return std::move(blocks_);
}

// What any two suffixes share, two neighbours somewhere between them share too: looking at
// neighbours gives the greatest length but for the ends of the window. Where those cut a block
// short, others that share less may hold more of it, and the length is searched for.
std::uint32_t Matcher::LongestLength(const Window& window) const {
  std::uint32_t at_least = 0;
  std::uint32_t at_most = 0;
  for (auto i = window.suffixes_begin + 1; i < window.suffixes_end; ++i) {
    const std::uint32_t shared = suffixes_[i].shared;
    if (shared <= at_least) continue;
    const Place a = suffixes_[i - 1].place;
    const Place b = suffixes_[i].place;
    if (IsBase(a) == IsBase(b)) continue;
    at_most = std::max(at_most, shared);
    at_least = std::max(at_least, std::min({shared, Room(window, a), Room(window, b)}));
  }
  at_most = std::min({at_most, window.longest, window.base.Size(), window.comparison.Size()});
  while (at_least < at_most) {
    const auto middle = at_least + (at_most - at_least + 1) / 2;
    if (HasBlock(window, middle)) {
      at_least = middle;
    } else {
      at_most = middle - 1;
    }
  }
  return at_least;
}

bool Matcher::HasBlock(const Window& window, std::uint32_t length) const {
  bool in_base = false;
  bool in_comparison = false;
  for (auto i = window.suffixes_begin; i < window.suffixes_end; ++i) {
    const auto [place, shared] = suffixes_[i];
    if (shared < length) in_base = in_comparison = false;
    if (Room(window, place) < length) continue;
    (IsBase(place) ? in_base : in_comparison) = true;
    if (in_base && in_comparison) return true;
  }
  return false;
}

void Matcher::FindStarts(const Window& window, std::uint32_t length) {
  base_starts_.clear();
  comparison_starts_.clear();
  group_end_.clear();
  for (auto i = window.suffixes_begin; i < window.suffixes_end;) {
    const auto run_begin = i++;
    while (i < window.suffixes_end && suffixes_[i].shared >= length) ++i;
    if (i - run_begin > 1) AddGroup(window, length, run_begin, i);
  }
  std::ranges::sort(base_starts_,
                    [](const BaseStart& a, const BaseStart& b) { return a.place < b.place; });
}

void Matcher::AddGroup(const Window& window, std::uint32_t length, std::uint32_t run_begin,
                       std::uint32_t run_end) {
  const auto base_count = base_starts_.size();
  const auto comparison_count = comparison_starts_.size();
  const auto group = static_cast<std::uint32_t>(group_end_.size());
  for (auto i = run_begin; i < run_end; ++i) {
    const Place place = suffixes_[i].place;
    if (Room(window, place) < length) continue;
    if (IsBase(place)) {
      base_starts_.push_back({.place = place, .group = group});
    } else {
      comparison_starts_.push_back(place);
    }
  }
  if (base_starts_.size() == base_count || comparison_starts_.size() == comparison_count) {
    base_starts_.resize(base_count);
    comparison_starts_.resize(comparison_count);
    return;
  }
  std::sort(comparison_starts_.begin() + static_cast<std::ptrdiff_t>(comparison_count),
            comparison_starts_.end());
  group_end_.push_back(static_cast<std::uint32_t>(comparison_starts_.size()));
}

// Takes all longest blocks in one sweep. The first taken is the first in base of the whole window;
// no base place ahead of it begins a longest block, whatever comparison keys remain there, so what
// is left of it only holds shorter ones. Right of it the choice is again the first base place whose
// block also occurs in the comparison past the block taken: the sweep goes on as it began.
void Matcher::TakeBlocks(const Window& window, std::uint32_t length) {
  parts_.clear();
  Window rest = window;
  for (const auto& [place, group] : base_starts_) {
    if (place < rest.base.begin) continue;
    const auto first = comparison_starts_.begin() + (group == 0 ? 0 : group_end_[group - 1]);
    const auto last = comparison_starts_.begin() + group_end_[group];
    const auto start = std::lower_bound(first, last, rest.comparison.begin);
    if (start == last) continue;
    blocks_.push_back({place, *start - base_size_, length});
    AddPart({rest.base.begin, place}, {rest.comparison.begin, *start}, length - 1);
    rest.base.begin = place + length;
    rest.comparison.begin = *start + length;
  }
  AddPart(rest.base, rest.comparison, length - 1);
}

void Matcher::AddPart(Range base, Range comparison, std::uint32_t longest) {
  if (base.Size() == 0 || comparison.Size() == 0 || longest == 0) return;
  parts_.push_back({.base = base, .comparison = comparison, .longest = longest});
}

// Gives each part the window's suffixes that begin in it, in the same order. What two of them share
// is the least that their neighbours in between did.
void Matcher::HandOutSuffixes(const Window& window) {
  const auto mark = [&](Range range, std::uint32_t part) {
    std::fill(part_of_.begin() + range.begin, part_of_.begin() + range.end, part);
  };
  mark(window.base, kNone);
  mark(window.comparison, kNone);
  auto begin = window.suffixes_begin;
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    Window& of = parts_[part];
    mark(of.base, part);
    mark(of.comparison, part);
    of.suffixes_begin = of.suffixes_end = begin;
    begin += of.base.Size() + of.comparison.Size();
  }
  window_suffixes_.assign(suffixes_.begin() + window.suffixes_begin,
                          suffixes_.begin() + window.suffixes_end);
  latest_in_.assign(parts_.size(), 0);
  minima_.clear();
  for (std::uint32_t i = 0; i < window_suffixes_.size(); ++i) {
    const auto [place, shared] = window_suffixes_[i];
    while (!minima_.empty() && minima_.back().shared >= shared) minima_.pop_back();
    minima_.push_back({.index = i, .shared = shared});
    const auto part = part_of_[place];
    if (part == kNone) continue;
    Window& of = parts_[part];
    const auto least = std::upper_bound(
        minima_.begin(), minima_.end(), latest_in_[part],
        [](std::uint32_t index, const Minimum& minimum) { return index < minimum.index; });
    const bool first = of.suffixes_begin == of.suffixes_end;
    suffixes_[of.suffixes_end++] = {.place = place, .shared = first ? 0 : least->shared};
    latest_in_[part] = i;
  }
}

}  // namespace

std::vector<MatchedBlock> MatchSequences(const std::vector<std::uint32_t>& base,
                                         const std::vector<std::uint32_t>& comparison) {
  if (base.empty() || comparison.empty()) return {};
  std::vector<MatchedBlock> blocks = Matcher(base, comparison).Match();
  std::ranges::sort(blocks, [](const MatchedBlock& a, const MatchedBlock& b) {
    return a.base_begin < b.base_begin;
  });
  // There is nothing to merge: had two blocks touched in both sequences, the window that held both
  // would have had them as one longer block.
  return blocks;
}

std::vector<AlignedPair> AlignSequences(const std::vector<std::uint32_t>& base,
                                        const std::vector<std::uint32_t>& comparison) {
  std::vector<AlignedPair> pairs;
  std::size_t base_at = 0;
  std::size_t comparison_at = 0;
  const auto leave_out = [&](std::size_t base_until, std::size_t comparison_until) {
    for (; base_at < base_until; ++base_at) pairs.push_back({base_at, std::nullopt});
    for (; comparison_at < comparison_until; ++comparison_at) {
      pairs.push_back({std::nullopt, comparison_at});
    }
  };
  for (const MatchedBlock& block : MatchSequences(base, comparison)) {
    leave_out(block.base_begin, block.comparison_begin);
    for (std::size_t i = 0; i < block.length; ++i) pairs.push_back({base_at++, comparison_at++});
  }
  leave_out(base.size(), comparison.size());
  return pairs;
}

}  // namespace mpa
