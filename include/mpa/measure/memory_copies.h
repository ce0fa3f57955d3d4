// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Which device tasks belong to operations of communication: by their connection, by their stream,
/// or because they are listed among the operations' tasks. Refers to the rank, which must outlive
/// it. Needs communications and their tasks.
class TasksOfOperations {
 public:
  explicit TasksOfOperations(const RankTrace& trace);
  bool Contains(std::size_t task) const;

 private:
  const DeviceTasks& tasks_;
  std::unordered_set<std::int64_t> connections_, streams_;
  std::vector<std::pair<TimeNs, TimeNs>> times_;  // start and duration
};

/// The copies between memories among the device tasks, without those that operations of
/// communication make: their rows. Every command takes from here what a copy is.
std::vector<std::size_t> MemoryCopies(const RankTrace& trace);

/// What kind of task it is, under one name in all formats: "MEMCPY_ASYNC", "EVENT_WAIT".
std::string_view TaskKind(const RankTrace& trace, std::size_t task);

// Which tasks of collectives move data.

/// True for an RDMASend of data. It may also send a signal of some bytes; databases tell which.
bool SendsPayload(const RankTrace& trace, std::size_t task);

/// True for the task of a collective that moves data between devices: a copy, also one that
/// reduces, unless it stays on its chip, and an RDMASend of data. Nothing of 64 bytes or less is
/// data.
bool MovesData(const RankTrace& trace, std::size_t task);

/// True for a size that is not a multiple of the 512-byte lines that engines move. What fits
/// into a line is never odd.
bool IsOddSize(std::int64_t bytes);

/// Bytes of one element of a data type as HCCL ("BFP16") or the operators ("DT_BF16" without DT_)
/// call it; 0 for one that is not known.
std::int64_t BytesOfElement(std::string_view data_type);

/// True for a size that memory or a message can have: up to 4 TiB. Larger values of a broken file
/// would overflow the sums.
constexpr bool IsSize(std::int64_t bytes) { return bytes >= 0 && bytes <= std::int64_t{1} << 42; }

/// Bytes of `count` elements; empty when the count is missing (negative), the data type is not
/// known or the product is not a size.
std::optional<std::int64_t> BytesOfElements(std::int64_t count, std::string_view data_type);

}  // namespace mpa
