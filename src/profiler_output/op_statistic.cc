// SPDX-License-Identifier: Apache-2.0
// op_statistic.csv: kernel durations by device, type and core, longest first.
#include <map>

#include "chunked_file.h"
#include "csv_text.h"
#include "kernel_rules.h"
#include "mpa/raw/kernel_sums.h"
#include "text_files.h"

namespace mpa::profiler_output {

void WriteOpStatistic(const raw::Session& session, const std::filesystem::path& path) {
  const std::vector<raw::KernelSum> sums = raw::SumKernels(session);
  if (IsLevel0(session) || sums.empty()) return;
  std::map<std::int64_t, double> device_totals;
  for (const raw::KernelSum& sum : sums) device_totals[sum.device] += sum.total;
  std::string text =
      "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
      "Ratio(%)\r\n";
  for (const raw::KernelSum& sum : sums) {
    const double total = device_totals[sum.device];
    CsvRow row(text);
    row.Cell(sum.device);
    row.Text(session.strings.View(sum.op_type));
    row.Text(session.strings.View(sum.core));
    row.Cell(sum.count);
    row.Cell(RoundedShort{sum.total / 1000});
    row.Cell(RoundedShort{sum.shortest / 1000});
    row.Cell(RoundedShort{sum.average / 1000});
    row.Cell(RoundedShort{sum.longest / 1000});
    row.Cell(RoundedShort{total > 0 ? sum.total / total * 100 : 0});
  }
  ChunkedFile file(path);
  file.Write(text);
  file.Close();
}

}  // namespace mpa::profiler_output
