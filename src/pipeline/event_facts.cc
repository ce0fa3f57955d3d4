// SPDX-License-Identifier: Apache-2.0
#include "mpa/pipeline/event_facts.h"

#include <algorithm>

#include "load_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/progress.h"

namespace mpa {
namespace {

// Of all traces together.
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

bool NeedsEvents(const RankFacts& facts) {
  if (!facts.problem.empty()) return false;
  if (facts.kind != CaptureKind::kGpu && facts.kind != CaptureKind::kNpuText) return false;
  const Contents& recorded = facts.recorded;
  const auto states = {recorded.device_tasks, recorded.communication, recorded.host_ops,
                       recorded.op_memory};
  return std::any_of(states.begin(), states.end(),
                     [](Recorded state) { return state == Recorded::kUnknown; });
}

// Compressed traces are some ten times as large.
std::int64_t BytesOf(const RankFacts& facts) {
  constexpr std::int64_t kInflation = 10;
  return facts.path.extension() == ".gz" ? kInflation * facts.bytes : facts.bytes;
}

void Fill(const RankTrace& trace, Contents& recorded) {
  const auto tell = [](bool is_there, Recorded& state) {
    if (state == Recorded::kUnknown) state = is_there ? Recorded::kYes : Recorded::kNo;
  };
  tell(!trace.kernels.Empty() || !trace.device_tasks.Empty() || !trace.communications.Empty() ||
           !trace.overlaps.Empty(),
       recorded.device_tasks);
  tell(!trace.communications.Empty(), recorded.communication);
  tell(!trace.host_ops.Empty(), recorded.host_ops);
  tell(!trace.python_calls.Empty(), recorded.stacks);
  tell(!trace.memory_samples.Empty(), recorded.memory);
  tell(!trace.allocations.Empty(), recorded.op_memory);
}

}  // namespace

void TellFromEvents(const OpenOptions& options, std::vector<RankFacts>& ranks) {
  constexpr Tables kWanted = Tables::kHostOps | Tables::kKernels | Tables::kDeviceTasks |
                             Tables::kCommunications | Tables::kOverlaps | Tables::kPythonCalls |
                             Tables::kMemorySamples | Tables::kAllocations;
  std::int64_t left = kMostBytes;
  for (RankFacts& facts : ranks) {
    if (!NeedsEvents(facts) || BytesOf(facts) > left) continue;
    left -= BytesOf(facts);
    try {
      for (const RankInput& input : Discover(facts.path, options).ranks) {
        Fill(LoadRank(input, {kWanted, ""}, std::nullopt).trace, facts.recorded);
      }
    } catch (const Error& error) {
      facts.problem = error.what();
    }
  }
  ClearProgressLine();
}

}  // namespace mpa
