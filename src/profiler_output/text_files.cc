// SPDX-License-Identifier: Apache-2.0
#include "text_files.h"

#include <algorithm>
#include <iterator>

#include "mpa/base/log.h"
#include "mpa/base/parallel.h"

namespace mpa::profiler_output {

void ChunkedFile::Write(std::string_view text) {
  const std::size_t dropped = std::min(drop_, text.size());
  drop_ -= dropped;
  text.remove_prefix(dropped);
  file_.Write(text);
}

void ChunkedFile::WriteChunks(std::size_t count, const FormatRows& format) {
  constexpr std::size_t kRows = 256;   // some ten kilobytes, which stay in the caches
  constexpr std::size_t kChunks = 32;  // enough for all threads, and for uneven ones
  std::vector<std::string> ready, next(kChunks);
  for (std::size_t first = 0; first < count; first += kRows * kChunks) {
    const std::size_t rows = std::min(kRows * kChunks, count - first);
    next.resize((rows + kRows - 1) / kRows);
    // What was made before is written while the next rows are made.
    ParallelFor(next.size() + 1, [&](std::size_t i) {
      if (i == 0) {
        for (const std::string& chunk : ready) Write(chunk);
        return;
      }
      const std::size_t from = (i - 1) * kRows;
      next[i - 1].clear();
      format(first + from, first + std::min(from + kRows, rows), next[i - 1]);
    });
    std::swap(ready, next);
    next.resize(kChunks);
  }
  for (const std::string& chunk : ready) Write(chunk);
}

// Which text files there are, and under which names.

void WriteText(const raw::Session& session, const std::filesystem::path& directory) {
  constexpr struct {
    const char* name;
    void (*write)(const raw::Session&, const std::filesystem::path&);
    const char* sources;  // for people
  } kFiles[] = {
      {"trace_view.json", WriteTraceView,
       "operators and Python calls (FRAMEWORK), calls of CANN, tasks, collectives and counters"},
      {"kernel_details.csv", WriteKernelDetails,
       "tasks of the device, kernels and tensors recorded by CANN, counters of the cores"},
      {"operator_details.csv", WriteOperatorDetails, "operators (FRAMEWORK) and their tasks"},
      {"op_statistic.csv", WriteOpStatistic, "tasks of the device and kernels"},
      {"api_statistic.csv", WriteApiStatistic, "calls of CANN"},
      {"step_trace_time.csv", WriteStepTraceTime, "steps (FRAMEWORK), tasks and collectives"},
      {"operator_memory.csv", WriteOperatorMemory, "allocations and operators (FRAMEWORK)"},
      {"memory_record.csv", WriteMemoryRecord, "allocations (FRAMEWORK) and samples of memory"},
      {"npu_module_mem.csv", WriteModuleMemory, "samples of memory by module"},
      {"hccs.csv", WriteHccs, "samples of the links to other chips"},
      {"pcie.csv", WritePcie, "samples of the link to the host"},
      {"nic.csv", WriteNic, "samples of the network ports"},
      {"roce.csv", WriteRoce, "samples of the RoCE ports"},
      {"l2_cache.csv", WriteL2Cache, "counters of the L2 cache"},
      {"task_time.csv", WriteTaskTime, "tasks of the device"},
      {"data_preprocess.csv", WriteDataPreprocess, "records of the AI CPU"},
      {"dp.csv", WriteInputQueue, "records of input data"},
      {"communication.json", WriteCommunication, "collectives and their tasks"},
      {"communication_matrix.json", WriteCommunicationMatrix, "collectives and their tasks"},
  };
  const auto is_wanted = [&](const auto& file) {
    return file.write != WriteTaskTime || !session.info.mindspore;  // which has no such file
  };
  ParallelFor(std::size(kFiles), [&](std::size_t i) {
    if (is_wanted(kFiles[i])) kFiles[i].write(session, directory / kFiles[i].name);
  });
  for (const auto& file : kFiles) {
    if (!is_wanted(file)) continue;
    if (std::filesystem::exists(directory / file.name)) {
      LogInfo("{}: made from {}", file.name, file.sources);
    } else {
      LogInfo("{}: not made, the capture has no {}", file.name, file.sources);
    }
  }
}

}  // namespace mpa::profiler_output
