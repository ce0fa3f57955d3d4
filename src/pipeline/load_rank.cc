// SPDX-License-Identifier: Apache-2.0
// From the files of a rank to its tables.
#include "load_rank.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/progress.h"
#include "mpa/capture/profiler_info.h"
#include "mpa/measure/accounting.h"
#include "mpa/model/launches.h"
#include "mpa/model/step_selection.h"
#include "table_rows.h"
#include "time_checks.h"

namespace mpa {
namespace {

const char* SourceName(CaptureKind kind) {
  if (kind == CaptureKind::kNpuDb) return "database";
  if (kind == CaptureKind::kNpuKineto) return "torch.profiler";
  return kind == CaptureKind::kNpuRaw ? "raw" : "text";
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
    const char* without;
  };
  constexpr SideFile kSideFiles[] = {
      {FileKind::kKernelDetails, Tables::kKernels, "kernel_details.csv",
       "kernel types and shapes are unknown"},
      {FileKind::kMemoryRecord, Tables::kMemorySamples, "memory_record.csv",
       "the memory use is unknown"},
      {FileKind::kCommunication, Tables::kTransfers, "communication.json",
       "bandwidths are unknown"},
  };
  for (const SideFile& file : kSideFiles) {
    if (!Overlap(request.wanted, file.fills) || input.Find(file.kind) != nullptr) continue;
    rank.notes.push_back(
        fmt::format("{}: no {} there, {}", input.path.string(), file.name, file.without));
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
    if (std::any_of(of_job.begin(), of_job.end(),
                    [&](const auto& known) { return known.id == label; }))
      continue;
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
    return NumberInName(database->path).value_or(-1);
  }
  return input.host_rank.value_or(-1);
}

LoadedRank LoadRank(const RankInput& input, const ReadRequest& request,
                    std::optional<std::int32_t> step) {
  LoadedRank rank;
  rank.trace.source = SourceName(input.kind);
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
  NoteMissingFiles(input, request, rank);
  for (const Reader& reader : AllReaders()) {
    if (!Overlap(reader.fills, request.wanted)) continue;
    for (const CaptureFile& file : input.files) {
      if (file.kind == reader.reads) ReadFile(reader, file, request, rank);
    }
  }
  if (input.gpu) AddGroups(input.gpu->groups, rank.trace);
  LinkByTime(rank.trace);
  CheckTimes(rank.trace);
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

}  // namespace mpa
