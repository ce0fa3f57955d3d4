// SPDX-License-Identifier: Apache-2.0
// Memory of the devices over time: what holds the peak, and what grows.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpa/recipe/arguments.h"
#include "mpa/report/amount.h"
#include "part.h"

namespace mpa::recipes {
namespace {

using memory_timeline::RankMemory;

constexpr std::string_view kGzip = "gzip";

RankMemory MapMemoryTimeline(const RankTrace& trace, const RecipeArguments& arguments) {
  RankMemory part = memory_timeline::MemoryOf(trace, ChosenStep(trace.steps, arguments));
  part.packed = arguments.contains(kGzip);
  return part;
}

// Captures that do not say their rank are numbered.
std::string StemOf(std::int64_t rank, int unknown) {
  if (rank >= 0) return fmt::format("memory_timeline_{}", rank);
  return unknown == 1 ? "memory_timeline_unknown"
                      : fmt::format("memory_timeline_unknown ({})", unknown);
}

std::vector<TextDocument> TakeDocuments(RankPart& part) {
  if (part.rank < 0) return {};  // which of them it is shows when all are known
  RankMemory memory = *static_cast<const RankMemory*>(part.part.get());
  std::vector<TextDocument> documents = memory_timeline::DocumentsOf(StemOf(part.rank, 0), memory);
  memory.events.clear();
  memory.events.shrink_to_fit();
  memory.written = true;
  part.part = std::make_shared<const RankMemory>(std::move(memory));
  return documents;
}

// One note for all ranks alike, with the first of them.
class RankNotes {
 public:
  void Add(std::int64_t rank) {
    if (count_++ == 0) first_ = rank;
  }
  void AppendTo(const std::string& text, std::vector<std::string>& notes) const {
    if (count_ == 0) return;
    notes.push_back(count_ == 1
                        ? fmt::format("{}: {}", RankText(first_), text)
                        : fmt::format("{} ranks (first: {}): {}", count_, RankText(first_), text));
  }

 private:
  std::int64_t count_ = 0, first_ = -1;
};

void AddNotes(const memory_timeline::Ranks& ranks, Report& report) {
  RankNotes without, without_addresses, without_totals;
  std::int64_t beyond = 0;
  for (const auto& [rank, part] : ranks) {
    if (part.lacks_addresses) {
      without_addresses.Add(rank);
    } else if (part.allocations == 0) {
      without.Add(rank);
    } else if (!part.has_totals) {
      without_totals.Add(rank);
    }
    beyond = std::max(beyond, part.beyond_totals);
  }
  without.AppendTo("no memory of operators was recorded; collect with profile_memory=True",
                   report.notes);
  without_addresses.AppendTo(
      "the trace has no addresses of memory, so which allocation a release ends is unknown; "
      "collect "
      "with a newer profiler",
      report.notes);
  without_totals.AppendTo(
      "the allocators did not report their totals, so what was allocated before the capture is "
      "unknown",
      report.notes);
  if (beyond > 0) {
    report.notes.push_back(
        fmt::format("up to {} are listed as held at the end that the allocators' totals do not "
                    "have; the capture lacks their release",
                    AmountText(Quantity::kBytes, beyond)));
  }
}

void ReduceMemoryTimeline(const memory_timeline::Ranks& ranks, const RecipeArguments&,
                          OutputSelection wanted, Report& report) {
  AddNotes(ranks, report);
  int unknown = 0;
  for (const auto& [rank, part] : ranks) {
    if (!part.peak) continue;
    const std::string stem = StemOf(rank, rank < 0 ? ++unknown : 0);
    if (!wanted.documents || part.written) continue;
    for (TextDocument& document : memory_timeline::DocumentsOf(stem, part))
      report.documents.push_back(std::move(document));
  }
  if (wanted.sheets) {
    memory_timeline::AddSheets(ranks, report);
    memory_timeline::AddDrawings(ranks, report);
  }
  if (wanted.screen != Detail::kNone) memory_timeline::AddLines(ranks, wanted.screen, report);
}

Verdict JudgeMemoryTimeline(const RankFacts& facts) {
  return JudgeReadable(facts).RefuseWithoutMemory(facts);
}

}  // namespace

Recipe MemoryTimeline() {
  Recipe recipe = MakeRecipe<MapMemoryTimeline, ReduceMemoryTimeline>(
      {.name = "memory_timeline",
       .folder = "MemoryTimeline",
       .summary = "device memory over time: what holds the peak, and what grows",
       .needs = memory_timeline::kMemoryTables,
       .parameters = {{kGzip, "",
                       "Pack the files of each rank with gzip: memory_timeline_0.json.gz and "
                       "memory_timeline_0.raw.json.gz"}},
       .can_run = JudgeMemoryTimeline,
       .documents_always = true,
       .cuts_steps = true});
  recipe.take_documents = TakeDocuments;
  return recipe;
}

}  // namespace mpa::recipes
