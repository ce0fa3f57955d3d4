// SPDX-License-Identifier: Apache-2.0
// data_preprocess.csv: what the AI CPU says of its kernels.
#include "chunked_file.h"
#include "csv_text.h"
#include "text_files.h"

namespace mpa::profiler_output {

void WriteDataPreprocess(const raw::Session& session, const std::filesystem::path& path) {
  const raw::AiCpuKernels& kernels = session.ai_cpu;
  if (kernels.Empty()) return;
  ChunkedFile file(path);
  file.Write(
      "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),"
      "Dispatch_time(us),Total_time(us),Stream ID,Task ID\r\n");
  file.WriteRows(kernels.Size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto micros = [](std::int64_t us) { return Rounded{static_cast<double>(us)}; };
      const auto nanos = [](TimeNs ns) { return Rounded{static_cast<double>(ns) / 1000}; };
      CsvRow row(out);
      row.Cell(kernels.device[i]);
      row.Time(kernels.start[i]);
      row.Text(session.strings.View(kernels.name[i]));
      row.Cell(micros(kernels.compute[i]));
      row.Cell(micros(kernels.copy[i]));
      row.Cell(nanos(kernels.dur[i]));
      row.Cell(micros(kernels.dispatch[i]));
      row.Cell(nanos(kernels.total[i]));
      row.Cell(kernels.stream[i]);
      row.Cell(kernels.task[i]);
    }
  });
  file.Close();
}

}  // namespace mpa::profiler_output
