// SPDX-License-Identifier: Apache-2.0
// Host records of calls and launches.
#include "host_records.h"

#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "time_order.h"

namespace mpa::raw {
namespace {

struct Api {
  TimeNs start = 0, end = 0;
  std::uint64_t item = 0;
  std::uint32_t type = 0, thread = 0, request = 0;
  std::uint16_t level = 0;
};

auto KeyOf(const Api& api) {
  return std::tie(api.level, api.type, api.thread, api.request, api.item);
}

// Puts together halves with equal keys: the first is the begin, the second the end.
void PairHalves(std::vector<Api>& halves, std::vector<Api>& ranges, Issues& issues) {
  std::ranges::stable_sort(halves, [](const Api& a, const Api& b) {
    return std::tuple_cat(KeyOf(a), std::tie(a.start)) <
           std::tuple_cat(KeyOf(b), std::tie(b.start));
  });
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if (i + 1 == halves.size() || KeyOf(halves[i]) != KeyOf(halves[i + 1])) {
      issues.Count("host call left out, its other half is missing", "api_event.data");
      continue;
    }
    ranges.push_back(halves[i]);
    ranges.back().end = halves[++i].start;
  }
}

std::vector<Api> ReadRanges(const HostInput& input) {
  constexpr std::string_view kStem = "api_event.data";
  std::vector<Api> ranges, halves;
  ranges.reserve(CountRecords(input.files, kStem, 40));
  ForEachHostRecord<40>(
      input.files, kStem, input.issues, [&](const Record<40>& record, const Slice& slice) {
        Api api{.start = input.clock.HostNs(record.U64(16)),
                .item = record.U64(32),
                .type = record.U32(4),
                .thread = record.U32(8),
                .request = record.U32(12),
                .level = record.U16(2)};
        const bool half = record.U64(24) == std::numeric_limits<std::uint64_t>::max();
        api.end = half ? api.start : input.clock.HostNs(record.U64(24));
        // Records that do not age may be from long before the collection.
        const bool ages = slice.aging && static_cast<Level>(api.level) != Level::kModel;
        const bool plausible = record.U64(16) > 0 && (!ages || input.clock.IsPlausible(api.start));
        if (!plausible || !IsRange(api.start, api.end)) {
          input.issues.Count("host call left out, its times are invalid", kStem);
          return;
        }
        (half ? halves : ranges).push_back(api);
      });
  PairHalves(halves, ranges, input.issues);
  std::ranges::stable_sort(ranges, [](const Api& a, const Api& b) {
    return std::tie(a.start, b.level, b.end) < std::tie(b.start, a.level, a.end);
  });
  constexpr std::size_t kMax = std::numeric_limits<std::int32_t>::max();
  if (ranges.size() > kMax) ranges.resize(kMax);  // rows are numbered with 32 bits
  return ranges;
}

// Tasks of a stream and the wraps of its task ids.
struct StreamKey {
  std::uint16_t device = 0;
  std::uint32_t stream = 0;
  auto operator<=>(const StreamKey&) const = default;
};

constexpr std::uint32_t kFlipTask = 98, kMaintenance = 6;
constexpr std::uint16_t kStreamDestroyed = 65535;

struct Flip {
  StreamKey key;
  TimeNs time = 0;
  std::uint32_t task = 0;  ///< id of the flip task itself
  std::uint16_t number = 0;
};

// Gives the tasks of one stream, in order of time, their batches: one more after each flip. Threads
// that request ids at the same time may be recorded before the flip although they come after it.
void CountBatches(std::vector<HostTask>& tasks, std::span<const std::uint32_t> rows,
                  std::span<const Flip> flips) {
  std::uint16_t batch = 0;
  std::size_t next = 0, settled = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (; next < flips.size() && tasks[rows[i]].time > flips[next].time; ++next) {
      ++batch;
      if (flips[next].number == kStreamDestroyed) continue;
      for (std::size_t back = i; back > settled; --back) {
        HostTask& before = tasks[rows[back - 1]];
        if (before.task >= flips[next].task) break;
        before.batch = batch;
      }
      settled = i;
    }
    tasks[rows[i]].batch = batch;
  }
}

// `tasks` and `flips` are in order of time.
void SetBatches(std::vector<HostTask>& tasks, std::vector<Flip>& flips) {
  if (flips.empty()) return;
  std::ranges::stable_sort(flips, {}, &Flip::key);
  std::vector<std::uint32_t> rows(tasks.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i);
  const auto key_of = [&](std::uint32_t row) {
    return StreamKey{tasks[row].device, tasks[row].stream};
  };
  std::ranges::stable_sort(rows,
                           [&](std::uint32_t a, std::uint32_t b) { return key_of(a) < key_of(b); });
  for (std::size_t begin = 0; begin < rows.size();) {
    const StreamKey key = key_of(rows[begin]);
    std::size_t end = begin;
    while (end < rows.size() && key_of(rows[end]) == key) ++end;
    const auto [first, last] =
        std::equal_range(flips.begin(), flips.end(), Flip{.key = key},
                         [](const Flip& a, const Flip& b) { return a.key < b.key; });
    CountBatches(tasks, std::span(rows).subspan(begin, end - begin), {first, last});
    begin = end;
  }
}

// `wide`: of task_track_v2.
HostTask ReadHostTask(const HostInput& input, const Record<kCompactSize>& record, bool wide) {
  const HostRecordHead head = HeadOf(record);
  const std::uint32_t id = record.U32(wide ? 32 : 28);
  HostTask task{.time = input.clock.HostNs(head.time),
                .thread = head.thread,
                .function = record.U64(40),
                .stream = wide ? record.U32(28) : record.U16(26),
                .task = input.wide_task_ids ? id : id & 0xFFFF,
                .type = wide ? record.U32(36) : static_cast<std::uint32_t>(record.U64(32)),
                .device = static_cast<std::uint16_t>(record.U16(24) & 0x0FFF)};
  if (constexpr std::uint32_t kWithExtension = 40; head.length == kWithExtension) {
    task.has_blocks = true;
    task.blocks = record.U16(48);
    task.mix_blocks = task.blocks * (record.U8(52) & 7);
  }
  return task;
}

// Calls visit(record, head) for the additional or compact records of a stem.
template <std::size_t kSize, typename T, typename Fill>
std::vector<T> ReadRecords(const HostInput& input, std::string_view stem, Fill fill) {
  std::vector<T> records;
  records.reserve(CountRecords(input.files, stem, kSize));
  ForEachJudgedRecord<kSize>(input, stem, [&](const Record<kSize>& record, const Slice& slice) {
    T& row = records.emplace_back();
    row.time = input.clock.HostNs(record.U64(16));
    row.thread = record.U32(8);
    fill(record, slice, row);
  });
  SortByTime(records);
  return records;
}

}  // namespace

bool HeadJudge::IsOfKind(const HostRecordHead& head) {
  if (head.level == last_.level && head.type == last_.type) return last_is_of_kind_;
  last_ = head;
  // Files are named after the types in them; the second form of a kind (task_track_v2) has the type
  // of the first.
  const std::string_view listed = input_.dictionary.ListedType(head.level, head.type);
  std::string_view kind = stem_.substr(stem_.find('.') + 1);
  if (kind.ends_with("_v2") && !listed.ends_with("_v2")) kind.remove_suffix(3);
  last_is_of_kind_ = head.level > 0 && (listed.empty() || listed == kind);
  return last_is_of_kind_;
}

bool HeadJudge::Accepts(const HostRecordHead& head, const Slice& slice) {
  if (!IsOfKind(head)) {
    input_.issues.Count("record left out, it is of another kind than its file", stem_);
    return false;
  }
  // Records that do not age may be from long before the collection.
  const bool plausible =
      head.time > 0 && (!slice.aging || input_.clock.IsPlausible(input_.clock.HostNs(head.time)));
  if (!plausible) {
    input_.issues.Count("record may be lost, its time is far from the collection", stem_);
  }
  return true;
}

void ReadHostCalls(const HostInput& input, HostCalls& calls) {
  const std::vector<Api> ranges = ReadRanges(input);
  calls.Reserve(ranges.size());
  for (const Api& api : ranges) {
    const auto level = static_cast<Level>(api.level);
    const bool named = level == Level::kNode || level == Level::kCommunication;
    calls.Append({{.start = api.start,
                   .dur = api.end - api.start,
                   .name = input.dictionary.TypeName(api.level, api.type),
                   .item = named && api.item != 0 ? input.dictionary.Text(api.item) : StringId{},
                   .request = level == Level::kModel ? std::int64_t{api.request} : -1},
                  {.level = level, .type = api.type, .item_id = api.item, .thread = api.thread}});
  }
}

std::vector<HostTask> ReadHostTasks(const HostInput& input) {
  // Runtimes that write both write the same tasks.
  constexpr std::string_view kNarrow = "compact.task_track", kWide = "compact.task_track_v2";
  const bool wide = CountRecords(input.files, kNarrow, 1) == 0;
  const std::string_view stem = wide ? kWide : kNarrow;
  std::vector<HostTask> tasks;
  std::vector<Flip> flips;
  tasks.reserve(CountRecords(input.files, stem, kCompactSize));
  ForEachJudgedRecord<kCompactSize>(
      input, stem, [&](const Record<kCompactSize>& record, const Slice&) {
        if (constexpr int kDpu = 1; record.U16(24) >> 12 == kDpu) return;
        const HostTask task = ReadHostTask(input, record, wide);
        if (task.type == kFlipTask && !input.wide_task_ids) {
          flips.push_back({.key = {task.device, task.stream},
                           .time = task.time,
                           .task = task.task,
                           .number = record.U16(wide ? 34 : 30)});
        } else if (task.type != kMaintenance && task.type != kFlipTask) {
          tasks.push_back(task);
        }
      });
  SortByTime(tasks);
  SortByTime(flips);
  if (input.batches) SetBatches(tasks, flips);
  return tasks;
}

std::vector<NodeInfo> ReadNodeInfos(const HostInput& input) {
  std::vector<NodeInfo> nodes = ReadRecords<kCompactSize, NodeInfo>(
      input, "compact.node_basic_info",
      [](const Record<kCompactSize>& record, const Slice& slice, NodeInfo& node) {
        node.name = record.U64(24);
        node.core = record.U32(32);
        node.op_type = record.U64(36);
        node.blocks = record.U32(44);
        node.hf32 = record.U32(48) != 0;
        node.dynamic = slice.aging;
      });
  constexpr std::uint32_t kFftsPlus = 6;  // stands for a whole group, not for an operator
  std::erase_if(nodes, [](const NodeInfo& node) { return node.core == kFftsPlus; });
  return nodes;
}

std::vector<NodeAttributes> ReadNodeAttributes(const HostInput& input) {
  return ReadRecords<kCompactSize, NodeAttributes>(
      input, "compact.node_attr_info",
      [](const Record<kCompactSize>& record, const Slice&, NodeAttributes& attributes) {
        attributes.name = record.U64(24);
        attributes.text = record.U64(36);
      });
}

std::vector<ContextIds> ReadContextIds(const HostInput& input) {
  return ReadRecords<kAdditionalSize, ContextIds>(
      input, "additional.context_id_info",
      [](const Record<kAdditionalSize>& record, const Slice&, ContextIds& contexts) {
        contexts.level = static_cast<Level>(record.U16(2));
        contexts.name = record.U64(24);
        constexpr std::uint32_t kMax = 55;
        const std::uint32_t count = std::min(record.U32(32), kMax);
        for (std::uint32_t i = 0; i < count; ++i) {
          contexts.ids.push_back(record.U32(36 + 4 * std::size_t{i}));
        }
      });
}

std::vector<CopyInfo> ReadCopyInfos(const HostInput& input) {
  return ReadRecords<kCompactSize, CopyInfo>(
      input, "compact.memcpy_info",
      [](const Record<kCompactSize>& record, const Slice&, CopyInfo& copy) {
        copy.bytes = record.U64(24);
        copy.bytes_per_task = record.U64(32);
        copy.direction = record.U16(40);
      });
}

std::vector<PartInfo> ReadPartInfos(const HostInput& input) {
  return ReadRecords<kAdditionalSize, PartInfo>(
      input, "additional.hccl_info",
      [](const Record<kAdditionalSize>& record, const Slice&, PartInfo& part) {
        part.name = record.U64(24);
        part.group = record.U64(40);
        part.local_rank = record.U32(48);
        part.remote_rank = record.U32(52);
        part.rank_size = record.U32(56);
        part.plane = record.U32(64);
        part.context = record.U32(68);
        part.notify = record.U64(72);
        part.estimated = std::isfinite(record.F64(88)) ? record.F64(88) : 0;
        part.bytes = record.Count(112);
        part.data_type = record.U32(124);
        part.link = record.U32(128);
        part.transport = record.U32(132);
        part.rdma = record.U32(136);
      });
}

std::vector<CollectiveInfo> ReadCollectiveInfos(const HostInput& input) {
  return ReadRecords<kCompactSize, CollectiveInfo>(
      input, "compact.hccl_op_info",
      [](const Record<kCompactSize>& record, const Slice&, CollectiveInfo& info) {
        info.relay = (record.U8(24) & 1) != 0;
        info.retry = (record.U8(24) & 2) != 0;
        info.data_type = record.U8(25);
        info.algorithm = record.U64(26);
        info.group = record.U64(42);
        info.count = record.Count(34);
      });
}

bool HasWideStreams(const HostInput& input) {
  bool wide = false;
  // Not seen in real data.
  ForEachHostRecord<kCompactSize>(
      input.files, "compact.expand_stream_spec", input.issues,
      [&](const Record<kCompactSize>& record, const Slice&) { wide = record.U8(24) == 1; });
  return wide;
}

}  // namespace mpa::raw
