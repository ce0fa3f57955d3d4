// SPDX-License-Identifier: Apache-2.0
// The communication operators of captures without records of HCCL, from the marks that the
// communication library sets.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "messages.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/collectives.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"
#include "mpa/report/screen_list.h"

namespace mpa::recipes::mstx2commop {
namespace {

using commop::MarkedOperator;

struct MadeOp {
  std::string name, type, group, data_type, count;
  TimeNs start = 0, end = 0;
  std::int64_t link = -1;
};

struct MadeOps {
  std::vector<MadeOp> ops;          // in order of start
  bool has_records = false;         // the capture has communication operators of its own
  std::int64_t without_device = 0;  // marks that no task belongs to
  std::int64_t broken = 0;          // marks that name no operator
};

// The tasks of a stream one after the other, without those that marks name themselves: a mark
// stands for the first that begins behind it, and behind the task of the mark before.
class StreamTasks {
 public:
  explicit StreamTasks(const RankTrace& trace) : trace_(trace) {}

  std::optional<std::size_t> Next(std::int64_t stream, TimeNs mark) {
    if (streams_.empty()) Sort();
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return std::nullopt;
    auto& [rows, next] = found->second;
    while (next < rows.size() && trace_.device_tasks.start[rows[next]] < mark) ++next;
    return next < rows.size() ? std::optional(rows[next++]) : std::nullopt;
  }

 private:
  void Sort() {
    const DeviceTasks& tasks = trace_.device_tasks;
    const std::unordered_set<TimeNs> named(trace_.mstx.device_start.begin(),
                                           trace_.mstx.device_start.end());
    for (const std::size_t row : tasks.RowsByStart()) {
      if (!named.contains(tasks.start[row])) streams_[tasks.stream[row]].first.push_back(row);
    }
  }

  const RankTrace& trace_;
  std::unordered_map<std::int64_t, std::pair<std::vector<std::size_t>, std::size_t>> streams_;
};

// "hcom_allReduce__210_0_1": the last digits of the group's number, and the number within the group
// and type.
void NameMadeOps(std::vector<MadeOp>& ops) {
  std::map<std::pair<std::string, std::string>, std::int64_t> numbers;
  for (MadeOp& op : ops) {
    op.name = fmt::format("{}_{:03}_{}_1", op.type, GroupHash(op.group) % 1000,
                          numbers[{op.group, op.type}]++);
  }
}

MadeOps MapMstx2Commop(const RankTrace& trace, const RecipeArguments&) {
  MadeOps part;
  part.has_records = !trace.communications.Empty();
  if (part.has_records) return part;
  const MstxEvents& events = trace.mstx;
  StreamTasks tasks(trace);
  for (const std::size_t row : events.RowsByStart()) {
    if (!trace.IsOfStep(events.start[row])) continue;
    bool broken = false;
    auto marked = commop::ParseMarkedOperator(trace.strings.View(events.message[row]), broken);
    if (broken) ++part.broken;
    if (!marked) continue;
    MadeOp op{.name = {},
              .type = std::move(marked->type),
              .group = std::move(marked->group),
              .data_type = std::move(marked->data_type),
              .count = std::move(marked->count),
              .link = events.link[row]};
    if (events.device_start[row] >= 0) {
      op.start = events.device_start[row];
      op.end = op.start + events.device_dur[row];
    } else if (const auto task = tasks.Next(marked->stream, events.start[row])) {
      op.start = trace.device_tasks.start[*task];
      op.end = op.start + trace.device_tasks.dur[*task];
    } else {
      ++part.without_device;
      continue;
    }
    part.ops.push_back(std::move(op));
  }
  StableSort(part.ops, {}, &MadeOp::start);
  NameMadeOps(part.ops);
  return part;
}

using Ranks = std::vector<OfRank<MadeOps>>;

struct MadeItem {
  RankId rank{};
  std::int64_t id = 0;
  const MadeOp* op = nullptr;
};

void AddMadeSheet(const Ranks& ranks, Report& report) {
  using Item = MadeItem;
  const std::vector<ColumnOf<Item>> columns = {
      CountColumn<&Item::rank, kRank>("rank", 8, "The rank."),
      CountColumn<&Item::id>("opId", 8,
                             "The number of the operator on its rank, in order of start."),
      TextColumn<&Item::op, &MadeOp::name>(
          "opName", 36,
          "Name of the operator as the profiler builds it: type, last digits of the group's number,"
          " number."),
      CountColumn<&Item::op, &MadeOp::start>("startNs", 22,
                                             "Start of the operator on the device, in ns."),
      CountColumn<&Item::op, &MadeOp::end>("endNs", 22,
                                           "End of the operator on the device, in ns."),
      {NamedColumn("connectionId", Format::kInteger, 14,
                   "The connection of the mark; empty: it has none."),
       [](const Item& item) -> Cell {
         return item.op->link < 0 ? Cell(NoNumber::kUnknown) : Cell(item.op->link);
       }},
      TextColumn<&Item::op, &MadeOp::group>("groupName", 40,
                                            "Communication group of the operator."),
      TextColumn<&Item::op, &MadeOp::data_type>("dataType", 10, "Data type of the elements."),
      TextColumn<&Item::op, &MadeOp::count>("count", 12, "Number of elements."),
      TextColumn<&Item::op, &MadeOp::type>("opType", 24, "The type of the operator.")};
  ItemSheet list({"MSTX_COMMUNICATION_OP", ToTranslate("Communication operators of the marks")},
                 columns);
  for (const auto& [id, part] : ranks) {
    const RankIndex rank = BeginRank(id, report);
    std::int64_t number_of_op = 0;
    for (const MadeOp& op : part.ops) list.Add({id, number_of_op++, &op}, rank);
  }
  report.sheets.push_back(std::move(list.sheet));
}

void AddMadeLines(const Ranks& ranks, Report& report) {
  struct Type {
    std::int64_t count = 0;
    std::vector<RankValue> times;  // ns of each rank
  };
  std::map<std::string, Type> types;
  for (const auto& rank : ranks) {
    std::map<std::string, TimeNs> of_rank;
    for (const MadeOp& op : rank.part.ops) {
      of_rank[op.type] += op.end - op.start;
      ++types[op.type].count;
    }
    for (const auto& [type, time] : of_rank) {
      types[type].times.push_back({rank.rank, static_cast<double>(time)});
    }
  }
  if (types.empty()) return;
  report.lines.push_back(Say("communication operators from the marks of {}: ms of a rank",
                             Counted(ranks.size(), "rank")));
  const ScreenList list =
      SpreadList({ScreenName("type", 28), ScreenNumber("count", 8)}, ScreenMs("", 10));
  report.lines.push_back(list.Heading());
  constexpr std::size_t kShown = 12;
  std::size_t shown = 0;
  for (const auto& [type, facts] : types) {
    if (shown++ == kShown) break;
    report.lines.push_back(list.LineOf(SpreadCells({type, facts.count}, facts.times)));
  }
  AddMoreLine(types.size(), kShown, "type", report.lines);
}

void AddMadeNotes(const Ranks& ranks, Report& report) {
  std::int64_t without_device = 0, broken = 0;
  std::vector<RankId> recorded, empty;
  for (const auto& [rank, part] : ranks) {
    without_device += part.without_device;
    broken += part.broken;
    if (part.has_records) recorded.push_back(rank);
    const bool has_marks = !part.ops.empty() || part.broken > 0 || part.without_device > 0;
    if (!part.has_records && !has_marks) empty.push_back(rank);
  }
  if (!recorded.empty()) {
    report.notes.push_back(
        Say("{} of {} ranks have communication operators of their own and are left out (first: {})",
            recorded.size(), ranks.size(), RankText(recorded.front())));
  }
  if (!empty.empty()) {
    report.notes.push_back(
        Say("{} of {} ranks have no marks of communication (first: {}); collect with mstx=True",
            empty.size(), ranks.size(), RankText(empty.front())));
  }
  if (broken > 0) {
    report.notes.push_back(
        Say("marks left out because they name no communication operator: {}", broken));
  }
  if (without_device > 0) {
    report.notes.push_back(
        Say("communication marks left out because no device task belongs to them: {}; collect with"
            " activities of the NPU",
            without_device));
  }
}

void ReduceMstx2Commop(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                       Report& report) {
  if (wanted.sheets) AddMadeSheet(ranks, report);
  if (wanted.screen != Detail::kNone) AddMadeLines(ranks, report);
  AddMadeNotes(ranks, report);
}

Verdict JudgeMstx2Commop(const RankFacts& facts) {
  return JudgeReadable(facts)
      .RefuseKineto(facts, "have no mstx marks")
      .Refuse(facts.recorded.mstx == Recorded::kNo,
              "no marks of communication were recorded (mstx)", "mstx=True")
      .Refuse(facts.recorded.communication == Recorded::kYes,
              "communication operators were recorded directly", "");
}

}  // namespace

Recipe Mstx2Commop() {
  return MakeRecipe<MapMstx2Commop, ReduceMstx2Commop>(
      {.name = "mstx2commop",
       .folder = "Mstx2Commop",
       .summary = "communication operators from the marks of captures without records of them",
       .needs = Tables::kMstx | Tables::kSteps | Tables::kDeviceTasks | Tables::kCommunications,
       .can_run = JudgeMstx2Commop,
       .only_with = "marks of communication"});
}

}  // namespace mpa::recipes::mstx2commop
