// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advice.h"
#include "call.h"

namespace mpa::head {

// Whom to ask.
inline constexpr std::string_view kPlatform = kPlatformPart.owner;
inline constexpr std::string_view kPyTorch = "PyTorch Dynamo";
inline constexpr std::string_view kScript = "script";
inline constexpr std::string_view kTorchAir = "TorchAir: Ascend technical support";
inline constexpr std::string_view kGe = "GE: Ascend technical support";

inline double Us(TimeNs time) { return static_cast<double>(time) / 1e3; }
/// "3" or "2.5", of what is counted for each call.
std::string CountText(double count);

/// What a rule is about: in all its calls the time of the host, and of it the idle time of the
/// device; empty where that is unknown.
struct Loss {
  std::string_view part;
  TimeNs cost = 0;
  MaybeNs gain{};
};

// The rows of the tables that are about one scope.
struct ScopeRows {
  std::span<const SummaryRow> summary;
  std::span<const ChildRow> children;
};

// The rules on the steady calls of one graph.
class GraphAdvice {
 public:
  GraphAdvice(const AdviceInput& input, const Scope& scope, const ScopeRows& of_scope,
              std::vector<AdviceRow>& rows);

  void Give();

 private:
  const SummaryRow* Measured(std::string_view measure) const {
    for (const SummaryRow* row : summary_) {
      if (row->measure == measure) return row;
    }
    return nullptr;
  }
  // All children of a kind, or of one name of it.
  ChildRow Sum(ChildSegment segment, std::string_view kind, std::string_view name = {}) const;
  std::int64_t Count() const { return static_cast<std::int64_t>(calls_.size()); }
  double PerCall(TimeNs total) const { return Us(total) / static_cast<double>(Count()); }
  double PerCallCount(std::int64_t count) const {
    return static_cast<double>(count) / static_cast<double>(Count());
  }

  // Of the head, for one call, in %.
  double ShareOfHead(double us) const { return head_.p50 > 0 ? us / Us(head_.p50) * 100 : 0; }
  bool Matters(double typical_us, TimeNs total) const {
    const bool of_step = step_time_ > 0 && static_cast<double>(total) / step_time_ * 100 >=
                                               limits_.segment_step_share;
    return typical_us > 0 && (ShareOfHead(typical_us) >= limits_.segment_share || of_step);
  }
  bool Matters(std::string_view measure) const {
    const SummaryRow* row = Measured(measure);
    return row != nullptr && Matters(Us(row->spread.p50), row->spread.sum);
  }

  static Loss LossIn(const Part& part, const ChildRow& row) {
    return {part.measure, row.total, row.exposed};
  }
  static Loss LossIn(const Part& part, const SummaryRow& row) {
    return {part.measure, row.spread.sum, row.exposed_sum};
  }

  void Add(std::string_view rule, std::string_view owner, std::string text, std::string_view metric,
           double value, double threshold, const Loss& loss);

  // The longest children of a segment by name: "aten::index 120.0 us".
  std::string Longest(ChildSegment segment) const;

  // Whether a graph is loaded or captured behind a steady call.
  bool LoadsAgain() const;

  void AdviseOnPlatform();
  void AdviseOnLookup();
  void AdviseOnConversions();
  void AdviseOnQueue();
  void AdviseOnSync();
  void AdviseOnTorchAir(bool causes_known);

  bool AllOf(Engine engine) const {
    return std::all_of(calls_.begin(), calls_.end(),
                       [&](std::size_t i) { return input_.calls[i].engine == engine; });
  }

  void AdviseOnGe();
  void AdviseOnEpilogue();
  void AdviseOnEagerRuns();
  void AdviseOnOutliers();

  static std::string_view DeviceText(const Call& call);

  const AdviceInput& input_;
  const Thresholds& limits_;
  const Scope& scope_;
  std::vector<AdviceRow>& rows_;
  std::vector<std::size_t> calls_;  // steady ones
  std::vector<const SummaryRow*> summary_;
  std::vector<const ChildRow*> children_;
  Spread head_;
  double step_time_ = 0;  // ns of all steps with such calls; 0: no steps
  std::int64_t steps_ = 0;
};

}  // namespace mpa::head
