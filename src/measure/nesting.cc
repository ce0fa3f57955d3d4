// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/nesting.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace mpa {

Nesting::Nesting(std::vector<NestSpan> spans, Overhang overhang)
    : spans_(std::move(spans)),
      parent_(spans_.size(), static_cast<std::int32_t>(kNone)),
      in_order_(RowsBy<std::uint32_t>(spans_.size(),
                                      [&](std::uint32_t span) {
                                        return std::pair{spans_[span].start, -spans_[span].end};
                                      })),
      child_begin_(spans_.size() + 1, 0) {
  std::int32_t tracks = 0;
  for (const NestSpan& span : spans_) tracks = std::max(tracks, span.track + 1);
  of_track_.resize(static_cast<std::size_t>(tracks) + 1);
  const auto place_of = [&](const NestSpan& span) {
    return static_cast<std::size_t>(std::max(span.track, -1) + 1);
  };
  std::vector<std::size_t> counts(of_track_.size(), 0);
  for (const NestSpan& span : spans_) ++counts[place_of(span)];
  for (std::size_t i = 0; i < counts.size(); ++i) of_track_[i].reserve(counts[i]);
  std::vector<std::int64_t> current(of_track_.size(), kNone);
  for (const std::uint32_t span : in_order_) {
    const std::size_t place = place_of(spans_[span]);
    std::int64_t outer = current[place];
    while (outer != kNone && spans_[span].start >= spans_[static_cast<std::size_t>(outer)].end) {
      outer = parent_[static_cast<std::size_t>(outer)];
    }
    if (overhang == Overhang::kCut && outer != kNone) {
      const TimeNs end = spans_[static_cast<std::size_t>(outer)].end;
      spans_[span].end = std::min(spans_[span].end, end);
    }
    parent_[span] = static_cast<std::int32_t>(outer);
    current[place] = span;
    of_track_[place].push_back(span);
    if (outer == kNone) {
      roots_.push_back(span);
    } else {
      ++child_begin_[static_cast<std::size_t>(outer) + 1];
    }
  }

  std::partial_sum(child_begin_.begin(), child_begin_.end(), child_begin_.begin());
  children_.resize(child_begin_.back());
  std::vector<std::uint32_t> next(child_begin_.begin(), std::prev(child_begin_.end()));
  for (const std::uint32_t span : in_order_) {
    if (parent_[span] == kNone) continue;
    children_[next[static_cast<std::size_t>(parent_[span])]++] = span;
  }
  LinkOutlasting();
}

// The ends grow along outlasting_. Where skip_ leads to makes the way up from any depth logarithmic
// (Myers, "An applicative random-access stack", 1983).
void Nesting::LinkOutlasting() {
  outlasting_.assign(spans_.size(), static_cast<std::int32_t>(kNone));
  skip_.assign(spans_.size(), static_cast<std::int32_t>(kNone));
  std::vector<std::uint32_t> level(spans_.size(), 0);
  const auto at = [](const auto& column, std::int64_t span) {
    return column[static_cast<std::size_t>(span)];
  };
  for (const std::uint32_t span : in_order_) {
    std::int64_t outer = parent_[span];
    while (outer != kNone && at(spans_, outer).end <= spans_[span].end) {
      outer = at(outlasting_, outer);
    }
    outlasting_[span] = skip_[span] = static_cast<std::int32_t>(outer);
    if (outer == kNone) continue;
    level[span] = at(level, outer) + 1;
    const std::int64_t second = at(skip_, outer);
    if (second == kNone) continue;
    const std::int64_t third = at(skip_, second);
    if (third == kNone) continue;
    if (at(level, outer) - at(level, second) == at(level, second) - at(level, third)) {
      skip_[span] = static_cast<std::int32_t>(third);
    }
  }
}

std::span<const std::uint32_t> Nesting::OnTrack(std::int32_t track) const {
  if (track < -1 || track >= Tracks()) return {};
  return of_track_[static_cast<std::size_t>(std::int64_t{track} + 1)];
}

std::int64_t Nesting::LastingUntil(std::int64_t span, TimeNs end) const {
  const auto ends_before = [&](std::int64_t at) {
    return spans_[static_cast<std::size_t>(at)].end < end;
  };
  while (span != kNone && ends_before(span)) {
    const std::int32_t skip = skip_[static_cast<std::size_t>(span)];
    span = skip != kNone && ends_before(skip) ? skip : outlasting_[static_cast<std::size_t>(span)];
  }
  return span;
}

std::int64_t Nesting::Find(std::int32_t track, TimeNs begin, TimeNs end) const {
  const std::span<const std::uint32_t> spans = OnTrack(track);
  const auto after = std::partition_point(
      spans.begin(), spans.end(), [&](std::uint32_t span) { return spans_[span].start < begin; });
  return after == spans.begin() ? kNone : LastingUntil(*std::prev(after), end);
}

std::int64_t Nesting::Find(std::int32_t track, TimeNs time) const {
  const std::int64_t at_its_end = Find(track, time + 1, time);
  if (at_its_end == kNone || spans_[static_cast<std::size_t>(at_its_end)].start == time) {
    return at_its_end;
  }
  const std::int64_t running = Find(track, time + 1, time + 1);
  return running != kNone ? running : at_its_end;
}

std::int64_t Nesting::FindAround(std::int32_t track, TimeNs time) const {
  return Find(track, time, time + 1);
}

std::int64_t Nesting::FindEnclosing(const NestSpan& item) const {
  return Find(item.track, item.start + 1, item.end);
}

std::vector<std::int64_t> Nesting::Enclosing() const {
  std::vector<std::int64_t> enclosing(spans_.size(), kNone);
  for (const std::vector<std::uint32_t>& spans : of_track_) {
    std::int64_t before = kNone;  // not the parent: touching spans do not nest
    for (const std::uint32_t span : spans) {
      enclosing[span] = LastingUntil(before, spans_[span].end);
      before = span;
    }
  }
  return enclosing;
}

namespace {

using Track = std::int32_t;

// The forward thread for which each backward thread works, by the links between operators: of
// several the one with the most.
std::map<Track, Track> FollowLinks(const BackwardLinks& links) {
  std::map<std::pair<Track, Track>, std::size_t> counts;  // backward, forward
  for (std::size_t i = 0; i < links.Size(); ++i) {
    const Track backward = links.backward_track[i];
    const Track forward = links.forward_track[i];
    if (backward >= 0 && forward >= 0 && backward != forward) ++counts[{backward, forward}];
  }
  std::map<Track, Track> works_for;
  std::map<Track, std::size_t> most;
  for (const auto& [threads, count] : counts) {
    if (count <= most[threads.first]) continue;
    most[threads.first] = count;
    works_for[threads.first] = threads.second;
  }
  return works_for;
}

// Backward threads without links are known by what the autograd engine runs there. They work for
// the thread that runs the most operators otherwise.
void AddEngineThreads(const RankTrace& trace, std::map<Track, Track>& works_for) {
  const HostOps& ops = trace.host_ops;
  std::vector<bool> is_engine(trace.tracks.Size());
  std::vector<std::size_t> count(trace.tracks.Size());
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (ops.track[i] < 0) continue;
    const auto track = static_cast<std::size_t>(ops.track[i]);
    ++count[track];
    if (trace.strings.View(ops.name[i]).starts_with("autograd::engine::")) is_engine[track] = true;
  }
  std::size_t busiest = count.size();
  for (std::size_t track = 0; track < count.size(); ++track) {
    if (is_engine[track] || count[track] == 0) continue;
    if (busiest == count.size() || count[track] > count[busiest]) busiest = track;
  }
  if (busiest == count.size()) return;
  for (std::size_t track = 0; track < count.size(); ++track) {
    if (is_engine[track]) {
      works_for.try_emplace(static_cast<Track>(track), static_cast<Track>(busiest));
    }
  }
}

}  // namespace

ThreadGroups::ThreadGroups(const RankTrace& trace)
    : groups_(trace.tracks.Size()), runs_ops_(trace.tracks.Size()) {
  std::iota(groups_.begin(), groups_.end(), 0);
  const auto find = [&](Track track) {
    while (Of(track) != track) track = Of(track);
    return track;
  };

  std::map<Track, Track> works_for = FollowLinks(trace.backward_links);
  AddEngineThreads(trace, works_for);
  for (const auto& [backward, forward] : works_for) {
    const Track a = find(backward);
    const Track b = find(forward);
    groups_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i] = find(static_cast<Track>(i));
  for (const Track track : trace.host_ops.track) {
    if (track >= 0) runs_ops_[static_cast<std::size_t>(Of(track))] = true;
  }
}

std::int32_t ThreadGroups::OfMark(std::int32_t track) const {
  const std::int32_t group = Of(track);
  return group >= 0 && runs_ops_[static_cast<std::size_t>(group)] ? group : kAnyThread;
}

}  // namespace mpa
