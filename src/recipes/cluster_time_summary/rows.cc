// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <fmt/format.h>

#include "waits.h"

namespace mpa::time_summary {

const std::array<Metric, kMetrics> kMetricsOfStep = {
    {{"stepTime", "Step Time(us)",
      "Length of the step on the host, in us; without steps computation, exposed communication and "
      "free time."},
     {"computation", "Computation(us)", "Time in which kernels computed, in us."},
     {"communicationNotOverlapComputation", "Communication Not Overlap Computation(us)",
      "Communication while nothing was computed, in us."},
     {"communicationOverlapComputation", "Communication Overlap Computation(us)",
      "Communication while kernels computed, in us."},
     {"communication", "Communication(us)", "All communication, in us."},
     {"free", "Free(us)", "Time in which the device did nothing, not even copy, in us."},
     {"communicationWaitStageTime", "Communication Wait Stage Time(us)",
      "Communication beyond that of the rank that ran the operator shortest, summed over the "
      "operators, in us; empty where no operator could be compared."},
     {"communicationTransmitStageTime", "Communication Transmit Stage Time(us)",
      "The rest of the communication, summed over the operators, in us."},
     {"memory", "Memory(us)", "Copies between memories, in us."},
     {"memoryNotOverlapComputationCommunication",
      "Memory Not Overlap Computation Communication(us)",
      "Time in which nothing but copies ran, in us."}}};

std::vector<StepRow> RowsOf(const Ranks& ranks, std::vector<std::string>& notes) {
  const std::vector<WaitsOfRank> waits = FindWaits(ranks);
  std::vector<StepRow> rows;
  std::size_t left_out = 0, ranks_left_out = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    bool any_left_out = false;
    for (const EarlierStep& step : ranks[i].part.earlier) {
      rows.push_back({ranks[i].rank, step.step, step.times});
    }
    for (const StepSums& sums : ranks[i].part.steps) {
      StepRow& row = rows.emplace_back();
      row.rank = ranks[i].rank;
      row.step = sums.step;
      auto& times = row.times;
      times[kStepTime] =
          sums.length >= 0 ? sums.length : sums.computing + sums.exposed_communication + sums.free;
      times[kComputation] = sums.computing;
      times[kExposedCommunication] = sums.exposed_communication;
      times[kOverlappedCommunication] = sums.overlapped;
      times[kCommunication] = sums.communication;
      times[kFree] = sums.free - sums.exposed_copies;
      times[kMemory] = sums.copies;
      times[kExposedMemory] = sums.exposed_copies;
      const auto found = waits[i].find(sums.step);
      const Waits of_step = found != waits[i].end() ? found->second : Waits();
      if (of_step.counted > 0 || of_step.left_out == 0) {
        times[kWait] = of_step.wait;
        times[kTransmit] = of_step.transmit;
      }
      left_out += of_step.left_out;
      any_left_out = any_left_out || of_step.left_out > 0;
    }
    ranks_left_out += any_left_out ? 1 : 0;
  }
  if (left_out > 0) {
    notes.push_back(fmt::format(
        "{} runs of communication operators on {} rank{} count neither as wait nor as "
        "transmission: "
        "other ranks of their group are missing, or ran them a different number of times; give the "
        "captures of all ranks",
        left_out, ranks_left_out, ranks_left_out == 1 ? "" : "s"));
  }
  return rows;
}

}  // namespace mpa::time_summary
