// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// The limits of the Python tool.
constexpr std::size_t kShortestSequence = 3, kMaxSequence = 10;
constexpr std::size_t kMinRuns = 6;
constexpr double kHostBound = 0.4, kMteBound = 0.8;
constexpr double kMinShareOfCapture = 0.01;

constexpr std::size_t kMaxSequences = 1000;

// Sums may wrap around: differences of near ones are right all the same.
using Wrapping = std::uint64_t;

struct TimesOfKernels {
  TimeNs busy = 0, moving = 0, core = 0;
};

// Some runs of a sequence that do not overlap.
struct RunsOfSequence {
  std::vector<std::uint32_t> starts;
  TimeNs total = 0;
  TimesOfKernels times;

  bool IsHostBound() const {
    return total > 0 && static_cast<double>(times.busy) < kHostBound * static_cast<double>(total);
  }
  bool IsMteBound() const {
    return times.core > 0 &&
           static_cast<double>(times.moving) > kMteBound * static_cast<double>(times.core);
  }
};

struct CandidateSequence {
  TimeNs total = 0;
  std::size_t length = 0;
  std::vector<std::uint32_t> starts;  // of all runs, also of those that overlap
};

bool IsLonger(const CandidateSequence& a, const CandidateSequence& b) {
  if (a.total != b.total) return a.total > b.total;
  if (a.length != b.length) return a.length > b.length;
  return a.starts.front() < b.starts.front();
}

// The kernels between which sequences are looked for, in order of start, and where sequences end.
class KernelsInOrder {
 public:
  explicit KernelsInOrder(const RankTrace& trace)
      : trace_(trace), kernels_(trace.kernels), steps_(trace, kAsRecorded) {
    Sort();
    FindEnds();
    AddUp();
    NumberKinds();
  }

  std::size_t Size() const { return rows_.size(); }
  std::size_t Kinds() const { return kinds_; }
  /// Equal for kernels that have name and shapes in common.
  std::uint32_t Kind(std::size_t at) const { return kind_[at]; }
  /// Behind the last kernel that a sequence from `at` on may have.
  std::size_t EndOf(std::size_t at) const { return end_[at]; }
  std::string_view Name(std::size_t at) const {
    return trace_.strings.View(kernels_.name[rows_[at]]);
  }
  std::int64_t Position(std::size_t at) const { return position_[at]; }
  TimeNs Span() const { return span_; }

  // Until its kernels have ended or the next one starts: no time belongs to two of them.
  TimeNs Total(std::size_t at, std::size_t length) const {
    const auto first = stop_.begin() + static_cast<std::ptrdiff_t>(at);
    TimeNs end = *std::max_element(first, first + static_cast<std::ptrdiff_t>(length));
    if (at + length < Size()) end = std::min(end, start_[at + length]);
    return end - start_[at];
  }

  TimesOfKernels Times(std::size_t at, std::size_t length) const {
    const auto difference = [&](const std::vector<Wrapping>& sums) {
      return static_cast<TimeNs>(sums[at + length] - sums[at]);
    };
    return {difference(busy_), difference(moving_), difference(core_)};
  }

 private:
  bool EndsSequences(std::size_t row) {
    const auto [known, is_new] =
        ends_sequences_.try_emplace({kernels_.name[row], kernels_.core[row]}, false);
    if (is_new) {
      const std::string_view name = trace_.strings.View(kernels_.name[row]);
      const std::string lower = ToLower(name);
      known->second = IsAiCpu(trace_.strings.View(kernels_.core[row])) || IsLcclKernel(name) ||
                      lower.starts_with("lccl") || lower.starts_with("lcoc");
    }
    return known->second;
  }

  void Sort() {
    std::vector<TimeNs> others;  // starts of what is listed among the kernels, too
    TimeNs first = std::numeric_limits<TimeNs>::max(), last = std::numeric_limits<TimeNs>::min();
    const auto add = [&](TimeNs start, TimeNs dur) {
      first = std::min(first, start);
      last = std::max(last, start + dur);
    };
    const auto add_other = [&](TimeNs start, TimeNs dur) {
      add(start, dur);
      others.push_back(start);
      cuts_.push_back(start);
      cuts_.push_back(start + dur);
    };
    for (std::size_t i = 0; i < kernels_.Size(); ++i) {
      if (EndsSequences(i)) {
        add_other(kernels_.start[i], kernels_.dur[i]);
      } else {
        add(kernels_.start[i], kernels_.dur[i]);
        rows_.push_back(i);
      }
    }
    const Kernels& listed = trace_.listed_collectives;
    const Communications& operations = trace_.communications;
    for (std::size_t i = 0; i < listed.Size(); ++i) add_other(listed.start[i], listed.dur[i]);
    if (listed.Empty()) {
      for (std::size_t i = 0; i < operations.Size(); ++i) {
        add_other(operations.start[i], operations.dur[i]);
      }
    }
    span_ = last > first ? last - first : 0;
    StableSort(rows_, {}, [&](std::size_t a) { return kernels_.start[a]; });
    for (const std::size_t row : rows_) {
      start_.push_back(kernels_.start[row]);
      stop_.push_back(kernels_.start[row] + kernels_.dur[row]);
    }
    std::ranges::sort(others);
    std::ranges::sort(cuts_);
    position_.reserve(Size());
    std::size_t before = 0;
    for (std::size_t at = 0; at < Size(); ++at) {
      while (before < others.size() && others[before] < start_[at]) ++before;
      position_.push_back(static_cast<std::int64_t>(at + before));
    }
  }

  // A kernel that starts when communication has ended may have waited for it: the gap before it is
  // not the host's, so sequences do not go on there either. No kernel fuses work of two steps.
  void FindEnds() {
    end_.resize(Size());
    std::size_t begin = 0, cut = 0;
    std::optional<std::size_t> step;
    const auto end_at = [&](std::size_t at) {
      for (; begin < at; ++begin) end_[begin] = at;
    };
    for (std::size_t at = 0; at < Size(); ++at) {
      const std::size_t passed = cut;
      while (cut < cuts_.size() && cuts_[cut] <= start_[at]) ++cut;
      const auto step_before =
          std::exchange(step, steps_.OfDeviceWork(kernels_.link[rows_[at]], start_[at]));
      if (cut > passed || step != step_before) end_at(at);
    }
    end_at(Size());
  }

  void AddUp() {
    const auto measured = [](TimeNs time) { return std::max<TimeNs>(time, 0); };
    for (std::vector<Wrapping>* sums : {&busy_, &moving_, &core_}) sums->assign(Size() + 1, 0);
    const KernelLoads& loads = trace_.kernel_loads;
    for (std::size_t at = 0; at < Size(); ++at) {
      const std::size_t row = rows_[at];
      TimeNs in = measured(kernels_.aic_mte2[row]), out = 0;
      if (row < loads.Size()) {
        in = std::max(in, loads.aiv_mte2_time[row]);
        out = measured(std::max(loads.aic_fixpipe_time[row], loads.aiv_mte3_time[row]));
      }
      // The cores of a mixed kernel work at the same time.
      const TimeNs core = measured(std::max(kernels_.aic_total[row], kernels_.aiv_total[row]));
      busy_[at + 1] = busy_[at] + static_cast<Wrapping>(kernels_.dur[row]);
      moving_[at + 1] = moving_[at] + static_cast<Wrapping>(in + out);
      core_[at + 1] = core_[at] + static_cast<Wrapping>(core);
    }
  }

  void NumberKinds() {
    std::map<std::tuple<StringId, StringId, StringId>, std::uint32_t> numbers;
    kind_.reserve(Size());
    for (const std::size_t row : rows_) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      kind_.push_back(
          numbers
              .try_emplace({kernels_.name[row], kernels_.shapes[row], kernels_.output_shapes[row]},
                           next)
              .first->second);
    }
    kinds_ = numbers.size();
  }

  const RankTrace& trace_;
  const Kernels& kernels_;
  const StepBounds steps_;
  std::map<std::pair<StringId, StringId>, bool> ends_sequences_;  // by name and core
  std::vector<std::size_t> rows_;
  std::vector<TimeNs> start_, stop_;
  std::vector<TimeNs> cuts_;  // starts and ends of what sequences end at
  std::vector<std::int64_t> position_;
  std::vector<std::size_t> end_;
  std::vector<Wrapping> busy_, moving_, core_;  // of the kernels before each
  std::vector<std::uint32_t> kind_;
  std::size_t kinds_ = 0;
  TimeNs span_ = 0;
};

// Lists the sequences that take most time first. Each takes its kernels, so those that share them
// with it lose these runs, and are listed only if the others are enough.
class SequenceLister {
 public:
  explicit SequenceLister(const RankTrace& trace)
      : kernels_(trace), taken_(kernels_.Size(), false) {}

  SequenceList List() && {
    Collect();
    StableSort(candidates_, IsLonger);
    SequenceList list;
    for (const CandidateSequence& candidate : candidates_) {
      const RunsOfSequence runs = FreeRuns(candidate.starts, candidate.length);
      if (!Matters(runs)) continue;
      for (const std::uint32_t start : runs.starts)
        std::fill_n(taken_.begin() + start, candidate.length, true);
      list.rows.push_back(RowOf(runs, candidate.length));
      list.total += runs.total;
      list.busy += runs.times.busy;
      list.moving += runs.times.moving;
    }
    list.count = static_cast<std::int64_t>(list.rows.size());
    StableSort(list.rows, [](const KernelSequence& a, const KernelSequence& b) {
      return a.total != b.total ? a.total > b.total : a.first < b.first;
    });
    list.rows.resize(std::min(list.rows.size(), kMaxSequences));
    return list;
  }

 private:
  using Starts = std::vector<std::uint32_t>;
  struct Group {
    std::size_t begin = 0, size = 0;
  };

  // Sequences of one more kernel are parts of the groups of equal ones, so each round divides those
  // of the round before and drops what is too rare.
  void Collect() {
    Starts starts(kernels_.Size());
    std::iota(starts.begin(), starts.end(), 0u);
    std::vector<Group> groups = {{0, starts.size()}};
    for (std::size_t length = 1; length <= kMaxSequence && !groups.empty(); ++length) {
      Starts divided;
      std::vector<Group> parts;
      for (const Group& group : groups)
        Divide(std::span(starts).subspan(group.begin, group.size), length, divided, parts);
      starts.swap(divided);
      groups.swap(parts);
      if (length < kShortestSequence) continue;
      for (const Group& group : groups) {
        const auto of_group = std::span(starts).subspan(group.begin, group.size);
        const RunsOfSequence runs = FreeRuns(of_group, length);
        if (Matters(runs))
          candidates_.push_back({runs.total, length, Starts(of_group.begin(), of_group.end())});
      }
    }
  }

  // By the last kernel; each part keeps the order.
  void Divide(std::span<const std::uint32_t> group, std::size_t length, Starts& divided,
              std::vector<Group>& parts) {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    part_of_kind_.resize(kernels_.Kinds(), {0, 0});
    std::vector<std::uint32_t> kinds;  // in the order in which they occur
    const auto fits = [&](std::uint32_t start) { return start + length <= kernels_.EndOf(start); };
    for (const std::uint32_t start : group) {
      if (!fits(start)) continue;
      const std::uint32_t kind = kernels_.Kind(start + length - 1);
      if (part_of_kind_[kind].size++ == 0) kinds.push_back(kind);
    }
    for (const std::uint32_t kind : kinds) {
      Group& part = part_of_kind_[kind];
      part.begin = part.size < kMinRuns ? kNone : divided.size();
      if (part.begin == kNone) continue;
      parts.push_back(part);
      divided.resize(divided.size() + part.size);
    }
    for (const std::uint32_t start : group) {
      if (!fits(start)) continue;
      Group& part = part_of_kind_[kernels_.Kind(start + length - 1)];
      if (part.begin != kNone) divided[part.begin++] = start;
    }
    for (const std::uint32_t kind : kinds) part_of_kind_[kind] = {};
  }

  // The runs that share no kernel with each other nor with a listed sequence.
  RunsOfSequence FreeRuns(std::span<const std::uint32_t> starts, std::size_t length) const {
    RunsOfSequence runs;
    std::size_t free = 0;
    for (const std::uint32_t start : starts) {
      const auto first = taken_.begin() + start, end = first + static_cast<std::ptrdiff_t>(length);
      if (start < free || std::find(first, end, true) != end) continue;
      free = start + length;
      runs.starts.push_back(start);
      runs.total += kernels_.Total(start, length);
      const TimesOfKernels times = kernels_.Times(start, length);
      runs.times.busy += times.busy;
      runs.times.moving += times.moving;
      runs.times.core += times.core;
    }
    return runs;
  }

  bool Matters(const RunsOfSequence& runs) const {
    if (runs.starts.size() < kMinRuns) return false;
    // Else broken files.
    if (!IsDuration(runs.total) || !IsDuration(runs.times.busy) || !IsDuration(runs.times.moving))
      return false;
    if (runs.IsMteBound()) return true;
    return runs.IsHostBound() && static_cast<double>(runs.total) >
                                     kMinShareOfCapture * static_cast<double>(kernels_.Span());
  }

  KernelSequence RowOf(const RunsOfSequence& runs, std::size_t length) const {
    const std::size_t first = runs.starts.front();
    KernelSequence row;
    row.first = kernels_.Position(first);
    row.last = kernels_.Position(first + length - 1);
    row.count = static_cast<std::int64_t>(runs.starts.size());
    row.total = runs.total;
    row.busy = runs.times.busy;
    if (runs.times.core > 0) row.moving = runs.times.moving;
    row.host_bound = runs.IsHostBound();
    row.mte_bound = runs.IsMteBound();
    for (std::size_t at = first; at < first + length; ++at)
      row.names.emplace_back(kernels_.Name(at));
    return row;
  }

  const KernelsInOrder kernels_;
  std::vector<bool> taken_;
  std::vector<Group> part_of_kind_;  // while a group is divided
  std::vector<CandidateSequence> candidates_;
};

}  // namespace

SequenceList RepeatedSequences(const RankTrace& trace) { return SequenceLister(trace).List(); }

}  // namespace mpa
