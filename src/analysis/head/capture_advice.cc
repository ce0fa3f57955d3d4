// SPDX-License-Identifier: Apache-2.0
// Advice that takes all calls of a rank: compilations, reloads, graphs in pieces.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph_advice.h"

namespace mpa::head {
namespace {

std::vector<const Call*> Counted(const AdviceInput& input) {
  std::vector<const Call*> counted;
  for (const Call& call : input.calls) {
    if (call.Counts()) counted.push_back(&call);
  }
  return counted;
}

AdviceRow Row(std::string_view rule, std::string_view owner, std::string text,
              std::string_view metric, double value, double threshold, std::size_t calls) {
  return {.rule = rule,
          .severity = Severity::kWarn,
          .scope = "all",
          .owner = owner,
          .text = std::move(text),
          .metric = metric,
          .value = value,
          .threshold = threshold,
          .exposed_per_step = {},
          .calls = static_cast<std::int64_t>(calls)};
}

void AdviseLaterCapture(const std::vector<const Call*>& calls, std::vector<AdviceRow>& rows) {
  const bool steady = std::any_of(calls.begin(), calls.end(),
                                  [](const Call* call) { return call->phase == Phase::kSteady; });
  if (steady || calls.empty()) return;
  rows.push_back(Row("R0", kScript,
                     fmt::format("all {} calls compile, so the numbers are the cost of compiling; "
                                 "capture later: at least 3 steps of warm-up, with skip_first and "
                                 "warmup of schedule()",
                                 calls.size()),
                     "steady_calls", 0, 1, calls.size()));
}

void AdviseOnRecompilation(const std::vector<const Call*>& calls, std::vector<AdviceRow>& rows) {
  std::set<std::int32_t> steady;  // threads with a steady call
  std::map<std::int64_t, std::set<std::int64_t>> variants;
  std::set<std::int64_t> frames;  // compiled again during the capture
  std::size_t again = 0;
  for (const Call* call : calls) {
    if (call->dynamo_compile.value_or(0) > 0 && steady.contains(call->track)) {
      ++again;
      if (call->frame >= 0) frames.insert(call->frame);
    }
    if (call->phase == Phase::kSteady) steady.insert(call->track);
    if (call->frame < 0) continue;
    std::set<std::int64_t>& seen = variants[call->frame];
    if (call->variant > 0 && !seen.empty() && !seen.contains(call->variant)) {
      frames.insert(call->frame);
    }
    seen.insert(call->variant);
  }
  if (again == 0 && frames.empty()) return;
  std::vector<std::string> texts;
  texts.reserve(frames.size());
  for (const std::int64_t frame : frames) {
    texts.push_back(fmt::format("{} ({} variants)", frame, variants[frame].size()));
  }
  rows.push_back(
      Row("R3", kPyTorch,
          fmt::format("compiled again during the capture: {} calls; frames: {}; mark "
                      "dynamic dimensions, pad inputs, or use gears",
                      again, texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "))),
          "recompilations", static_cast<double>(std::max(again, frames.size())), 1, again));
}

void AdviseOnPieces(const AdviceInput& input, const std::vector<const Call*>& calls,
                    std::vector<AdviceRow>& rows) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> in_step;
  std::vector<TimeNs> heads;
  bool nested = false;
  std::int32_t most = 0;
  for (const Call* call : calls) {
    if (call->phase != Phase::kSteady) continue;
    if (call->step >= 0) ++in_step[{call->track, call->step}];
    heads.push_back(call->Head());
    nested = nested || call->in_nested_region;
    most = std::max(most, call->calls_of_region);
  }
  const auto spread = SpreadOf(std::move(heads));
  if (!spread) return;
  std::size_t per_step = 0;
  for (const auto& [step, count] : in_step) per_step = std::max(per_step, count);
  const bool broken = nested && per_step > 1;
  if (!broken && most <= input.thresholds.calls_per_region) return;
  const auto pieces = std::max<std::int64_t>(static_cast<std::int64_t>(per_step), most);
  rows.push_back(
      Row("R4", kScript,
          fmt::format("{} calls of graphs at {:.1f} us each cost {:.1f} us: {}; compile with "
                      "fullgraph=True to see why, and move what breaks the graph out of it",
                      pieces, static_cast<double>(spread->p50) / 1e3,
                      static_cast<double>(pieces * spread->p50) / 1e3,
                      broken ? "graph breaks" : "a region compiled in pieces"),
          "calls_per_region", static_cast<double>(pieces), input.thresholds.calls_per_region,
          calls.size()));
}

void AdviseOnReloads(const AdviceInput& input, const std::vector<const Call*>& calls,
                     std::vector<AdviceRow>& rows) {
  std::set<std::pair<std::size_t, std::int32_t>> steady;
  std::set<std::string> reloaded;
  std::size_t again = 0;
  for (const Call* call : calls) {
    const std::pair key{call->graph, call->track};
    if (call->loads_graph && steady.contains(key)) {
      ++again;
      reloaded.insert(input.graphs[call->graph]);
    }
    if (call->phase == Phase::kSteady) steady.insert(key);
  }
  if (again == 0) return;
  rows.push_back(Row("R10", kScript,
                     fmt::format("{} calls load or capture a graph again ({}): changed addresses, "
                                 "limits of streams or cores, or too many shapes for the limit of "
                                 "captures",
                                 again, fmt::join(reloaded, ", ")),
                     "reloads", static_cast<double>(again), 1, again));
}

}  // namespace

void AdviseOnCapture(const AdviceInput& input, std::vector<AdviceRow>& rows) {
  const std::vector<const Call*> calls = Counted(input);
  AdviseLaterCapture(calls, rows);
  AdviseOnRecompilation(calls, rows);
  AdviseOnPieces(input, calls, rows);
  AdviseOnReloads(input, calls, rows);
}

}  // namespace mpa::head
