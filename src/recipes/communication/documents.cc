// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/device_work.h"
#include "sums.h"

namespace mpa::recipes::communication {
namespace {

using Json = nlohmann::ordered_json;

std::string Dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The entries of a document under keys of four levels, each of which stands where it came first.
// Entries are numbers until they are written, so that no document is in memory.
class Entries {
 public:
  void Add(const std::string& ranks, std::string_view step, std::string op, std::uint32_t entry) {
    const std::uint32_t of_ranks = NodeOf(0, ranks);
    const std::uint32_t of_step = NodeOf(of_ranks, std::string(step));
    entries_.push_back({{of_ranks, of_step, NodeOf(of_step, std::move(op))}, entry});
  }

  // `last_key` is that of the fourth level, `value` what all entries under the same keys are.
  template <typename LastKey, typename Value>
  void Write(const TextSink& sink, LastKey last_key, Value value) {
    StableSort(entries_, {}, &Entry::path);
    static constexpr Path kTop{};
    const Path* open = &kTop;
    sink("{");
    for (std::size_t begin = 0, end = 0; begin < entries_.size(); begin = end) {
      const Path& path = entries_[begin].path;
      while (end < entries_.size() && entries_[end].path == path) ++end;
      const auto same =
          static_cast<std::size_t>(std::ranges::mismatch(*open, path).in1 - open->begin());
      if (begin > 0) sink(std::string(path.size() - same, '}') + ',');
      for (std::size_t level = same; level < path.size(); ++level)
        sink(Dumped(*keys_[path[level]]) + ":{");
      WriteLevel(begin, end, sink, last_key, value);
      open = &path;
    }
    sink(entries_.empty() ? "}" : "}}}}");
  }

 private:
  using Path = std::array<std::uint32_t, 3>;  // nodes
  struct Entry {
    Path path;
    std::uint32_t entry = 0;
  };

  std::uint32_t NodeOf(std::uint32_t parent, std::string key) {
    const auto [found, is_new] =
        nodes_.try_emplace({parent, std::move(key)}, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(&found->first.second);
    return found->second;
  }

  template <typename LastKey, typename Value>
  void WriteLevel(std::size_t begin, std::size_t end, const TextSink& sink, LastKey last_key,
                  Value value) const {
    std::map<std::string, std::size_t> places;
    std::vector<std::vector<std::uint32_t>> listed;
    for (std::size_t i = begin; i < end; ++i) {
      const auto [place, is_new] = places.try_emplace(last_key(entries_[i].entry), listed.size());
      if (is_new) listed.emplace_back();
      listed[place->second].push_back(entries_[i].entry);
    }
    for (std::size_t i = 0; i < listed.size(); ++i) {
      sink((i == 0 ? "" : ",") + Dumped(last_key(listed[i].front())) + ':' +
           Dumped(value(listed[i])));
    }
  }

  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> nodes_;
  std::vector<const std::string*> keys_ = {nullptr};  // of nodes; of the top there is none
  std::vector<Entry> entries_;
};

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
  const std::string& Of(bool p2p, std::string_view group) const {
    static const std::string kNone = "()";
    for (const bool kind : {p2p, !p2p}) {
      const auto found = keys_.find({kind, std::string(group)});
      if (found != keys_.end()) return found->second;
    }
    return kNone;
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

Json LinkInfo(const PacketSizes& packets, LinkKind kind, const LinkUse& use, bool total) {
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
  if (const auto of_kind = packets.find(kind); of_kind != packets.end()) {
    for (const double size : of_kind->second) {
      const auto& [count, time] = use.sizes.at(size);
      sizes[PythonFloat(size)] = {count, time};
    }
  }
  info["Size Distribution"] = std::move(sizes);
  if (total) info["Bandwidth(GB/s)"] = use.bandwidth;
  return info;
}

Json OpInfo(const RankOp& op, bool total) {
  const PacketSizes packets = op.Sizes();
  Json links = Json::object();
  for (const auto& [kind, use] : op.op->links)
    links[std::string(NameOf(kind))] = LinkInfo(packets, kind, use, total);
  return {{"Communication Time Info", TimeInfo(*op.op, total)},
          {"Communication Bandwidth Info", std::move(links)}};
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
  return {"communication_group.json", Dumped(json)};
}

TextDocument TimeDocument(std::shared_ptr<const OpSums> sums, const std::vector<Group>& groups) {
  return {.file_name = "cluster_communication.json",
          .write = [sums = std::move(sums), keys = SetKeys(groups)](const TextSink& sink) {
            const RankTotals totals = TotalsOf(sums->ops, keys.GroupsOfTwoKeys());
            const std::size_t count = sums->ops.size();
            const auto op_of = [&](std::uint32_t i) -> const RankOp& {
              return i < count ? sums->ops[i] : totals.listed[i - count];
            };
            Entries entries;
            for (std::uint32_t i = 0; i < count + totals.listed.size(); ++i) {
              const RankOp& op = op_of(i);
              entries.Add(keys.Of(op.p2p, op.op->group), op.step, op.op->name + "@" + op.op->group,
                          i);
            }
            entries.Write(
                sink, [&](std::uint32_t i) { return RankName(op_of(i).rank); },
                [&](const std::vector<std::uint32_t>& same) {
                  return OpInfo(op_of(same.back()), same.back() >= count);
                });
          }};
}

namespace {

std::string EndsInJob(const RankLink& link) {
  return fmt::format("{}-{}", RankName(link.source), RankName(link.destination));
}

std::string EndsInGroup(const RankLink& link) {
  return fmt::format("{}-{}", link.source_in_group, link.destination_in_group);
}

// The links whose ends are known, or not, with what `ends` calls them.
TextDocument MatrixOf(const char* file_name, std::shared_ptr<const LinkSums> sums,
                      const std::vector<Group>& groups, bool known,
                      std::string (*ends)(const RankLink&)) {
  return {
      .file_name = file_name,
      .write = [sums = std::move(sums), keys = SetKeys(groups), known, ends](const TextSink& sink) {
        const std::size_t count = sums->links.size();
        const auto link_of = [&](std::uint32_t i) -> const RankLink& {
          return i < count ? sums->links[i] : sums->totals[i - count];
        };
        Entries entries;
        for (std::uint32_t i = 0; i < count + sums->totals.size(); ++i) {
          const RankLink& link = link_of(i);
          if (link.KnowsEnds() != known) continue;
          entries.Add(keys.Of(link.p2p, link.group), link.step,
                      fmt::format("{}@{}", link.name, link.group), i);
        }
        entries.Write(
            sink, [&](std::uint32_t i) { return ends(link_of(i)); },
            [&](const std::vector<std::uint32_t>& same) {
              // A group may have both kinds of operators under one key; their total is one.
              double milliseconds = 0, megabytes = 0;
              for (const std::uint32_t i : same) {
                milliseconds += link_of(i).milliseconds;
                megabytes += link_of(i).megabytes;
              }
              const RankLink& last = link_of(same.back());
              return Json{{"Transport Type", last.transport},
                          {"Transit Time(ms)", milliseconds},
                          {"Transit Size(MB)", megabytes},
                          {"Op Name", last.op},
                          {"Bandwidth(GB/s)", RatioOf(megabytes, milliseconds)}};
            });
      }};
}

}  // namespace

TextDocument MatrixDocument(std::shared_ptr<const LinkSums> sums,
                            const std::vector<Group>& groups) {
  return MatrixOf("cluster_communication_matrix.json", std::move(sums), groups, true, EndsInJob);
}

TextDocument GroupMatrixDocument(std::shared_ptr<const LinkSums> sums,
                                 const std::vector<Group>& groups) {
  return MatrixOf("cluster_communication_matrix_by_group_rank.json", std::move(sums), groups, false,
                  EndsInGroup);
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
