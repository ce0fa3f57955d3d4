// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "recipes/head_overhead/advice.h"
#include "recipes/head_overhead/analyse.h"
#include "recipes/head_overhead/summary.h"

namespace mpa::test {

/// Fills a rank with the events of compiled calls by hand. All times are microseconds.
class HeadTrace {
 public:
  /// What is known of a runtime call beside its time.
  struct CallArgs {
    std::string_view item{};
    std::int64_t model = -1, request = -1, connection = -1;
  };
  struct RunArgs {
    std::string_view name = "MatMul";
    std::int64_t model = -1, connection = -1, pid = 1, device = 0, stream = -1;
  };

  StringId Text(std::string_view text) { return trace.strings.Intern(text); }

  std::int32_t Thread(std::int64_t tid, std::int64_t pid = 1) {
    trace.tracks.Append({.pid = pid, .tid = tid});
    return static_cast<std::int32_t>(trace.tracks.Size()) - 1;
  }
  void Event(std::int32_t track, std::string_view name, TimeNs start, TimeNs end) {
    trace.host_ops.Append({.start = start * 1000,
                           .dur = (end - start) * 1000,
                           .name = Text(name),
                           .track = track,
                           .shapes = {},
                           .types = {},
                           .stack = {}});
  }
  void Python(std::int32_t track, std::string_view name, TimeNs start, TimeNs end) {
    trace.python_calls.Append(
        {.start = start * 1000, .dur = (end - start) * 1000, .name = Text(name), .track = track});
  }
  void Range(std::int32_t track, std::string_view message, TimeNs start, TimeNs end) {
    trace.mstx.Append({.start = start * 1000,
                       .dur = (end - start) * 1000,
                       .kind = MstxKind::kStartEnd,
                       .message = Text(message),
                       .domain = Text("default"),
                       .track = track});
  }
  void Runtime(std::int32_t track, std::string_view name, TimeNs start, TimeNs end,
               const CallArgs& args) {
    trace.host_calls.Append({.start = start * 1000,
                             .dur = (end - start) * 1000,
                             .name = Text(name),
                             .track = track,
                             .item = Text(args.item),
                             .model = args.model,
                             .request = args.request,
                             .connection = args.connection});
  }
  void Runtime(std::int32_t track, std::string_view name, TimeNs start, TimeNs end) {
    Runtime(track, name, start, end, CallArgs());
  }
  void Run(TimeNs start, TimeNs end, const RunArgs& args) {
    trace.device_runs.Append({.start = start * 1000,
                              .dur = (end - start) * 1000,
                              .name = Text(args.name),
                              .connection = args.connection,
                              .model = args.model,
                              .pid = args.pid,
                              .device = args.device,
                              .stream = args.stream});
  }
  void Run(TimeNs start, TimeNs end) { Run(start, end, RunArgs()); }
  void Step(std::int32_t id, TimeNs start, TimeNs end) {
    trace.steps.Append({.id = id, .start = start * 1000, .end = end * 1000});
  }
  /// Work that one thread queued and another did.
  void Queued(TimeNs queued, std::int32_t queued_track, std::string_view name, TimeNs start,
              TimeNs end, std::int32_t track) {
    trace.queued_work.Append({.queued = queued * 1000,
                              .queued_track = queued_track,
                              .start = start * 1000,
                              .dur = (end - start) * 1000,
                              .track = track,
                              .name = Text(name)});
  }

  head::HeadAnalysis Analysis(const head::HeadOptions& options = {}) const {
    return head::HeadAnalysis(trace, options);
  }
  std::vector<head::Call> Calls(const head::HeadOptions& options = {}) const {
    return Analysis(options).calls;
  }
  /// The children of a call as "segment kind name count us".
  std::vector<std::string> Children(std::size_t call) const {
    const head::HeadAnalysis analysis = Analysis();
    std::vector<std::string> texts;
    for (const head::Child& child : head::ChildFinder(analysis).Of(call)) {
      texts.push_back(fmt::format("{} {} {} {} {}", NameOf(child.part), child.kind, child.name,
                                  child.count, child.total / 1000));
    }
    return texts;
  }
  std::vector<head::AdviceRow> Advice() const {
    head::HeadAnalysis analysis = Analysis();
    const std::vector<head::Scope> scopes = head::FindScopes(analysis.calls);
    const auto summary = head::Summarise(analysis.calls, scopes, analysis.steps);
    const auto children = head::SumChildren(scopes, head::Phase::kSteady, analysis);
    const Thresholds thresholds;
    return head::GiveAdvice({analysis.calls, scopes, summary, children, thresholds, {}});
  }

  RankTrace trace;
};

/// Microseconds, -1 for unknown.
inline TimeNs Us(head::MaybeNs time) { return time ? *time / 1000 : -1; }

/// The segments of a call in microseconds: "platform dynamo python c++ ge", "-" for unknown. Where
/// a serving framework is known, its time stands behind the platform's.
inline std::string Segments(const head::Call& call) {
  std::string text;
  for (const head::Measure part : call.Parts()) {
    const head::MaybeNs time = call.Of(part);
    if (part == head::Measure::kServing && !time) continue;
    text += (text.empty() ? "" : " ") + (time ? std::to_string(*time / 1000) : "-");
  }
  return text;
}

}  // namespace mpa::test
