// SPDX-License-Identifier: Apache-2.0
// Numbers send and receive operators, so that both ends of a transfer have one name.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/collectives.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"
#include "mpa/report/screen_list.h"

namespace mpa::recipes::p2p_pairing {
namespace {

// A send or receive operator.
struct P2pOp {
  std::string name, group;
  std::int64_t id = -1;  // of the operator; -1: the capture does not number them
  TimeNs start = 0, end = 0;
  bool receives = false;
  std::string domain;               // of the name, "233"
  std::int32_t from = -1, to = -1;  // ranks of the group; -1: the tasks do not tell
  std::string connection;           // "233_0_1_0"; empty: the ends are unknown

  bool KnowsEnds() const { return from >= 0 && to >= 0; }
};

struct P2pOps {
  std::vector<P2pOp> ops;           // in order of start
  std::int64_t contradictions = 0;  // operators whose tasks name several ends
  std::int64_t foreign_tasks = 0;   // tasks of another group than their operator
  bool on_gpu = false;
};

bool TakeNumber(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(end);
  return end > 0;
}

// The domain of hcom_send__233_0_1; empty for other names. Sets whether it receives.
std::string_view DomainOf(std::string_view name, bool& receives) {
  constexpr std::string_view kPrefix = "hcom_";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  const std::size_t mark = name.find("__");
  if (mark == std::string_view::npos) return {};
  const std::string_view kind = name.substr(0, mark);
  receives = IsOneOf(kind, {"recv", "Recv", "receive", "Receive"});
  if (!receives && !IsOneOf(kind, {"send", "Send"})) return {};
  std::string_view rest = name.substr(mark + 2);
  const std::string_view domain = rest.substr(0, rest.find('_'));
  const bool is_name = TakeNumber(rest) && rest.starts_with('_') &&
                       (rest.remove_prefix(1), TakeNumber(rest)) && rest.starts_with('_') &&
                       (rest.remove_prefix(1), TakeNumber(rest)) && rest.empty();
  return is_name ? domain : std::string_view();
}

// What the tasks of an operator say of its ends.
struct TaskEnds {
  std::int32_t own = -1, peer = -1;
  bool contradicts = false;

  void Add(std::int32_t own_rank, std::int32_t peer_rank) {
    if (own_rank < 0 || peer_rank < 0) return;
    contradicts = contradicts || (own >= 0 && (own != own_rank || peer != peer_rank));
    own = own_rank;
    peer = peer_rank;
  }
};

// Both ends exchange signals; copies may name other ranks.
bool IsSignal(std::string_view task) { return IsOneOf(task, {"Notify_Record", "Notify_Wait"}); }

P2pOps MapP2pPairing(const RankTrace& trace, const RecipeArguments&) {
  const Communications& ops = trace.communications;
  const CommTasks& tasks = trace.comm_tasks;
  P2pOps part;
  part.on_gpu = trace.device == DeviceKind::kGpu;
  std::map<std::size_t, TaskEnds> ends;  // by row of the operator
  for (const std::size_t row : ops.RowsByStart()) {
    const std::string_view name = trace.strings.View(ops.name[row]);
    bool receives = false;
    const std::string_view domain = DomainOf(name, receives);
    if (domain.empty()) continue;
    ends.try_emplace(row);
    const std::int32_t group = ops.group[row];
    part.ops.push_back(
        {.name = std::string(name),
         .group = group < 0 ? std::string()
                            : std::string(BareGroupName(trace.strings.View(
                                  trace.comm_groups.name[static_cast<std::size_t>(group)]))),
         .id = ops.op_id[row],
         .start = ops.start[row],
         .end = ops.start[row] + ops.dur[row],
         .receives = receives,
         .domain = std::string(domain),
         .connection = {}});
  }
  const std::vector<std::int64_t> operation_of = OperationsOfTasks(trace);
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (operation_of[i] < 0) continue;
    const auto row = static_cast<std::size_t>(operation_of[i]);
    const auto found = ends.find(row);
    if (found == ends.end()) continue;
    if (tasks.group[i] != ops.group[row]) {
      ++part.foreign_tasks;
    } else if (IsSignal(trace.strings.View(tasks.name[i]))) {
      found->second.Add(tasks.own_rank[i], tasks.peer[i]);
    }
  }
  std::map<std::tuple<std::string, std::int32_t, std::int32_t>, std::int64_t> numbers;
  auto op = part.ops.begin();
  for (const std::size_t row : ops.RowsByStart()) {
    const auto found = ends.find(row);
    if (found == ends.end()) continue;
    P2pOp& op_of_row = *op++;
    const TaskEnds& told = found->second;
    if (told.contradicts) ++part.contradictions;
    if (told.contradicts || told.own < 0) continue;
    op_of_row.from = op_of_row.receives ? told.peer : told.own;
    op_of_row.to = op_of_row.receives ? told.own : told.peer;
    op_of_row.connection =
        fmt::format("{}_{}_{}_{}", op_of_row.domain, op_of_row.from, op_of_row.to,
                    numbers[{op_of_row.domain, op_of_row.from, op_of_row.to}]++);
  }
  return part;
}

using Ranks = std::vector<OfRank<P2pOps>>;

using P2pItem = RowOfRank<P2pOp>;

void AddP2pSheet(const Ranks& ranks, Report& report) {
  using Item = P2pItem;
  std::vector<ColumnOf<Item>> columns = {
      CountColumn<&Item::rank, kRank>("rank", 8, "The rank."),
      {NamedColumn("opId", Format::kInteger, 10,
                   "The number of the operator in the database. Only databases number operators."),
       [](const Item& item) -> Cell {
         return item.row->id < 0 ? Cell(NoNumber::kUnknown) : Cell(item.row->id);
       }},
      TextColumn<&Item::row, &P2pOp::name>("opName", 30, "The operator."),
      CountColumn<&Item::row, &P2pOp::start>("startNs", 22, "Start of the operator, in ns."),
      CountColumn<&Item::row, &P2pOp::end>("endNs", 22, "End of the operator, in ns."),
      TextColumn<&Item::row, &P2pOp::group>("groupName", 40,
                                            "Communication group of the operator."),
      {NamedColumn("opConnectionId", Format::kText, 18,
                   "<domain>_<sender>_<receiver>_<number>, ranks of the group; both ends of a"
                   " transfer have the same. Empty where the tasks do not name one sender and one"
                   " receiver."),
       [](const Item& item) -> Cell {
         return item.row->connection.empty() ? Cell(NoNumber::kUnknown)
                                             : Cell(item.row->connection);
       }}};
  AddRowsOfRanks(
      ranks, &P2pOps::ops,
      {{"COMMUNICATION_OP",
        ToTranslate("Communication operators rebuilt from marks, as databases have them")},
       std::move(columns)},
      report);
}

// The ends that both ranks recorded. Two groups may have the same ranks of the group, and one
// domain; only the whole name of the group tells them apart.
struct Transfer {
  std::vector<P2pItem> sends, receives;
};

std::map<std::pair<std::string, std::string>, Transfer> TransfersOf(const Ranks& ranks) {
  std::map<std::pair<std::string, std::string>, Transfer> transfers;
  for (const auto& [id, part] : ranks) {
    for (const P2pOp& op : part.ops) {
      if (!op.KnowsEnds()) continue;
      Transfer& transfer = transfers[{op.group, op.connection}];
      (op.receives ? transfer.receives : transfer.sends).push_back({id, &op});
    }
  }
  return transfers;
}

// How long each receiver waited for the senders of a rank.
struct Route {
  std::int64_t count = 0;
  std::vector<RankValue> waits;  // ns, of each transfer, by the receiver
};

void AddP2pLines(const Ranks& ranks, Report& report) {
  std::map<std::pair<RankId, RankId>, Route> routes;  // by sender and receiver
  std::int64_t ops = 0, pairs = 0, paired = 0;
  for (const auto& rank : ranks) ops += std::ssize(rank.part.ops);
  for (const auto& [key, transfer] : TransfersOf(ranks)) {
    if (transfer.sends.size() != 1 || transfer.receives.size() != 1) continue;
    const P2pItem &send = transfer.sends.front(), &receive = transfer.receives.front();
    ++pairs;
    paired += 2;
    Route& route = routes[{send.rank, receive.rank}];
    ++route.count;
    route.waits.push_back({receive.rank, static_cast<double>(std::max<TimeNs>(
                                             0, send.row->start - receive.row->start))});
  }
  if (ops == 0) return;
  report.lines.push_back(
      Say("{} send and receive operators of {} ranks: {} transfers with both ends,", ops,
          ranks.size(), pairs));
  report.lines.push_back(Say("  operators without their other end: {}", ops - paired));
  if (routes.empty()) return;
  report.lines.push_back(Say("how long receivers waited for the sender to begin, in ms:"));
  const ScreenList list(2, {ScreenText("from rank to rank", 24), ScreenNumber("transfers", 9),
                            ScreenMs("min", 10), ScreenMs("median", 10), ScreenMs("max", 10)});
  report.lines.push_back(list.Heading());
  std::vector<std::pair<double, ScreenLine>> lines;
  for (const auto& [route, facts] : routes) {
    const RankSpread spread = SpreadOf(facts.waits);
    lines.emplace_back(spread.median,
                       list.Line(Say("{} to {}", RankName(route.first), RankName(route.second)),
                                 facts.count, spread.min.value, spread.median, spread.max.value));
  }
  StableSort(lines, [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < std::min(kShown, lines.size()); ++i) {
    report.lines.push_back(std::move(lines[i].second));
  }
  AddMoreLine(lines.size(), kShown, "sender-receiver pair", report.lines);
}

void AddP2pNotes(const Ranks& ranks, Report& report) {
  std::int64_t contradictions = 0, foreign = 0, unknown = 0;
  std::vector<RankId> empty;
  for (const auto& [rank, part] : ranks) {
    contradictions += part.contradictions;
    foreign += part.foreign_tasks;
    unknown += std::ranges::count_if(part.ops, [](const P2pOp& op) { return !op.KnowsEnds(); });
    if (part.ops.empty()) empty.push_back(rank);
  }
  if (empty.size() == ranks.size()) {
    report.notes.emplace_back(Translated(
        ranks.front().part.on_gpu
            ? "traces of GPUs do not name the ends of transfers, so none are paired"
            : "no send and receive operators (hcom_send__, hcom_receive__) were recorded;"
              " pipelines have them, collected with profiler_level=Level1"));
  }
  if (unknown > contradictions) {
    report.notes.push_back(
        Say("operators without a connection because their tasks name no sender and receiver: {};"
            " collect with profiler_level=Level1",
            unknown - contradictions));
  }
  if (contradictions > 0) {
    report.notes.push_back(Say(
        "operators without a connection because their tasks name several senders or receivers: {}",
        contradictions));
  }
  if (foreign > 0) {
    report.notes.push_back(
        Say("tasks left out because their group differs from that of their operator: {}", foreign));
  }
}

void ReduceP2pPairing(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                      Report& report) {
  if (wanted.sheets) AddP2pSheet(ranks, report);
  if (wanted.screen != Detail::kNone) AddP2pLines(ranks, report);
  AddP2pNotes(ranks, report);
}

Verdict JudgeP2pPairing(const RankFacts& facts) {
  return JudgeReadable(facts)
      .RefuseKineto(facts, "do not name the ends of transfers")
      .Refuse(facts.recorded.communication == Recorded::kNo, NoCommunication(facts),
              "profiler_level=Level1")
      .Refuse(facts.recorded.communication_tasks == Recorded::kNo,
              "the tasks of communication were not recorded: they name sender and receiver",
              "profiler_level=Level1");
}

}  // namespace

Recipe P2pPairing() {
  return MakeRecipe<MapP2pPairing, ReduceP2pPairing>(
      {.name = "p2p_pairing",
       .folder = "P2PPairing",
       .summary = "which send and receive operators of two ranks belong together",
       .needs = Tables::kCommunications | Tables::kCommTasks,
       .can_run = JudgeP2pPairing,
       .only_with = "sends and receives"});
}

}  // namespace mpa::recipes::p2p_pairing
