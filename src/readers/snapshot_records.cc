// SPDX-License-Identifier: Apache-2.0
// Records of a memory snapshot. What is inside comes first: frames before the actions that name
// them, blocks before their segment.
#include "snapshot_records.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

#include "mpa/base/error.h"
#include "mpa/base/time.h"

namespace mpa::readers {
namespace {

using io::Pickle;
using io::PickleKind;
using io::PickleNote;
using io::PickleValue;

constexpr std::int64_t kUnknownAddress = std::numeric_limits<std::int64_t>::min();
// No address is larger, nor what all allocations of a history have together.
constexpr std::int64_t kMost = std::int64_t{1} << 61;
// Python stops at 1000 calls; those of C++ come on top. The outermost ones beyond are left out.
constexpr std::size_t kMostFrames = 4096;

// -1 for none, and for what does not fit.
TimeNs NsFromMicroseconds(std::int64_t time) {
  constexpr std::int64_t kNs = 1000;
  return time < 0 || time > std::numeric_limits<TimeNs>::max() / kNs ? -1 : time * kNs;
}

PickleNote Noted(std::uint16_t kind, std::size_t row) {
  return {kind, static_cast<std::uint32_t>(row)};
}

}  // namespace

SnapshotRecords::SnapshotRecords(const std::string& file, RankTrace& trace)
    : file_(file),
      trace_(trace),
      calls_(trace.memory_calls),
      snapshot_(static_cast<std::int32_t>(trace.memory_snapshots.Size())),
      first_call_(trace.memory_calls.Size()),
      first_segment_(trace.memory_segments.Size()),
      first_block_(trace.memory_blocks.Size()),
      first_action_(trace.memory_actions.Size()) {
  trace.memory_snapshots.Append({.file = trace.strings.Intern(file)});
}

// Texts of a pickle are looked up once: later the same number comes again.
Word SnapshotRecords::WordOf(const PickleValue& text) {
  if (text.kind != PickleKind::kText) return Word::kUnknown;
  if (text.number >= words_.size()) words_.resize(std::size_t{text.number} + 1, -1);
  std::int16_t& word = words_[text.number];
  if (word < 0) word = static_cast<std::int16_t>(readers::WordOf(pickle_->Text(text)));
  return static_cast<Word>(word);
}

StringId SnapshotRecords::TextOf(const PickleValue& text) {
  if (text.kind != PickleKind::kText) return StringId::kEmpty;
  if (text.number >= strings_.size()) strings_.resize(std::size_t{text.number} + 1, -1);
  std::int64_t& id = strings_[text.number];
  if (id < 0) id = static_cast<std::int64_t>(Index(trace_.strings.Intern(pickle_->Text(text))));
  return static_cast<StringId>(id);
}

std::optional<std::int64_t> SnapshotRecords::Number(const Record& record, Word key) {
  if (!record.Has(key) || record.Of(key).kind != PickleKind::kInteger) return std::nullopt;
  return record.Of(key).integer;
}

std::optional<std::int64_t> SnapshotRecords::Address(const Record& record, Word key) {
  const auto number = Number(record, key);
  return number && *number >= 0 && *number <= kMost ? number : std::nullopt;
}

// Sums of bytes have to fit into a number.
std::optional<std::int64_t> SnapshotRecords::Bytes(const Record& record, Word key) {
  const auto bytes = Address(record, key);
  if (bytes && (bytes_ += *bytes) > kMost)
    Fail(ErrorKind::kCorrupt, "more bytes than any device could serve");
  return bytes;
}

PickleNote SnapshotRecords::NoteOf(const Record& record, Word key) {
  if (!record.Has(key) || !record.Of(key).IsContainer()) return {};
  return pickle_->Note(record.Of(key));
}

std::int32_t SnapshotRecords::StackOf(const Record& record) {
  const PickleNote note = NoteOf(record, Word::kFrames);
  return note.kind == kStack ? static_cast<std::int32_t>(note.row) : -1;
}

void SnapshotRecords::Add(Pickle& pickle, const PickleValue& container,
                          std::span<const PickleValue> items) {
  pickle_ = &pickle;
  PickleNote& note = pickle.Note(container);
  if (container.kind == PickleKind::kList) {
    AddToList(note, items);
  } else if (container.kind == PickleKind::kTuple) {
    MakePool(note, items);
  } else {
    if (note.kind != kOther) Fail(ErrorKind::kCorrupt, "a record in several parts");
    record_.present = 0;
    for (std::size_t i = 0; i < items.size(); i += 2) {
      const auto key = static_cast<std::size_t>(WordOf(items[i]));
      if (key == 0 || key >= kKeys) continue;
      record_.values[key] = items[i + 1];
      record_.present |= std::uint64_t{1} << key;
    }
    note = AddDict(record_);
  }
}

PickleNote SnapshotRecords::AddDict(const Record& record) {
  if (record.Has(Word::kAction)) return AddAction(record);
  if (record.Has(Word::kBlocks)) return AddSegment(record);
  if (record.Has(Word::kState)) return AddBlock(record);
  if (record.Has(Word::kFilename)) return AddFrame(record);
  if (record.Has(Word::kRealSize)) return AddHistory(record);
  if (record.Has(Word::kSegments)) return AddTop(record);
  if (record.Has(Word::kMaxSplitSize)) return AddSettings(record);
  return {};
}

PickleNote SnapshotRecords::AddFrame(const Record& record) {
  const std::int64_t line = Number(record, Word::kLine).value_or(-1);
  const bool fits = line >= 0 && line <= std::numeric_limits<std::int32_t>::max();
  frame_numbers_.push_back(calls_.Number(
      {.file = TextOf(record.Of(Word::kFilename)),
       .function = record.Has(Word::kName) ? TextOf(record.Of(Word::kName)) : StringId::kEmpty,
       .line = fits ? static_cast<std::int32_t>(line) : -1}));
  return Noted(kFrame, frame_numbers_.size() - 1);
}

PickleNote SnapshotRecords::AddHistory(const Record& record) {
  histories_.push_back({Bytes(record, Word::kRealSize).value_or(-1), StackOf(record)});
  return Noted(kHistory, histories_.size() - 1);
}

PickleNote SnapshotRecords::AddBlock(const Record& record) {
  const auto bytes = Bytes(record, Word::kSize);
  const auto state = StateOf(WordOf(record.Of(Word::kState)));
  if (!bytes || !state) {
    trace_.issues.Count("block of memory left out, without a size or a state", file_);
    return Noted(kLeftOutBlock, 0);
  }
  MemoryBlocks::Row block{.address = Address(record, Word::kAddress).value_or(kUnknownAddress),
                          .bytes = *bytes,
                          .requested = Bytes(record, Word::kRequestedSize).value_or(-1),
                          .state = *state,
                          .stack = StackOf(record)};
  // Until PyTorch 2.0; the first is the newest.
  if (const PickleNote history = NoteOf(record, Word::kHistory); history.kind == kHistories) {
    if (block.requested < 0) block.requested = histories_[history.row].bytes;
    if (block.stack < 0) block.stack = histories_[history.row].stack;
  }
  trace_.memory_blocks.Append(block);
  return Noted(kBlock, trace_.memory_blocks.Size() - 1);
}

PickleNote SnapshotRecords::AddSegment(const Record& record) {
  const auto address = Address(record, Word::kAddress), bytes = Bytes(record, Word::kTotalSize);
  const PickleNote list = NoteOf(record, Word::kBlocks);
  const Range blocks = list.kind == kOther ? Range() : Use(list, kBlocks);
  MemorySegments& segments = trace_.memory_segments;
  const std::size_t row = segments.Size();
  if (!address || !bytes) Fail(ErrorKind::kCorrupt, "a segment without its address or size");
  const PickleNote pool = NoteOf(record, Word::kSegmentPoolId);
  segments.Append({.snapshot = snapshot_,
                   .device = Number(record, Word::kDevice).value_or(-1),
                   .address = *address,
                   .bytes = *bytes,
                   .stream = Number(record, Word::kStream).value_or(-1),
                   .pool = pool.kind == kPool ? static_cast<StringId>(pool.row) : StringId::kEmpty,
                   .is_large = record.Has(Word::kSegmentType) &&
                               WordOf(record.Of(Word::kSegmentType)) == Word::kLarge,
                   .is_expandable = record.Has(Word::kIsExpandable) &&
                                    record.Of(Word::kIsExpandable).kind == PickleKind::kBool &&
                                    record.Of(Word::kIsExpandable).integer != 0,
                   .stack = StackOf(record)});
  for (std::size_t block = blocks.first; block < std::size_t{blocks.first} + blocks.count; ++block)
    trace_.memory_blocks.segment[block] = static_cast<std::int32_t>(row);
  CheckSegment(record, blocks);
  return Noted(kSegment, row);
}

// Blocks fill their segment. Old versions give no addresses.
void SnapshotRecords::CheckSegment(const Record& record, const Range& blocks) {
  MemoryBlocks& rows = trace_.memory_blocks;
  const std::int64_t begin = *Address(record, Word::kAddress);
  std::int64_t filled = 0, allocated = 0;
  bool in_place = true;
  for (std::size_t block = blocks.first; block < std::size_t{blocks.first} + blocks.count;
       ++block) {
    if (rows.address[block] == kUnknownAddress) rows.address[block] = begin + filled;
    in_place = in_place && rows.address[block] == begin + filled;
    filled += rows.bytes[block];
    if (rows.state[block] == BlockState::kAllocated) allocated += rows.bytes[block];
  }
  if (!in_place || filled != *Number(record, Word::kTotalSize)) {
    trace_.issues.Count(Promise::kTablesAgree, "blocks that do not fill their segment", file_);
  } else if (Number(record, Word::kAllocatedSize).value_or(allocated) != allocated) {
    trace_.issues.Count(Promise::kTablesAgree,
                        "segment that counts other allocated bytes than its blocks", file_);
  }
}

PickleNote SnapshotRecords::AddAction(const Record& record) {
  const Word word = WordOf(record.Of(Word::kAction));
  const auto address = Address(record, word == Word::kOom ? Word::kDeviceFree : Word::kAddr);
  // What torch_npu holds for operators; the two actions behind it did not happen then.
  if (word == Word::kWorkspaceSnapshot || word == Word::kEmptyCache) {
    workspace_ = word == Word::kWorkspaceSnapshot ? address.value_or(0) : 0;
    if (workspace_ != 0) workspaces_.insert(workspace_);
    return Noted(kLeftOutAction, 0);
  }
  if (workspace_ != 0 && address == workspace_ &&
      (word == Word::kSegmentAlloc || word == Word::kAlloc))
    return Noted(kLeftOutAction, 0);
  workspace_ = 0;
  const auto action = ActionOf(word);
  const auto bytes = Bytes(record, Word::kSize);
  if (!action || !address || !bytes) {
    if (action)
      trace_.issues.Count("action of the allocator left out, without an address or a size", file_);
    else
      trace_.issues.Count("action of the allocator left out, of an unknown kind", file_);
    return Noted(kLeftOutAction, 0);
  }
  trace_.memory_actions.Append(
      {.snapshot = snapshot_,
       .action = *action,
       .address = *address,
       .bytes = *bytes,
       .stream = Number(record, Word::kStream).value_or(-1),
       .time = NsFromMicroseconds(Number(record, Word::kTimeUs).value_or(-1)),
       .stack = StackOf(record)});
  return Noted(kAction, trace_.memory_actions.Size() - 1);
}

PickleNote SnapshotRecords::AddSettings(const Record& record) {
  const auto row = static_cast<std::size_t>(snapshot_);
  MemorySnapshots& snapshots = trace_.memory_snapshots;
  snapshots.max_split[row] = Number(record, Word::kMaxSplitSize).value_or(-1);
  for (const Word key : {Word::kCudaConf, Word::kNpuConf, Word::kConf}) {
    if (record.Has(key) && TextOf(record.Of(key)) != StringId::kEmpty)
      snapshots.settings[row] = TextOf(record.Of(key));
  }
  return Noted(kSettings, 0);
}

PickleNote SnapshotRecords::AddTop(const Record& record) {
  if (record.Of(Word::kSegments).kind != PickleKind::kList) return {};
  const PickleNote segments = NoteOf(record, Word::kSegments);
  const PickleNote traces = NoteOf(record, Word::kDeviceTraces);
  const Range held = segments.kind == kOther ? Range() : Use(segments, kSegments);
  if (held.count != trace_.memory_segments.Size() - first_segment_)
    Fail(ErrorKind::kCorrupt, "a segment outside the list of segments");
  const Range done = traces.kind == kOther ? Range() : Use(traces, kTraces);
  if (done.first != trace_.memory_actions.Size() - first_action_)
    Fail(ErrorKind::kCorrupt, "an action of the allocator without its device");
  return Noted(kWhole, 0);
}

SnapshotRecords::Range SnapshotRecords::Use(const PickleNote& list, Kind kind) {
  if (list.kind != kind) Fail(ErrorKind::kCorrupt, "a list with other records than in a snapshot");
  Range& range = ranges_[list.row];
  if (range.is_used) Fail(ErrorKind::kCorrupt, "a list that stands in two places");
  range.is_used = true;
  return range;
}

void SnapshotRecords::AddToList(PickleNote& list, std::span<const PickleValue> items) {
  PickleNote first;  // of a known kind
  bool are_lists = true;
  for (const PickleValue& item : items) {
    are_lists = are_lists && item.kind == PickleKind::kList;
    if (item.IsContainer()) first = pickle_->Note(item);
    if (first.kind != kOther) break;
  }
  // All devices may be without actions, and the first ones.
  if (list.kind == kTraces || first.kind == kActions || (are_lists && first.kind == kOther)) {
    AddTraces(list, items);
  } else if (first.kind == kFrame) {
    AddFrames(list, items);
  } else if (first.kind == kHistory && list.kind == kOther) {
    list = Noted(kHistories, first.row);
  } else if (first.kind == kSegment) {
    AddToRange(list, kSegments, kSegment, items);
  } else if (first.kind == kBlock || first.kind == kLeftOutBlock || list.kind == kBlocks) {
    AddToRange(list, kBlocks, kBlock, items);
  } else if (first.kind == kAction || first.kind == kLeftOutAction || list.kind == kActions) {
    AddToRange(list, kActions, kAction, items);
  }
}

void SnapshotRecords::AddToRange(PickleNote& list, Kind of_list, Kind of_items,
                                 std::span<const PickleValue> items) {
  if (list.kind == kOther) {
    list = Noted(of_list, ranges_.size());
    ranges_.emplace_back();
  }
  if (list.kind != of_list) Fail(ErrorKind::kCorrupt, "a list of records of different kinds");
  Range& range = ranges_[list.row];
  for (const PickleValue& item : items) {
    const PickleNote note = item.IsContainer() ? pickle_->Note(item) : PickleNote();
    if (note.kind == kLeftOutBlock || note.kind == kLeftOutAction) continue;
    if (note.kind != of_items) Fail(ErrorKind::kCorrupt, "a list of records of different kinds");
    if (range.count == 0) range.first = note.row;
    if (note.row != range.first + range.count)
      Fail(ErrorKind::kCorrupt, "a record that stands in two places");
    ++range.count;
  }
}

void SnapshotRecords::AddFrames(PickleNote& list, std::span<const PickleValue> items) {
  stack_.clear();
  if (list.kind == kStack) {  // a long one comes in parts
    for (auto row = static_cast<std::int32_t>(list.row); row >= 0;
         row = trace_.memory_calls.caller[static_cast<std::size_t>(row)])
      stack_.push_back(calls_.FrameOf(row));
  } else if (list.kind != kOther) {
    Fail(ErrorKind::kCorrupt, "a list of records of different kinds");
  }
  for (const PickleValue& item : items) {
    if (stack_.size() == kMostFrames) {
      trace_.issues.Count("call stack of more than 4096 calls, without the outermost of them",
                          file_);
      break;
    }
    const PickleNote note = item.IsContainer() ? pickle_->Note(item) : PickleNote();
    if (note.kind == kFrame) stack_.push_back(frame_numbers_[note.row]);
  }
  list = Noted(kStack, static_cast<std::size_t>(calls_.Row(stack_)));
}

// The actions of device 0, 1, ...
void SnapshotRecords::AddTraces(PickleNote& list, std::span<const PickleValue> items) {
  if (list.kind == kOther) {
    list = Noted(kTraces, ranges_.size());
    ranges_.emplace_back();
  }
  for (const PickleValue& item : items) {
    const PickleNote note = item.IsContainer() ? pickle_->Note(item) : PickleNote();
    const std::uint32_t device = ranges_[list.row].count++;
    if (note.kind == kOther) continue;
    const Range actions = Use(note, kActions);
    ranges_[list.row].first += actions.count;
    for (std::size_t row = actions.first; row < std::size_t{actions.first} + actions.count; ++row)
      trace_.memory_actions.device[row] = static_cast<std::int32_t>(device);
  }
}

// (0, 0) is the pool of everything that is in no other.
void SnapshotRecords::MakePool(PickleNote& tuple, std::span<const PickleValue> items) {
  const auto is_number = [](const PickleValue& item) { return item.kind == PickleKind::kInteger; };
  if (items.size() != 2 || !std::ranges::all_of(items, is_number)) return;
  const bool is_common = items[0].integer == 0 && items[1].integer == 0;
  const StringId id =
      is_common ? StringId::kEmpty
                : trace_.strings.Intern(fmt::format("{},{}", items[0].integer, items[1].integer));
  tuple = Noted(kPool, Index(id));
}

void SnapshotRecords::Withdraw() {
  const auto cut = [](auto& table, std::size_t rows) {
    std::apply([&](auto&... column) { (column.resize(rows), ...); }, table.Columns());
  };
  cut(trace_.memory_snapshots, static_cast<std::size_t>(snapshot_));
  cut(trace_.memory_calls, first_call_);
  cut(trace_.memory_segments, first_segment_);
  cut(trace_.memory_blocks, first_block_);
  cut(trace_.memory_actions, first_action_);
}

void SnapshotRecords::Finish(Pickle& pickle, const PickleValue& all) {
  const PickleNote note = all.IsContainer() ? pickle.Note(all) : PickleNote();
  const bool is_list = all.kind == PickleKind::kList && note.kind == kSegments;
  if (is_list) Use(note, kSegments);
  if (!is_list && note.kind != kWhole) {
    Fail(ErrorKind::kCorrupt,
         "a pickle, but not of a memory snapshot; give a file that _dump_snapshot() of torch or"
         " torch_npu wrote");
  }
  const auto is_lost = [&](std::size_t row) { return trace_.memory_blocks.segment[row] < 0; };
  for (std::size_t row = first_block_; row < trace_.memory_blocks.Size(); ++row) {
    if (is_lost(row)) Fail(ErrorKind::kCorrupt, "a block of memory without its segment");
  }
  for (std::size_t row = first_action_; row < trace_.memory_actions.Size(); ++row) {
    if (trace_.memory_actions.device[row] < 0)
      Fail(ErrorKind::kCorrupt, "an action of the allocator without its device");
  }
  MemorySegments& segments = trace_.memory_segments;
  for (std::size_t row = first_segment_; row < segments.Size(); ++row)
    segments.is_workspace[row] = workspaces_.contains(segments.address[row]);
}

}  // namespace mpa::readers
