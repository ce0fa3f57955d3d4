// SPDX-License-Identifier: Apache-2.0
// Functions of the program in which the counters of the processor were read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "mpa/measure/host_waits.h"
#include "part_facts.h"

namespace mpa {
namespace {

// Calls by track, in order of time, whose counts are theirs: the tool begins to count anew where it
// enters a function, also within another one, so that outer calls lack what came before.
std::map<std::int32_t, std::vector<std::uint32_t>> InnerCalls(const RankTrace& trace) {
  const FunctionCounts& calls = trace.function_counts;
  const SystemThreads threads(trace.tracks);
  std::map<std::int32_t, std::vector<std::uint32_t>> of_track;
  for (std::uint32_t row = 0; row < calls.Size(); ++row) {
    const std::int32_t track = threads.TrackOf(calls.process[row], calls.thread[row]);
    if (track >= 0) of_track[track].push_back(row);
  }
  for (auto& [track, rows] : of_track) {
    std::ranges::sort(rows, {}, [&](std::uint32_t row) {
      return std::tuple{calls.start[row], -calls.dur[row], row};
    });
    std::vector<std::uint32_t> inner;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const TimeNs end = calls.start[rows[i]] + calls.dur[rows[i]];
      const bool is_outer = i + 1 < rows.size() && calls.start[rows[i + 1]] < end;
      if (!is_outer && calls.misses[rows[i]] >= 0 && calls.dur[rows[i]] > 0)
        inner.push_back(rows[i]);
    }
    rows = std::move(inner);
  }
  return of_track;
}

}  // namespace

void AddCountedCalls(const RankTrace& trace, const std::vector<HostStretch>& stretches,
                     PartNames& names, RankDiagnosis& part) {
  if (trace.function_counts.Empty()) return;
  const FunctionCounts& calls = trace.function_counts;
  const auto of_track = InnerCalls(trace);
  std::map<std::uint32_t, std::uint32_t> number;  // in the part, by row
  FunctionFacts& facts = part.functions;
  for (const HostStretch& stretch : stretches) {
    const auto found = of_track.find(stretch.track);
    if (found == of_track.end()) continue;
    auto at = std::ranges::partition_point(found->second, [&](std::uint32_t row) {
      return calls.start[row] + calls.dur[row] <= stretch.begin;
    });
    for (; at != found->second.end() && calls.start[*at] < stretch.end; ++at) {
      const std::uint32_t row = *at;
      const auto [known, is_new] =
          number.try_emplace(row, static_cast<std::uint32_t>(facts.calls.size()));
      if (is_new) {
        facts.calls.push_back({.name = names.Of(trace.strings.View(calls.name[row])),
                               .cycles = calls.cycles[row],
                               .instructions = calls.instructions[row],
                               .misses = calls.misses[row],
                               .start = calls.start[row],
                               .dur = calls.dur[row]});
      }
      const TimeNs end = calls.start[row] + calls.dur[row];
      facts.times.push_back(
          {stretch.edge, known->second,
           std::min(end, stretch.end) - std::max(calls.start[row], stretch.begin)});
    }
  }
  facts.recorded = !facts.calls.empty();
}

}  // namespace mpa
