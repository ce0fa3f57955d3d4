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
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/pipeline/find_ranks.h"

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

using InputByRank = std::map<RankId, RankInput>;

struct RanksOfSide {
  InputByRank inputs;
  AbsentRanks absent;
};

RanksOfSide FindByRank(const fs::path& path, const OpenOptions& options, CapturePairs& pairs) {
  FoundRanks found = FindRanks(path, std::nullopt, options);
  std::move(found.notes.begin(), found.notes.end(), std::back_inserter(pairs.notes));
  pairs.partial = pairs.partial || found.partial;
  RanksOfSide side{{}, std::move(found.absent)};
  for (FoundRank& rank : found.ranks) {
    side.inputs.try_emplace(rank.rank, std::move(rank.input));
  }
  return side;
}

std::string RanksText(const InputByRank& inputs) {
  std::set<RankId> ranks;
  for (const auto& [rank, input] : inputs) ranks.insert(rank);
  return RankList(ranks).Text();
}

void AddUnpaired(const InputByRank& there, const RanksOfSide& lacks, std::string_view option,
                 CapturePairs& pairs) {
  for (const auto& [rank, input] : there) {
    if (!lacks.inputs.contains(rank))
      pairs.unpaired.push_back({rank, lacks.absent.Of(rank), option});
  }
}

}  // namespace

std::vector<std::string> UnpairedLines(const std::vector<UnpairedRank>& ranks) {
  std::map<std::pair<RankState, std::string_view>, std::set<RankId>> alike;
  for (const UnpairedRank& rank : ranks) alike[{rank.state, rank.option}].insert(rank.rank);
  std::vector<std::string> lines;
  for (const auto& [kind, of_kind] : alike) {
    const auto& [state, option] = kind;
    lines.push_back(fmt::format("{}{}{}: {}", NameOf(state), option.empty() ? "" : " in ", option,
                                RankList(of_kind).Text()));
  }
  return lines;
}

CapturePairs PairRanks(const fs::path& base, const fs::path& comparison,
                       const OpenOptions& options) {
  auto base_one = InContext("-bp", [&] { return OpenOne(base, options); });
  auto comparison_one = InContext("-d", [&] { return OpenOne(comparison, options); });
  CapturePairs pairs;
  if (base_one && comparison_one) {
    pairs.pairs.push_back({-1, std::move(*base_one), std::move(*comparison_one)});
    return pairs;
  }
  RanksOfSide of_base = InContext("-bp", [&] { return FindByRank(base, options, pairs); });
  RanksOfSide of_comparison =
      InContext("-d", [&] { return FindByRank(comparison, options, pairs); });
  AddUnpaired(of_base.inputs, of_comparison, "-d", pairs);
  AddUnpaired(of_comparison.inputs, of_base, "-bp", pairs);
  for (auto& [rank, input] : of_comparison.inputs) {
    const auto same = of_base.inputs.find(rank);
    if (same == of_base.inputs.end()) continue;
    pairs.pairs.push_back({rank, std::move(same->second), std::move(input)});
  }
  if (pairs.pairs.empty()) {
    LogNotes(pairs.notes);
    Fail(ErrorKind::kInput,
         "no rank is in both: -bp {} holds {}, -d {} holds {}; give the captures of one rank each",
         base.string(), RanksText(of_base.inputs), comparison.string(),
         RanksText(of_comparison.inputs));
  }
  return pairs;
}

}  // namespace mpa
