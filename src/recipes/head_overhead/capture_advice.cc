// SPDX-License-Identifier: Apache-2.0
// Advice that takes all calls of a rank: compilations, reloads, graphs in pieces.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "advice.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"

namespace mpa::head {
namespace {

// "57.6 ms"; shorter times in microseconds.
std::string TimeText(TimeNs time) {
  const bool in_ms = time >= 1'000'000;
  return fmt::format("{:.1f} {}", static_cast<double>(time) / (in_ms ? 1e6 : 1e3),
                     in_ms ? "ms" : "us");
}

// Calls that compile or load, and what that costs.
class Compilations {
 public:
  void Add(const Call& call, TimeNs cost) {
    calls_.push_back(&call);
    loss_.cost = loss_.cost.value_or(0) + cost;
    const MaybeNs idle = call.IdleOf(Measure::kCompile);
    if (idle) loss_.gain = loss_.gain.value_or(0) + std::min(cost, *idle);
  }
  std::size_t Count() const { return calls_.size(); }
  const Loss& Cost() const { return loss_; }
  void Mark(AdviceRow& row) const {
    row.calls = static_cast<std::int64_t>(Count());
    row.is_compilation = Count() > 0;
  }

  // "2 calls (callId 7, 9) and 57.6 ms, the device idle for at most 50.1 ms of it".
  std::string Text() const {
    constexpr std::size_t kMax = 5;
    std::vector<std::string> ids;
    for (const Call* call : calls_) {
      if (ids.size() < kMax) ids.push_back(std::to_string(call->id));
    }
    if (calls_.size() > kMax) ids.emplace_back("...");
    return Say(
        "{} (callId {}) and {}{}", Counted(static_cast<std::int64_t>(Count()), "call"),
        fmt::join(ids, ", "), TimeText(*loss_.cost),
        loss_.gain ? Say(", the device idle for at most {} of it", TimeText(*loss_.gain)) : "");
  }

 private:
  std::vector<const Call*> calls_;
  Loss loss_;
};

// The rules.
class CaptureAdvice : Adviser {
 public:
  CaptureAdvice(const AdviceInput& input, std::vector<AdviceRow>& rows)
      : Adviser(input, input.scopes[0], {}, rows) {}

  void Give() {
    AdviseLaterCapture();
    AdviseOnRecompilation();
    AdviseOnPieces();
    AdviseOnReloads();
  }

 private:
  void AdviseLaterCapture() {
    const bool steady =
        std::ranges::any_of(calls_, [](const Call* call) { return call->phase == Phase::kSteady; });
    if (steady || calls_.empty()) return;
    Compilations all;
    for (const Call* call : calls_) all.Add(*call, *call->Of(Measure::kCompile));
    all.Mark(Add<kCaptureLater>(0, all.Cost(), calls_.size()));
  }

  void AdviseOnRecompilation() {
    std::set<std::int32_t> steady;  // threads with a steady call
    std::map<std::int64_t, std::set<std::int64_t>> variants;
    std::set<std::int64_t> frames;  // compiled again during the capture
    Compilations again;
    for (const Call* call : calls_) {
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
    for (const std::int64_t frame : frames) {
      texts.push_back(Say("{} ({} variants)", frame, variants[frame].size()));
    }
    const std::size_t most = std::max(again.Count(), frames.size());
    again.Mark(
        Add<kRecompilation>(static_cast<double>(most), again.Cost(),
                            again.Count() > 0 ? again.Text() : Say("its events were not recorded"),
                            texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "))));
  }

  void AdviseOnPieces() {
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> in_step;
    std::vector<TimeNs> heads;
    bool nested = false;
    std::int32_t most = 0;
    for (const Call* call : calls_) {
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
    if (!broken && most <= Limit(kCallsPerRegion)) return;
    const auto pieces = std::max<std::int64_t>(static_cast<std::int64_t>(per_step), most);
    Add<kGraphPieces>(static_cast<double>(pieces), {}, pieces,
                      Translated(pieces > most ? "in a step" : "in one run of a region"),
                      InUs(spread->p50), InUs(pieces * spread->p50),
                      Translated(broken ? "graph breaks" : "a region compiled in pieces"));
  }

  void AdviseOnReloads() {
    std::set<std::pair<std::string, std::int32_t>> steady;
    std::set<std::string> reloaded;
    Compilations again;
    for (const Call* call : calls_) {
      const std::pair key{call->graph, call->track};
      if (call->loads_graph && steady.contains(key)) {
        again.Add(*call,
                  *call->Of(Measure::kCompile) - call->Of(Measure::kDynamoCompile).value_or(0));
        reloaded.insert(call->graph);
      }
      if (call->phase == Phase::kSteady) steady.insert(key);
    }
    if (again.Count() == 0) return;
    again.Mark(Add<kGraphReload>(static_cast<double>(again.Count()), again.Cost(),
                                 fmt::join(reloaded, ", "), again.Text()));
  }
};

}  // namespace

void AdviseOnCapture(const AdviceInput& input, std::vector<AdviceRow>& rows) {
  CaptureAdvice(input, rows).Give();
}

}  // namespace mpa::head
