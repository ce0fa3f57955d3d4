// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "clock.h"
#include "dictionary.h"
#include "mpa/model/issues.h"
#include "mpa/raw/call_tables.h"
#include "slices.h"

/// The records of host/data, reduced to the needed fields.
namespace mpa::raw {

/// The data that the readers of host records share.
struct HostInput {
  const DataFiles& files;
  const Clock& clock;
  Dictionary& dictionary;
  Issues& issues;
  bool wide_task_ids = false;  ///< 32 bits, no batches
  bool batches = false;        ///< task ids wrap, flips record when
};

/// Fills `calls` from api_event.data, in its order; halves of ranges are put together.
void ReadHostCalls(const HostInput& input, HostCalls& calls);

/// A task that was handed to the runtime (task_track).
struct HostTask {
  TimeNs time = 0;
  std::int64_t thread = -1;
  std::uint64_t function = 0;  ///< hash of the kernel function's name; 0: none
  std::uint32_t stream = 0, task = 0;
  std::uint32_t type = 0;
  std::uint32_t blocks = 0, mix_blocks = 0;
  std::uint16_t device = 0;
  std::uint16_t batch = 0;
  bool has_blocks = false;  ///< the record says how many blocks
};

/// In order of time, with batches.
std::vector<HostTask> ReadHostTasks(const HostInput& input);

/// The facts about an operator by its name (node_basic_info).
struct NodeInfo {
  TimeNs time = 0;
  std::int64_t thread = -1;
  std::uint64_t name = 0, op_type = 0;  ///< hashes
  std::uint32_t core = 0;               ///< number of the GE task type
  std::uint32_t blocks = 0;             ///< low half blocks, high half the mix ratio
  bool hf32 = false, dynamic = false;
};
std::vector<NodeInfo> ReadNodeInfos(const HostInput& input);

/// The hash of an operator's attributes (node_attr_info).
struct NodeAttributes {
  TimeNs time = 0;
  std::int64_t thread = -1;
  std::uint64_t name = 0, text = 0;  ///< hashes
};
std::vector<NodeAttributes> ReadNodeAttributes(const HostInput& input);

/// FFTS+ contexts of an operator or of a part of a collective (context_id_info).
struct ContextIds {
  TimeNs time = 0;
  std::int64_t thread = -1;
  Level level{};           ///< kNode: `ids` is a list; kCommunication: first and last of a range
  std::uint64_t name = 0;  ///< hash
  std::vector<std::uint32_t> ids;
};
std::vector<ContextIds> ReadContextIds(const HostInput& input);

/// A copy (memcpy_info).
struct CopyInfo {
  TimeNs time = 0;
  std::int64_t thread = -1;
  std::uint64_t bytes = 0, bytes_per_task = 0;
  std::uint16_t direction = 0;
};
std::vector<CopyInfo> ReadCopyInfos(const HostInput& input);

/// A part of a collective (hccl_info). Numbers as recorded.
struct PartInfo {
  TimeNs time = 0;
  std::int64_t thread = -1;
  std::uint64_t name = 0, group = 0;  ///< hashes
  std::uint32_t local_rank = 0, remote_rank = 0, rank_size = 0;
  std::uint32_t plane = 0, context = 0;
  std::uint64_t notify = 0;
  double estimated = 0;  ///< µs
  std::int64_t bytes = 0;
  std::uint32_t data_type = 0, link = 0, transport = 0, rdma = 0;
};
/// In order of time.
std::vector<PartInfo> ReadPartInfos(const HostInput& input);

/// Parameters of a collective (hccl_op_info).
struct CollectiveInfo {
  TimeNs time = 0;
  std::int64_t thread = -1;
  bool relay = false, retry = false;
  std::uint8_t data_type = 0;
  std::uint64_t algorithm = 0, group = 0;  ///< hashes
  std::int64_t count = 0;                  ///< elements
};
/// In order of time.
std::vector<CollectiveInfo> ReadCollectiveInfos(const HostInput& input);

/// True when the streams of the device use all 15 bits (expand_stream_spec).
bool HasWideStreams(const HostInput& input);

/// Judges the heads of the records in the files of one kind.
class HeadJudge {
 public:
  /// `stem`: "compact.task_track"
  HeadJudge(const HostInput& input, std::string_view stem) : input_(input), stem_(stem) {}

  /// False for a record of another kind, which is counted; a record with an impossible time is
  /// counted, too.
  bool Accepts(const HostRecordHead& head, const Slice& slice);

 private:
  bool IsOfKind(const HostRecordHead& head);

  const HostInput& input_;
  std::string_view stem_;
  HostRecordHead last_;  // most have equal levels and types
  bool last_is_of_kind_ = false;
};

/// Calls visit(Record<kSize>, const Slice&) for each compact or additional record of a stem.
template <std::size_t kSize, typename Visit>
void ForEachJudgedRecord(const HostInput& input, std::string_view stem, Visit visit) {
  HeadJudge judge(input, stem);
  ForEachHostRecord<kSize>(input.files, stem, input.issues,
                           [&](const Record<kSize>& record, const Slice& slice) {
                             if (judge.Accepts(HeadOf(record), slice)) visit(record, slice);
                           });
}

/// The records in order of time, those of one time in the order of the file.
template <typename T>
void SortByTime(std::vector<T>& records) {
  const auto earlier = [](const T& a, const T& b) { return a.time < b.time; };
  if (std::ranges::is_sorted(records, earlier)) return;
  std::ranges::stable_sort(records, earlier);
}

}  // namespace mpa::raw
