// SPDX-License-Identifier: Apache-2.0
// What side files of a capture say about its tables, for the promises that these keep.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/rank_names.h"
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

}  // namespace

// Of the whole job, as it says of itself.
std::int64_t WorldSize(const RankInput& input, const RankTrace& trace) {
  const auto args = nlohmann::json::parse(trace.job.distributed_args, nullptr, false);
  const nlohmann::json& told = io::Member(args, "world_size");
  std::int64_t world = input.gpu ? input.gpu->world_size.value_or(0) : 0;
  if (told.is_number_integer()) world = told.get<std::int64_t>();
  return world > 0 ? std::min(world, kMaxRanks) : kMaxRanks;
}

void CheckSideFiles(const RankInput& input, const ReadRequest& request, RankTrace& trace) {
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
