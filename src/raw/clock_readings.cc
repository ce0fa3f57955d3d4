// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "clock.h"
#include "control_documents.h"
#include "mpa/base/language.h"
#include "mpa/io/json_document.h"

namespace mpa::raw {
namespace {

using io::Member;

// Two clocks are not read at exactly the same instant, and clocks drift.
constexpr TimeNs kNormalDifference = 1'000'000;
constexpr TimeNs kOfFramework = 10'000'000;  // which reads them in Python, where threads take turns
constexpr TimeNs kNormalDrift = 1000;        // ns per ns
// All clocks are read within this time after the beginning of the collection.
constexpr TimeNs kStartLasts = 600'000'000'000;

// The difference of two clocks according to one file.
struct Reading {
  std::string file;
  TimeNs difference = 0;
  TimeNs at = 0;  ///< on the monotonic clock
  TimeNs exact_to = kNormalDifference;

  bool Confirms(const Reading& other) const {
    const TimeNs apart = std::abs(at - other.at);
    return std::abs(difference - other.difference) <=
           std::max(exact_to, other.exact_to) + apart / kNormalDrift;
  }
};

std::size_t Confirmations(const Reading& reading, const std::vector<Reading>& others) {
  return static_cast<std::size_t>(std::ranges::count_if(others, [&](const Reading& other) {
    return other.file != reading.file && other.Confirms(reading);
  }));
}

// The reading that most others confirm, the first one on a tie; null if there is none.
const Reading* MostConfirmed(const std::vector<Reading>& readings,
                             const std::vector<Reading>& witnesses) {
  const Reading* best = nullptr;
  std::size_t most = 0;
  for (const Reading& reading : readings) {
    const std::size_t count = Confirmations(reading, witnesses);
    if (best != nullptr && count <= most) continue;
    best = &reading;
    most = count;
  }
  return best;
}

class ClockVote {
 public:
  ClockVote(const std::vector<SideDocuments>& sides, const Json& profiler_info, Issues& issues)
      : sides_(sides), profiler_info_(profiler_info), issues_(issues) {}

  MachineClock Result() {
    clock_.host_hertz = HostHertz();
    AgreeOnOffset();
    AgreeOnCounter();
    return std::move(clock_);
  }

 private:
  void Distrust(const Reading& wrong, const Reading& right, std::string_view cost) {
    const double apart = static_cast<double>(wrong.difference - right.difference) / 1e6;
    clock_.wrong.insert(wrong.file);
    issues_.Count(Say("{} is damaged, its clocks contradict {}: {}; copy the capture again",
                      wrong.file, right.file, Translated(cost)),
                  Say("{:.3f} ms apart", apart));
  }

  // All info.json contain it; if there is a counter, so does profiler_info.json.
  std::int64_t HostHertz() {
    std::map<std::int64_t, std::vector<std::string>> files;
    for (const SideDocuments& side : sides_) {
      const Json& text = Member(FirstOf(Member(side.info, "CPU")), "Frequency");
      if (text.is_null()) continue;
      const std::string name = side.NameOf("info.json");
      const std::int64_t hertz = HertzFromMegahertz(TextOf(text));
      if (hertz == 0 && !TextOf(text).empty()) {
        issues_.Count(Say("{} is damaged, the frequency of its CPU makes no sense: it is"
                          " taken from other control files; copy the capture again",
                          name),
                      TextOf(text));
        continue;
      }
      files[hertz].push_back(name);
    }
    const Json& start = Member(profiler_info_, "start_info");
    const bool counts = Member(start, "syscnt_enable") == Json(true);
    const std::int64_t of_framework =
        counts ? HertzFromMegahertz(TextOf(Member(start, "freq"))) : 0;
    if (files.empty()) return Stamps(of_framework);
    if (files.size() > 1 && of_framework > 0) files[of_framework].push_back("profiler_info");
    const auto most = std::ranges::max_element(
        files, [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    for (const auto& [hertz, names] : files) {
      if (hertz == most->first || names.front() == "profiler_info") continue;
      issues_.Count(Say("{} is damaged, the frequency of its CPU contradicts {}: the latter"
                        " is taken; copy the capture again",
                        names.front(), most->second.front()),
                    Say("{} and {} Hz", hertz, most->first));
    }
    return Stamps(most->first);
  }

  // A frequency of 1000 MHz means the same as none: stamps are ns.
  static std::int64_t Stamps(std::int64_t hertz) {
    constexpr std::int64_t kNanoseconds = 1'000'000'000;
    return hertz == kNanoseconds ? 0 : hertz;
  }

  void AgreeOnOffset() {
    std::vector<Reading> starts, ends;
    for (const SideDocuments& side : sides_) {
      if (const auto start = InstantOf(side.start, "collectionTimeBegin")) {
        starts.push_back({side.NameOf("start_info"), start->Offset(), start->monotonic});
      }
      if (const auto end = InstantOf(side.end, "collectionTimeEnd")) {
        ends.push_back({side.NameOf("end_info"), end->Offset(), end->monotonic});
      }
    }
    const Json& end = Member(profiler_info_, "end_info");
    const auto epoch = NumberOf(Member(end, "collectionTimeEnd"));
    const auto monotonic = NumberOf(Member(end, "MonotonicTimeEnd"));
    if (epoch && monotonic)
      ends.push_back({"profiler_info", *epoch - *monotonic, *monotonic, kOfFramework});

    // The wall clock may have been set meanwhile, so the starts decide if two of them agree.
    std::vector<Reading> all = starts;
    all.insert(all.end(), ends.begin(), ends.end());
    const Reading* right = MostConfirmed(starts, starts);
    if (right == nullptr || Confirmations(*right, starts) == 0) right = MostConfirmed(all, all);
    if (right == nullptr) return;
    chosen_ = *right;
    clock_.offset = chosen_.difference;
    for (const Reading& start : starts) {
      if (!start.Confirms(chosen_)) {
        Distrust(start, chosen_, "begin and wall clock are taken from the latter");
      } else if (!clock_.begin) {
        clock_.begin = start.at;
      }
    }
    const bool set_meanwhile = ends.size() > 1 && Confirmations(chosen_, ends) == 0 &&
                               Confirmations(ends.front(), ends) + 1 == ends.size();
    if (set_meanwhile) return;
    for (const Reading& reading : ends) {
      if (reading.Confirms(chosen_)) continue;
      Distrust(reading, chosen_, "the end of the collection is uncertain");
    }
  }

  // From the counter to the monotonic clock.
  Reading CounterReading(std::string file, const CounterAnchor& anchor) const {
    const TimeNs since_zero = TicksToNs(anchor.count, clock_.host_hertz);
    const TimeNs exact_to = file == "profiler_info" ? kOfFramework : kNormalDifference;
    return {std::move(file), anchor.monotonic - since_zero, anchor.monotonic, exact_to};
  }

  void AgreeOnCounter() {
    std::vector<Reading> readings;
    std::map<std::string, CounterAnchor> anchors;
    const auto add = [&](const std::string& file, const CounterAnchor& anchor) {
      if (!IsNearBegin(anchor.monotonic)) {
        return Distrust({file, anchor.monotonic, anchor.monotonic},
                        {chosen_.file, *clock_.begin, *clock_.begin}, kCounterCost);
      }
      anchors[file] = anchor;
      if (clock_.host_hertz > 0) readings.push_back(CounterReading(file, anchor));
    };
    for (const SideDocuments& side : sides_) {
      const auto anchor = AnchorOf(side.host_start);
      if (anchor && (anchor->count > 0 || clock_.host_hertz == 0)) {
        add(side.NameOf("host_start.log"), *anchor);
      }
    }
    const Json& start = Member(profiler_info_, "start_info");
    const auto count = NumberOf(Member(start, "start_cnt"));
    const auto monotonic = NumberOf(Member(start, "start_monotonic"));
    if (Member(start, "syscnt_enable") == Json(true) && count && monotonic) {
      add("profiler_info", {*count, *monotonic});
    }
    const Reading* right = MostConfirmed(readings, readings);
    if (right == nullptr) return;
    clock_.counter = anchors.at(right->file);
    if (!clock_.begin) clock_.begin = right->at;
    for (const Reading& reading : readings) {
      if (!reading.Confirms(*right)) Distrust(reading, *right, kCounterCost);
    }
  }

  bool IsNearBegin(TimeNs monotonic) const {
    return !clock_.begin || std::abs(monotonic - *clock_.begin) <= kStartLasts;
  }

  static constexpr const char* kCounterCost =
      "the clock of the host is taken from other control"
      " files, that of a device is estimated";

  const std::vector<SideDocuments>& sides_;
  const Json& profiler_info_;
  Issues& issues_;
  MachineClock clock_;
  Reading chosen_;  // from the monotonic clock to the epoch
};

}  // namespace

std::optional<Instant> InstantOf(const Json& document, const char* micros_key) {
  const auto micros = NumberOf(Member(document, micros_key));
  const auto monotonic = NumberOf(Member(document, "clockMonotonicRaw"));
  constexpr std::int64_t kLatest = std::int64_t{4'000'000'000'000'000};  // in the year 2096
  if (!micros || !monotonic || *micros < 0 || *micros > kLatest) return std::nullopt;
  return Instant{*micros * 1000, *monotonic};
}

CounterAnchor CounterAnchor::MovedTo(TimeNs time, std::int64_t hertz) const {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  const Int128 ticks = static_cast<Int128>(time - monotonic) * hertz / kNsPerSecond;
  return {count + static_cast<std::int64_t>(ticks), time};
}

std::optional<CounterAnchor> AnchorOf(const KeyValues& host_start) {
  const auto monotonic = host_start.Find("clock_monotonic_raw");
  if (!monotonic) return std::nullopt;
  return CounterAnchor{host_start.Find("cntvct").value_or(0), *monotonic};
}

MachineClock AgreeOnClocks(const std::vector<SideDocuments>& sides, const Json& profiler_info,
                           Issues& issues) {
  return ClockVote(sides, profiler_info, issues).Result();
}

}  // namespace mpa::raw
