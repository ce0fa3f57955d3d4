// SPDX-License-Identifier: Apache-2.0
// From the files of a rank to its tables.
#include "load_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graph_captures.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/host_waits.h"
#include "mpa/measure/serving_steps.h"
#include "mpa/model/earlier_work.h"
#include "mpa/model/launches.h"
#include "mpa/model/step_selection.h"
#include "mpa/promises/promise.h"

namespace mpa {
namespace {

const char* SourceName(const RankInput& input) {
  if (input.kind == CaptureKind::kNpuDb) return "database";
  if (input.kind == CaptureKind::kNpuKineto) return "torch.profiler";
  if (input.kind == CaptureKind::kNpuRaw) return "raw";
  if (input.kind == CaptureKind::kServer) return "server";
  if (input.kind == CaptureKind::kSnapshot) return "snapshot";
  const bool tables_alone =
      input.kind == CaptureKind::kNpuText && input.Find(FileKind::kTraceView) == nullptr;
  return tables_alone ? "tables" : "text";
}

// `is_needed`: without the file there is nothing to show.
void ReadFile(const Reader& reader, const CaptureFile& file, bool is_needed,
              const ReadRequest& request, LoadedRank& rank) {
  Log(LogLevel::kDebug, "{}: read by the reader for {}", file.path.string(), reader.name);
  const std::vector<std::size_t> before = CountRows(rank.trace);
  try {
    CheckFollowed(file);
    reader.read(file, request, rank.trace);
    LogInfo("{} -> {}", file.path.string(), AddedRows(before, rank.trace));
  } catch (const Error& error) {
    if (is_needed || error.kind() == ErrorKind::kResource) throw;
    rank.notes.push_back(Say("{}; it is left out", error.what()));
    rank.partial = true;
  }
}

// Side files of a text capture whose absence a reader of the report should know about.
void NoteMissingFiles(const RankInput& input, const ReadRequest& request, LoadedRank& rank) {
  if (input.kind != CaptureKind::kNpuText) return;
  struct SideFile {
    FileKind kind;
    Tables fills;
    const char* name;
    const char* of_msprof;
    const char* without;
  };
  constexpr SideFile kSideFiles[] = {
      {FileKind::kKernelDetails, Tables::kKernels, "kernel_details.csv", "op_summary_*.csv",
       "kernel types and shapes are unknown"},
      {FileKind::kMemoryRecord, Tables::kMemorySamples, "memory_record.csv", "memory_record.csv",
       "the memory use is unknown"},
      {FileKind::kCommunication, Tables::kTransfers, "communication.json", "communication.json",
       "bandwidths are unknown"},
  };
  for (const SideFile& file : kSideFiles) {
    if (!Intersects(request.wanted, file.fills) || input.Find(file.kind) != nullptr) continue;
    const bool sums_are_there = file.kind == FileKind::kKernelDetails &&
                                Intersects(request.wanted, Tables::kKernelStatistics) &&
                                input.Find(FileKind::kOpStatistic) != nullptr;
    const char* name = input.msprof ? file.of_msprof : file.name;
    const char* without = sums_are_there ? "only sums of kernels by type are known" : file.without;
    // Another file of the capture can hold kernels only where there is a trace.
    const bool are_lost = file.kind == FileKind::kKernelDetails && !rank.trace.HasTimeline();
    rank.partial |= are_lost;
    if (rank.trace.HasTimeline() || rank.notes.empty())
      rank.notes.push_back(
          Say("{}: no {} there, {}", input.path.string(), name, Translated(without)));
    else if (are_lost)
      rank.notes.back() += Say("; no {} either, {}", name, Translated(without));
  }
}

void NoteLostSlices(const RankInput& input, LoadedRank& rank) {
  if (!input.msprof) return;
  for (const std::string& slice : input.msprof->lost_slices) {
    rank.notes.push_back(Say("{}: {} is missing, what it holds is lost; copy the capture again",
                             input.path.string(), slice));
    rank.partial = true;
  }
}

// `Info` is what the profiler of an NPU or of a GPU wrote about its settings.
template <typename Info>
void KeepSwitches(const Info& info, JobInfo& job) {
  const auto keep = [&](const char* name, bool is_on) {
    if (is_on) job.settings[std::string("profiler.") + name] = "on";
  };
  keep("stack", info.with_stack);
  keep("shapes", info.record_shapes);
  keep("memory", info.profile_memory);
  keep("modules", info.with_modules);
  if constexpr (requires { info.records_garbage; }) keep("gc", info.records_garbage);
  job.settings.merge(FlatSettings(info.recorded));
}

// Events list few ranks of a group, the document all of them.
void AddGroups(const std::vector<ProcessGroup>& groups, RankTrace& trace) {
  std::vector<JobGroup>& of_job = trace.job.groups;
  std::unordered_set<std::string> known;
  for (const JobGroup& group : of_job) known.insert(group.id);
  std::unordered_map<std::string_view, std::size_t> listed;  // the first of a name
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].ranks.empty()) listed.try_emplace(groups[i].name, i);
  }
  for (const StringId id : trace.comm_groups.name) {
    const std::string_view label = trace.strings.View(id);
    if (!known.insert(std::string(label)).second) continue;
    // The name, or the name and " [" with whatever follows.
    std::size_t first = groups.size();
    for (std::size_t end = label.size(); end != std::string_view::npos;
         end = end == 0 ? end - 1 : label.rfind(" [", end - 1)) {
      const auto found = listed.find(label.substr(0, end));
      if (found != listed.end()) first = std::min(first, found->second);
    }
    if (first == groups.size()) continue;
    of_job.push_back({std::string(label), groups[first].description, groups[first].ranks});
  }
}

}  // namespace

namespace {

constexpr Tables kOfTheTrace = Tables::kHostOps | Tables::kLaunches | Tables::kDeviceTasks |
                               Tables::kCommunications | Tables::kCommTasks | Tables::kOverlaps |
                               Tables::kPythonCalls | Tables::kMstx | Tables::kHostCalls |
                               Tables::kCoreClocks;

}  // namespace

bool LacksTimeline(const RankTrace& trace, Tables needs) {
  return !trace.HasTimeline() && Intersects(needs, kOfTheTrace);
}

namespace {

[[noreturn]] void FailWithoutTrace(const RankInput& input, bool kernels_are_enough) {
  if (kernels_are_enough) {
    Fail(ErrorKind::kInput,
         "{}: no kernel_details.csv, no trace_view.json and no profiler database there, one of"
         " which this needs; copy the whole capture",
         input.path.string());
  }
  Fail(ErrorKind::kInput,
       "{}: no trace_view.json and no profiler database there, which this needs; copy the whole"
       " capture",
       input.path.string());
}

}  // namespace

void RequireTimeline(const RankTrace& trace, Tables needs, const RankInput& input) {
  if (LacksTimeline(trace, needs)) FailWithoutTrace(input, false);
}

bool NeedsTimeline(const RecipeInfo& recipe, bool has_kernels) {
  // The profiler's own sums are an answer without the trace.
  const bool has_sums = Intersects(recipe.needs, Tables::kStepTimes);
  return Intersects(recipe.needs, kOfTheTrace) && !has_sums &&
         !(recipe.answers_from_kernels && has_kernels);
}

bool LacksTimeline(const RankTrace& trace, const RecipeInfo& recipe) {
  return !trace.HasTimeline() && NeedsTimeline(recipe, trace.kernels.Size() > 0);
}

void RequireTimeline(const RankTrace& trace, const RecipeInfo& recipe, const RankInput& input) {
  if (LacksTimeline(trace, recipe)) FailWithoutTrace(input, recipe.answers_from_kernels);
}

void RequireRecords(const RankInput& input, Tables needs) {
  if (input.kind != CaptureKind::kSnapshot || Intersects(needs, Tables::kMemorySnapshot)) return;
  Fail(ErrorKind::kInput,
       "{}: a memory snapshot alone, which has neither operators nor kernels; -m memory_timeline"
       " reads it, and for everything else give the capture of the profiler",
       input.path.string());
}

LoadedRank LoadRank(const RankInput& input, const ReadRequest& asked,
                    std::optional<std::int32_t> step) {
  ReadRequest request = asked;
  request.wanted = request.wanted | TablesOfGraphs(asked);
  if (step) request.wanted = request.wanted | kStepTables;
  RequireRecords(input, asked.wanted);
  LoadedRank rank;
  rank.trace.source = SourceName(input);
  rank.trace.rank = input.rank;
  rank.trace.capture_path = input.path.string();
  if (input.info) {
    rank.trace.profiler_level = input.info->level;
    KeepSwitches(*input.info, rank.trace.job);
  }
  if (input.gpu) KeepSwitches(*input.gpu, rank.trace.job);
  rank.trace.minimal_profiling = input.info && input.info->Minimal();
  for (const CaptureFile& file : input.files) {
    const bool has_snapshot = file.kind == FileKind::kMemorySnapshot &&
                              Intersects(request.wanted, Tables::kMemorySnapshot);
    if (IsMain(file.kind) || has_snapshot) AddProgressTotal(file.bytes);
  }
  // The profiler's own sums are an answer without the trace.
  const bool has_sums = Intersects(request.wanted, Tables::kStepTimes);
  const bool lacks = LacksTimeline(rank.trace, request.wanted);
  if (lacks && !has_sums) {
    rank.notes.push_back(
        Say("{}: no trace_view.json and no profiler database there; what only they hold is unknown:"
            " operators, collectives one by one, idle time",
            input.path.string()));
    rank.partial = true;
  }
  if (!lacks || !has_sums) NoteMissingFiles(input, request, rank);
  NoteLostSlices(input, rank);
  for (const Reader& reader : AllReaders()) {
    if (!Intersects(reader.fills, request.wanted)) continue;
    for (const CaptureFile& file : input.files) {
      const bool is_needed = IsMain(file.kind) || input.kind == CaptureKind::kSnapshot;
      if (file.kind == reader.reads) ReadFile(reader, file, is_needed, request, rank);
    }
  }
  LeaveOutBroken(rank.trace);
  if (!rank.partial) CheckSideFiles(input, request, rank.trace);
  if (input.gpu) AddGroups(input.gpu->groups, rank.trace);
  CheckGroups(WorldSize(input, rank.trace), rank.trace);
  LinkByTime(rank.trace);
  FindEarlierWork(rank.trace);
  CheckHostWaits(rank.trace);
  NameLockHolders(rank.trace);
  ExplainGraphs(input, asked, rank);
  CheckPromises(request.wanted, rank.trace);
  if (Intersects(request.wanted, Tables::kSteps)) UseServingSteps(rank.trace);
  DropEmptySteps(rank.trace);
  if (step) {
    InContext(input.path.string(),
              [&] { SelectStep(rank.trace, *step, HostClockOf(rank.trace).offset); });
  }
  for (const std::string& line : rank.trace.issues.Lines()) {
    rank.notes.push_back(fmt::format("{}: {}", input.path.string(), line));
    rank.partial = true;
  }
  return rank;
}

namespace {

// Memory for each byte of a file, in tenths, as docs/performance.md measures it, with a margin: of
// a trace 3.8 (a gzipped one holds 15 times its size), of a database 6.6, of raw data 11. Of traces
// and databases only the columns that are needed are kept.
constexpr std::int64_t kOfText = 5, kOfGzip = 75, kOfDatabase = 8, kOfRaw = 15, kOfSnapshot = 35;

std::int64_t TenthsOf(const CaptureFile& file) {
  if (file.kind == FileKind::kProfilerDb) return kOfDatabase;
  if (file.kind == FileKind::kRawCapture) return kOfRaw;
  if (file.kind == FileKind::kMemorySnapshot) return kOfSnapshot;
  return file.path.extension() == ".gz" ? kOfGzip : kOfText;
}

}  // namespace

std::int64_t MemoryOf(const RankInput& input) {
  std::int64_t bytes = 0;
  std::int64_t of_graphs = 0;  // their captures are read one after the other
  for (const CaptureFile& file : input.files) {
    const std::int64_t needed = file.bytes / 10 * TenthsOf(file);
    if (file.kind == FileKind::kGraphCapture)
      of_graphs = std::max(of_graphs, needed);
    else
      bytes += needed;
  }
  return bytes + of_graphs;
}

MemoryBudget::Share::Share(MemoryBudget& budget, const RankInput& rank)
    : budget_(budget), bytes_(MemoryOf(rank)) {
  if (budget.bytes_ > 0 && bytes_ > budget.bytes_) {
    LogWarning("{}: may need up to {} MB of memory, but {} MB are available; it is read alone",
               rank.path.string(), bytes_ / 1'000'000, budget.bytes_ / 1'000'000);
  }
  std::unique_lock lock(budget_.mutex_);
  budget_.changed_.wait(lock, [&] {
    return budget_.bytes_ <= 0 || budget_.taken_ == 0 || budget_.taken_ + bytes_ <= budget_.bytes_;
  });
  budget_.taken_ += bytes_;
}

MemoryBudget::Share::~Share() {
  const std::lock_guard lock(budget_.mutex_);
  budget_.taken_ -= bytes_;
  budget_.changed_.notify_all();
}

}  // namespace mpa
