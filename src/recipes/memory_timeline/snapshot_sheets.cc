// SPDX-License-Identifier: Apache-2.0
// The sheets of memory snapshots.
#include <cstdint>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "part.h"

namespace mpa::recipes::memory_timeline {
namespace {

template <typename Value>
struct ItemOfDevice {
  RankId rank;
  const SnapshotMemory* memory = nullptr;
  const Value* value = nullptr;
};

template <typename Value>
SheetColumns<ItemOfDevice<Value>> DeviceColumns() {
  using Item = ItemOfDevice<Value>;
  return {
      CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
      TextColumn<&Item::memory, &SnapshotMemory::file>("snapshot", 30, "The file of the snapshot."),
      CountColumn<&Item::memory, &SnapshotMemory::device, kIfKnown>("device", 8, "The device.")};
}

// What names a call site.
template <typename Value>
SheetColumns<ItemOfDevice<Value>> SiteColumns() {
  using Item = ItemOfDevice<Value>;
  return {
      TextColumn<&Item::value, &Value::holder, &Holder::op>(
          "function", 30,
          "The operator, or the innermost Python function; a name in brackets is neither."),
      TextColumn<&Item::value, &Value::holder, &Holder::within>(
          "within", 30, "The function of the program around it, or the node of the backward pass."),
      TextColumn<&Item::value, &Value::holder, &Holder::site>("callSite", 24,
                                                              "The line of the program.")};
}

// Positions of actions are counted from 1, as screens and charts do; -1 is before the history.
constexpr auto kFromOne = [](std::int64_t position) {
  return position >= 0 ? Cell(position + 1) : Cell();
};

template <typename Item>
Cell ShareOf(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return {};
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

using DeviceItem = ItemOfDevice<SnapshotMemory>;

SheetColumns<DeviceItem> SummaryColumns() {
  using Item = DeviceItem;
  using Memory = SnapshotMemory;
  return Joined<Item>(
      DeviceColumns<SnapshotMemory>(),
      {CountColumn<&Item::value, &Memory::actions>(
           "actions", 10, "Actions of the allocator in the history; older ones are lost."),
       CountColumn<&Item::value, &Memory::before>("heldBeforeBytes", 16,
                                                  "Bytes in use before the history."),
       CountColumn<&Item::value, &Memory::peak, &Level::Allocated>(
           "peakBytes", 16, "Most bytes in use, as the program asked for them."),
       CountColumn<&Item::value, &Memory::peak, &Level::time, kFromOne>(
           "peakAction", 12,
           "The action that reached the peak, from 1; empty: before the history."),
       CountColumn<&Item::value, &Memory::peak_time, kIfKnown>(
           "peakNs", 20, "Time of the peak, in ns; empty: times were not recorded."),
       CountColumn<&Item::value, &Memory::peak, &Level::reserved>("reservedAtPeakBytes", 16,
                                                                  "Bytes reserved at the peak."),
       CountColumn<&Item::value, &Memory::most_reserved>(
           "mostReservedBytes", 16, "Most bytes that the allocator had reserved."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::asked>(
           "endBytes", 16, "Bytes in use at the end, as the program asked for them."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::in_use>(
           "endBlockBytes", 16, "Bytes of the blocks in use at the end, rounded as they are."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::awaiting_free>(
           "awaitingFreeBytes", 16,
           "Bytes in use that the program released and another stream still uses."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::reserved>("endReservedBytes", 16,
                                                                      "Bytes reserved at the end."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::segments>(
           "segments", 10, "Segments reserved at the end.")},
      {CountColumn<&Item::value, &Memory::held, &HeldAtEnd::free, &FreePieces::bytes>(
           "freeBytes", 16,
           "Free bytes at the end within segments for large blocks that are in use."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::free, &FreePieces::pieces>(
           "freePieces", 10, "Number of free pieces."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::free, &FreePieces::largest>(
           "largestFreeBytes", 16,
           "Bytes of the largest free piece; a larger allocation needs new memory of the device."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::small_free, &FreePieces::bytes>(
           "smallFreeBytes", 16,
           "Free bytes that serve no large allocation: of segments for small blocks and of pools"
           " of graphs."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::unsplit>(
           "returnableBytes", 16, "Bytes of segments without a block in use: empty_cache()."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::workspace>(
           "workspaceBytes", 16, "Bytes of scratch memory of operators."),
       CountColumn<&Item::value, &Memory::held, &HeldAtEnd::streams>(
           "streams", 10, "Streams that segments belong to; a free piece serves its own one only."),
       CountColumn<&Item::value, &Memory::failure_count>("outOfMemory", 12,
                                                         "Allocations in the history that failed."),
       CountColumn<&Item::value, &Memory::contradictions>(
           "contradictions", 14, "Actions that what is held at the end contradicts.")});
}

SheetColumns<ItemOfDevice<Held>> PeakSiteColumns() {
  using Item = ItemOfDevice<Held>;
  return Joined<Item>(
      DeviceColumns<Held>(), SiteColumns<Held>(),
      {CountColumn<&Item::value, &Held::count>("allocations", 12, "Number of allocations."),
       CountColumn<&Item::value, &Held::bytes>(
           "bytes", 16, "Bytes in use at the peak; all rows of a device add up to it."),
       {NamedColumn("sharePercent", Format::kDecimals2, 16, "Share of the peak, in percent."),
        [](const Item& item) -> Cell {
          return ShareOf<Item>(item.value->bytes, item.memory->peak.Allocated());
        }}});
}

SheetColumns<ItemOfDevice<Kept>> HeldColumns() {
  using Item = ItemOfDevice<Kept>;
  return Joined<Item>(
      DeviceColumns<Kept>(), SiteColumns<Kept>(),
      {CountColumn<&Item::value, &Kept::count>("allocations", 12, "Number of allocations."),
       CountColumn<&Item::value, &Kept::bytes>(
           "bytes", 16, "Bytes in use at the end; all rows of a device add up to them."),
       {NamedColumn("sharePercent", Format::kDecimals2, 16,
                    "Share of all that is in use at the end, in percent."),
        [](const Item& item) -> Cell {
          return ShareOf<Item>(item.value->bytes, item.memory->held.asked);
        }},
       CountColumn<&Item::value, &Kept::oldest, kFromOne>(
           "oldestAction", 12,
           "The action that made the oldest allocation, from 1; empty: it is from before the"
           " history."),
       CountColumn<&Item::value, &Kept::newest, kFromOne>(
           "newestAction", 12, "The action that made the newest allocation, from 1."),
       CountColumn<&Item::value, &Kept::oldest_age, kIfKnown>(
           "oldestAgeNs", 20,
           "Age of the oldest allocation at the end, in ns; empty: times were not recorded, or it"
           " is from before the history."),
       {NamedColumn(
            "grows", Format::kText, 8,
            "yes: the site took more again and again, while everything else came and went."),
        [](const Item& item) -> Cell { return std::string(item.value->grows ? "yes" : "no"); }}});
}

struct Point {
  Level level;
  TimeNs time = -1;
};

SheetColumns<ItemOfDevice<Point>> HistoryColumns() {
  using Item = ItemOfDevice<Point>;
  return Joined<Item>(
      DeviceColumns<Point>(),
      {CountColumn<&Item::value, &Point::level, &Level::time, kFromOne>(
           "action", 12, "The action, from 1; empty: before the first one."),
       CountColumn<&Item::value, &Point::time, kIfKnown>(
           "timeNs", 20, "Time of the action, in ns; empty: times were not recorded."),
       CountColumn<&Item::value, &Point::level, &Level::Allocated>(
           "inUseBytes", 16, "Bytes in use after the action."),
       CountColumn<&Item::value, &Point::level, &Level::reserved>(
           "reservedBytes", 16, "Bytes reserved after the action.")});
}

SheetColumns<ItemOfDevice<Failure>> FailureColumns() {
  using Item = ItemOfDevice<Failure>;
  return Joined<Item>(
      DeviceColumns<Failure>(),
      {CountColumn<&Item::value, &Failure::memory, &OutOfMemory::position, kFromOne>(
           "action", 12, "The action, from 1."),
       CountColumn<&Item::value, &Failure::memory, &OutOfMemory::asked>(
           "askedBytes", 16, "Bytes that were asked for."),
       CountColumn<&Item::value, &Failure::memory, &OutOfMemory::device_free>(
           "deviceFreeBytes", 16, "Bytes of the device that nobody had taken."),
       CountColumn<&Item::value, &Failure::memory, &OutOfMemory::in_use>(
           "inUseBytes", 16, "Bytes in use when the allocation failed."),
       CountColumn<&Item::value, &Failure::memory, &OutOfMemory::reserved>(
           "reservedBytes", 16, "Bytes reserved when the allocation failed."),
       CountColumn<&Item::value, &Failure::memory, &OutOfMemory::free, &FreePieces::bytes>(
           "freeBytes", 16, "Free bytes of segments for large blocks, as the history gives them."),
       CountColumn<&Item::value, &Failure::memory, &OutOfMemory::free, &FreePieces::pieces>(
           "freePieces", 10, "Number of free pieces."),
       CountColumn<&Item::value, &Failure::memory, &OutOfMemory::free, &FreePieces::largest>(
           "largestFreeBytes", 16, "Bytes of the largest free piece.")},
      SiteColumns<Failure>());
}

}  // namespace

void AddSnapshotSheets(const Ranks& ranks, Report& report) {
  ItemSheet devices({"SnapshotDevices", ToTranslate("What each snapshot holds, by device")},
                    SummaryColumns());
  ItemSheet peak({"SnapshotPeak", ToTranslate("What was in use at the peak, by call site")},
                 PeakSiteColumns());
  ItemSheet held({"SnapshotHeld", ToTranslate("What is in use at the end, by call site and age")},
                 HeldColumns());
  ItemSheet points({"SnapshotOverTime", ToTranslate("In use and reserved over the history")},
                   HistoryColumns());
  ItemSheet failures(
      {"SnapshotFailures", ToTranslate("Allocations that failed, and what was free")},
      FailureColumns());
  peak.sheet.charts = {LargestBars("What is in use at the peak, by where it is allocated",
                                   {"callSite", "function"}, {{"bytes"}}, Measured::kBytes,
                                   Chart::SameLabel::kSum)};
  held.sheet.charts = {LargestBars("What is in use at the end, by where it is allocated",
                                   {"callSite", "function"}, {{"bytes"}}, Measured::kBytes,
                                   Chart::SameLabel::kSum)};
  bool any = false;
  for (const auto& [id, part] : ranks) {
    if (part.snapshots.empty()) continue;
    any = true;
    const RankIndex rank = BeginRank(id, report);
    for (const SnapshotMemory& memory : part.snapshots) {
      devices.Add({id, &memory, &memory}, rank);
      for (const Held& one : memory.holders) peak.Add({id, &memory, &one}, rank);
      for (const Kept& one : memory.kept) held.Add({id, &memory, &one}, rank);
      for (std::size_t i = 0; i < memory.points.size(); ++i) {
        const Point point{memory.points[i], memory.times[i]};
        points.Add({id, &memory, &point}, rank);
      }
      for (const Failure& one : memory.failures) failures.Add({id, &memory, &one}, rank);
    }
  }
  if (!any) return;
  for (Sheet* sheet : {&devices.sheet, &peak.sheet, &held.sheet, &points.sheet, &failures.sheet})
    report.sheets.push_back(std::move(*sheet));
}

}  // namespace mpa::recipes::memory_timeline
