// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph_capture.h"
#include "host_records.h"
#include "mpa/raw/call_tables.h"
#include "tensors.h"

/// Which call was made within which, per thread, and which records were written within a call.
namespace mpa::raw {

/// For each row of HostCalls the rows around it; -1: none. Runtime calls and those within a call of
/// the same level (but for nodes) are not in the tree: their columns are -1.
struct HostTree {
  std::vector<std::uint8_t> in_tree;
  std::vector<std::int32_t> parent;         ///< innermost call around it
  std::vector<std::int32_t> node;           ///< innermost node range, itself included
  std::vector<std::int32_t> outer_node;     ///< outermost node range, itself included
  std::vector<std::int32_t> communication;  ///< innermost communication range, itself included
  std::vector<std::int32_t> model;          ///< innermost model range, itself included
};

/// `calls` in their order.
HostTree BuildHostTree(const HostCalls& calls);

/// An instant on a thread.
struct Moment {
  TimeNs time = 0;
  std::int64_t thread = -1;
};

/// For each moment the innermost call of the tree with start < time <= end; -1: none. Linear when
/// the moments are in order of time.
std::vector<std::int32_t> CallsAround(const HostCalls& calls, const HostTree& tree,
                                      std::span<const Moment> moments);

/// The same for records with members `time` and `thread`.
template <typename T>
std::vector<std::int32_t> CallsAroundRecords(const HostCalls& calls, const HostTree& tree,
                                             const std::vector<T>& records) {
  std::vector<Moment> moments;
  moments.reserve(records.size());
  for (const T& record : records) moments.push_back({record.time, record.thread});
  return CallsAround(calls, tree, moments);
}

/// The records of each call, in their own order.
class RecordsOfCalls {
 public:
  RecordsOfCalls() = default;
  /// `call_of` holds the call of each record, -1: none.
  RecordsOfCalls(std::size_t calls, const std::vector<std::int32_t>& call_of);

  /// Positions of the records of a call; nothing for -1.
  std::span<const std::uint32_t> Of(std::int32_t call) const {
    if (call < 0) return {};
    const auto row = static_cast<std::size_t>(call);
    return std::span(records_).subspan(starts_[row], starts_[row + 1] - starts_[row]);
  }

 private:
  std::vector<std::uint32_t> starts_, records_;
};

/// Records by the call in which they were written and by a number of theirs.
class NumberedRecords {
 public:
  struct Entry {
    std::int32_t call = -1;
    std::uint64_t number = 0;
    std::uint32_t record = 0;  ///< its position
  };

  NumberedRecords() = default;
  /// Of entries with one call and number, the order is kept.
  explicit NumberedRecords(std::vector<Entry> entries);

  /// Nothing for call -1.
  std::span<const Entry> Of(std::int32_t call, std::uint64_t number) const;
  /// Whether any record was written in the call.
  bool HasCall(std::int32_t call) const;

 private:
  std::vector<Entry> entries_;
};

/// Maps the calls around records to calls of one level: AtLevel(around, tree.outer_node).
std::vector<std::int32_t> AtLevel(std::vector<std::int32_t> around,
                                  const std::vector<std::int32_t>& level);

/// The host's records of a capture, apart from its calls; lives while the capture is read.
struct HostSide {
  HostTree tree;
  std::vector<HostTask> tasks;             ///< in order of time
  std::vector<std::int32_t> call_of_task;  ///< innermost call around each task; -1: none

  std::vector<NodeInfo> nodes;
  RecordsOfCalls nodes_of;        ///< by the innermost node range, in order of time
  NumberedRecords nodes_by_name;  ///< the same, by hash of the name
  // By the outermost node range and the hash of the name.
  std::vector<NodeAttributes> attributes;
  NumberedRecords attributes_by_name;
  std::vector<TensorRecord> tensors;
  NumberedRecords tensors_by_name;

  std::vector<ContextIds> contexts;
  NumberedRecords contexts_by_id;  ///< of nodes: by the outermost node range and each context
  RecordsOfCalls contexts_of_communication;

  GraphCapture capture;
};

/// `calls` are those of the session, complete and in order.
HostSide ReadHostSide(const HostInput& input, const HostCalls& calls, TensorSets& sets);

}  // namespace mpa::raw
