// SPDX-License-Identifier: Apache-2.0
#include "mpa/mfu/recorded_flops.h"

#include <charconv>
#include <utility>

#include "mpa/measure/module_ranges.h"

namespace mpa {

std::optional<RecordedFlops> ParseRecordedFlops(std::string_view label) {
  RecordedFlops recorded;
  if (label.empty() || label[0] == '-') return std::nullopt;  // a sign is not a digit
  const char* const end = label.data() + label.size();
  const auto [dash, error] = std::from_chars(label.data(), end, recorded.count);
  if (error != std::errc() || dash == end || *dash != '-' || dash + 1 == end) return std::nullopt;
  if (recorded.count == 0) return std::nullopt;
  recorded.name.assign(dash + 1, end);
  return recorded;
}

FlopsRanges FindFlopsRanges(const RankTrace& trace, const ThreadGroups& groups,
                            const AllOpWork& work) {
  FlopsRanges found;
  std::vector<NestSpan> spans;
  const MstxPlaces places(trace);
  for (const std::size_t i : trace.mstx.RowsByStart()) {
    if (trace.strings.View(trace.mstx.domain[i]) != "mfu_flops") continue;
    auto recorded = ParseRecordedFlops(trace.strings.View(trace.mstx.message[i]));
    const MstxPlace place = places.Of(i);
    if (!recorded || place.end <= place.start) continue;
    found.ranges.push_back(std::move(*recorded));
    spans.push_back({place.start, place.end, groups.OfMark(place.track)});
  }
  std::vector<NestSpan> begins;
  for (const OpWork& op : work.ops) {
    const TimeNs begin = trace.host_ops.start[op.op];
    begins.push_back({begin, begin, groups.Of(trace.host_ops.track[op.op])});
  }
  for (const NestPlace& place : Nest(spans, begins).places) found.of_op.push_back(place.module);
  return found;
}

}  // namespace mpa
