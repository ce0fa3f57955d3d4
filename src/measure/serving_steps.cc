// SPDX-License-Identifier: Apache-2.0
// The steps of a server, and what their time was spent on.
#include "mpa/measure/serving_steps.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "mpa/base/enum_name.h"
#include "mpa/base/rows_by.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/serving_kernels.h"

namespace mpa {
namespace {

ServingBatch BatchByKernels(ServingPhase phase, std::int64_t tokens) {
  ServingBatch batch{.phase = phase};
  if (phase == ServingPhase::kDecode) {
    batch.requests = batch.output_tokens = tokens;
    batch.prompt_tokens = 0;
  } else if (phase == ServingPhase::kPrefill) {
    batch.prompt_tokens = tokens;
    batch.output_tokens = 0;
  }
  return batch;
}

std::optional<ServingBatch> BatchOfMark(const RankTrace& trace, std::size_t row) {
  const ServingMarks& marks = trace.serving_marks;
  if (marks.phase[row] >= 0)
    return BatchByKernels(static_cast<ServingPhase>(marks.phase[row]), marks.tokens[row]);
  auto batch = ReadServingName(trace.strings.View(marks.name[row]));
  if (batch && batch->graph_size < 0) batch->SetGraph(marks.graph_tokens[row]);
  return batch;
}

// What a mark adds that lies within the one of its step.
void AddInner(const ServingBatch& inner, ServingBatch& batch) {
  if (batch.phase != inner.phase) return;
  for (const auto member : {&ServingBatch::requests, &ServingBatch::prompt_tokens,
                            &ServingBatch::output_tokens, &ServingBatch::graph_size}) {
    if (batch.*member < 0) batch.*member = inner.*member;
  }
}

// Texts that name steps of a server; empty: none does. There are fewer texts than rows.
std::vector<bool> NamesOfSteps(const StringPool& strings) {
  std::vector<bool> names;
  for (std::size_t text = 0; text < strings.Size(); ++text) {
    if (!ReadServingName(strings.View(static_cast<StringId>(text)))) continue;
    names.resize(strings.Size(), false);
    names[text] = true;
  }
  return names;
}

template <typename Rows>
void AddMarks(const Rows& rows, const std::vector<StringId>& names,
              const std::vector<bool>& of_steps, ServingMarks& marks) {
  for (std::size_t i = 0; i < rows.Size(); ++i) {
    if (rows.dur[i] > 0 && of_steps[Index(names[i])])
      marks.Append({.start = rows.start[i], .dur = rows.dur[i], .name = names[i]});
  }
}

TimeNs EndOfLaunches(const RankTrace& trace) {
  TimeNs end = 0;
  for (const TimeNs time : trace.launches.host_time) end = std::max(end, time);
  return end;
}

ServingPart PartOf(const Piece& piece, const std::vector<bool>& sampling) {
  const bool samples = piece.table == PieceTable::kKernels && piece.row >= 0 &&
                       sampling[static_cast<std::size_t>(piece.row)];
  if (IsCompute(piece.category) && samples) return ServingPart::kSampling;
  if (piece.category == TimeCategory::kAttention) return ServingPart::kAttention;
  if (piece.category <= TimeCategory::kMc2) return ServingPart::kMatrix;
  if (IsCompute(piece.category)) return ServingPart::kOtherKernel;
  if (piece.category == TimeCategory::kWaitPeer || piece.category == TimeCategory::kBubble)
    return ServingPart::kWaiting;
  if (IsCommunication(piece.category)) return ServingPart::kCommunication;
  return IsDeviceCopy(piece.category) ? ServingPart::kCopiesAlone : ServingPart::kHost;
}

// The last step has lost its end where what it launched last has no work.
bool LosesItsEnd(const RankTrace& trace, const ServingStep& last) {
  const TimeNs answered = std::max(last.start, EndOfLaunches(trace));
  return std::ranges::any_of(trace.unanswered_launches.time,
                             [&](TimeNs time) { return time > answered; });
}

void MarkWarmUp(std::vector<ServingAccount>& steps) {
  std::map<PhaseAndSize, std::vector<ServingAccount*>> groups;
  for (ServingAccount& step : steps) {
    groups[PhaseAndSizeOf(step.batch)].push_back(&step);
  }
  constexpr std::size_t kMin = 3, kOf = 4;
  for (const auto& [key, group] : groups) {
    if (group.size() < kMin) continue;
    std::vector<TimeNs> lengths;
    for (const ServingAccount* step : group) lengths.push_back(step->Length());
    const TimeNs usual = Median(lengths);
    const std::size_t most = std::max<std::size_t>(1, group.size() / kOf);
    for (std::size_t i = 0; i < most && 5 * group[i]->Length() > 6 * usual; ++i) {
      group[i]->is_warm_up = true;
    }
  }
}

}  // namespace

std::vector<ServingStep> FindServingSteps(const RankTrace& trace) {
  const ServingMarks& marks = trace.serving_marks;
  // Of those that begin together the longest holds the others.
  const std::vector<std::size_t> rows = RowsBy(
      marks.Size(), [&](std::size_t row) { return std::pair(marks.start[row], -marks.dur[row]); });
  std::vector<ServingStep> steps;
  for (const std::size_t row : rows) {
    const auto batch = BatchOfMark(trace, row);
    if (!batch) continue;
    if (!steps.empty() && marks.start[row] < steps.back().end) {
      AddInner(*batch, steps.back().batch);
    } else {
      const TimeNs end = marks.start[row] + marks.dur[row];
      steps.push_back({.start = marks.start[row], .end = end, .batch = *batch});
    }
  }
  if (steps.empty()) return steps;
  std::vector<TimeNs> behind;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    behind.push_back(steps[i + 1].start - steps[i].end);
    steps[i].end = steps[i + 1].start;
  }
  ServingStep& last = steps.back();
  last.end = behind.empty() ? std::max(last.end, EndOfLaunches(trace))
                            : last.end + Median(std::move(behind));
  return steps;
}

std::vector<ServingBatch> BatchesOfSteps(const RankTrace& trace) {
  std::vector<ServingBatch> batches(trace.steps.Size());
  if (trace.serving_marks.Empty()) return batches;
  std::map<TimeNs, ServingBatch> by_start;
  for (const ServingStep& step : FindServingSteps(trace)) by_start.emplace(step.start, step.batch);
  const std::vector<std::size_t> rows = trace.steps.RowsByStart();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = by_start.find(trace.steps.start[rows[i]]);
    if (found != by_start.end()) batches[i] = found->second;
  }
  return batches;
}

Steps StepsOf(const std::vector<ServingStep>& serving) {
  Steps steps;
  for (const ServingStep& step : serving) {
    if (steps.Size() > std::numeric_limits<std::int32_t>::max()) break;
    steps.Append(
        {.id = static_cast<std::int32_t>(steps.Size()), .start = step.start, .end = step.end});
  }
  return steps;
}

void UseServingSteps(RankTrace& trace) {
  if (const std::vector<bool> names = NamesOfSteps(trace.strings); !names.empty()) {
    AddMarks(trace.host_ops, trace.host_ops.name, names, trace.serving_marks);
    AddMarks(trace.mstx, trace.mstx.message, names, trace.serving_marks);
    AddGraphTokens(trace);
  }
  InferServingMarks(trace);
  if (trace.serving_marks.Empty()) return;
  if (trace.steps.Empty()) trace.steps = StepsOf(FindServingSteps(trace));
}

std::string_view TitleOf(ServingPart part) {
  return EnumName<ServingPart::kHost>(
      part, {"attention", "other matrix work", "sampling", "other kernels", "communication",
             "waiting for ranks", "copies", "host"});
}

TimeNs ServingAccount::TimePerToken() const {
  const auto divided = [](double time, std::int64_t count) {
    const double each = time / static_cast<double>(count) + 0.5;
    constexpr double kMost = 4e18;  // see IsTime(); more requests than any server has
    return each < kMost ? static_cast<TimeNs>(each) : TimeNs{-1};
  };
  if (is_cut) return -1;
  const auto length = static_cast<double>(Length());
  if (batch.phase == ServingPhase::kPrefill && batch.prompt_tokens > 0)
    return divided(length, batch.prompt_tokens);
  if (batch.phase == ServingPhase::kDecode && batch.output_tokens > 0 && batch.requests > 0)
    return divided(length * static_cast<double>(batch.requests), batch.output_tokens);
  // Where nothing tells how many requests there are, each gets one.
  const bool is_unknown = batch.requests < 0 && batch.output_tokens < 0;
  if (batch.phase == ServingPhase::kDecode && is_unknown) return Length();
  return -1;
}

std::string_view NameOfTokenTime(ServingPhase phase) {
  return phase == ServingPhase::kPrefill ? "a prompt token" : "to the next token";
}

std::map<PhaseAndSize, std::vector<std::size_t>> StepsByPhase(
    const std::vector<ServingAccount>& steps) {
  std::map<PhaseAndSize, std::vector<std::size_t>> by_phase;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].is_warm_up) continue;
    by_phase[PhaseAndSizeOf(steps[i].batch)].push_back(i);
  }
  return by_phase;
}

RankAccount AccountServingSteps(const RankTrace& trace) {
  const std::vector<ServingStep> serving = FindServingSteps(trace);
  if (serving.empty()) return {};
  const Steps steps = StepsOf(serving);
  return AccountRank(trace, {.steps = &steps});
}

std::vector<ServingAccount> AccountServing(const RankTrace& trace) {
  return AccountServing(trace, AccountServingSteps(trace));
}

std::vector<ServingAccount> AccountServing(const RankTrace& trace, const RankAccount& account) {
  const std::vector<ServingStep> serving = FindServingSteps(trace);
  const std::vector<bool> sampling = FindSampling(trace);
  std::vector<ServingAccount> steps;
  for (std::size_t i = 0; i < account.steps.size() && i < serving.size(); ++i) {
    ServingAccount& step = steps.emplace_back();
    step.batch = serving[i].batch;
    step.window = account.steps[i].window;
    for (const Piece& piece : account.PiecesOf(account.steps[i])) {
      step.times[static_cast<std::size_t>(PartOf(piece, sampling))] += piece.end - piece.begin;
    }
  }
  if (!steps.empty() && steps.size() == serving.size())
    steps.back().is_cut = LosesItsEnd(trace, serving.back());
  MarkWarmUp(steps);
  return steps;
}

}  // namespace mpa
