// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/open_fusions.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/part/fusion_patterns.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/mfu/shapes.h"

namespace mpa {

inline constexpr Threshold kAttentionSequence{"sequence", 128, 0, 1e9,
                                              "shorter sequences gain little from a fused kernel"};

/// The known fusions in the kernels of one rank.
class KnownChains {
 public:
  /// Refers to the part and the thresholds, which must outlive it.
  KnownChains(const RankDiagnosis& part, RankIndex rank, const Thresholds& thresholds);

  /// What the run is a case of.
  struct Found {
    const FusionPattern* pattern = nullptr;
    const FusionBreaker* breaker = nullptr;  ///< null: nothing stands between the pieces
    bool gains_little = false;               ///< attention over short rows
    FusibleRun run;
  };
  /// In order of time, stream by stream. A kernel belongs to one of them at most; of several that
  /// it could belong to, the one with most pieces has it.
  std::vector<Found> Find() const;

  /// False where neither types of kernels nor operators tell what kernels do.
  bool IsJudged() const { return is_judged_; }

 private:
  // What one kernel does, or all those of one operator.
  struct Item {
    std::vector<std::uint32_t> kernels;
    FusionRoles roles;
    std::uint32_t tensors = 0;  // position in the tensors
    bool is_known = false;      // something tells what it does
    bool updates = false;       // part of an optimizer
    bool waits = false;         // for a collective
    TimeNs begin = 0, end = 0, time = 0;
    std::int32_t step = -1;
  };
  // Numbers of elements; none: not recorded.
  struct Tensors {
    std::vector<std::int64_t> read, written;
    std::int64_t last = 0;      // the innermost axis of the first input; 0: not recorded
    bool adds_bias = false;     // reads a smaller tensor, too
    bool is_batched = false;    // a product of many pairs at once
    bool is_scalar = false;     // reads single numbers alone: a counter of batches
    bool is_inference = false;  // only models that answer run it
  };
  struct Step {
    std::size_t item = 0;               // of the stream
    const FusionItem* piece = nullptr;  // null: it only stands between
  };
  struct Match {
    std::vector<Step> steps;
    const FusionPattern* pattern = nullptr;
    const FusionBreaker* breaker = nullptr;
    std::size_t pieces = 0, between = 0;
  };

  void AddTensors();
  static Tensors TensorsOf(const FusionRoles& roles, const Shapes& read, const Shapes& written);
  void AddItems();
  Match BestAt(std::size_t at, const std::vector<Item>& stream) const;
  bool IsRatherNext(const Match& match, const std::vector<Item>& stream) const;
  bool Extend(const FusionPattern& pattern, const FusionChain& chain, std::size_t piece,
              std::size_t at, const std::vector<Item>& stream, std::vector<Step>& steps) const;
  bool CanFollow(const std::vector<Item>& stream, const std::vector<Step>& steps,
                 std::size_t next) const;
  bool IsBias(const FusionChain& chain, const Item& item) const;
  bool DependsElsewhere(const Item& before, const Item& next) const;
  const Tensors& Of(const Item& item) const;
  bool Flows(const Item& from, const Item& to) const;
  bool IsWorthIt(const Match& match, const std::vector<Item>& stream) const;
  bool IsOfShortRows(const Match& match, const std::vector<Item>& stream) const;
  FusibleRun RunOf(const Match& match, const std::vector<Item>& stream) const;

  const RankDiagnosis& part_;
  const std::vector<GraphNode>& nodes_;
  const std::size_t rank_;
  const Thresholds& thresholds_;
  bool is_judged_ = false, trains_ = false;
  std::vector<FusionRoles> roles_;  // by kind, or by operator
  std::vector<Tensors> tensors_;    // at the same place
  std::vector<std::vector<Item>> streams_;
  std::vector<std::pair<TimeNs, std::pair<std::size_t, std::size_t>>>
      by_begin_;  // items of all streams: when, stream, position
};

/// By node: kernels that a collective releases, also by way of a wait on their stream.
std::vector<bool> NeedCollective(const RankDiagnosis& part);

}  // namespace mpa
