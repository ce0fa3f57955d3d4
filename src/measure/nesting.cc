// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/nesting.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "mpa/model/step_bounds.h"

namespace mpa {

std::vector<NestSpan> OpSpans(const RankTrace& trace) {
  std::vector<NestSpan> spans = SpansOf(trace.host_ops);
  for (std::size_t op = 0; op < spans.size(); ++op) {
    spans[op].is_mark = IsStepMark(trace.strings.View(trace.host_ops.name[op]));
  }
  return spans;
}

Nesting::Nesting(std::vector<NestSpan> spans)
    : spans_(std::move(spans)),
      parent_(spans_.size(), static_cast<std::int32_t>(kNone)),
      outlasting_(spans_.size(), static_cast<std::int32_t>(kNone)),
      skip_(spans_.size(), static_cast<std::int32_t>(kNone)),
      level_(spans_.size(), 0),
      in_order_(RowsBy<std::uint32_t>(spans_.size(), [&](std::uint32_t span) {
        return std::pair{spans_[span].start, -spans_[span].end};
      })) {
  std::int32_t tracks = 0;
  for (NestSpan& span : spans_) {
    span.track = std::max(span.track, -1);
    tracks = std::max(tracks, span.track + 1);
  }
  lists_.resize(2 * (static_cast<std::size_t>(tracks) + 1));
  std::vector<std::size_t> counts(lists_.size(), 0);
  for (const NestSpan& span : spans_) ++counts[ListOf(span.track, span.is_mark)];
  for (std::size_t i = 0; i < counts.size(); ++i) lists_[i].reserve(counts[i]);
  std::vector<std::int64_t> last(lists_.size(), kNone);
  for (const std::uint32_t span : in_order_) Add(span, last);
  std::vector<std::uint32_t>().swap(level_);
  LinkChildren();
}

TimeNs Nesting::LeastEnd(const NestSpan& inner) {
  return std::max(inner.end - std::min(kRounding, (inner.end - inner.start) / 2), inner.start + 1);
}

// `last`: of each list, the span that began last.
void Nesting::Add(std::uint32_t span, std::vector<std::int64_t>& last) {
  const NestSpan& added = spans_[span];
  const std::size_t list = ListOf(added.track, added.is_mark);
  const std::int64_t around = last[ListOf(added.track, false)];
  const TimeNs least = LeastEnd(added);
  std::int64_t parent = LastingUntil(around, least);
  if (!added.is_mark && parent != LastingUntil(around, added.start + 1)) ++crossings_;
  if (parent == kNone) parent = LastingUntil(last[ListOf(added.track, true)], least);
  parent_[span] = static_cast<std::int32_t>(parent);
  LinkOutlasting(span, last[list]);
  last[list] = span;
  lists_[list].push_back(span);
}

// The ends grow along outlasting_. Where skip_ leads to makes the way up from any depth logarithmic
// (Myers, "An applicative random-access stack", 1983).
void Nesting::LinkOutlasting(std::uint32_t span, std::int64_t before) {
  const auto at = [](const auto& column, std::int64_t one) {
    return column[static_cast<std::size_t>(one)];
  };
  while (before != kNone && at(spans_, before).end <= spans_[span].end) {
    before = at(outlasting_, before);
  }
  outlasting_[span] = skip_[span] = static_cast<std::int32_t>(before);
  if (before == kNone) return;
  level_[span] = at(level_, before) + 1;
  const std::int64_t second = at(skip_, before);
  if (second == kNone) return;
  const std::int64_t third = at(skip_, second);
  if (third == kNone) return;
  if (at(level_, before) - at(level_, second) == at(level_, second) - at(level_, third)) {
    skip_[span] = static_cast<std::int32_t>(third);
  }
}

void Nesting::LinkChildren() {
  child_begin_.assign(spans_.size() + 1, 0);
  for (const std::uint32_t span : in_order_) {
    if (parent_[span] == kNone) {
      roots_.push_back(span);
    } else {
      ++child_begin_[static_cast<std::size_t>(parent_[span]) + 1];
    }
  }
  std::partial_sum(child_begin_.begin(), child_begin_.end(), child_begin_.begin());
  children_.resize(child_begin_.back());
  std::vector<std::uint32_t> next(child_begin_.begin(), std::prev(child_begin_.end()));
  for (const std::uint32_t span : in_order_) {
    if (parent_[span] == kNone) continue;
    children_[next[static_cast<std::size_t>(parent_[span])]++] = span;
  }
}

void Nesting::ForgetTrees() {
  for (auto* of_trees : {&in_order_, &roots_, &children_, &child_begin_})
    std::vector<std::uint32_t>().swap(*of_trees);
  std::vector<std::int32_t>().swap(parent_);
}

std::span<const std::uint32_t> Nesting::OnTrack(std::int32_t track) const {
  if (!Exists(track, Tracks())) return {};
  return lists_[ListOf(track, false)];
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

std::int64_t Nesting::FindIn(std::size_t list, TimeNs begin, TimeNs end) const {
  const List& spans = lists_[list];
  const auto after = std::partition_point(
      spans.begin(), spans.end(), [&](std::uint32_t span) { return spans_[span].start < begin; });
  return after == spans.begin() ? kNone : LastingUntil(*std::prev(after), end);
}

std::int64_t Nesting::Find(std::int32_t track, TimeNs begin, TimeNs end) const {
  if (!Exists(track, Tracks())) return kNone;
  const std::int64_t found = FindIn(ListOf(track, false), begin, end);
  return found != kNone ? found : FindIn(ListOf(track, true), begin, end);
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
  const TimeNs least = item.start == item.end ? item.end : LeastEnd(item);
  return Find(item.track, item.start + 1, least);
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
