// SPDX-License-Identifier: Apache-2.0
// Advice on a graph: the platform, PyTorch, TorchAir and its causes in the script, GE, the handling
// of outputs, stretched calls.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "advice.h"
#include "mpa/base/language.h"
#include "mpa/base/time.h"

namespace mpa::head {
namespace {

// Of two times, what is known.
MaybeNs Plus(MaybeNs a, MaybeNs b) { return a && b ? MaybeNs(*a + *b) : a ? a : b; }

Loss LossIn(Measure part, const ChildRow& row) { return {NameOf(part), row.total, row.exposed}; }
Loss LossIn(Measure part, const SummaryRow& row) {
  return {NameOf(part), row.spread.sum, row.exposed_sum};
}

// The steady calls of one graph, what was measured in them, and the advice on them.
class SteadyCalls : protected Adviser {
 public:
  SteadyCalls(const AdviceInput& input, const Scope& scope, std::span<const SummaryRow> summary,
              std::span<const ChildRow> children, std::vector<AdviceRow>& rows)
      : Adviser(input, scope, Phase::kSteady, rows), children_(children) {
    for (const SummaryRow& row : summary) {
      if (row.phase == Phase::kSteady) measured_[Index(row.measure)] = &row;
    }
    const SummaryRow* head = Measured(Measure::kHead);
    if (head == nullptr) return;
    head_ = head->spread;
    if (head->share_of_step && head_.sum > 0) {
      step_time_ = static_cast<double>(head_.sum) / *head->share_of_step;
    }
  }

 protected:
  const SummaryRow* Measured(Measure measure) const { return measured_[Index(measure)]; }
  // All children of a kind, or of one name of it.
  ChildRow Sum(Measure part, std::string_view kind, std::string_view name = {}) const {
    ChildRow sum;
    for (const ChildRow& row : children_) {
      if (row.part != part || row.kind != kind || (!name.empty() && row.name != name)) continue;
      sum.count += row.count;
      sum.total += row.total;
      sum.exposed = Plus(sum.exposed, row.exposed);
    }
    return sum;
  }
  double PerCall(TimeNs total) const { return InUs(total) / static_cast<double>(calls_.size()); }
  // "3" or "2.5".
  std::string CountPerCall(std::int64_t count) const {
    std::string text =
        fmt::format("{:.1f}", static_cast<double>(count) / static_cast<double>(calls_.size()));
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
  }

  // Of the head, for one call, in %.
  double ShareOfHead(double us) const { return head_.p50 > 0 ? us / InUs(head_.p50) * 100 : 0; }
  bool Matters(double typical_us, TimeNs total) const {
    const bool of_step =
        step_time_ > 0 && static_cast<double>(total) / step_time_ * 100 >= Limit(kSegmentStepShare);
    return typical_us > 0 && (ShareOfHead(typical_us) >= Limit(kSegmentShare) || of_step);
  }
  bool Matters(Measure measure) const {
    const SummaryRow* row = Measured(measure);
    return row != nullptr && Matters(InUs(row->spread.p50), row->spread.sum);
  }
  bool AllOf(Engine engine) const {
    return std::ranges::all_of(calls_, [&](const Call* call) { return call->engine == engine; });
  }

  // The longest children of a part by name: "aten::index 120.0 us".
  std::string Longest(Measure part) const {
    constexpr std::size_t kMax = 3;
    std::vector<std::string> names;
    for (const ChildRow& row : children_) {
      if (row.part != part || row.count == 0 || row.kind.starts_with("of_which")) continue;
      names.push_back(fmt::format("{} {:.1f} us", row.name, PerCall(row.total)));
      if (names.size() == kMax) break;
    }
    return names.empty() ? Say("no events") : fmt::format("{}", fmt::join(names, ", "));
  }

  // Whether a graph is loaded or captured behind a steady call.
  bool LoadsAgain() const {
    bool steady = false;
    for (const Call* call : CallsOf(input_.calls, scope_)) {
      if (steady && call->loads_graph) return true;
      steady = steady || call->phase == Phase::kSteady;
    }
    return false;
  }

  std::span<const ChildRow> children_;
  std::array<const SummaryRow*, kMeasures> measured_{};
  CallSpread head_;
  double step_time_ = 0;  // ns of all steps with such calls; 0: no steps
};

std::string_view DeviceText(const Call& call) {
  const MaybeNs idle = call.IdleOf(Measure::kHead);
  if (!idle) return Translated("unknown");
  return Translated(2 * *idle < *call.first_kernel - call.frontend_begin ? "busy" : "idle");
}

// The rules.
class GraphAdvice : SteadyCalls {
 public:
  using SteadyCalls::SteadyCalls;

  void Give() {
    if (calls_.empty()) return;
    AdviseOnPlatform<kPlatformTime>(
        Measure::kPlatform, Measure::kPlatformWait,
        Translated(
            "look at the loop, the scheduler and the preparation of inputs around the call"));
    AdviseOnPlatform<kServingTime>(
        Measure::kServing, Measure::kServingWait,
        Translated("look at its scheduler, its preparation of inputs and its sampling"));
    AdviseOnLookup();
    if (AllOf(Engine::kEagerFx)) {
      AdviseOnEagerRuns();
      AdviseOnOutliers();
      return;
    }
    const std::size_t before = rows_.size();
    AdviseOnConversions();
    AdviseOnQueue();
    AdviseOnSync();
    AdviseOnTorchAir(/*causes_known=*/rows_.size() > before || LoadsAgain());
    AdviseOnGe();
    AdviseOnEpilogue();
    AdviseOnOutliers();
  }

 private:
  // What comes before the model: the script's, or a serving framework's.
  template <const Rule& kRule>
  void AdviseOnPlatform(Measure part, Measure wait, std::string_view where) {
    std::vector<TimeNs> values;
    Loss loss{NameOf(part), 0, {}};
    for (const Call* call : calls_) {
      if (!call->Of(part)) return;
      values.push_back(*call->Of(part) - *call->Of(wait));
      *loss.cost += values.back();
      loss.gain = Plus(loss.gain, Since(call->IdleOf(part), call->IdleOf(wait)));
    }
    const CallSpread net = *SpreadOf(std::move(values));
    if (!Matters(InUs(net.p50), *loss.cost)) return;
    const ChildRow silent = Sum(part, kUnattributed);
    const ChildRow garbage = Sum(part, "of_which_gc");
    const SummaryRow* measured = Measured(part);
    const double silent_share = measured != nullptr && measured->spread.sum > 0
                                    ? InUs(silent.total) / InUs(measured->spread.sum) * 100
                                    : 0;
    Add<kRule>(ShareOfHead(InUs(net.p50)), loss, InUs(net.p50), Longest(part), silent_share,
               garbage.count > 0 ? Say("; garbage collected {} times, {:.3f} ms in all calls",
                                       garbage.count, InUs(garbage.total) / 1e3)
                                 : "",
               where);
  }

  void AdviseOnLookup() {
    const SummaryRow* lookup = Measured(Measure::kLookup);
    if (lookup == nullptr) return;
    const double p50 = InUs(lookup->spread.p50);
    if (!Matters(Measure::kLookup) && p50 <= Limit(kLookupUs)) return;
    Add<kDynamoLookup>(p50, LossIn(Measure::kDynamo, *lookup), p50);
  }

  void AdviseOnConversions() {
    const ChildRow built = Sum(Measure::kTorchairPy, kTensorConstruct);
    const ChildRow contiguous = Sum(Measure::kTorchairPy, kContiguous);
    const double n = static_cast<double>(built.count) / static_cast<double>(calls_.size());
    const bool builds = n >= Limit(kBuiltTensors) || PerCall(built.total) >= Limit(kBuiltUs);
    const bool copies = contiguous.count > 0 && PerCall(contiguous.total) >= Limit(kContiguousUs);
    if (builds) {
      Add<kTensorsBuilt>(n, LossIn(Measure::kTorchairPy, built), CountPerCall(built.count),
                         PerCall(built.total));
    }
    if (copies) {
      const bool mutated = Sum(Measure::kEpilogue, "write_back").count > 0;
      Add<kNonContiguousInputs>(
          PerCall(contiguous.total), LossIn(Measure::kTorchairPy, contiguous),
          CountPerCall(contiguous.count), PerCall(contiguous.total),
          mutated ? Translated("; they are written back after the graph, which costs time again")
                  : "");
    }
    const ChildRow python = Sum(Measure::kTorchairPy, kUnattributed);
    const ChildRow inputs = Sum(Measure::kTorchairCpp, "event", "AssembleInputs");
    const TimeNs total = python.total + inputs.total;
    if (builds || copies || !Matters(PerCall(total), total)) return;
    Add<kManyInputs>(ShareOfHead(PerCall(total)),
                     {NameOf(Measure::kTorchairPy), total, Plus(python.exposed, inputs.exposed)},
                     PerCall(total));
  }

  void AdviseOnQueue() {
    const ChildRow drain = Sum(Measure::kTorchairCpp, kQueueDrain);
    if (drain.count == 0) return;
    std::vector<std::string> names;
    for (const ChildRow& row : children_) {
      if (row.kind == kQueueDrain) names.push_back(row.name);
    }
    constexpr std::size_t kMax = 5;
    if (names.size() > kMax) names.resize(kMax);
    Add<kQueuedOperators>(PerCall(drain.total), LossIn(Measure::kTorchairCpp, drain),
                          CountPerCall(drain.count), PerCall(drain.total), fmt::join(names, ", "));
  }

  void AdviseOnSync() {
    const ChildRow inputs = Sum(Measure::kTorchairCpp, kOfWhichSync);
    const ChildRow outputs = Sum(Measure::kEpilogue, kOfWhichSync);
    if (inputs.count + outputs.count == 0) return;
    const TimeNs total = inputs.total + outputs.total;
    const Measure part = inputs.total >= outputs.total ? Measure::kTorchairCpp : Measure::kGe;
    Add<kHostTensors>(PerCall(total), {NameOf(part), total, Plus(inputs.exposed, outputs.exposed)},
                      CountPerCall(inputs.count), CountPerCall(outputs.count), PerCall(total));
  }

  void AdviseOnTorchAir(bool causes_known) {
    if (causes_known) return;
    for (const Measure part : {Measure::kTorchairPy, Measure::kTorchairCpp}) {
      if (!Matters(part)) continue;
      const SummaryRow* row = Measured(part);
      Add<kTorchAirTime>(ShareOfHead(InUs(row->spread.p50)), LossIn(part, *row),
                         Translated(InfoOf(part).title), InUs(row->spread.p50));
    }
  }

  void AdviseOnGe() {
    const SummaryRow* exec = Measured(Measure::kGeExec);
    if (exec == nullptr) return;
    const double p50 = InUs(exec->spread.p50);
    const double share = ShareOfHead(p50);
    const Loss loss = LossIn(Measure::kGe, *exec);
    const ChildRow copy = Sum(Measure::kGe, "event", "InputCopy");
    const bool refreshes = AllOf(Engine::kGeStatic) && Matters(PerCall(copy.total), copy.total);
    if (AllOf(Engine::kGeDynamic) && Matters(Measure::kGeExec)) {
      const std::int64_t launches =
          Sum(Measure::kGe, kLaunch).count + Sum(Measure::kGe, kOfWhichLaunch).count;
      Add<kOperatorDispatch>(
          share, loss, CountPerCall(launches),
          launches > 0 ? InUs(exec->spread.sum) / static_cast<double>(launches) : 0.0);
    } else if (refreshes) {
      Add<kArgumentRefresh>(ShareOfHead(PerCall(copy.total)), LossIn(Measure::kGe, copy),
                            PerCall(copy.total));
    } else if (Matters(Measure::kGeExec)) {
      Add<kGeExecution>(share, loss, p50);
    }
  }

  void AdviseOnEpilogue() {
    const SummaryRow* exec = Measured(Measure::kGeExec);
    const SummaryRow* cpp = Measured(Measure::kEpilogueCpp);
    const SummaryRow* py = Measured(Measure::kEpiloguePy);
    if (exec == nullptr || (cpp == nullptr && py == nullptr)) return;
    const TimeNs epilogue =
        (cpp != nullptr ? cpp->spread.p50 : 0) + (py != nullptr ? py->spread.p50 : 0);
    if (epilogue <= exec->spread.p50) return;
    const ChildRow outputs = Sum(Measure::kEpilogue, "of_which_outputs", "aten::set_");
    Loss loss{NameOf(Measure::kGe), 0, {}};
    for (const Call* call : calls_) {
      *loss.cost += call->Of(Measure::kEpilogue).value_or(0);
      loss.gain =
          Plus(loss.gain, Since(call->IdleOf(Measure::kGe), call->IdleOf(Measure::kGeExec)));
    }
    Add<kOutputHandling>(InUs(epilogue), loss, InUs(epilogue), InUs(exec->spread.p50),
                         CountPerCall(outputs.count))
        .threshold = InUs(exec->spread.p50);
  }

  void AdviseOnEagerRuns() {
    const SummaryRow* run = Measured(Measure::kTorchairPy);
    Add<kEagerGraph>(static_cast<double>(calls_.size()),
                     run != nullptr ? LossIn(Measure::kTorchairPy, *run) : Loss{{}, 0, {}});
  }

  void AdviseOnOutliers() {
    const double ratio = head_.p50 > 0 ? InUs(head_.p90) / InUs(head_.p50) : 0;
    if (ratio <= Limit(kOutlierRatio)) return;
    Loss stretched{{}, 0, {}};  // of no part, and whether the device waited longer is not known
    std::vector<std::string> outliers;
    constexpr std::size_t kMax = 5;
    for (const Call* call : calls_) {
      const double limit = Limit(kOutlierRatio) * static_cast<double>(head_.p50);
      if (static_cast<double>(call->Head()) <= limit) continue;
      *stretched.cost += call->Head() - head_.p50;
      if (outliers.size() == kMax) continue;
      const auto parts = call->Parts();
      const auto grown = std::ranges::max_element(parts, [&](Measure a, Measure b) {
        return call->Of(a).value_or(0) < call->Of(b).value_or(0);
      });
      outliers.push_back(Say("call {} {:.1f} us, {}, device {}", call->id, InUs(call->Head()),
                             Translated(InfoOf(*grown).title), DeviceText(*call)));
    }
    Add<kStretchedCalls>(ratio, stretched, fmt::join(outliers, "; "));
  }
};

}  // namespace

void AdviseOnGraph(const AdviceInput& input, const Scope& scope,
                   std::span<const SummaryRow> summary, std::span<const ChildRow> children,
                   std::vector<AdviceRow>& rows) {
  GraphAdvice(input, scope, summary, children, rows).Give();
}

}  // namespace mpa::head
