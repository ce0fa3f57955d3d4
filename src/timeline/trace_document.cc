// SPDX-License-Identifier: Apache-2.0
// Writes slices in the trace event format of Chrome.
#include "mpa/timeline/trace_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/utf8.h"
#include "mpa/io/packed_file.h"
#include "mpa/report/palette.h"

namespace mpa {
namespace {

constexpr std::size_t kBlock = 1u << 20;
// The process of a rank whose number is unknown, beside others: no rank has this number.
constexpr std::int64_t kUnknownRank = std::int64_t{1} << 24;

std::string Quoted(std::string_view text) {
  return PrintableJson(nlohmann::json(ValidUtf8(text)).dump());
}

std::string_view CategoryOf(TrackKind kind) {
  switch (kind) {
    case TrackKind::kSteps:
      return "step";
    case TrackKind::kFindings:
      return "finding";
    case TrackKind::kThread:
      return "host";
    case TrackKind::kQueue:
      return "queue";
    case TrackKind::kSystemCalls:
      return "system_call";
    case TrackKind::kLocks:
      return "lock";
    case TrackKind::kFunctions:
      return "function";
    case TrackKind::kThreadStates:
      return "thread_state";
    case TrackKind::kInterrupts:
      return "interrupt";
    case TrackKind::kRanges:
      return "range";
    case TrackKind::kStream:
      return "device";
    case TrackKind::kGroup:
      return "communication";
  }
  return "";
}

class TraceWriter {
 public:
  TraceWriter(const TraceDocument& document, const std::filesystem::path& path, bool packed)
      : document_(document), file_(path, packed) {}

  TraceCounts Write() && {
    FindEnds();
    Put(R"({{"displayTimeUnit":"ms","otherData":{{"zero_ns":"{}","zero_ms":{})", counts_.begin,
        InMs(counts_.begin - document_.first_step));
    for (const auto& [name, value] : document_.facts) Put(",{}:{}", Quoted(name), Quoted(value));
    Put("}},\n\"traceEvents\":[");
    for (const RankSlices& rank : document_.ranks) AddRank(rank);
    Put("\n]}}\n");
    Flush();
    file_.Close();
    return counts_;
  }

 private:
  template <typename... Args>
  void Put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() >= kBlock) Flush();
  }
  void Flush() {
    file_.Write(text_);
    text_.clear();
  }
  // What stands between two events.
  void Next() {
    Put("{}\n", first_ ? "" : ",");
    first_ = false;
  }

  // Microseconds with all their digits: a double would lose some.
  static std::string InUsText(TimeNs time) {
    return fmt::format("{}.{:03}", time / 1000, time % 1000);
  }
  std::string At(TimeNs time) const { return InUsText(time - counts_.begin); }

  void FindEnds() {
    counts_.begin = std::numeric_limits<TimeNs>::max();
    counts_.end = std::numeric_limits<TimeNs>::min();
    for (const RankSlices& rank : document_.ranks) {
      for (const Slice& slice : rank.slices) {
        counts_.begin = std::min(counts_.begin, slice.start);
        counts_.end = std::max(counts_.end, slice.end);
      }
    }
    // Times before the first slice would be negative.
    for (const RankSlices& rank : document_.ranks) {
      for (const CounterTrack& counter : rank.counters)
        counts_.begin = std::min(counts_.begin, counter.values.front().first);
    }
    for (const TraceMark& mark : document_.marks)
      counts_.begin = std::min(counts_.begin, mark.time);
    if (counts_.begin == std::numeric_limits<TimeNs>::max())
      counts_.begin = counts_.end = document_.first_step;
  }

  std::int64_t ProcessOf(RankId rank) const {
    if (rank.IsKnown()) return rank.Number();
    return document_.ranks.size() == 1 ? 0 : kUnknownRank;
  }

  void PutName(std::int64_t process, std::size_t thread, std::string_view of, std::string_view name,
               std::int64_t order) {
    Next();
    Put(R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"args":{{"name":{}}}}})", of, process,
        thread, Quoted(name));
    Next();
    Put(R"({{"ph":"M","name":"{}_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", of,
        process, thread, order);
  }

  void AddRank(const RankSlices& rank) {
    const std::int64_t process = ProcessOf(rank.rank);
    PutName(process, 0, "process", RankText(rank.rank), process);
    // Threads are numbered from top to bottom; findings stand behind the steps.
    std::vector<bool> used(rank.tracks.size());
    for (const Slice& slice : rank.slices) used[slice.track] = true;
    std::vector<std::size_t> thread(rank.tracks.size());
    std::size_t next = 1, findings = 0;
    const auto name = [&](std::string_view title) {
      PutName(process, next, "thread", title, static_cast<std::int64_t>(next));
      return next++;
    };
    const bool has_marks = std::ranges::any_of(
        document_.marks, [&](const TraceMark& mark) { return mark.rank == rank.rank; });
    for (std::size_t track = 0; track < rank.tracks.size(); ++track) {
      if (has_marks && findings == 0 && rank.tracks[track].kind > TrackKind::kFindings)
        findings = name(Translated("findings"));
      if (used[track]) thread[track] = name(rank.tracks[track].name);
    }
    if (has_marks && findings == 0) findings = name(Translated("findings"));
    for (const TraceMark& mark : document_.marks) {
      if (mark.rank == rank.rank) AddMark(process, findings, mark);
    }
    AddSlices(rank, process, thread);
    for (const Arrow& arrow : BoundArrows(rank)) AddArrow(rank, process, thread, arrow);
    for (const CounterTrack& counter : rank.counters) AddCounter(process, counter);
  }

  // Viewers draw a track for each name, below the threads of its process.
  void AddCounter(std::int64_t process, const CounterTrack& counter) {
    const std::string name = Quoted(counter.name);
    const std::string unit = Quoted(counter.unit.empty() ? "value" : counter.unit);
    for (const auto& [time, value] : counter.values) {
      Next();
      Put(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{{}:{}}}}})", name, process, At(time),
          unit, value);
    }
  }

  void AddMark(std::int64_t process, std::size_t thread, const TraceMark& mark) {
    ++counts_.marks;
    Next();
    Put(R"({{"ph":"i","s":"t","cat":"finding","cname":"{}","name":{},"pid":{},"tid":{},"ts":{},"args":{{)",
        TraceColourOf(Tint::kWorse), Quoted(mark.name), process, thread, At(mark.time));
    const char* comma = "";
    for (const auto& [name, value] : mark.details) {
      Put("{}{}:{}", comma, Quoted(name), Quoted(value));
      comma = ",";
    }
    Put("}}}}");
  }

  void AddSlices(const RankSlices& rank, std::int64_t process,
                 const std::vector<std::size_t>& thread) {
    std::vector<std::string> texts;
    texts.reserve(rank.texts.size());
    for (const std::string& text : rank.texts) texts.push_back(Quoted(text));
    for (const Slice& slice : rank.slices) {
      ++counts_.slices;
      Next();
      Put(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{})",
          CategoryOf(rank.tracks[slice.track].kind), texts[slice.name], process,
          thread[slice.track], At(slice.start), InUsText(slice.end - slice.start));
      if (const std::string_view colour = TraceColourOf(slice.tint); !colour.empty())
        Put(R"(,"cname":"{}")", colour);
      PutDetails(slice, texts);
      Put("}}");
    }
  }

  void PutDetails(const Slice& slice, const std::vector<std::string>& texts) {
    bool any = false;
    const auto put = [&](std::string_view name, std::string_view value) {
      Put("{}\"{}\":{}", any ? "," : R"(,"args":{)", name, value);
      any = true;
    };
    if (slice.type != 0) put("type", texts[slice.type]);
    if (slice.shapes != 0) put("shapes", texts[slice.shapes]);
    if (slice.cut == kCutBegin) put("cut", R"("begins earlier")");
    if (slice.cut == kCutEnd) put("cut", R"("ends later")");
    if (slice.cut == (kCutBegin | kCutEnd)) put("cut", R"("begins earlier, ends later")");
    if (any) Put("}}");
  }

  void AddArrow(const RankSlices& rank, std::int64_t process,
                const std::vector<std::size_t>& thread, const Arrow& arrow) {
    const Slice& slice = rank.slices[arrow.slice];
    ++counts_.arrows;
    Next();
    Put(R"({{"ph":"s","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})",
        counts_.arrows, process, thread[arrow.track], At(arrow.time));
    Next();
    Put(R"({{"ph":"f","bp":"e","cat":"launch","name":"launch","id":{},"pid":{},"tid":{},"ts":{}}})",
        counts_.arrows, process, thread[slice.track], At(slice.start));
  }

  const TraceDocument& document_;
  io::PackedFile file_;
  TraceCounts counts_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

TraceCounts WriteTrace(const TraceDocument& document, const std::filesystem::path& path,
                       bool packed) {
  return TraceWriter(document, path, packed).Write();
}

}  // namespace mpa
