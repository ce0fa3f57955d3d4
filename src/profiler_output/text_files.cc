// SPDX-License-Identifier: Apache-2.0
// Which text files there are, and under which names.
#include "text_files.h"

#include <iterator>

#include "mpa/base/parallel.h"
#include "mpa/profiler_output/profiler_output.h"

namespace mpa::profiler_output {

void WriteText(const raw::Session& session, const std::filesystem::path& directory) {
  constexpr struct {
    const char* name;
    void (*write)(const raw::Session&, const std::filesystem::path&);
  } kFiles[] = {
      {"trace_view.json", WriteTraceView},
      {"kernel_details.csv", WriteKernelDetails},
      {"operator_details.csv", WriteOperatorDetails},
      {"op_statistic.csv", WriteOpStatistic},
      {"api_statistic.csv", WriteApiStatistic},
      {"step_trace_time.csv", WriteStepTraceTime},
      {"operator_memory.csv", WriteOperatorMemory},
      {"memory_record.csv", WriteMemoryRecord},
      {"npu_module_mem.csv", WriteModuleMemory},
      {"task_time.csv", WriteTaskTime},
      {"communication.json", WriteCommunication},
      {"communication_matrix.json", WriteCommunicationMatrix},
  };
  ParallelFor(std::size(kFiles),
              [&](std::size_t i) { kFiles[i].write(session, directory / kFiles[i].name); });
}

}  // namespace mpa::profiler_output
