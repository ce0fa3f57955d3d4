// SPDX-License-Identifier: Apache-2.0
// Advice that takes all calls of a rank: compilations, reloads, graphs in pieces.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "advice.h"
#include "mpa/base/time.h"

namespace mpa::head {
namespace {

// "57.6 ms"; shorter times in microseconds.
std::string TimeText(TimeNs time) {
  const bool in_ms = time >= 1'000'000;
  return fmt::format("{:.1f} {}", static_cast<double>(time) / (in_ms ? 1e6 : 1e3),
                     in_ms ? "ms" : "us");
}

std::vector<const Call*> CountedCalls(const AdviceInput& input) {
  std::vector<const Call*> counted;
  for (const Call& call : input.calls) {
    if (call.Counts()) counted.push_back(&call);
  }
  return counted;
}

// Calls that compile or load, and what that costs.
class Compilations {
 public:
  explicit Compilations(const AdviceInput& input) : input_(input) {}

  void Add(const Call& call, TimeNs cost) {
    calls_.push_back(&call);
    cost_ += cost;
    const MaybeNs idle = call.IdleOf(Measure::kCompile);
    if (idle) gain_ = gain_.value_or(0) + std::min(cost, *idle);
  }
  std::size_t Count() const { return calls_.size(); }

  // "2 calls (callId 7, 9) and 57.6 ms, the device idle for at most 50.1 ms of it".
  std::string Text() const {
    constexpr std::size_t kMax = 5;
    std::vector<std::string> ids;
    for (const Call* call : calls_) {
      if (ids.size() < kMax) ids.push_back(std::to_string(call->id));
    }
    if (calls_.size() > kMax) ids.emplace_back("...");
    return fmt::format(
        "{} {} (callId {}) and {}{}", Count(), Count() == 1 ? "call" : "calls",
        fmt::join(ids, ", "), TimeText(cost_),
        gain_ ? fmt::format(", the device idle for at most {} of it", TimeText(*gain_)) : "");
  }

  void Charge(AdviceRow& row) const {
    row.calls = static_cast<std::int64_t>(Count());
    row.cost = cost_;
    row.gain = gain_;
    row.exposed_per_step = gain_ ? PerStep(input_, *gain_) : std::nullopt;
    row.is_compilation = true;
  }

 private:
  const AdviceInput& input_;
  std::vector<const Call*> calls_;
  TimeNs cost_ = 0;
  MaybeNs gain_;
};

void AdviseLaterCapture(const AdviceInput& input, const std::vector<const Call*>& calls,
                        std::vector<AdviceRow>& rows) {
  const bool steady =
      std::ranges::any_of(calls, [](const Call* call) { return call->phase == Phase::kSteady; });
  if (steady || calls.empty()) return;
  Compilations all(input);
  for (const Call* call : calls) all.Add(*call, *call->Of(Measure::kCompile));
  all.Charge(
      AddAdvice("capture_later", kScript,
                fmt::format("all {} calls compile, so the numbers are the cost of compiling;"
                            " capture later: at least 3 steps of warm-up, with skip_first and"
                            " warmup of schedule()",
                            calls.size()),
                "steady_calls", 0, 1, calls.size(), rows));
}

void AdviseOnRecompilation(const AdviceInput& input, const std::vector<const Call*>& calls,
                           std::vector<AdviceRow>& rows) {
  std::set<std::int32_t> steady;  // threads with a steady call
  std::map<std::int64_t, std::set<std::int64_t>> variants;
  std::set<std::int64_t> frames;  // compiled again during the capture
  Compilations again(input);
  for (const Call* call : calls) {
    if (call->Of(Measure::kDynamoCompile).value_or(0) > 0 && steady.contains(call->track)) {
      again.Add(*call, *call->Of(Measure::kCompile));
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
  if (again.Count() == 0 && frames.empty()) return;
  std::vector<std::string> texts;
  texts.reserve(frames.size());
  for (const std::int64_t frame : frames) {
    texts.push_back(fmt::format("{} ({} variants)", frame, variants[frame].size()));
  }
  const std::size_t most = std::max(again.Count(), frames.size());
  AdviceRow& row =
      AddAdvice("recompilation", kPyTorch,
                fmt::format("compiled again during the capture: {}; frames: {}; mark dynamic"
                            " dimensions, pad inputs, or use gears",
                            again.Count() > 0 ? again.Text() : "its events were not recorded",
                            texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "))),
                "recompilations", static_cast<double>(most), 1, again.Count(), rows);
  if (again.Count() > 0) again.Charge(row);
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
  AddAdvice("graph_pieces", kScript,
            fmt::format("{} calls of graphs {} at {:.1f} us each cost {:.1f} us: {}; compile with"
                        " fullgraph=True to see why, and move what breaks the graph out of it",
                        pieces, pieces > most ? "in a step" : "in one run of a region",
                        InUs(spread->p50), InUs(pieces * spread->p50),
                        broken ? "graph breaks" : "a region compiled in pieces"),
            "calls_per_region", static_cast<double>(pieces), input.thresholds.calls_per_region,
            calls.size(), rows);
}

void AdviseOnReloads(const AdviceInput& input, const std::vector<const Call*>& calls,
                     std::vector<AdviceRow>& rows) {
  std::set<std::pair<std::string, std::int32_t>> steady;
  std::set<std::string> reloaded;
  Compilations again(input);
  for (const Call* call : calls) {
    const std::pair key{call->graph, call->track};
    if (call->loads_graph && steady.contains(key)) {
      again.Add(*call,
                *call->Of(Measure::kCompile) - call->Of(Measure::kDynamoCompile).value_or(0));
      reloaded.insert(call->graph);
    }
    if (call->phase == Phase::kSteady) steady.insert(key);
  }
  if (again.Count() == 0) return;
  again.Charge(
      AddAdvice("graph_reload", kScript,
                fmt::format("a graph is loaded or captured again ({}): {}; changed addresses,"
                            " limits of streams or cores, or too many shapes for the limit of"
                            " captures",
                            fmt::join(reloaded, ", "), again.Text()),
                "reloads", static_cast<double>(again.Count()), 1, again.Count(), rows));
}

}  // namespace

void AdviseOnCapture(const AdviceInput& input, std::vector<AdviceRow>& rows) {
  const std::vector<const Call*> calls = CountedCalls(input);
  AdviseLaterCapture(input, calls, rows);
  AdviseOnRecompilation(input, calls, rows);
  AdviseOnPieces(input, calls, rows);
  AdviseOnReloads(input, calls, rows);
}

}  // namespace mpa::head
