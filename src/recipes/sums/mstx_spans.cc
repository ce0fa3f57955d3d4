// SPDX-License-Identifier: Apache-2.0
#include "mstx_spans.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"
#include "mpa/model/queue_index.h"
#include "mpa/model/step_bounds.h"

namespace mpa::recipes::mstx {
namespace {

constexpr std::string_view kBegins = "_start", kEnds = "_stop";
// Deeper ranges are named as if they lay here: names would grow with the square of the depth.
constexpr int kDeepestName = 100;

class SpanFinder {
 public:
  explicit SpanFinder(const RankTrace& trace)
      : trace_(trace), steps_(trace.steps), launches_(trace), queue_(trace.queued_work) {}

  MarkedSpans Find(bool all_ranges) {
    PairMarks();
    AddRanges(all_ranges);
    StableSort(part_.spans, {}, &MarkedSpan::start);
    return std::move(part_);
  }

 private:
  std::uint32_t NameId(std::string name) {
    const auto [found, is_new] =
        names_.try_emplace(name, static_cast<std::uint32_t>(part_.names.size()));
    if (is_new) part_.names.push_back(std::move(name));
    return found->second;
  }

  // Only what begins in the chosen step counts; ranges around it are there for the names.
  void Add(MarkedSpan span) {
    if (!trace_.IsOfStep(span.start)) return;
    const auto step = steps_.OfHostTime(span.start);
    if (step) span.step = steps_.Id(*step);
    if (!step && steps_.Count() > 0) ++part_.outside;
    part_.spans.push_back(span);
  }

  // When the operator began that set the mark: the one with its connection, or the one that queued
  // it.
  std::optional<TimeNs> FrameworkTime(std::size_t row) const {
    const MstxEvents& events = trace_.mstx;
    if (const auto launch = launches_.Find(events.link[row])) {
      return trace_.launches.host_time[*launch];
    }
    const auto work = queue_.Find(events.track[row], events.start[row]);
    return work ? std::optional(trace_.queued_work.queued[*work]) : std::nullopt;
  }

  void NoteUnpaired(std::size_t row) {
    if (part_.unpaired++ == 0) part_.unpaired_mark = trace_.strings.View(trace_.mstx.message[row]);
  }

  // A stop ends the latest open start of its thread and domain.
  void PairMarks() {
    const MstxEvents& events = trace_.mstx;
    std::map<std::tuple<std::int32_t, StringId, std::string_view>, std::vector<std::size_t>> open;
    for (const std::size_t row : events.RowsByStart()) {
      if (events.kind[row] != MstxKind::kMark) continue;
      std::string_view text = trace_.strings.View(events.message[row]);
      const bool begins = text.ends_with(kBegins);
      if (!begins && !text.ends_with(kEnds)) continue;
      text.remove_suffix(begins ? kBegins.size() : kEnds.size());
      std::vector<std::size_t>& starts = open[{events.track[row], events.domain[row], text}];
      if (begins) {
        starts.push_back(row);
      } else if (starts.empty()) {
        NoteUnpaired(row);
      } else {
        AddPair(starts.back(), row, text);
        starts.pop_back();
      }
    }
    for (const auto& [key, starts] : open) {
      for (const std::size_t row : starts) NoteUnpaired(row);
    }
  }

  void AddPair(std::size_t begin, std::size_t end, std::string_view name) {
    const MstxEvents& events = trace_.mstx;
    MarkedSpan span{.name = NameId(std::string(name)),
                    .start = events.start[begin],
                    .cann = events.start[end] - events.start[begin],
                    .device = {},
                    .framework = {}};
    if (events.device_start[begin] >= 0 && events.device_start[end] >= 0) {
      span.device = events.device_start[end] - events.device_start[begin];
    }
    const auto from = FrameworkTime(begin), to = FrameworkTime(end);
    if (from && to) span.framework = *to - *from;
    Add(span);
  }

  void AddRanges(bool all_ranges) {
    const MstxEvents& events = trace_.mstx;
    std::vector<NestSpan> spans;
    std::vector<std::size_t> rows;
    std::map<std::pair<std::int32_t, StringId>, std::int32_t> places;  // threads with a domain
    for (const std::size_t row : events.RowsByStart()) {
      if (events.kind[row] == MstxKind::kMark) continue;
      if (events.link[row] < 0 && !all_ranges) {
        ++part_.left_out;
        continue;
      }
      const auto place = places.try_emplace({events.track[row], events.domain[row]},
                                            static_cast<std::int32_t>(places.size()));
      spans.push_back(
          {events.start[row], events.start[row] + events.dur[row], place.first->second});
      rows.push_back(row);
    }
    const std::vector<std::uint32_t> names = NamesOf(Nesting(std::move(spans)), rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t row = rows[i];
      MarkedSpan span{.name = names[i],
                      .start = events.start[row],
                      .cann = events.dur[row],
                      .device = {},
                      .framework = 0};
      if (events.device_start[row] >= 0) span.device = events.device_dur[row];
      Add(span);
    }
  }

  std::vector<std::uint32_t> NamesOf(const Nesting& nest, const std::vector<std::size_t>& rows) {
    std::vector<std::uint32_t> names(rows.size());
    std::vector<int> depths(rows.size());
    // Ranges within the same ones have one name.
    std::map<std::tuple<std::int64_t, StringId>, std::uint32_t> known;
    for (const std::uint32_t i : nest.InOrder()) {
      const std::int64_t parent = nest.Parent(i);
      const auto around = static_cast<std::size_t>(parent);
      depths[i] = parent < 0 ? 0 : depths[around] + 1;
      const bool names_path = parent >= 0 && depths[i] < kDeepestName;
      const StringId message = trace_.mstx.message[rows[i]];
      const auto [found, is_new] =
          known.try_emplace({names_path ? std::int64_t{names[around]} : -1, message}, 0);
      if (is_new) {
        std::string name(trace_.strings.View(message));
        if (names_path) name = part_.names[names[around]] + "::" + name;
        found->second = NameId(std::move(name));
      }
      names[i] = found->second;
    }
    return names;
  }

  const RankTrace& trace_;
  const HostSteps steps_;
  const LaunchIndex launches_;
  const QueueIndex queue_;
  MarkedSpans part_;
  std::unordered_map<std::string, std::uint32_t> names_;
};

}  // namespace

MarkedSpans FindMarkedSpans(const RankTrace& trace, bool all_ranges) {
  return SpanFinder(trace).Find(all_ranges);
}

}  // namespace mpa::recipes::mstx
