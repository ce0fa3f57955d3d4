// SPDX-License-Identifier: Apache-2.0
// Device memory that operators allocate.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <vector>

#include "compare_sheet.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/time.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/queue_index.h"
#include "op_groups.h"

namespace mpa::comparisons {
namespace {

// The allocations of one side by the operator that made them.
class OpMemory {
 public:
  explicit OpMemory(const OpTree& tree) : tree_(tree), trace_(tree.trace()) {
    const QueuedAllocations queued_allocations(trace_);
    const Allocations& allocations = trace_.allocations;
    placed_.reserve(allocations.Size());
    for (std::size_t i = 0; i < allocations.Size(); ++i) {
      if (allocations.allocated[i] <= 0) continue;  // before the collection
      const bool queued = queued_allocations.IsQueued(i);
      std::int64_t op = -1;
      TimeNs asked = allocations.allocated[i];
      if (queued) {
        // Made on behalf of an operator that put the work into a queue before.
        const std::size_t work = *queued_allocations.Work(i);
        asked = trace_.queued_work.queued[work];
        op = tree.Find(trace_.queued_work.queued_track[work], asked);
      } else {
        op = tree.FindAnywhere(allocations.allocated[i], allocations.name[i]);
      }
      if (op >= 0) {
        placed_.push_back(
            {asked, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(op), queued});
      } else {
        ++unplaced_;
      }
    }
    // Captures list allocations as they were released; those of one piece of queued work stay so.
    StableSort(placed_, [](const Placed& a, const Placed& b) {
      return std::tie(a.op, a.asked) < std::tie(b.op, b.asked);
    });
    CountWithin();
  }

  std::size_t unplaced() const { return unplaced_; }

  // Calls visit(allocation, text) for the allocations of the operator and all within it.
  template <typename Visit>
  void VisitAllocations(std::size_t op, Visit visit) const {
    if (within_[op] == 0) return;
    tree_.VisitWithin(op, [&](std::size_t inner) {
      for (std::size_t i = begin_[inner]; i < begin_[inner + 1]; ++i) {
        visit(inner, placed_[i].row, placed_[i].queued);
      }
    });
  }

  // The bytes of the operator and all within it.
  ExactSum SumOf(std::size_t op) const {
    ExactSum sum;
    VisitAllocations(op, [&](std::size_t, std::size_t row, bool) { sum += {Bytes(row)}; });
    return sum;
  }

  // "<name>, (<allocated>, <released>), [duration: <us>], [size: <KB>]" with a line feed.
  std::string Describe(std::size_t op, std::size_t row, bool queued) const {
    const Allocations& allocations = trace_.allocations;
    const StringId name = queued ? allocations.name[row] : trace_.host_ops.name[op];
    const char* never = trace_.device == DeviceKind::kGpu ? "None" : "0";
    return fmt::format(
        FMT_COMPILE("{}, ({}, {}), [duration: {}], [size: {}]\n"), trace_.strings.View(name),
        Microseconds(allocations.allocated[row]),
        allocations.released[row] > 0 ? Microseconds(allocations.released[row]) : never,
        PythonFloat(InUs(Lifetime(row))),
        PythonFloat(static_cast<double>(allocations.bytes[row]) / 1024));
  }

  // 0 when the release was not seen.
  TimeNs Lifetime(std::size_t row) const {
    const Allocations& allocations = trace_.allocations;
    if (allocations.released[row] <= 0) return 0;
    return allocations.released[row] - allocations.allocated[row];
  }

  std::int64_t Bytes(std::size_t row) const { return trace_.allocations.bytes[row]; }

 private:
  struct Placed {
    TimeNs asked;  // when the operator allocated, or queued the work that did
    std::uint32_t row;
    std::uint32_t op;
    bool queued;
  };

  void CountWithin() {
    const std::size_t ops = trace_.host_ops.Size();
    begin_.assign(ops + 1, 0);
    for (const Placed& placed : placed_) ++begin_[placed.op + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    within_.resize(ops);
    for (auto op = tree_.InOrder().rbegin(); op != tree_.InOrder().rend(); ++op) {
      within_[*op] = begin_[*op + 1] - begin_[*op];
      for (const std::uint32_t child : tree_.Children(*op)) within_[*op] += within_[child];
    }
  }

  static std::string Microseconds(TimeNs time) {
    return fmt::format(FMT_COMPILE("{}.{:03}"), time / 1000, time % 1000);
  }

  const OpTree& tree_;
  const RankTrace& trace_;
  std::vector<Placed> placed_;         // by operator
  std::vector<std::uint32_t> begin_;   // by operator, in placed_
  std::vector<std::uint32_t> within_;  // by operator: how many are its own or of those within
  std::size_t unplaced_ = 0;
};

double Megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024 * 1024); }

struct Memories {
  OpMemory base, comparison;
  const OpMemory& Of(Side side) const { return side == Side::kBase ? base : comparison; }
};

Sheet StatisticSheet(const CompareInput& input, const Memories& memories) {
  const auto of_side = [&](Side side, const char* name, double duration, double memory) {
    return ForSide(
        side,
        {Decimals(fmt::format("{} Allocated Duration(ms)", name),
                  "How long the operator's allocations were held, added up, in ms.", duration),
         Decimals(fmt::format("{} Allocated Memory(MB)", name),
                  "Memory that the operator allocated, added up, in MB of 2^20 bytes.", memory),
         PlainColumn(fmt::format("{} Operator Number", name), "Number of calls of the operator.",
                     25)});
  };
  Sheet sheet = CompareSheet(
      "MemoryCompareStatistic",
      {{PlainColumn("Top", kOrderMeaning, 10), BoldColumn("Operator Name", "The operator.")},
       of_side(Side::kBase, "Base", 25, 30),
       of_side(Side::kComparison, "Comparison", 27, 33),
       {Difference("Diff Memory(MB)",
                   "Memory of the comparison minus that of the base, in MB of 2^20 bytes."),
        Growth("Diff Ratio", RatioMeaning("Memory"))}},
      input);
  for (const OpGroup& group : GroupByName(input, input.MatchedOps())) {
    Row row{{Cell(), group.name}};
    std::array<std::int64_t, 2> sizes{};
    for (const Side side : {Side::kBase, Side::kComparison}) {
      const OpMemory& memory = memories.Of(side);
      TimeNs lifetime = 0;
      std::int64_t& bytes = sizes[side == Side::kBase ? 0 : 1];
      for (const std::size_t op : group.Of(side)) {
        memory.VisitAllocations(op, [&](std::size_t, std::size_t allocation, bool) {
          lifetime += memory.Lifetime(allocation);
          bytes += memory.Bytes(allocation);
        });
      }
      row.cells.emplace_back(InMs(lifetime));
      row.cells.emplace_back(Megabytes(bytes));
      row.cells.emplace_back(static_cast<std::int64_t>(group.Of(side).size()));
    }
    AppendCells(row, Megabytes(sizes[1] - sizes[0]),
                GrowthRatio(static_cast<double>(sizes[0]), static_cast<double>(sizes[1])));
    sheet.rows.push_back(std::move(row));
  }
  const std::size_t difference = sheet.columns.size() - 2;
  OrderRows(input, sheet, difference);
  constexpr std::size_t kMemoryOfBase = 3;
  sheet.least_change = LeastChangeOf(sheet, kMemoryOfBase);
  return sheet;
}

Sheet DetailSheet(const CompareInput& input, const std::shared_ptr<const Memories>& memories) {
  constexpr double kKilobyte = 1024;
  Sheet sheet = OpPairSheet(
      input, "MemoryCompare",
      PlainColumn("Allocated Details", "Allocations of the operator, one per line."),
      Decimals("Size(KB)", "Memory that the operator allocated, in KB of 1024 bytes."), kKilobyte,
      [memories](Side side, std::size_t op) {
        const OpMemory& memory = memories->Of(side);
        OpDetails details;
        memory.VisitAllocations(op, [&](std::size_t inner, std::size_t allocation, bool queued) {
          details.sum += {memory.Bytes(allocation)};
          details.lines += memory.Describe(inner, allocation, queued);
        });
        return details;
      });
  double of_base = 0;
  for (const OpPair& pair : input.MatchedOps()) {
    if (pair.base) of_base += memories->base.SumOf(*pair.base).In(kKilobyte);
  }
  sheet.least_change = kPartThatMatters * of_base;
  return sheet;
}

void CompareMemory(const CompareInput& input, Report& report) {
  constexpr const char* kSheets = "MemoryCompare, MemoryCompareStatistic";
  if (!HaveOperators(input, report) && input.MatchedOps().empty()) return;
  const auto memories = std::make_shared<const Memories>(
      Memories{OpMemory(input.Ops(Side::kBase)), OpMemory(input.Ops(Side::kComparison))});
  for (const Side side : {Side::kBase, Side::kComparison}) {
    const RankTrace& trace = input.Trace(side);
    if (trace.allocations.Empty() && !trace.host_ops.Empty()) {
      NoteNotCollected(
          Say("{}: {} has no record of operators' memory; collect with profile_memory=True",
                      kSheets, input.Path(side)),
          report);
    } else if (memories->Of(side).unplaced() > 0) {
      report.notes.push_back(
          Say("{}: {} allocations of {} were made while no recorded operator ran; they are"
                      " left out",
                      kSheets, memories->Of(side).unplaced(), input.Path(side)));
    }
  }
  report.sheets.push_back(StatisticSheet(input, *memories));
  if (input.options().details) report.sheets.push_back(DetailSheet(input, memories));
}

Verdict JudgeMemory(const RankFacts& facts) { return JudgeHost(facts).RefuseWithoutMemory(facts); }

}  // namespace

Comparison Memory() {
  return {"memory",
          "memory",
          "Device memory that operators allocate",
          Tables::kHostOps | Tables::kOpDetails | Tables::kLaunches | Tables::kKernels |
              Tables::kDeviceTasks | Tables::kCommunications | Tables::kQueuedWork |
              Tables::kAllocations,
          CompareMemory,
          JudgeMemory};
}

}  // namespace mpa::comparisons
