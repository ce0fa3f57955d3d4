// SPDX-License-Identifier: Apache-2.0
// Which captures of two jobs are compared with each other.
#include "mpa/pipeline/pair_ranks.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/notes.h"
#include "mpa/base/text.h"
#include "mpa/pipeline/find_ranks.h"
#include "rank_lists.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// Empty for a directory that holds several captures.
std::optional<RankInput> OpenOne(const fs::path& path, const OpenOptions& options) {
  try {
    return OpenRank(path, options);
  } catch (const Error&) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored) && !Discover(path, options).ranks.empty()) return {};
    throw;
  }
}

using InputByRank = std::map<std::int64_t, RankInput>;

InputByRank FindByRank(const fs::path& path, const OpenOptions& options, CapturePairs& pairs) {
  FoundRanks found = FindRanks(path, std::nullopt, options);
  std::move(found.notes.begin(), found.notes.end(), std::back_inserter(pairs.notes));
  pairs.partial = pairs.partial || found.partial;
  InputByRank inputs;
  for (FoundRank& rank : found.ranks) {
    inputs.try_emplace(rank.rank, std::move(rank.input));
  }
  return inputs;
}

std::string RanksText(const InputByRank& inputs) {
  std::set<std::int64_t> ranks;
  for (const auto& [rank, input] : inputs) ranks.insert(rank);
  return fmt::format("{} {}", Plural(static_cast<std::int64_t>(ranks.size()), "rank"),
                     RankList(ranks));
}

}  // namespace

CapturePairs PairRanks(const fs::path& base, const fs::path& comparison,
                       const OpenOptions& options) {
  auto base_one = InContext("-bp", [&] { return OpenOne(base, options); });
  auto comparison_one = InContext("-d", [&] { return OpenOne(comparison, options); });
  CapturePairs pairs;
  if (base_one && comparison_one) {
    pairs.pairs.push_back({-1, std::move(*base_one), std::move(*comparison_one)});
    return pairs;
  }
  InputByRank of_base = InContext("-bp", [&] { return FindByRank(base, options, pairs); });
  InputByRank of_comparison =
      InContext("-d", [&] { return FindByRank(comparison, options, pairs); });
  for (auto& [rank, input] : of_comparison) {
    const auto same = of_base.find(rank);
    if (same == of_base.end()) continue;
    pairs.pairs.push_back({rank, std::move(same->second), std::move(input)});
  }
  if (pairs.pairs.empty()) {
    LogNotes(pairs.notes);
    Fail(ErrorKind::kInput,
         "no rank is in both: -bp {} holds {}, -d {} holds {}; give the captures of one rank each",
         base.string(), RanksText(of_base), comparison.string(), RanksText(of_comparison));
  }
  return pairs;
}

}  // namespace mpa
