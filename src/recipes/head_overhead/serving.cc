// SPDX-License-Identifier: Apache-2.0
// What a server does around the calls of its model: scheduling, preparing inputs, sampling.
#include "serving.h"

#include <algorithm>
#include <utility>

#include "mpa/base/text.h"
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
  if (Any()) nesting_.emplace(std::move(spans), Overhang::kCut);
}

std::vector<ServingEvents::Piece> ServingEvents::PiecesWithin(std::int32_t track,
                                                              const Interval& window) const {
  std::vector<Piece> pieces;
  if (!nesting_ || window.end <= window.begin || track >= nesting_->Tracks()) return pieces;
  const auto add = [&](std::size_t event) {
    const NestSpan& span = nesting_->At(event);
    bool first = true;
    TimeNs at = std::max(span.start, window.begin);
    const auto close = [&](TimeNs until) {
      until = std::min(until, window.end);
      if (until <= at) return;
      pieces.push_back({names_[event], {at, until}, std::exchange(first, false)});
    };
    const auto children = nesting_->Children(event);
    auto child = std::ranges::partition_point(
        children, [&](std::uint32_t inner) { return nesting_->At(inner).end <= window.begin; });
    for (; child != children.end(); ++child) {
      const NestSpan& inner = nesting_->At(*child);
      if (inner.start >= window.end) break;
      close(inner.start);
      at = std::max(at, inner.end);
    }
    close(span.end);
  };
  for (std::int64_t around = nesting_->FindAround(track, window.begin); around != Nesting::kNone;
       around = nesting_->Parent(static_cast<std::size_t>(around)))
    add(static_cast<std::size_t>(around));
  const auto events = nesting_->OnTrack(track);
  for (auto at = std::ranges::partition_point(
           events, [&](std::uint32_t e) { return nesting_->At(e).start < window.begin; });
       at != events.end() && nesting_->At(*at).start < window.end; ++at)
    add(*at);
  return pieces;
}

Intervals ServingEvents::Within(std::int32_t track, const Interval& window) const {
  std::vector<Interval> times;
  for (const Piece& piece : PiecesWithin(track, window)) times.push_back(piece.time);
  return Union(std::move(times));
}

}  // namespace mpa::head
