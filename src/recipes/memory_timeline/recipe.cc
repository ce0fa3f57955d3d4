// SPDX-License-Identifier: Apache-2.0
// Memory of the devices over time: what holds the peak, and what grows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/time.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/page.h"
#include "part.h"

namespace mpa::recipes::memory_timeline {
namespace {

using Rank = OfRank<RankMemory>;

// Each of so many ranks has a picture of its own; of more ranks the highest, the median and the
// lowest have one.
constexpr std::size_t kMaxOwn = 8;
constexpr std::size_t kMaxBars = 64;
constexpr std::size_t kTimes = 50;  // of all ranks together

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Memory from before the capture comes first, which is the lowest area, as it changes least.
std::array<Category, kCategories> Layers() {
  std::array<Category, kCategories> layers{};
  constexpr auto kBefore = static_cast<std::size_t>(Category::kBefore);
  for (std::size_t i = 0; i < kCategories; ++i)
    layers[i] = static_cast<Category>((i + kBefore) % kCategories);
  return layers;
}

// The unit of all pictures, MB or GB, with four decimals at most.
class PictureUnit {
 public:
  explicit PictureUnit(std::int64_t most) : in_gb_(most >= 4'000'000'000) {}
  double operator()(std::int64_t bytes) const {
    if (bytes < 0) return kNone;
    const double per_unit = in_gb_ ? 1e9 : 1e6;
    return std::round(1e4 * static_cast<double>(bytes) / per_unit) / 1e4;
  }
  const char* Name() const { return in_gb_ ? "GB" : "MB"; }

 private:
  bool in_gb_;
};

std::string PeakText(const RankMemory& part) {
  std::string text = Say("peak: {}", AmountText(Quantity::kBytes, part.peak->Allocated()));
  if (part.peak_step >= 0) text += Say(" in step {}", part.peak_step);
  return text;
}

PageSeries SeriesOf(Category category) {
  return {.name = std::string(Translated(NameOf(category))),
          .tint = Tint::kMemory,
          .shade = static_cast<std::size_t>(category)};
}

class MemoryPictures {
 public:
  explicit MemoryPictures(const std::vector<Rank>& ranks) : ranks_(ranks), unit_(MostOf(ranks)) {
    for (const Category category : Layers()) {
      const bool any = std::ranges::any_of(ranks, [&](const Rank& rank) {
        return std::ranges::any_of(rank.part.points,
                                   [&](const Level& point) { return point.Of(category) > 0; });
      });
      if (any) layers_.push_back(category);
    }
  }

  // A picture of one rank over time.
  PageChart OverTime(const Rank& rank, const std::string& which) const {
    const RankMemory& part = rank.part;
    PageChart chart{.kind = PageChart::Kind::kAreas,
                    .title = Say("{}{}: what is allocated for what, and reserved over time",
                                 RankText(rank.rank), which),
                    .unit = unit_.Name(),
                    .label = "ms",
                    .unit_of_places = Say("ms since the begin")};
    for (const Level& point : part.points) chart.at.push_back(InMs(point.time - part.begin));
    const bool goes_on = !part.points.empty() && part.end > part.points.back().time;
    if (goes_on) chart.at.push_back(InMs(part.end - part.begin));
    const auto add = [&](PageSeries series, auto bytes_of) {
      for (const Level& point : part.points) series.values.push_back(unit_(bytes_of(point)));
      if (goes_on) series.values.push_back(series.values.back());
      chart.series.push_back(std::move(series));
    };
    for (const Category category : layers_) {
      add(SeriesOf(category), [&](const Level& point) { return point.Of(category); });
    }
    if (std::ranges::any_of(part.points, [](const Level& point) { return point.reserved >= 0; }))
      add({.name = Say("reserved"), .tint = Tint::kBase, .is_line = true},
          [](const Level& point) { return point.reserved; });
    chart.marks.push_back({InMs(part.peak->time - part.begin), PeakText(part)});
    return chart;
  }

  // The same by who allocated it.
  std::optional<PageChart> Bands(const Rank& rank) const {
    const RankMemory& part = rank.part;
    if (part.bands.empty()) return std::nullopt;
    PageChart chart{
        .kind = PageChart::Kind::kAreas,
        .title = Say("{}: what the largest call sites hold over time", RankText(rank.rank)),
        .note = Say("Of each call site the allocations of a thousandth of the peak or"
                    " more; others are what is left."),
        .unit = unit_.Name(),
        .label = "ms",
        .unit_of_places = Say("ms since the begin")};
    for (const Level& point : part.points) chart.at.push_back(InMs(point.time - part.begin));
    std::vector<std::int64_t> rest;
    for (const Level& point : part.points) rest.push_back(point.Allocated());
    for (std::size_t i = 0; i < part.bands.size(); ++i) {
      const Band& band = part.bands[i];
      PageSeries& series = chart.series.emplace_back(PageSeries{
          .name = Say("{} ({})", TextOf(band.holder), Translated(NameOf(band.holder.category))),
          .tint = Tint::kMemory,
          .shade = i});
      for (std::size_t at = 0; at < rest.size(); ++at) {
        series.values.push_back(unit_(band.bytes[at]));
        rest[at] -= band.bytes[at];
      }
    }
    PageSeries& others = chart.series.emplace_back();
    others.name = Say("others");
    others.tint = Tint::kMemory;
    others.shade = kCategories - 1;
    for (const std::int64_t bytes : rest)
      others.values.push_back(unit_(std::max<std::int64_t>(bytes, 0)));
    chart.marks.push_back({InMs(part.peak->time - part.begin), PeakText(part)});
    return chart;
  }

  // What the ranks held at their peaks.
  PageChart Peaks() const {
    PageChart chart{
        .kind = ranks_.size() > kMaxBars ? PageChart::Kind::kHeat : PageChart::Kind::kStacked,
        .title = Say("The peak of each rank, by what it is for"),
        .unit = unit_.Name(),
        .label = "rank"};
    for (const Category category : layers_) chart.series.push_back(SeriesOf(category));
    for (const Rank& rank : ranks_) {
      chart.labels.push_back(RankName(rank.rank));
      for (std::size_t i = 0; i < layers_.size(); ++i)
        chart.series[i].values.push_back(unit_(rank.part.peak->Of(layers_[i])));
    }
    return chart;
  }

  // Most that each rank held in each part of the time.
  PageChart AllOverTime() const {
    TimeNs length = 1;
    for (const Rank& rank : ranks_) length = std::max(length, rank.part.end - rank.part.begin);
    const auto parts = static_cast<TimeNs>(kTimes);
    PageChart chart{.kind = PageChart::Kind::kHeat,
                    .title = Say("What each rank has allocated over time: the most in each"
                                 " of {} parts of the time, by its begin in ms",
                                 kTimes),
                    .unit = unit_.Name(),
                    .label = "rank"};
    for (TimeNs i = 0; i < parts; ++i)
      chart.series.push_back({.name = fmt::format("{:.4g}", InMs(i * length / parts))});
    for (const Rank& rank : ranks_) {
      const RankMemory& part = rank.part;
      chart.labels.push_back(RankName(rank.rank));
      std::vector<std::int64_t> most(kTimes, -1);
      for (std::size_t i = 0; i < part.points.size(); ++i) {
        const TimeNs until = i + 1 < part.points.size() ? part.points[i + 1].time : part.end;
        const auto place = [&](TimeNs time) {
          const auto at = (time - part.begin) * parts / length;
          return static_cast<std::size_t>(std::clamp<TimeNs>(at, 0, parts - 1));
        };
        for (std::size_t at = place(part.points[i].time); at <= place(until); ++at)
          most[at] = std::max(most[at], part.points[i].Allocated());
      }
      for (std::size_t i = 0; i < kTimes; ++i) chart.series[i].values.push_back(unit_(most[i]));
    }
    return chart;
  }

 private:
  static std::int64_t MostOf(const std::vector<Rank>& ranks) {
    std::int64_t most = 0;
    for (const Rank& rank : ranks) most = std::max(most, rank.part.peak->Allocated());
    return most;
  }

  const std::vector<Rank>& ranks_;
  const PictureUnit unit_;
  std::vector<Category> layers_;  // that any rank has
};

// Pictures of the ranks over time and of their peaks, bounded for any number of ranks.
void AddDrawings(const Ranks& all, Report& report) {
  std::vector<Rank> ranks;
  for (const Rank& rank : all) {
    if (rank.part.peak && !rank.part.points.empty()) ranks.push_back(rank);
  }
  if (ranks.empty()) return;
  const MemoryPictures pictures(ranks);
  std::vector<const Rank*> by_peak;
  for (const Rank& rank : ranks) by_peak.push_back(&rank);
  StableSort(by_peak, std::greater{},
             [](const Rank* rank) { return rank->part.peak->Allocated(); });
  if (ranks.size() > 1) report.drawings.push_back(pictures.Peaks());
  if (ranks.size() <= kMaxOwn) {
    for (const Rank& rank : ranks) report.drawings.push_back(pictures.OverTime(rank, ""));
  } else {
    report.drawings.push_back(pictures.AllOverTime());
    report.drawings.push_back(pictures.OverTime(*by_peak.front(), Say(", the highest peak")));
    report.drawings.push_back(
        pictures.OverTime(*by_peak[by_peak.size() / 2], Say(", the median of the peaks")));
    report.drawings.push_back(pictures.OverTime(*by_peak.back(), Say(", the lowest peak")));
  }
  if (auto bands = pictures.Bands(*by_peak.front())) report.drawings.push_back(std::move(*bands));
}

// The files of export_memory_timeline.

constexpr std::size_t kInFiles = static_cast<std::size_t>(Category::kUnknown) + 1;

std::size_t NumberOf(Category category) {
  switch (category) {
    case Category::kBefore:
      return static_cast<std::size_t>(Category::kUnknown);
    case Category::kParameterEstimate:
      return static_cast<std::size_t>(Category::kParameter);
    case Category::kStateEstimate:
      return static_cast<std::size_t>(Category::kOptimizerState);
    case Category::kGradientEstimate:
      return static_cast<std::size_t>(Category::kGradient);
    default:
      return static_cast<std::size_t>(category);
  }
}

// The numbers of what happens: held before, taken, given back.
int ActionOf(const Event& event) { return event.time < 0 ? 0 : event.bytes > 0 ? 1 : 3; }

std::string RawEvents(const RankMemory& part) {
  std::string text = "[";
  for (const Event& event : part.events) {
    fmt::format_to(std::back_inserter(text), "{}[{}, {}, {}, {}]", text.size() > 1 ? ", " : "",
                   event.time, ActionOf(event), event.bytes, NumberOf(event.category));
  }
  return text + "]";
}

std::string Timeline(const RankMemory& part) {
  std::string times = "[", sizes = "[";
  std::array<std::int64_t, kInFiles> held{};
  const auto time_of = [&](const Event& event) {
    return (event.time < 0 ? part.begin : event.time) / 1000;
  };
  for (std::size_t i = 0; i < part.events.size(); ++i) {
    const Event& event = part.events[i];
    held[NumberOf(event.category)] += event.bytes;
    if (i + 1 < part.events.size() && time_of(part.events[i + 1]) == time_of(event)) continue;
    const std::string_view comma = times.size() > 1 ? ", " : "";
    fmt::format_to(std::back_inserter(times), "{}{}", comma, time_of(event));
    // The first number is 0: what lies below the lowest category of a picture.
    fmt::format_to(std::back_inserter(sizes), "{}[0, {}]", comma, fmt::join(held, ", "));
  }
  return fmt::format("[{}], {}]]", times, sizes);
}

// The files that export_memory_timeline of torch_npu writes: "<stem>.json" has the times in us and
// the bytes of each category from each time on, "<stem>.raw.json" all events; with ".gz" behind
// the name where they are packed.
std::vector<TextDocument> DocumentsOf(const std::string& stem, const RankMemory& part) {
  if (part.events.empty() || !part.peak) return {};
  const std::string packed = part.packed ? ".gz" : "";
  return {{stem + ".json" + packed, Timeline(part)},
          {stem + ".raw.json" + packed, RawEvents(part)}};
}

constexpr Option<bool> kGzip =
    Switch("gzip",
           "Pack the files of each rank with gzip: memory_timeline_0.json.gz and"
           " memory_timeline_0.raw.json.gz");

RankMemory MapMemoryTimeline(const RankTrace& trace, const RecipeArguments& arguments) {
  RankMemory part = MemoryOf(trace, ChosenStep(trace.steps, arguments));
  part.packed = arguments[kGzip];
  return part;
}

std::string StemOf(RankId rank) { return "memory_timeline_" + RankFileName(rank); }

std::vector<TextDocument> TakeDocuments(RankPart& part) {
  RankMemory memory = *static_cast<const RankMemory*>(part.part.get());
  std::vector<TextDocument> documents = DocumentsOf(StemOf(part.rank), memory);
  memory.events.clear();
  memory.events.shrink_to_fit();
  memory.written = true;
  part.part = std::make_shared<const RankMemory>(std::move(memory));
  return documents;
}

// One note for all ranks alike, with the first of them.
class RankNotes {
 public:
  void Add(RankId rank) {
    if (count_++ == 0) first_ = rank;
  }
  void AppendTo(const std::string& text, std::vector<std::string>& notes) const {
    if (count_ == 0) return;
    notes.push_back(count_ == 1 ? fmt::format("{}: {}", RankText(first_), text)
                                : Say("{} ranks (first: {}): {}", count_, RankText(first_), text));
  }

 private:
  std::int64_t count_ = 0;
  RankId first_;
};

void AddNotes(const Ranks& ranks, Report& report) {
  RankNotes without, without_addresses, without_totals, without_segments;
  std::int64_t beyond = 0;
  for (const auto& [rank, part] : ranks) {
    if (part.is_snapshot && part.snapshots.empty()) without_segments.Add(rank);
    if (part.lacks_addresses) {
      without_addresses.Add(rank);
    } else if (part.allocations == 0 && !part.is_snapshot) {
      without.Add(rank);
    } else if (!part.has_totals && !part.is_snapshot) {
      without_totals.Add(rank);
    }
    beyond = std::max(beyond, part.beyond_totals);
    for (const SnapshotMemory& memory : part.snapshots) {
      if (memory.contradictions == 0) continue;
      report.notes.push_back(
          Say("{}: {} actions on device {} contradict what is held at the end, so the numbers over"
              " its history are not reliable",
              memory.file, memory.contradictions, memory.device));
    }
  }
  without.AppendTo(Say("no memory of operators was recorded; collect with profile_memory=True"),
                   report.notes);
  without_addresses.AppendTo(
      Say("the trace has no addresses of memory, so which allocation a release ends is unknown;"
          " collect with a newer profiler"),
      report.notes);
  without_totals.AppendTo(
      Say("the allocators did not report their totals, so what was allocated before the capture is"
          " unknown"),
      report.notes);
  without_segments.AppendTo(
      Say("the snapshot is empty: the allocator had taken no memory when it was written"),
      report.notes);
  if (beyond > 0) {
    report.notes.push_back(
        Say("up to {} are listed as held at the end that the allocators' totals do not"
            " have; the capture lacks their release",
            AmountText(Quantity::kBytes, beyond)));
  }
}

void CheckMemory(const RankMemory& part) {
  for (const Band& band : part.bands) {
    if (band.bytes.size() != part.points.size())
      Fail(ErrorKind::kCorrupt, "the memory over time is impossible");
  }
  for (const SnapshotMemory& memory : part.snapshots) {
    bool fits = memory.times.size() == memory.points.size();
    for (const Band& band : memory.bands) fits = fits && band.bytes.size() == memory.points.size();
    if (!fits) Fail(ErrorKind::kCorrupt, "the memory over time is impossible");
  }
}

void ReduceMemoryTimeline(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                          Report& report) {
  AddNotes(ranks, report);
  for (const auto& [rank, part] : ranks) {
    if (!part.peak || !wanted.documents || part.written) continue;
    for (TextDocument& document : DocumentsOf(StemOf(rank), part))
      report.documents.push_back(std::move(document));
  }
  const bool has_profile =
      std::ranges::any_of(ranks, [](const Rank& rank) { return !rank.part.is_snapshot; });
  if (wanted.sheets) {
    if (has_profile) AddSheets(ranks, report);
    AddSnapshotSheets(ranks, report);
    AddDrawings(ranks, report);
    AddSnapshotDrawings(ranks, report);
  }
  if (wanted.screen == Detail::kNone) return;
  AddLines(ranks, wanted.screen, report);
  AddSnapshotLines(ranks, wanted.screen, report);
}

Verdict JudgeMemoryTimeline(const RankFacts& facts) {
  if (facts.snapshots && facts.problem.empty()) return {};
  return JudgeReadable(facts).RefuseWithoutMemory(facts);
}

}  // namespace
}  // namespace mpa::recipes::memory_timeline

namespace mpa::recipes::memory_timeline {

using namespace memory_timeline;

Recipe MemoryTimeline() {
  Recipe recipe = MakeRecipe<MapMemoryTimeline, ReduceMemoryTimeline, CheckMemory>(
      {.name = "memory_timeline",
       .folder = "MemoryTimeline",
       .summary = "device memory over time: what holds the peak, and what grows",
       .needs = kMemoryTables,
       .options = {kGzip},
       .can_run = JudgeMemoryTimeline,
       .documents_always = true,
       .cuts_steps = true});
  recipe.take_documents = TakeDocuments;
  return recipe;
}

}  // namespace mpa::recipes::memory_timeline
