// SPDX-License-Identifier: Apache-2.0
#include "capture_roles.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/serving_steps.h"

namespace mpa::recipes::rl_roles {
namespace {

struct Span {
  TimeNs begin = 0, end = 0;
  std::string_view role;
};
using Spans = std::vector<Span>;

template <typename Rows>
void AddMarks(const Rows& rows, const std::vector<StringId>& names,
              const std::vector<std::string_view>& role_of, Spans& marks) {
  for (std::size_t i = 0; i < rows.Size(); ++i) {
    const std::string_view role = role_of[Index(names[i])];
    if (rows.dur[i] > 0 && !role.empty())
      marks.push_back({rows.start[i], rows.start[i] + rows.dur[i], role});
  }
}

Spans FindMarks(const RankTrace& trace) {
  std::vector<std::string_view> role_of(trace.strings.Size());
  for (std::size_t text = 0; text < role_of.size(); ++text) {
    const auto role = ReadRole(trace.strings.View(static_cast<StringId>(text)));
    if (role) role_of[text] = *role;
  }
  Spans marks;
  AddMarks(trace.host_ops, trace.host_ops.name, role_of, marks);
  AddMarks(trace.mstx, trace.mstx.message, role_of, marks);
  return marks;
}

// Those that do not begin within another; one that does, and lasts longer, begins where that ends.
Spans Outermost(Spans spans) {
  StableSort(spans, {},
             [](const Span& span) { return std::tuple(span.begin, -span.end, span.role); });
  Spans outer;
  for (Span& span : spans) {
    if (!outer.empty()) span.begin = std::max(span.begin, outer.back().end);
    if (span.begin < span.end) outer.push_back(span);
  }
  return outer;
}

bool IsSync(const Span& span) { return KindOf(span.role) == RoleKind::kWeightSync; }

// In order of time, none within another.
Spans FindSpans(const RankTrace& trace, const std::string& directory_role) {
  Spans marks = FindMarks(trace);
  const auto is_of_directory = [&](const Span& mark) {
    return IsSync(mark) || mark.role == directory_role;
  };
  if (!directory_role.empty() && std::ranges::all_of(marks, is_of_directory)) {
    const TimeNs offset = HostClockOf(trace).offset;
    const Interval work = DeviceSpan(trace);
    Span all{work.begin + offset, work.end + offset, directory_role};
    for (const Span& mark : marks) {
      if (IsSync(mark)) continue;
      const bool is_first = all.begin >= all.end;
      all.begin = is_first ? mark.begin : std::min(all.begin, mark.begin);
      all.end = is_first ? mark.end : std::max(all.end, mark.end);
    }
    std::erase_if(marks, [](const Span& mark) { return !IsSync(mark); });
    if (all.begin < all.end) marks.push_back(all);
  }
  const auto first_sync = std::stable_partition(marks.begin(), marks.end(),
                                                [](const Span& span) { return !IsSync(span); });
  const Spans syncs = Outermost(Spans(first_sync, marks.end()));
  Intervals taken;
  for (const Span& sync : syncs) taken.push_back({sync.begin, sync.end});
  Spans spans = syncs;
  for (const Span& outer : Outermost(Spans(marks.begin(), first_sync))) {
    for (const Interval& rest : Difference({{outer.begin, outer.end}}, Union(taken)))
      spans.push_back({rest.begin, rest.end, outer.role});
  }
  StableSort(spans, {}, &Span::begin);
  return spans;
}

// With the gaps between them, because the steps of an account follow each other. Gaps have the
// number -1, the others their place.
Steps StepsOf(const Spans& spans) {
  Steps steps;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i > 0 && spans[i - 1].end < spans[i].begin)
      steps.Append({.id = -1, .start = spans[i - 1].end, .end = spans[i].begin});
    steps.Append(
        {.id = static_cast<std::int32_t>(i), .start = spans[i].begin, .end = spans[i].end});
  }
  return steps;
}

std::vector<const ServingAccount*> StepsWithin(const RoleRun& run,
                                               const std::vector<ServingAccount>& steps) {
  std::vector<const ServingAccount*> within;
  for (const ServingAccount& step : steps) {
    const TimeNs middle = step.window.begin + step.Length() / 2;
    if (middle >= run.begin && middle < run.end) within.push_back(&step);
  }
  return within;
}

DecodeSteps DecodingOf(const std::vector<const ServingAccount*>& steps) {
  DecodeSteps decode;
  const auto requests_of = [](const ServingAccount& step) {
    return step.batch.phase == ServingPhase::kDecode ? step.batch.requests : -1;
  };
  for (const ServingAccount* step : steps)
    decode.largest = std::max(decode.largest, requests_of(*step));
  constexpr std::int64_t kFew = 4;
  for (const ServingAccount* step : steps) {
    if (requests_of(*step) <= 0) continue;
    const bool is_few = kFew * requests_of(*step) <= decode.largest;
    decode.Add({1, is_few ? 1 : 0, step->Length(), is_few ? step->Length() : 0, 0});
  }
  return decode;
}

}  // namespace

void DeviceTimes::Add(const DeviceTimes& other) {
  computing += other.computing;
  communication += other.communication;
  copies += other.copies;
  free += other.free;
}

void DecodeSteps::Add(const DecodeSteps& other) {
  steps += other.steps;
  few += other.few;
  time += other.time;
  few_time += other.few_time;
  largest = std::max(largest, other.largest);
}

CaptureRoles RolesOf(const RankTrace& trace) {
  CaptureRoles roles;
  roles.group = trace.capture_group;
  roles.name = trace.capture;
  roles.host = trace.job.host_uid.empty() ? trace.job.host_name : trace.job.host_uid;
  roles.device = trace.device_id;
  roles.directories = ReadDirectories(trace.capture_group);
  roles.collectives = CollectivesOfRank(trace);
  const Spans spans = FindSpans(trace, roles.directories.role);
  if (spans.empty()) return roles;
  const Steps steps = StepsOf(spans);
  const RankAccount account = AccountRank(trace, {.steps = &steps});
  if (account.steps.empty()) {  // the device did nothing in the whole capture
    for (const Span& span : spans) {
      RoleRun& run = roles.runs.emplace_back();
      run.role = span.role;
      run.begin = run.finish = span.begin;
      run.end = span.end;
      run.times.free = span.end - span.begin;
    }
    return roles;
  }
  std::vector<ServingAccount> serving;
  if (!trace.serving_marks.Empty()) serving = AccountServing(trace);
  for (const StepAccount& step : account.steps) {
    if (step.id < 0 || step.window.begin >= step.window.end) continue;
    RoleRun& run = roles.runs.emplace_back();
    run.role = spans[static_cast<std::size_t>(step.id)].role;
    run.begin = run.finish = step.window.begin;
    run.end = step.window.end;
    run.times = {step.categories.SumOf(IsCompute), step.categories.SumOf(IsCommunication),
                 step.categories.SumOf(IsDeviceCopy), step.categories.SumOf(IsFree)};
    const std::vector<const ServingAccount*> within = StepsWithin(run, serving);
    const TimeNs limit = within.empty() ? run.end : within.back()->window.end;
    for (const Piece& piece : account.PiecesOf(step)) {
      if (IsCompute(piece.category) && piece.begin < limit) run.finish = std::min(piece.end, limit);
    }
    run.decode = DecodingOf(within);
  }
  return roles;
}

}  // namespace mpa::recipes::rl_roles
