// SPDX-License-Identifier: Apache-2.0
#include "chain_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace mpa {
namespace {

using ChainDocument = nlohmann::ordered_json;

std::string_view NameOf(Explained explained) {
  switch (explained) {
    case Explained::kNearlyAll:
      return "cause";
    case Explained::kMainly:
      return "mainly";
    case Explained::kMixed:
      return "mixed";
    case Explained::kNothing:
      break;
  }
  return "none";
}

ChainDocument Ranks(const std::vector<TimeOfRank>& ranks, std::size_t most) {
  ChainDocument list = ChainDocument::array();
  for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i)
    list.push_back({{"rank", ranks[i].rank}, {"wait_ns", ranks[i].time}});
  return list;
}

ChainDocument Late(const LateRank& late, std::size_t most_ranks) {
  ChainDocument leaves = ChainDocument::array();
  for (const LeafExcess& leaf : late.leaves) {
    leaves.push_back({{"leaf", leaf.leaf},
                      {"own_ns", leaf.own},
                      {"usual_ns", leaf.usual},
                      {"excess_ns", leaf.Excess()}});
  }
  ChainDocument json = {{"rank", late.rank},
                        {"compared_ranks", late.compared},
                        {"leaves", std::move(leaves)},
                        {"lateness_ns", late.lateness},
                        {"explained_share", late.share},
                        {"explained", NameOf(late.explained)},
                        {"waiting", Ranks(late.waiting, most_ranks)},
                        {"waiting_ranks", late.waiting.size()}};
  if (late.divergence) {
    const Divergence& found = *late.divergence;
    json["divergence"] = {{"rank", found.rank},       {"peer", found.peer},
                          {"step", found.step},       {"kernel", found.kernel},
                          {"shapes", found.shapes},   {"behind_ns", found.behind},
                          {"operation", found.until}, {"late_ns", found.late}};
    if (!found.op.empty()) json["divergence"]["op"] = found.op;
    if (!found.line.empty()) json["divergence"]["source_line"] = found.line;
  }
  return json;
}

}  // namespace

nlohmann::ordered_json ChainJson(const FindingChain& chain, std::size_t most_ranks) {
  ChainDocument json = ChainDocument::object();
  if (chain.late) json["late"] = Late(*chain.late, most_ranks);
  if (!chain.arrivals.empty()) {
    ChainDocument arrivals = ChainDocument::array();
    for (const SeenArrival& arrival : chain.arrivals) {
      ChainDocument row = {{"operation", arrival.operation},
                           {"step", arrival.step},
                           {"behind_ns", arrival.behind},
                           {"observers", Ranks(arrival.observers, most_ranks)},
                           {"since_first_ns", arrival.came}};
      if (arrival.asked >= 0) row["asked_since_first_ns"] = arrival.asked;
      arrivals.push_back(std::move(row));
    }
    json["arrivals"] = std::move(arrivals);
  }
  if (!chain.stalls.empty()) {
    ChainDocument stalls = ChainDocument::array();
    for (const StepStall& stall : chain.stalls) {
      stalls.push_back({{"step", stall.step},
                        {"rank", stall.rank},
                        {"late_ns", stall.late},
                        {"next_ns", stall.next}});
    }
    json["stalls"] = std::move(stalls);
  }
  ChainDocument path = ChainDocument::array();
  for (const PathPiece& piece : chain.path) {
    ChainDocument row = {{"rank", piece.rank}, {"name", piece.name}, {"less_ns", piece.less}};
    if (piece.rank < 0) row["rank"] = nullptr;
    path.push_back(std::move(row));
  }
  json["critical_path"] = std::move(path);
  return json;
}

}  // namespace mpa
