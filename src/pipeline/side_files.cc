// SPDX-License-Identifier: Apache-2.0
// What side files of a capture say about its tables, for the promises that these keep.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/io/json_document.h"
#include "mpa/promises/promise.h"

namespace mpa {
namespace {

// Reads a side file into tables of its own; what is wrong with it is said where it is wanted.
RankTrace ReadSideFile(const CaptureFile& file, const ReadRequest& request) {
  RankTrace side;
  for (const Reader& reader : AllReaders()) {
    if (reader.reads != file.kind) continue;
    try {
      CheckFollowed(file);
      reader.read(file, request, side);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kResource) throw;
      return {};
    }
  }
  return side;
}

// Whether the trace is read for what was asked.
bool FillsOfTrace(Tables wanted) {
  return std::ranges::any_of(AllReaders(), [&](const Reader& reader) {
    return reader.reads == FileKind::kTraceView && Intersects(reader.fills, wanted);
  });
}

template <typename Number>
Number SumOf(const std::vector<Number>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), Number{0});
}

// By name the starts of the collectives of a profiler database.
std::map<std::string, std::vector<TimeNs>, std::less<>> StartsOf(const RankTrace& trace) {
  std::map<std::string, std::vector<TimeNs>, std::less<>> starts;
  for (std::size_t i = 0; i < trace.communications.Size(); ++i) {
    starts[std::string(trace.strings.View(trace.communications.name[i]))].push_back(
        trace.communications.start[i]);
  }
  return starts;
}

// analysis.db has the sums of the collectives that the profiler database lists.
void CheckAnalysis(const RankInput& input, const ReadRequest& request, RankTrace& trace) {
  const CaptureFile* file = input.Find(FileKind::kAnalysisDb);
  const CaptureFile* main = input.Find(FileKind::kProfilerDb);
  if (file == nullptr || main == nullptr || trace.communication_summary.empty()) return;
  ReadRequest collectives = request;
  collectives.wanted = Tables::kCommunications;
  const auto starts = Intersects(request.wanted, Tables::kCommunications)
                          ? StartsOf(trace)
                          : StartsOf(ReadSideFile(*main, collectives));
  if (starts.empty()) return;
  constexpr TimeNs kOfTasks = 1'000'000;  // one counts from the first task
  std::size_t all = 0, foreign = 0;
  TimeNs first = std::numeric_limits<TimeNs>::max(), last = 0;
  std::set<std::string, std::less<>> summed;
  const auto look = [&](const CommunicationOp& op) {
    if (op.group.empty() || op.time.start_us <= 0 || op.time.start_us > 9e15) return;
    const TimeNs start = std::llround(op.time.start_us * 1000);
    ++all;
    summed.insert(op.name);
    first = std::min(first, start);
    last = std::max(last, start);
    const auto found = starts.find(op.name);
    const auto is_same = [&](TimeNs time) {
      return time <= start + kOfTasks && time >= start - kOfTasks;
    };
    if (found == starts.end() || std::ranges::none_of(found->second, is_same)) ++foreign;
  };
  for (const CommunicationStep& step : trace.communication_summary) {
    for (const CommunicationOp& op : step.collective) look(op);
    for (const CommunicationOp& op : step.p2p) look(op);
  }
  if (foreign > 0) {
    trace.issues.Count(Promise::kOwnRun,
                       "analysis.db is of another rank or run, the profiler database does not have"
                       " its collectives at their times; copy the whole capture again",
                       Say("{}: {} of {}", file->path.string(), foreign, all));
    return;
  }
  std::size_t missing = 0;
  for (const auto& [name, times] : starts) {
    if (times.front() > first && times.front() < last && !summed.contains(name)) ++missing;
  }
  if (missing == 0 || all == 0) return;
  trace.issues.Count(Promise::kTablesAgree,
                     "collectives of the profiler database are missing in analysis.db, its sums are"
                     " too small; copy or parse the capture again",
                     Say("{}: {} of {}", file->path.string(), missing, starts.size()));
}

}  // namespace

// Of the whole job, as it says of itself.
std::int64_t WorldSize(const RankInput& input, const RankTrace& trace) {
  const auto args = io::TryParseJson(trace.job.distributed_args);
  const nlohmann::json& told = io::Member(args, "world_size");
  std::int64_t world = input.gpu ? input.gpu->world_size.value_or(0) : 0;
  if (told.is_number_integer()) world = told.get<std::int64_t>();
  return world > 0 ? std::min(world, kMaxRanks) : kMaxRanks;
}

void CheckSideFiles(const RankInput& input, const ReadRequest& request, RankTrace& trace) {
  if (input.kind == CaptureKind::kNpuDb) CheckAnalysis(input, request, trace);
  if (input.kind != CaptureKind::kNpuText || !trace.issues.Empty()) return;
  const auto is_read = [&](FileKind kind, Tables tables) {
    return input.Find(kind) != nullptr && Intersects(request.wanted, tables);
  };
  const bool with_trace = trace.source == "text" && FillsOfTrace(request.wanted);
  StepTimes told;
  if (const CaptureFile* file = input.Find(FileKind::kStepTraceTime)) {
    told = ReadSideFile(*file, request).step_times;
    DropRepeatedTimes(told);
    if (with_trace) CheckStepTable(told, trace);
  }
  if (with_trace) {
    CheckSideTables({.communication = is_read(FileKind::kCommunication,
                                              Tables::kTransfers | Tables::kCommSummary),
                     .allocations = is_read(FileKind::kOperatorMemory, Tables::kAllocations),
                     .memory = is_read(FileKind::kMemoryRecord, Tables::kMemorySamples)},
                    trace);
  }
  if (!trace.issues.Empty() || !is_read(FileKind::kKernelDetails, Tables::kKernels)) return;
  KernelClaims claims;
  claims.with_trace = with_trace;
  if (const CaptureFile* file = input.Find(FileKind::kOpStatistic)) {
    const RankTrace side = ReadSideFile(*file, request);
    if (side.issues.Empty()) claims.kernels = SumOf(side.kernel_statistics.count);
  }
  if (!told.Empty()) claims.computing = SumOf(told.computing);
  CheckKernelTable(claims, trace);
}

}  // namespace mpa
