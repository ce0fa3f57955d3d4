// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/measure/device_work.h"
#include "sums.h"

namespace mpa::recipes::communication {
namespace {

using Json = nlohmann::ordered_json;

TextDocument DocumentOf(const char* file_name, const Json& json) {
  return {file_name, json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

// Numbers, and labels of captures without one.
Json RanksJson(const std::set<RankId>& ranks) {
  Json list = Json::array();
  for (const RankId rank : ranks)
    list.push_back(rank.IsLabel() ? Json(RankName(rank)) : Json(rank.Number()));
  return list;
}

// The ranks of a group as the key under which the Python tool keeps its operators.
class SetKeys {
 public:
  explicit SetKeys(const std::vector<Group>& groups) {
    for (const Group& group : groups) {
      keys_[{group.p2p, group.name}] = RankTupleText(group.seen);
    }
  }
  // That of the other kind of operators where a group has none of this kind.
  std::string Of(bool p2p, const std::string& group) const {
    for (const bool kind : {p2p, !p2p}) {
      const auto found = keys_.find({kind, group});
      if (found != keys_.end()) return found->second;
    }
    return "()";
  }
  // Those whose p2p operators lie under another key than their collectives.
  std::set<std::string> GroupsOfTwoKeys() const {
    std::set<std::string> groups;
    for (const auto& [group, key] : keys_) {
      if (Of(!group.first, group.second) != key) groups.insert(group.second);
    }
    return groups;
  }

 private:
  std::map<std::pair<bool, std::string>, std::string> keys_;
};

Json TimeInfo(const CommunicationOp& op, bool total) {
  const CommunicationTime& time = op.time;
  Json info;
  if (!total) info["Start Timestamp(us)"] = time.start_us;
  info["Elapse Time(ms)"] = time.elapse;
  info["Transit Time(ms)"] = time.transit;
  info["Wait Time(ms)"] = time.wait;
  info["Synchronization Time(ms)"] = time.synchronization;
  info["Idle Time(ms)"] = time.idle;
  info["Wait Time Ratio"] = time.wait_ratio;
  info["Synchronization Time Ratio"] = time.synchronization_ratio;
  return info;
}

Json LinkInfo(const RankOp& op, LinkKind kind, const LinkUse& use, bool total) {
  Json info;
  if (total) {
    info["Transit Time(ms)"] = use.milliseconds;
    info["Transit Size(MB)"] = use.megabytes;
  } else {
    info["Transit Size(MB)"] = use.megabytes;
    info["Transit Time(ms)"] = use.milliseconds;
    info["Bandwidth(GB/s)"] = use.bandwidth;
    info["Large Packet Ratio"] = use.large_packet_ratio;
  }
  Json sizes = Json::object();
  if (const auto of_kind = op.sizes.find(kind); of_kind != op.sizes.end()) {
    for (const double size : of_kind->second) {
      const auto& [count, time] = use.sizes.at(size);
      sizes[PythonFloat(size)] = {count, time};
    }
  }
  info["Size Distribution"] = std::move(sizes);
  if (total) info["Bandwidth(GB/s)"] = use.bandwidth;
  return info;
}

}  // namespace

TextDocument GroupDocument(const std::vector<Group>& groups) {
  Json json = {{"collective", Json::array()},
               {"p2p", Json::array()},
               {"comm_group_parallel_info", Json::array()}};
  for (const Group& group : groups) {
    const Json seen = RanksJson(group.seen);
    Json& sets = json[group.Type()];
    if (std::ranges::find(sets, seen) == sets.end()) sets.push_back(seen);
    json["comm_group_parallel_info"].push_back({{"type", group.Type()},
                                                {"rank_set", RanksJson(group.ranks)},
                                                {"group_name", group.name},
                                                {"group_id", group.id},
                                                {"pg_name", group.process_group}});
  }
  return DocumentOf("communication_group.json", json);
}

TextDocument TimeDocument(const OpSums& sums, const std::vector<Group>& groups) {
  const SetKeys keys(groups);
  const std::vector<RankOp> totals = TotalsOf(sums.ops, keys.GroupsOfTwoKeys());
  Json json = Json::object();
  for (const auto* ops : {&sums.ops, &totals}) {
    const bool total = ops == &totals;
    for (const RankOp& op : *ops) {
      Json links = Json::object();
      for (const auto& [kind, use] : op.op.links) {
        links[std::string(NameOf(kind))] = LinkInfo(op, kind, use, total);
      }
      json[keys.Of(op.p2p, op.op.group)][op.step][op.op.name + "@" + op.op.group]
          [RankName(op.rank)] = {{"Communication Time Info", TimeInfo(op.op, total)},
                                 {"Communication Bandwidth Info", std::move(links)}};
    }
  }
  return DocumentOf("cluster_communication.json", json);
}

namespace {

// The links whose ends are known, or not, with what `ends` calls them.
// Not a template: in those clang 14 never destroys the list that is assigned to an entry.
Json MatrixOf(const LinkSums& sums, const std::vector<Group>& groups, bool known,
              std::string (*ends)(const RankLink&)) {
  const SetKeys keys(groups);
  Json json = Json::object();
  for (const auto* links : {&sums.links, &sums.totals}) {
    for (const RankLink& link : *links) {
      if (link.KnowsEnds() != known) continue;
      Json& entry =
          json[keys.Of(link.p2p, link.group)][link.step][link.name + "@" + link.group][ends(link)];
      if (entry.is_null()) entry = Json::object();
      // A group may have both kinds of operators under one key; their total is one.
      const double milliseconds = entry.value("Transit Time(ms)", 0.0) + link.milliseconds;
      const double megabytes = entry.value("Transit Size(MB)", 0.0) + link.megabytes;
      entry = {{"Transport Type", link.transport},
               {"Transit Time(ms)", milliseconds},
               {"Transit Size(MB)", megabytes},
               {"Op Name", link.op},
               {"Bandwidth(GB/s)", RatioOf(megabytes, milliseconds)}};
    }
  }
  return json;
}

}  // namespace

TextDocument MatrixDocument(const LinkSums& sums, const std::vector<Group>& groups) {
  return DocumentOf(
      "cluster_communication_matrix.json", MatrixOf(sums, groups, true, [](const RankLink& link) {
        return fmt::format("{}-{}", RankName(link.source), RankName(link.destination));
      }));
}

TextDocument GroupMatrixDocument(const LinkSums& sums, const std::vector<Group>& groups) {
  return DocumentOf("cluster_communication_matrix_by_group_rank.json",
                    MatrixOf(sums, groups, false, [](const RankLink& link) {
                      return fmt::format("{}-{}", link.source_in_group, link.destination_in_group);
                    }));
}

TextDocument StepDocument(const std::vector<StepTraceRow>& rows, bool with_indices) {
  std::string text =
      "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
      "Bubble,Communication(Not Overlapped and Exclude Receive),Preparing";
  if (with_indices) text += ",DP Index,PP Index,TP Index";
  text += "\r\n";
  for (const StepTraceRow& row : rows) {
    const StepTimes::Row& times = row.times;
    text += fmt::format(
        "{},{},{}", row.step, row.stage ? "stage" : "rank",
        row.stage ? fmt::format("\"{}\"", RankTupleText(row.ranks)) : RankName(row.rank));
    for (const TimeNs time :
         {times.computing, times.exposed_communication, times.overlapped, times.communication,
          times.free, times.stage, times.bubble, times.exposed_without_receive}) {
      text += "," + PythonUs(time);
    }
    text += "," + (times.preparing < 0 ? "" : PythonUs(times.preparing));
    if (with_indices) {
      text += row.place ? fmt::format(",{},{},{}", row.place->dp, row.place->pp, row.place->tp)
                        : ",NA,NA,NA";
    }
    text += "\r\n";
  }
  return {"cluster_step_trace_time.csv", std::move(text)};
}

}  // namespace mpa::recipes::communication
