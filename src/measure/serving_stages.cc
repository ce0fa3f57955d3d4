// SPDX-License-Identifier: Apache-2.0
// Steps of servers that name what a step consists of, not what it works on.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/serving_kernels.h"

namespace mpa {
namespace {

// The frameworks and their names of stages. Where several match, the first has the steps.
enum class Namer : std::uint8_t { kServiceProfiler, kVllmAscend, kVllm };
constexpr std::size_t kNamers = 3;

struct Stage {
  Namer namer{};
  bool opens = false;  // a step begins with it
  ServingPhase phase = ServingPhase::kUnknown;
};

// Of "^batch_type^:^Prefill,Decode^,": msServiceProfiler writes ^ for quotes.
ServingPhase PhaseOfBatch(std::string_view message) {
  const std::size_t at = message.find("batch_type");
  if (at == std::string_view::npos) return ServingPhase::kUnknown;
  std::string_view value = message.substr(at + std::string_view("batch_type").size());
  value.remove_prefix(std::min(value.find_first_not_of("^\": "), value.size()));
  value = value.substr(0, value.find_first_of("^\""));
  const bool reads = ContainsAny(value, {"Prefill"}), decodes = ContainsAny(value, {"Decode"});
  if (reads && decodes) return ServingPhase::kMixed;
  if (reads) return ServingPhase::kPrefill;
  return decodes ? ServingPhase::kDecode : ServingPhase::kUnknown;
}

std::optional<Stage> StageOf(std::string_view name) {
  if (name == "modelExec" || ContainsAny(name, {"^name^:^modelExec^", "\"name\":\"modelExec\""}))
    return Stage{Namer::kServiceProfiler, true, PhaseOfBatch(name)};
  if (IsOneOf(name, {"prepare input", "prepare input and forward"}))
    return Stage{Namer::kVllmAscend, true};
  if (IsOneOf(name, {"forward", "post process", "sample_token", "draft_token", "mtp_forward"}))
    return Stage{Namer::kVllmAscend, false};
  if (name.starts_with("gpu_model_runner: "))
    return Stage{Namer::kVllm, name == "gpu_model_runner: preprocess"};
  return std::nullopt;
}

struct Range {
  TimeNs start = 0, end = 0;
  Stage stage;
};

class StageFinder {
 public:
  explicit StageFinder(const RankTrace& trace) : trace_(trace) {
    for (std::size_t text = 0; text < trace.strings.Size(); ++text) {
      const auto id = static_cast<StringId>(text);
      if (const auto stage = StageOf(trace.strings.View(id))) stages_.emplace(id, *stage);
    }
  }

  std::vector<StageStep> Find() {
    if (stages_.empty()) return {};
    Add(trace_.host_ops, trace_.host_ops.name);
    Add(trace_.mstx, trace_.mstx.message);
    for (std::vector<Range>& ranges : ranges_) {
      std::vector<StageStep> steps = StepsOf(ranges);
      if (!steps.empty()) return steps;
    }
    return {};
  }

 private:
  template <typename Rows>
  void Add(const Rows& rows, const std::vector<StringId>& names) {
    for (std::size_t i = 0; i < rows.Size(); ++i) {
      const auto stage = stages_.find(names[i]);
      if (stage == stages_.end() || rows.dur[i] <= 0) continue;
      ranges_[static_cast<std::size_t>(stage->second.namer)].push_back(
          {rows.start[i], rows.start[i] + rows.dur[i], stage->second});
    }
  }

  // What a step opens with and nothing else follows names no step of vllm-ascend: other programs
  // prepare their input as well.
  static std::vector<StageStep> StepsOf(std::vector<Range>& ranges) {
    StableSort(ranges, {}, [](const Range& range) { return std::pair(range.start, -range.end); });
    std::vector<StageStep> steps;
    bool goes_on = false;
    for (const Range& range : ranges) {
      const bool is_within = !steps.empty() && range.start < steps.back().end;
      if (range.stage.opens && !is_within) {
        steps.push_back({range.start, range.end, range.stage.phase});
      } else if (!steps.empty()) {
        steps.back().end = std::max(steps.back().end, range.end);
        goes_on |= !range.stage.opens;
      }
    }
    const bool is_alone = !ranges.empty() && ranges.front().stage.namer != Namer::kServiceProfiler;
    if (is_alone && !goes_on) steps.clear();
    return steps;
  }

  const RankTrace& trace_;
  std::map<StringId, Stage> stages_;
  std::array<std::vector<Range>, kNamers> ranges_;
};

}  // namespace

std::vector<StageStep> FindStageSteps(const RankTrace& trace) { return StageFinder(trace).Find(); }

}  // namespace mpa
