// SPDX-License-Identifier: Apache-2.0
// Memory snapshots of two runs, by call site.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare_sheet.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/allocator_replay.h"
#include "mpa/report/amount.h"

namespace mpa::comparisons {
namespace {

// What a call site holds on one side, over all devices.
struct SiteBytes {
  std::int64_t at_peak = 0, at_end = 0, kept = 0;
};

using BytesOfSites = std::map<AllocationSite, SiteBytes>;
using SiteRow = std::pair<AllocationSite, std::array<SiteBytes, 2>>;

BytesOfSites SitesOf(const RankTrace& trace) {
  BytesOfSites sites;
  AllocationSites names(trace);
  for (const AllocatorReplay& replay : ReplayAllocators(trace)) {
    const std::vector<std::int64_t> in_use = InUseOverTime(replay);
    const std::int64_t peak = std::max_element(in_use.begin(), in_use.end()) - in_use.begin() - 1;
    for (const AllocatorLife& life : replay.lives) {
      const bool is_kept = life.end == kHeldToTheEnd;
      if (!is_kept && !life.Holds(peak)) continue;
      SiteBytes& bytes = sites[names.Of(life.stack)];
      if (life.Holds(peak)) bytes.at_peak += life.bytes;
      if (!is_kept) continue;
      bytes.at_end += life.bytes;
      ++bytes.kept;
    }
  }
  return sites;
}

// Takes the number of the line from the site; -1: it has none.
std::int64_t TakeNumber(AllocationSite& site) {
  const std::size_t colon = site.line.rfind(':');
  std::int64_t number = -1;
  if (colon == std::string::npos) return number;
  std::from_chars(site.line.data() + colon + 1, site.line.data() + site.line.size(), number);
  if (number >= 0) site.line.resize(colon);
  return number;
}

AllocationSite WithNumber(AllocationSite site, std::int64_t number) {
  if (number >= 0) site.line += fmt::format(":{}", number);
  return site;
}

// Lines get other numbers when code above them changes. So where a function allocates at as many
// lines of a file on both sides, these are the same in their order; the number is then that of the
// comparison.
std::vector<SiteRow> JoinSites(const std::array<BytesOfSites, 2>& sides) {
  using Lines = std::map<std::int64_t, SiteBytes>;
  std::map<AllocationSite, std::array<Lines, 2>> functions;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const auto& [place, bytes] : sides[side]) {
      AllocationSite site = place;
      const std::int64_t number = TakeNumber(site);
      functions[site][side].emplace(number, bytes);
    }
  }
  std::vector<SiteRow> rows;
  for (const auto& [site, lines] : functions) {
    const auto& [base, comparison] = lines;
    std::map<std::int64_t, std::array<SiteBytes, 2>> joined;
    const bool alike = base.size() == comparison.size();
    auto number = comparison.begin();
    for (const auto& [line, bytes] : base) joined[alike ? (number++)->first : line][0] = bytes;
    for (const auto& [line, bytes] : comparison) joined[line][1] = bytes;
    for (const auto& [line, bytes] : joined) rows.push_back({WithNumber(site, line), bytes});
  }
  return rows;
}

constexpr const char* kNoStack = ToTranslate("(no call stack)");

std::string FunctionText(const AllocationSite& site) {
  if (site.function.empty()) return kNoStack;
  return site.within.empty() ? site.function : Say("{} in {}", site.function, site.within);
}

// What the story calls it.
std::string NameOf(const AllocationSite& site) {
  if (!site.line.empty()) return site.line;
  return site.function.empty() ? std::string(Translated(kNoStack)) : FunctionText(site);
}

double InMegabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// "in use at the end: 75.50 MB -> 142.6 MB; train.py:42 +67.11 MB"
void AddStory(const std::vector<SiteRow>& rows, Report& report) {
  const auto text = [](std::int64_t bytes) { return AmountText(Quantity::kBytes, bytes); };
  const auto add = [&](const char* what, std::int64_t SiteBytes::*bytes) {
    std::int64_t base = 0, comparison = 0;
    const SiteRow* most = nullptr;
    const auto change = [&](const SiteRow& row) {
      return row.second[1].*bytes - row.second[0].*bytes;
    };
    for (const SiteRow& row : rows) {
      base += row.second[0].*bytes;
      comparison += row.second[1].*bytes;
      if (most == nullptr || std::abs(change(row)) > std::abs(change(*most))) most = &row;
    }
    std::string line = Say("{}: {} -> {}", Translated(what), text(base), text(comparison));
    if (most != nullptr && change(*most) != 0) {
      line += fmt::format("; {} {}{}", NameOf(most->first), change(*most) > 0 ? "+" : "-",
                          text(std::abs(change(*most))));
    }
    report.story.push_back(std::move(line));
  };
  add(ToTranslate("in use at the end"), &SiteBytes::at_end);
  add(ToTranslate("in use at the peak"), &SiteBytes::at_peak);
}

void RunSnapshots(const CompareInput& input, Report& report) {
  if (input.options().compat) return;  // the Python tool has no such sheet
  const auto has_any = [&](Side side) { return !input.Trace(side).memory_snapshots.Empty(); };
  if (!has_any(Side::kBase) && !has_any(Side::kComparison)) return;
  for (const Side side : kSides) {
    if (has_any(side)) continue;
    NoteNotCollected(
        Say("SnapshotCompare: left out, because {} has no memory snapshot; put the file"
            " that _dump_snapshot() writes into the capture",
            input.Path(side)),
        report);
    return;
  }
  Sheet sheet = CompareSheet(
      "SnapshotCompare",
      {{PlainColumn("Top", kOrderMeaning, 10),
        BoldColumn("Call Site",
                   "The line of the program that allocated; of a line that moved, that of the"
                   " comparison."),
        PlainColumn("Function", "The innermost Python function, and that of the program around it.",
                    40)},
       ForBothSides(
           {Decimals("End(MB)", "In use at the end of the snapshot; 1 MB is 10^6 bytes."),
            PlainColumn("End Allocations", "Number of these allocations."),
            Decimals("Peak(MB)", "In use at the peak of the history; 1 MB is 10^6 bytes.")}),
       {Difference("Diff End(MB)", "In use at the end: comparison minus base, in MB."),
        Difference("Diff Peak(MB)", "In use at the peak: comparison minus base, in MB.")}},
      input);
  std::vector<SiteRow> rows =
      JoinSites({SitesOf(input.Trace(Side::kBase)), SitesOf(input.Trace(Side::kComparison))});
  const auto change = [](const auto& row) {
    const auto& [base, comparison] = row.second;
    return std::max(std::abs(comparison.at_end - base.at_end),
                    std::abs(comparison.at_peak - base.at_peak));
  };
  StableSort(rows, [&](const auto& a, const auto& b) { return change(a) > change(b); });
  AddStory(rows, report);
  std::int64_t place = 0;
  for (const auto& [site, bytes] : rows) {
    Row row{{++place, site.line, FunctionText(site)}};
    for (const SiteBytes& side : bytes)
      AppendCells(row, InMegabytes(side.at_end), side.kept, InMegabytes(side.at_peak));
    AppendCells(row, InMegabytes(bytes[1].at_end - bytes[0].at_end),
                InMegabytes(bytes[1].at_peak - bytes[0].at_peak));
    sheet.rows.push_back(std::move(row));
  }
  report.sheets.push_back(std::move(sheet));
}

Verdict JudgeSnapshots(const RankFacts& facts) {
  if (facts.snapshots && facts.problem.empty()) return {};
  return JudgeReadable(facts).LeaveApart(
      !facts.snapshots, "no memory snapshot",
      "put the file that torch_npu.npu.memory._dump_snapshot() writes into the capture");
}

}  // namespace

Comparison Snapshots() {
  return {
      "snapshot",   "memory snapshots", "Memory snapshots, by call site", Tables::kMemorySnapshot,
      RunSnapshots, JudgeSnapshots};
}

}  // namespace mpa::comparisons
