// SPDX-License-Identifier: Apache-2.0
#include "chain_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "finding_json.h"
#include "mpa/base/columns.h"
#include "mpa/base/enum_name.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/diagnosis/job/metric_names.h"
#include "mpa/measure/time_category.h"

namespace mpa {
namespace {

using ChainDocument = nlohmann::ordered_json;

std::string_view NameOf(Explained explained) {
  return EnumName<Explained::kNearlyAll>(explained, {"none", "mixed", "mainly", "cause"});
}

ChainDocument Ranks(const std::vector<TimeOfRank>& ranks, std::size_t most) {
  ChainDocument list = ChainDocument::array();
  for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i)
    list.push_back({{"rank", RankJson(ranks[i].rank)}, {"wait_ns", ranks[i].time}});
  return list;
}

ChainDocument Late(const LateRank& late, std::size_t most_ranks) {
  ChainDocument categories = ChainDocument::array();
  for (const CategoryExcess& category : late.categories) {
    categories.push_back({{"leaf", category.category},
                          {"own_ns", category.own},
                          {"usual_ns", category.usual},
                          {"excess_ns", category.Excess()}});
  }
  ChainDocument json = {{"rank", RankJson(late.rank)},
                        {"compared_ranks", late.compared},
                        {"leaves", std::move(categories)},
                        {"lateness_ns", late.lateness},
                        {"explained_share", late.share},
                        {"explained", NameOf(late.explained)},
                        {"waiting", Ranks(late.waiting, most_ranks)},
                        {"waiting_ranks", late.waiting.size()}};
  if (late.divergence) {
    const Divergence& found = *late.divergence;
    json["divergence"] = {{"rank", RankJson(found.rank)}, {"peer", RankJson(found.peer)},
                          {"step", found.step},           {"kernel", found.kernel},
                          {"shapes", found.shapes},       {"behind_ns", found.behind},
                          {"operation", found.until},     {"late_ns", found.late}};
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
                        {"rank", RankJson(stall.rank)},
                        {"late_ns", stall.late},
                        {"next_ns", stall.next}});
    }
    json["stalls"] = std::move(stalls);
  }
  ChainDocument path = ChainDocument::array();
  for (const PathPiece& piece : chain.path) {
    ChainDocument row = {
        {"rank", RankJson(piece.rank)}, {"name", piece.name}, {"less_ns", piece.less}};
    path.push_back(std::move(row));
  }
  json["critical_path"] = std::move(path);
  return json;
}

// The chain of evidence in words: work, lateness, who waits, what of the critical path a fix takes
// out.

namespace {

constexpr std::size_t kMaxCategories = 5, kMaxWaiting = 3, kMaxStalls = 10, kUsualName = 40;

class ChainText {
 public:
  ChainText(const Finding& finding, const MsText& ms, std::size_t columns)
      : finding_(finding), ms_(ms), columns_(columns) {}

  std::vector<WhyLine> Make() && {
    if (!finding_.chain) return {};
    if (finding_.chain->late) AddLate(*finding_.chain->late);
    AddStalls();
    AddArrivals();
    AddPath();
    return std::move(lines_);
  }

 private:
  std::string Time(TimeNs time) const { return TimeWithUnit(ms_, time); }
  static std::string Name(const std::string& text) {
    return ShortenName(Printable(text), NameColumns(kUsualName));
  }
  std::string CategoryOrName(const std::string& name) const {
    return CategoryNamed(name) ? CategoryText(name) : Name(name);
  }

  void Add(std::string label, const std::string& text) {
    for (std::string& line : Wrapped(text, 2, columns_))
      lines_.push_back({std::exchange(label, ""), std::move(line)});
  }

  void AddRow(std::string label, const std::string& name, const std::string& own,
              const std::string& usual, const std::string& excess) {
    constexpr std::size_t kName = 28, kNumber = 12;
    std::string text = PaddedBehind(CutEnd(name, kName), kName);
    for (const std::string& cell : {own, usual, excess}) text += PaddedBefore(cell, kNumber);
    lines_.push_back({std::move(label), std::move(text)});
  }

  void AddCategory(const std::string& name, TimeNs own, TimeNs usual) {
    const TimeNs excess = own - usual;
    AddRow({}, name, Time(own), Time(usual),
           (excess < 0   ? "-"
            : excess > 0 ? "+"
                         : "") +
               Time(std::abs(excess)));
  }

  void AddLate(const LateRank& late) {
    AddRow(Say("work"), Say("rank {}, a step", RankName(late.rank)), Say("own"),
           Say("usual of {}", late.compared), Say("excess"));
    CategoryExcess other, all;
    for (std::size_t i = 0; i < late.categories.size(); ++i) {
      const CategoryExcess& category = late.categories[i];
      all.own += category.own;
      all.usual += category.usual;
      if (i >= kMaxCategories) {
        other.own += category.own;
        other.usual += category.usual;
      } else {
        AddCategory(CategoryText(category.category), category.own, category.usual);
      }
    }
    if (late.categories.size() > kMaxCategories) AddCategory(Say("other"), other.own, other.usual);
    if (late.categories.size() > 1) AddCategory(Say("together"), all.own, all.usual);
    AddLateness(late);
    if (!late.waiting.empty()) Add(Say("waiting"), RanksWithTimes(late.waiting));
    if (late.divergence) AddDivergence(*late.divergence);
  }

  void AddLateness(const LateRank& late) {
    const std::string label = Say("late by");
    if (late.lateness <= 0) return Add(label, Say("0: no captured rank waits for it"));
    const auto share_of = [&](std::size_t i) {
      const double share = Share(late.categories[i].Excess(), late.lateness);
      return Say("{} ({:.0f} %)", CategoryText(late.categories[i].category),
                 100 * std::min(1.0, share));
    };
    Add(label, ExplanationOf(late, Time(late.lateness), share_of));
  }

  template <typename ShareOf>
  static std::string ExplanationOf(const LateRank& late, const std::string& time,
                                   ShareOf share_of) {
    if (late.explained == Explained::kNearlyAll)
      return Say("{} a step; the cause is {}", time, share_of(0));
    if (late.explained == Explained::kMainly) return Say("{} a step; mainly {}", time, share_of(0));
    if (late.explained == Explained::kNothing)
      return Say("{} a step; the comparison does not explain it", time);
    return late.categories.size() > 1 && late.categories[1].Excess() > 0
               ? Say("{} a step; mixed: {} and {}", time, share_of(0), share_of(1))
               : Say("{} a step; mixed: {}", time, share_of(0));
  }

  std::string RanksWithTimes(const std::vector<TimeOfRank>& ranks) const {
    std::string text;
    for (std::size_t i = 0; i < std::min(kMaxWaiting, ranks.size()); ++i) {
      text += fmt::format("{}rank {} {}", i == 0 ? "" : Translated(", "), RankName(ranks[i].rank),
                          Time(ranks[i].time));
    }
    if (ranks.size() > kMaxWaiting) text += Say("; {} more", ranks.size() - kMaxWaiting);
    return text;
  }

  void AddDivergence(const Divergence& found) {
    std::string shapes = found.shapes;
    std::erase(shapes, '"');
    std::string kernel = shapes.empty() ? Name(found.kernel)
                                        : fmt::format("{} ({})", Name(found.kernel), Name(shapes));
    if (!found.op.empty())
      kernel += Say(" of {}", AtLine(found.op, found.line, NameColumns(kUsualName)));
    const std::string place =
        found.kernel.empty() ? Say("behind the last kernel") : Say("first at {}", kernel);
    const std::string step = found.step < 0 ? "" : Say(", step {}", found.step);
    Add(Say("differs"),
        Say("{}{}: {} behind rank {}; in the end {} late to {}", place, step, Time(found.behind),
            RankName(found.peer), Time(found.late), Name(found.until)));
  }

  void AddStalls() {
    const auto& stalls = finding_.chain->stalls;
    for (std::size_t i = 0; i < std::min(kMaxStalls, stalls.size()); ++i) {
      Add(i == 0 ? Say("stalls") : "",
          Say("step {}: rank {} takes {} more than usual, the next {}", stalls[i].step,
              RankName(stalls[i].rank), Time(stalls[i].late), Time(stalls[i].next)));
    }
    if (stalls.size() > kMaxStalls)
      Add({}, Say("{} more: --json lists them", stalls.size() - kMaxStalls));
  }

  void AddArrivals() {
    const auto& arrivals = finding_.chain->arrivals;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const SeenArrival& arrival = arrivals[i];
      const std::string step = arrival.step < 0 ? "" : Say(", step {}", arrival.step);
      Add(i == 0 ? Say("arrivals") : "",
          Say("{}{}: {} after the others", Name(arrival.operation), step, Time(arrival.behind)));
      if (!arrival.observers.empty())
        Add({}, Say("  waits: {}", RanksWithTimes(arrival.observers)));
      if (i == 0) continue;
      std::string later = Say("  came {} after the first one", Time(arrival.came));
      if (arrival.asked >= 0) later += Say("; called for {} after it", Time(arrival.asked));
      Add({}, later);
    }
    if (finding_.chain->more_arrivals > 0) Add({}, Say("{} more", finding_.chain->more_arrivals));
  }

  void AddPath() {
    const auto& path = finding_.chain->path;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const std::string who = path[i].rank >= 0 ? "rank " + RankName(path[i].rank)
                              : finding_.ranks.empty()
                                  ? CulpritsText(finding_)
                                  : RankList(finding_.ranks).Text(RankList::kMostRuns);
      Add(i == 0 ? Say("path") : "",
          Say("{}: {} {} a step", who, CategoryOrName(path[i].name), Time(path[i].less)));
    }
    if (finding_.chain->more_path > 0) Add({}, Say("{} shorter pieces", finding_.chain->more_path));
  }

  const Finding& finding_;
  const MsText& ms_;
  const std::size_t columns_;
  std::vector<WhyLine> lines_;
};

}  // namespace

std::string TimeWithUnit(const MsText& ms, TimeNs time) {
  constexpr TimeNs kInUs = 100'000;
  if (time == 0 || std::abs(time) >= kInUs) return ms(time) + " ms";
  return fmt::format("{:.1f} us", InUs(time));
}

std::vector<WhyLine> ChainLines(const Finding& finding, const MsText& ms, std::size_t columns) {
  return ChainText(finding, ms, columns).Make();
}

}  // namespace mpa
