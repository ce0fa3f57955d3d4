// SPDX-License-Identifier: Apache-2.0
// Gathers the facts of all captures below a path.
#include "mpa/capture/survey.h"

#include <fmt/format.h>

#include <limits>
#include <tuple>

#include "mpa/base/parallel.h"
#include "survey_parts.h"

namespace mpa {
namespace {

void WarnOfUnreadDatabases(const RankInput& input, RankFacts& facts) {
  if (input.unread_databases.empty()) return;
  facts.warnings.push_back({"several_databases",
                            fmt::format("several databases: {} is read, others are not",
                                        input.files.front().path.filename().string()),
                            "keep one database per capture", input.unread_databases});
}

// Files behind links that are not followed count as absent, apart from a warning.
void LeaveOutLinks(RankInput& input, RankFacts& facts) {
  for (const CaptureFile& file : input.files) {
    OrWarn(facts, "it is not read", [&] { CheckFollowed(file); });
  }
  std::erase_if(input.files, [](const CaptureFile& file) { return !file.outside.empty(); });
}

}  // namespace

RankFacts SurveyRank(RankInput input) {
  RankFacts facts;
  LeaveOutLinks(input, facts);
  facts.path = input.path;
  facts.kind = input.kind;
  std::error_code ignored;
  facts.single_file = !std::filesystem::is_directory(input.path, ignored);
  for (const CaptureFile& file : input.files) facts.bytes += file.bytes;
  if (IsKineto(facts.kind)) {
    SurveyKineto(input, facts);
  } else {
    SurveySettings(input, facts);
    if (facts.kind == CaptureKind::kNpuDb) SurveyDb(input, facts);
    if (facts.kind == CaptureKind::kNpuText) SurveyText(input, facts);
    SurveyRaw(input, facts);
  }
  WarnOfUnreadDatabases(input, facts);
  WarnOfCollection(facts);
  return facts;
}

Survey SurveyCaptures(const std::filesystem::path& path, const OpenOptions& options) {
  Discovery found = Discover(path, options);
  std::vector<Discovery::Unusable> inputs = std::move(found.unusable);
  for (RankInput& rank : found.ranks) inputs.push_back({std::move(rank), ""});

  Survey survey;
  survey.path = std::filesystem::canonical(path);
  survey.ranks.resize(inputs.size());
  ParallelFor(inputs.size(), [&](std::size_t i) {
    survey.ranks[i] = SurveyRank(inputs[i].rank);
    if (survey.ranks[i].problem.empty()) survey.ranks[i].problem = inputs[i].reason;
  });
  std::sort(survey.ranks.begin(), survey.ranks.end(), [](const RankFacts& a, const RankFacts& b) {
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    const std::int64_t rank_a = a.rank.value_or(kLast), rank_b = b.rank.value_or(kLast);
    return std::tie(rank_a, a.path) < std::tie(rank_b, b.path);
  });
  WarnOfRanks(survey);
  return survey;
}

}  // namespace mpa
