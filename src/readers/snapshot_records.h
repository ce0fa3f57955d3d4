// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "memory_calls.h"
#include "mpa/io/pickle.h"
#include "mpa/model/rank_trace.h"
#include "snapshot_words.h"

namespace mpa::readers {

/// Puts the dicts of a memory snapshot into the tables of a rank as soon as they are read. The form
/// of a dict tells what it is; where it stands is checked by the lists it is in.
class SnapshotRecords : public io::PickleConsumer {
 public:
  /// `file`: for the places of issues.
  SnapshotRecords(const std::string& file, RankTrace& trace);

  void Add(io::Pickle& pickle, const io::PickleValue& container,
           std::span<const io::PickleValue> items) override;
  /// Takes all rows of this file out again, for a file that breaks off.
  void Withdraw();
  /// Takes the outermost value, which holds everything. Throws Error (kCorrupt) for another one.
  void Finish(io::Pickle& pickle, const io::PickleValue& all);

 private:
  // What a container turned out to be. Rows of lists are those in `ranges_`, with those of their
  // items.
  enum Kind : std::uint16_t {
    kOther,
    kFrame,      // row in frame_numbers_
    kStack,      // row of the calls
    kHistory,    // row in histories_
    kHistories,  // row of the first item
    kBlock,
    kBlocks,
    kSegment,
    kSegments,
    kAction,
    kActions,
    kTraces,
    kPool,      // row: a StringId
    kSettings,  // row 1: there are some
    kWhole,
    kLeftOutBlock,
    kLeftOutAction,
  };
  // Of kTraces the items are devices, and `first` counts the actions.
  struct Range {
    std::uint32_t first = 0, count = 0;
    bool is_used = false;
  };
  struct History {
    std::int64_t bytes = -1;
    std::int32_t stack = -1;
  };
  /// The values of a dict by their keys.
  struct Record {
    std::array<io::PickleValue, kKeys> values;
    std::uint64_t present = 0;

    bool Has(Word key) const { return (present >> static_cast<unsigned>(key) & 1) != 0; }
    const io::PickleValue& Of(Word key) const { return values[static_cast<std::size_t>(key)]; }
  };

  Word WordOf(const io::PickleValue& text);
  StringId TextOf(const io::PickleValue& text);
  // A number that is there; empty for anything else.
  static std::optional<std::int64_t> Number(const Record& record, Word key);
  static std::optional<std::int64_t> Address(const Record& record, Word key);
  std::optional<std::int64_t> Bytes(const Record& record, Word key);
  std::int32_t StackOf(const Record& record);
  io::PickleNote NoteOf(const Record& record, Word key);

  io::PickleNote AddDict(const Record& record);
  io::PickleNote AddFrame(const Record& record);
  io::PickleNote AddHistory(const Record& record);
  io::PickleNote AddBlock(const Record& record);
  io::PickleNote AddSegment(const Record& record);
  io::PickleNote AddAction(const Record& record);
  io::PickleNote AddSettings(const Record& record);
  io::PickleNote AddTop(const Record& record);
  void AddToList(io::PickleNote& list, std::span<const io::PickleValue> items);
  void AddToRange(io::PickleNote& list, Kind of_list, Kind of_items,
                  std::span<const io::PickleValue> items);
  void AddFrames(io::PickleNote& list, std::span<const io::PickleValue> items);
  void AddTraces(io::PickleNote& list, std::span<const io::PickleValue> items);
  void MakePool(io::PickleNote& tuple, std::span<const io::PickleValue> items);
  Range Use(const io::PickleNote& list, Kind kind);
  void CheckSegment(const Record& record, const Range& blocks);

  std::string file_;
  RankTrace& trace_;
  io::Pickle* pickle_ = nullptr;
  CallTree calls_;
  std::int32_t snapshot_ = 0;
  std::size_t first_call_, first_segment_, first_block_, first_action_;  // rows of this file

  // By number of a text of the pickle.
  std::vector<std::int16_t> words_;
  std::vector<std::int64_t> strings_;

  Record record_;
  std::vector<std::uint32_t> frame_numbers_, stack_;
  std::vector<History> histories_;
  std::vector<Range> ranges_;
  std::int64_t bytes_ = 0;                       // of all records
  std::unordered_set<std::int64_t> workspaces_;  // addresses
  std::int64_t workspace_ = 0;                   // of the action before; 0: it was another one
};

}  // namespace mpa::readers
