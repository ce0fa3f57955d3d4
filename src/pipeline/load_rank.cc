// SPDX-License-Identifier: Apache-2.0
// From the files of a rank to its tables.
#include "load_rank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "capture_groups.h"
#include "graph_captures.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/serving_steps.h"
#include "mpa/model/launches.h"
#include "mpa/model/step_selection.h"
#include "mpa/pipeline/find_ranks.h"
#include "rank_lists.h"

namespace mpa {
namespace {

const char* SourceName(const RankInput& input) {
  if (input.kind == CaptureKind::kNpuDb) return "database";
  if (input.kind == CaptureKind::kNpuKineto) return "torch.profiler";
  if (input.kind == CaptureKind::kNpuRaw) return "raw";
  const bool tables_alone =
      input.kind == CaptureKind::kNpuText && input.Find(FileKind::kTraceView) == nullptr;
  return tables_alone ? "tables" : "text";
}

void ReadFile(const Reader& reader, const CaptureFile& file, const ReadRequest& request,
              LoadedRank& rank) {
  Log(LogLevel::kDebug, "{}: read by the reader for {}", file.path.string(), reader.name);
  const std::vector<std::size_t> before = CountRows(rank.trace);
  try {
    CheckFollowed(file);
    reader.read(file, request, rank.trace);
    LogInfo("{} -> {}", file.path.string(), AddedRows(before, rank.trace));
  } catch (const Error& error) {
    if (IsMain(file.kind) || error.kind() == ErrorKind::kResource) throw;
    rank.notes.push_back(fmt::format("{}; it is left out", error.what()));
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
    const char* without =
        sums_are_there ? "of kernels only their sums by type are known" : file.without;
    // Another file of the capture can hold kernels only where there is a trace.
    const bool are_lost = file.kind == FileKind::kKernelDetails && !rank.trace.HasTimeline();
    rank.partial |= are_lost;
    if (rank.trace.HasTimeline() || rank.notes.empty())
      rank.notes.push_back(fmt::format("{}: no {} there, {}", input.path.string(), name, without));
    else if (are_lost)
      rank.notes.back() += fmt::format("; no {} either, {}", name, without);
  }
}

void NoteLostSlices(const RankInput& input, LoadedRank& rank) {
  if (!input.msprof) return;
  for (const std::string& slice : input.msprof->lost_slices) {
    rank.notes.push_back(
        fmt::format("{}: {}{}; copy the capture again", input.path.string(), slice, kSliceIsLost));
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
}

// Events list few ranks of a group, the document all of them.
void AddGroups(const std::vector<ProcessGroup>& groups, RankTrace& trace) {
  std::vector<JobGroup>& of_job = trace.job.groups;
  for (const StringId id : trace.comm_groups.name) {
    const std::string_view label = trace.strings.View(id);
    if (std::ranges::any_of(of_job, [&](const auto& known) { return known.id == label; })) continue;
    for (const ProcessGroup& group : groups) {
      if (group.ranks.empty() || (label != group.name && !label.starts_with(group.name + " [")))
        continue;
      of_job.push_back({std::string(label), group.description, group.ranks});
      break;
    }
  }
}

}  // namespace

std::int64_t RankNumberOf(const RankInput& input) {
  if (input.gpu) return input.gpu->rank.value_or(-1);
  if (input.info && input.info->rank) return *input.info->rank;
  if (const CaptureFile* database = input.Find(FileKind::kProfilerDb)) {
    if (const auto named = NumberInName(database->path)) return *named;
  }
  return input.host_rank.value_or(-1);
}

bool LacksTimeline(const RankTrace& trace, Tables needs) {
  constexpr Tables kOfTheTrace = Tables::kHostOps | Tables::kLaunches | Tables::kDeviceTasks |
                                 Tables::kCommunications | Tables::kCommTasks | Tables::kOverlaps |
                                 Tables::kPythonCalls | Tables::kMstx | Tables::kHostCalls |
                                 Tables::kCoreClocks;
  return !trace.HasTimeline() && Intersects(needs, kOfTheTrace);
}

void RequireTimeline(const RankTrace& trace, Tables needs, const RankInput& input) {
  if (!LacksTimeline(trace, needs)) return;
  Fail(ErrorKind::kInput,
       "{}: no trace_view.json and no profiler database there, which this needs; copy the whole "
       "capture",
       input.path.string());
}

LoadedRank LoadRank(const RankInput& input, const ReadRequest& asked,
                    std::optional<std::int32_t> step) {
  ReadRequest request = asked;
  request.wanted = request.wanted | TablesOfGraphs(asked);
  LoadedRank rank;
  rank.trace.source = SourceName(input);
  rank.trace.rank = RankNumberOf(input);
  if (input.info) {
    rank.trace.profiler_level = input.info->level;
    KeepSwitches(*input.info, rank.trace.job);
  }
  if (input.gpu) KeepSwitches(*input.gpu, rank.trace.job);
  rank.trace.minimal_profiling = input.info && input.info->Minimal();
  for (const CaptureFile& file : input.files) {
    if (IsMain(file.kind)) AddProgressTotal(file.bytes);
  }
  if (LacksTimeline(rank.trace, request.wanted)) {
    rank.notes.push_back(fmt::format(
        "{}: no trace_view.json and no profiler database there; what only they hold is unknown: "
        "operators, collectives one by one, idle time",
        input.path.string()));
    rank.partial = true;
  }
  NoteMissingFiles(input, request, rank);
  NoteLostSlices(input, rank);
  for (const Reader& reader : AllReaders()) {
    if (!Intersects(reader.fills, request.wanted)) continue;
    for (const CaptureFile& file : input.files) {
      if (file.kind == reader.reads) ReadFile(reader, file, request, rank);
    }
  }
  DropFarRows(rank.trace);
  DropRepeatedRows(rank.trace);
  if (!rank.partial) CheckKernelTable(input, request, rank.trace);
  if (input.gpu) AddGroups(input.gpu->groups, rank.trace);
  CheckGroups(input, rank.trace);
  LinkByTime(rank.trace);
  ExplainGraphs(input, asked, rank);
  if (Intersects(request.wanted, Tables::kLaunches) && rank.trace.issues.Empty())
    CheckLaunches(rank.trace);
  CheckTimes(rank.trace);
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
constexpr std::int64_t kOfText = 5, kOfGzip = 75, kOfDatabase = 8, kOfRaw = 15;

std::int64_t TenthsOf(const CaptureFile& file) {
  if (file.kind == FileKind::kProfilerDb) return kOfDatabase;
  if (file.kind == FileKind::kRawCapture) return kOfRaw;
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
    LogWarning("{}: may need up to {} MB of memory, and {} MB are available; it is read alone",
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

// The ranks of a job, each once.

namespace {

// What traces of torch.profiler say of themselves. An unreadable one is reported by its reader.
void ReadGpuFacts(std::vector<RankInput>& inputs) {
  ParallelFor(inputs.size(), [&](std::size_t i) {
    const CaptureFile* trace = inputs[i].FindKineto();
    if (trace == nullptr) return;
    try {
      inputs[i].gpu = ReadGpuTraceFacts(trace->path);
    } catch (const Error& error) {
      Log(LogLevel::kDebug, "{}; its rank is unknown", error.what());
    }
  });
}

// Captures of `group` that are left out, in the words that fit how the groups were told apart.
std::string LeftOut(const std::filesystem::path& directory, ToldApart how,
                    const CaptureGroup& group, const CaptureGroup& kept) {
  std::vector<std::int64_t> ranks;
  for (const FoundRank& found : group.ranks) {
    if (found.rank >= 0) ranks.push_back(found.rank);
  }
  const std::string rank_text =
      ranks.empty() ? "captures of unknown rank"
                    : fmt::format("{} {}", Plural(ranks.size(), "rank"), fmt::join(ranks, ", "));
  const auto shown = [&](const CaptureGroup& one) {
    if (how == ToldApart::kByDirectory)
      return (one.name == kHere ? directory : directory / one.name).string();
    if (how == ToldApart::kByName) return fmt::format("{}/{}", directory.string(), one.name);
    return one.ranks.front().input.path.string();
  };
  if (how == ToldApart::kByTime) {
    return fmt::format(
        "the session of {} ({}) is left out: that of {} is analysed; give each a directory "
        "of its own",
        shown(group), rank_text, shown(kept));
  }
  return fmt::format("{} with {} is left out: another job, engine or role than {}; {}",
                     shown(group), rank_text, shown(kept),
                     how == ToldApart::kByDirectory && group.name != kHere
                         ? fmt::format("analyse it with -d {}", shown(group))
                         : "give each a directory of its own");
}

// Several captures of one rank that are not known to be of different jobs: one note for each.
void NoteLatest(const CaptureGroup& left_out, const CaptureGroup& kept, FoundRanks& result) {
  for (const FoundRank& found : left_out.ranks) {
    const auto latest = std::ranges::find(kept.ranks, found.rank, &FoundRank::rank);
    result.notes.push_back(
        fmt::format("rank {}: {} is left out, because {} is later; if they are of different jobs, "
                    "give each a directory of its own",
                    found.rank, found.input.path.string(), latest->input.path.string()));
  }
}

void DropOtherJobs(std::vector<FoundRank>& ranks, FoundRanks& result) {
  for (const FoundRank& other : TakeOtherJobs(ranks)) {
    result.partial = true;
    result.notes.push_back(
        fmt::format("{}: left out, it is of another kind of device than the other captures, or of "
                    "a job of another size (world_size); give one job at a time",
                    other.input.path.string()));
  }
  for (const FoundRank& earlier : TakeEarlierJobs(ranks)) {
    result.partial = true;
    result.notes.push_back(
        fmt::format("{}: left out, it was captured days before others and belongs to another job; "
                    "give one job at a time",
                    earlier.input.path.string()));
  }
}

// Ranks of different jobs are never analysed together: the group with most ranks counts, of several
// the last in time, or the first by name.
void KeepOneGroup(const std::filesystem::path& directory, CaptureGroups found, FoundRanks& result) {
  std::vector<CaptureGroup>& groups = found.groups;
  const bool is_last =
      found.told_apart == ToldApart::kByTime || found.told_apart == ToldApart::kNot;
  if (is_last) std::ranges::reverse(groups);
  auto kept = std::ranges::max_element(
      groups, [](const auto& a, const auto& b) { return a.ranks.size() < b.ranks.size(); });
  if (found.told_apart == ToldApart::kNot) kept = groups.begin();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group == kept) continue;
    result.partial = true;
    if (found.told_apart == ToldApart::kNot)
      NoteLatest(*group, *kept, result);
    else
      result.notes.push_back(LeftOut(directory, found.told_apart, *group, *kept));
  }
  DropOtherJobs(kept->ranks, result);
  result.ranks = std::move(kept->ranks);
}

void KeepAllGroups(CaptureGroups found, FoundRanks& result) {
  std::vector<std::string> names;
  for (CaptureGroup& group : found.groups) {
    names.push_back(group.name);
    DropOtherJobs(group.ranks, result);
    for (FoundRank& rank : group.ranks) {
      rank.group = group.name;
      result.ranks.push_back(std::move(rank));
    }
  }
  result.notes.push_back(
      fmt::format("{} are several jobs, engines or roles, because they share ranks; each is "
                  "analysed by itself",
                  fmt::join(names, ", ")));
}

// They may be of several devices, hosts and times.
void KeepEveryCapture(CaptureGroups found, FoundRanks& result) {
  for (CaptureGroup& group : found.groups) {
    for (FoundRank& rank : group.ranks) result.ranks.push_back(std::move(rank));
  }
  std::ranges::stable_sort(result.ranks, {}, &FoundRank::rank);
}

}  // namespace

FoundRanks FindRanks(const std::filesystem::path& directory,
                     const std::optional<std::set<std::int64_t>>& wanted,
                     const OpenOptions& options, GroupsTaken taken) {
  FoundRanks result;
  Discovery discovery = Discover(directory, options);
  if (!wanted) result.all = discovery.ranks.size() + discovery.unusable.size();
  for (const Discovery::Unusable& unusable : discovery.unusable) {
    result.notes.push_back(fmt::format("{}; it is left out", unusable.Told()));
    result.partial = true;
  }
  ReadGpuFacts(discovery.ranks);
  std::vector<FoundRank> found;
  std::set<std::int64_t> seen;
  for (RankInput& input : discovery.ranks) {
    if (input.info && !input.info->rank_problem.empty()) {
      result.notes.push_back(input.info->rank_problem);
    }
    if (!input.info_problem.empty()) {
      result.notes.push_back(input.info_problem + "; the collection settings stay unknown");
    }
    std::int64_t rank = RankNumberOf(input);
    if (rank >= kMaxRanks) {
      result.notes.push_back(
          fmt::format("{}: no job has a rank {}, it is taken as unknown; correct "
                      "the number in the name of profiler_info or the database",
                      input.path.string(), rank));
      result.partial = true;
      rank = -1;
    }
    seen.insert(rank);
    if (wanted && !wanted->contains(rank)) continue;
    found.push_back({rank, std::move(input)});
  }
  if (const std::string missing = MissingRanks(wanted, seen); !missing.empty()) {
    if (found.empty()) Fail(ErrorKind::kInput, "{}: {}", directory.string(), missing);
    result.notes.push_back(fmt::format("{}: {}", directory.string(), missing));
    result.partial = true;
  }
  if (found.empty()) {
    if (discovery.ranks.empty() && discovery.unusable.size() == 1) {
      Fail(ErrorKind::kInput, "{}", discovery.unusable.front().Told());
    }
    Fail(ErrorKind::kInput, "{}: no readable capture; see why with 'msprof-analyze check {}'",
         directory.string(), directory.string());
  }
  CaptureGroups groups = SeparateCaptures(directory, std::move(found));
  const bool have_names =
      groups.told_apart == ToldApart::kByDirectory || groups.told_apart == ToldApart::kByName;
  if (taken == GroupsTaken::kJoined)
    KeepEveryCapture(std::move(groups), result);
  else if (taken == GroupsTaken::kAll && have_names)
    KeepAllGroups(std::move(groups), result);
  else
    KeepOneGroup(directory, std::move(groups), result);
  std::vector<const RankInput*> inputs;
  for (const FoundRank& rank : result.ranks) inputs.push_back(&rank.input);
  NoteUnreadRecords(inputs, result.notes);
  return result;
}

}  // namespace mpa
