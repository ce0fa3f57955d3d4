// SPDX-License-Identifier: Apache-2.0
// What a server does around the calls of its model: scheduling, preparing inputs, sampling.
#include "serving.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/serving_batch.h"

namespace mpa::head {
namespace {

struct Package {
  std::string_view directory, framework;
};
constexpr Package kPackages[] = {{"vllm", "vLLM"},         {"vllm_ascend", "vLLM"},
                                 {"sglang", "SGLang"},     {"mindie", "MindIE"},
                                 {"mindie_llm", "MindIE"}, {"atb_llm", "MindIE"}};

// Ranges that msServiceProfiler records for MindIE, and its plug-ins for other frameworks.
bool IsServiceRange(std::string_view message) {
  return IsOneOf(message,
                 {"modelExec", "batchFrameworkProcessing", "BatchSchedule", "preprocessBatch",
                  "serializeExcueteMessage", "setInferBuffer", "grpcWriteToSlave",
                  "deserializeExecuteRequestsForInfer", "deserializeExecuteResponse"});
}

// "vllm-ascend" holds the package "vllm_ascend", "MindIE-LLM" holds "mindie_llm".
bool IsSourceOf(std::string_view directory, std::string_view package) {
  std::string name = ToLower(directory);
  std::ranges::replace(name, '-', '_');
  return name == package;
}

// Of a path that begins in the package, lies where packages are installed, or in the sources of the
// package: a script may lie in a directory of the same name.
bool IsOfPackage(const std::vector<std::string_view>& path, std::string_view package) {
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (path[i] != package) continue;
    if (i == 0 || IsOneOf(path[i - 1], {"site-packages", "dist-packages"}) ||
        IsSourceOf(path[i - 1], package))
      return true;
  }
  return false;
}

}  // namespace

std::string_view ServingFrameworkOf(std::string_view name) {
  if (name.starts_with("vllm::") || name.starts_with("gpu_model_runner: ")) return "vLLM";
  if (name.starts_with("sglang::")) return "SGLang";
  if (name.starts_with("step[")) return ReadServingName(name) ? "SGLang" : "";
  if (name.starts_with("execute_")) return ReadServingName(name) ? "vLLM" : "";
  const std::size_t end = name.find(".py(");
  if (end == std::string_view::npos) return "";
  const std::vector<std::string_view> path = Split(name.substr(0, end), '/');
  for (const auto& [package, framework] : kPackages) {
    if (IsOfPackage(path, package)) return framework;
  }
  return "";
}

namespace {

bool IsServing(std::string_view name) { return !ServingFrameworkOf(name).empty(); }

}  // namespace

ServingEvents::ServingEvents(const RankTrace& trace) {
  std::vector<NestSpan> spans;
  NamedClasses is_serving(trace.strings, IsServing);
  const auto add = [&](const auto& rows, StringId name, std::size_t i) {
    if (rows.track[i] < 0 || rows.dur[i] <= 0) return;
    spans.push_back({rows.start[i], rows.start[i] + rows.dur[i], rows.track[i]});
    names_.push_back(name);
  };
  const HostOps& ops = trace.host_ops;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (is_serving.Of(ops.name[i])) add(ops, ops.name[i], i);
  }
  const PythonCalls& calls = trace.python_calls;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    if (is_serving.Of(calls.name[i])) add(calls, calls.name[i], i);
  }
  const MstxEvents& ranges = trace.mstx;
  for (std::size_t i = 0; i < ranges.Size(); ++i) {
    if (IsServiceRange(trace.strings.View(ranges.message[i]))) add(ranges, ranges.message[i], i);
  }
  const Nesting nesting(std::move(spans));
  times_of_track_.resize(static_cast<std::size_t>(nesting.Tracks()));
  for (std::int32_t track = 0; track < nesting.Tracks(); ++track) {
    nesting.VisitOpen(track, [&](std::int64_t span, TimeNs begin, TimeNs end) {
      if (span == Nesting::kNone) return;
      times_of_track_[static_cast<std::size_t>(track)].push_back(
          {static_cast<std::uint32_t>(span), {begin, end}});
    });
  }
}

std::vector<ServingEvents::Piece> ServingEvents::PiecesWithin(std::int32_t track,
                                                              const Interval& window) const {
  std::vector<Piece> pieces;
  if (window.end <= window.begin || track < 0 ||
      static_cast<std::size_t>(track) >= times_of_track_.size())
    return pieces;
  const std::vector<OpenTime>& times = times_of_track_[static_cast<std::size_t>(track)];
  std::unordered_set<std::uint32_t> seen;
  for (auto at = std::ranges::partition_point(
           times, [&](const OpenTime& open) { return open.time.end <= window.begin; });
       at != times.end() && at->time.begin < window.end; ++at) {
    pieces.push_back({names_[at->event],
                      {std::max(at->time.begin, window.begin), std::min(at->time.end, window.end)},
                      seen.insert(at->event).second});
  }
  return pieces;
}

Intervals ServingEvents::Within(std::int32_t track, const Interval& window) const {
  std::vector<Interval> times;
  for (const Piece& piece : PiecesWithin(track, window)) times.push_back(piece.time);
  return Union(std::move(times));
}

}  // namespace mpa::head
