// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "mpa/report/member_columns.h"
#include "phase_groups.h"

namespace mpa::serving_phases {
namespace {

template <typename Item>
ColumnOf<Item> CellColumn(const char* name, Format format, const char* meaning,
                          Cell (*cell)(const Item&)) {
  return {NamedColumn(name, format, 14, meaning), cell};
}

// The columns of the parts of a time, which `times` leads to.
template <typename Item, auto kTimes>
void AddPartColumns(std::vector<ColumnOf<Item>>& columns) {
  const auto add = [&]<ServingPart kPart>(const char* name, const char* meaning) {
    columns.push_back(CellColumn<Item>(
        name, Format::kInteger, meaning,
        [](const Item& item) -> Cell { return kTimes(item)[static_cast<std::size_t>(kPart)]; }));
  };
  using enum ServingPart;
  add.template operator()<kAttention>("attentionNs", "Kernels of attention, in ns.");
  add.template operator()<kMatrix>("matrixNs", "Other matrix products and convolutions, in ns.");
  add.template operator()<kSampling>("samplingNs", "Kernels that choose tokens, in ns.");
  add.template operator()<kOtherKernel>("otherKernelNs", "All other kernels, in ns.");
  add.template operator()<kCommunication>(
      "communicationNs", "Communication that no kernel hides, without waiting, in ns.");
  add.template operator()<kWaiting>("waitingNs", "Waiting for other ranks or engines, in ns.");
  add.template operator()<kCopies>("copyNs", "Copies alone, in ns.");
  add.template operator()<kHost>("hostNs",
                                 "The device had nothing to do, also between steps, in ns.");
}

constexpr auto kTimesOfGroup = [](const PhaseGroup& group) -> const ServingTimes& {
  return group.times;
};

std::vector<ColumnOf<PhaseGroup>> PhaseColumns() {
  using Item = PhaseGroup;
  std::vector<ColumnOf<Item>> columns = {
      TextColumn<&Item::Phase>("phase", 10, "prefill, decode, mixed, dummy or unknown."),
      TextColumn<&Item::Size>("size", 22,
                              "Steps of one size are counted together: of decoding the requests, "
                              "or the size of the graph; else the tokens."),
      CountColumn<&Item::Count>("steps", 8, "How many steps there are, of all ranks."),
      CountColumn<&Item::warm_up>("warmUpSteps", 12,
                                  "Steps that are left out, because they warm up."),
      CountColumn<&Item::ranks>("ranks", 8, "How many ranks have such steps."),
      CellColumn<Item>("minNs", Format::kInteger, "The shortest step, in ns.",
                       [](const Item& item) -> Cell { return LengthAt(item, 0); }),
      CellColumn<Item>("q1Ns", Format::kInteger, "First quartile, in ns.",
                       [](const Item& item) -> Cell { return LengthAt(item, 25); }),
      CellColumn<Item>("medianNs", Format::kInteger, "Median, in ns.",
                       [](const Item& item) -> Cell { return LengthAt(item, 50); }),
      CellColumn<Item>("q3Ns", Format::kInteger, "Third quartile, in ns.",
                       [](const Item& item) -> Cell { return LengthAt(item, 75); }),
      CellColumn<Item>("maxNs", Format::kInteger, "The longest step, in ns.",
                       [](const Item& item) -> Cell { return LengthAt(item, 100); }),
      CellColumn<Item>("timePerTokenNs", Format::kInteger,
                       "Median of what a token takes, in ns: of decoding how long a request waits "
                       "for one, of prefill the step by tokens of the prompts.",
                       [](const Item& item) { return kIfKnown(TimePerToken(item)); }),
      CellColumn<Item>("tokensPerSecond", Format::kDecimals2,
                       "Tokens that an engine reads and generates in a second of such steps.",
                       [](const Item& item) { return kIfKnown(TokensPerSecond(item)); }),
      CountColumn<&Item::sum>("sumNs", 14,
                              "Time of all steps, in ns; the next columns add up to it.")};
  AddPartColumns<Item, kTimesOfGroup>(columns);
  return columns;
}

struct StepItem {
  std::int64_t rank = -1, number = 0;
  const ServingAccount* step = nullptr;
};

constexpr auto kTimesOfStep = [](const StepItem& item) -> const ServingTimes& {
  return item.step->times;
};

std::vector<ColumnOf<StepItem>> StepColumns() {
  using Item = StepItem;
  std::vector<ColumnOf<Item>> columns = {
      CountColumn<&Item::rank>("rankId", 8, "The rank."),
      CountColumn<&Item::number>("step", 8, "The step, counted from 0."),
      TextColumn<&Item::step, &ServingAccount::batch, &ServingBatch::phase>(
          "phase", 14, "prefill, decode, mixed, dummy or unknown."),
      CountColumn<&Item::step, &ServingAccount::batch, &ServingBatch::requests, kIfKnown>(
          "requests", 14, "Requests in the batch."),
      CountColumn<&Item::step, &ServingAccount::batch, &ServingBatch::prompt_tokens, kIfKnown>(
          "promptTokens", 14, "Tokens of prompts that were read."),
      CountColumn<&Item::step, &ServingAccount::batch, &ServingBatch::output_tokens, kIfKnown>(
          "outputTokens", 14, "Tokens that were generated."),
      CountColumn<&Item::step, &ServingAccount::batch, &ServingBatch::graph_size, kIfKnown>(
          "graphSize", 14, "Requests for which the captured graph was made."),
      NumberColumn<&Item::step, &ServingAccount::batch, &ServingBatch::Padding>(
          "paddingPercent", Format::kDecimals2, 14,
          "The part of the graph that computed for no request, in percent."),
      CountColumn<&Item::step, &ServingAccount::is_warm_up>("warmUp", 14, "1: the step warms up."),
      CountColumn<&Item::step, &ServingAccount::window, &Interval::begin>(
          "startNs", 14, "Begin on the device, in ns."),
      CountColumn<&Item::step, &ServingAccount::Length>(
          "durationNs", 14, "Time to the next step, in ns; the last columns add up to it."),
      CountColumn<&Item::step, &ServingAccount::TimePerToken, kIfKnown>(
          "timePerTokenNs", 14, "As in ServingPhases, of this step.")};
  AddPartColumns<Item, kTimesOfStep>(columns);
  return columns;
}

}  // namespace

void AddSheets(const Ranks& ranks, const std::vector<PhaseGroup>& groups, Report& report) {
  ItemSheet phases("ServingPhases", PhaseColumns());
  for (const PhaseGroup& group : groups) {
    if (!group.steps.empty()) phases.Add(group);
  }
  ItemSheet steps("ServingSteps", StepColumns());
  for (const auto& [id, part] : ranks) {
    const std::size_t rank = BeginRank(id, report);
    for (std::size_t i = 0; i < part.steps.size(); ++i) {
      steps.Add({id, static_cast<std::int64_t>(i), &part.steps[i]}, rank);
    }
  }
  report.sheets.push_back(std::move(phases.sheet));
  report.sheets.push_back(std::move(steps.sheet));
}

}  // namespace mpa::serving_phases
