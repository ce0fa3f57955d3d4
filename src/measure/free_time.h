// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mpa/measure/device_work.h"
#include "mpa/measure/host_timeline.h"
#include "mpa/measure/launch_chain.h"

namespace mpa {

/// A stretch in which the device had nothing to do.
struct FreeGap {
  TimeNs begin = 0, end = 0;
  /// What ended it; empty: nothing in the same window did.
  std::optional<std::uint32_t> next = std::nullopt;
  /// What ran last before it, if anything.
  std::optional<std::uint32_t> last = std::nullopt;
  std::uint8_t tags = 0;
};

/// Says what the host did in the free time of a device. Refers to the rank, the items and the
/// timeline, which must outlive it.
class FreeTime {
 public:
  /// `host`: null if nobody has it.
  FreeTime(const RankTrace& trace, const HostClock& clock, std::span<const DeviceItem> items,
           const HostTimeline* host);

  /// Of the items that begin at `time` the one that was launched last, of these the one on the
  /// smallest stream. Empty: none begins then.
  std::optional<std::uint32_t> StartingAt(TimeNs time) const;
  /// To be called with all gaps, in order of time, before anything below. From then on it is known
  /// how long launches usually take to reach the device, and what the host did in the gaps.
  void Learn(const std::vector<FreeGap>& gaps);
  /// Appends the pieces of the gap, which fill it.
  void Explain(const FreeGap& gap, std::vector<Piece>& pieces);
  /// From the first to the last record of the host, on the clock of the device.
  Interval HostSpan() const {
    return {host_->Span().begin - clock_.offset, host_->Span().end - clock_.offset};
  }
  bool HasHost() const { return host_->HasAny(); }
  /// The call that ended in the gap and had waited since before it.
  std::optional<std::int32_t> DrainingCall(const FreeGap& gap) const;

 private:
  struct Cut {  // a part of the gap being explained, on the clock of the host
    TimeNs begin, end;
  };
  std::optional<LaunchChain> ChainOf(std::uint32_t item) const;
  std::optional<std::int32_t> StreamWait(const FreeGap& gap) const;
  bool IsInGraph(const FreeGap& gap, const LaunchChain& chain) const;
  void ExplainTail(const Cut& gap);
  void ExplainChain(const Cut& gap, const LaunchChain& chain, bool ends_in_copy);
  void AddLatency(const Cut& range, std::int32_t blocked_track);
  void AddProducer(std::int32_t track, const Cut& range);
  void AddOther(std::int32_t track, const Cut& range, const HostPiece* own);
  void AddRest(std::int32_t track, const Cut& range, const HostPiece* own);
  void AddHost(const HostPiece& piece, Confidence confidence);
  void Add(const Cut& range, TimeCategory category, PieceTable table, std::int32_t row,
           Confidence confidence);

  const RankTrace& trace_;
  const HostClock& clock_;
  std::span<const DeviceItem> items_;
  LaunchChains chains_;
  const HostTimeline* host_;
  std::optional<HostTimeline> own_host_;
  Intervals collections_;                                     // of garbage
  std::vector<std::pair<TimeNs, std::int32_t>> requests_;     // work asked for, with the thread
  std::map<std::int64_t, std::vector<std::uint32_t>> waits_;  // tasks by stream, in order of end
  TimeNs usual_latency_ = 0;

  // Of the gap being explained.
  std::vector<Piece>* pieces_ = nullptr;
  std::size_t first_piece_ =
      0;  // what was there before belongs to another gap, perhaps another step
  std::uint8_t tags_ = 0;
  Confidence known_ = Confidence::kExact;
};

}  // namespace mpa
