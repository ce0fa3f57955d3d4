// SPDX-License-Identifier: Apache-2.0
// operator_details.csv: one row an operator of the framework, with its times on host and device.
#include "chunked_file.h"
#include "csv_text.h"
#include "mpa/model/step_bounds.h"
#include "mpa/raw/operator_times.h"
#include "text_files.h"

namespace mpa::profiler_output {
namespace {

/// ns as µs; "0" for nothing.
void PutDeviceTime(double ns, CsvRow& row) {
  if (ns == 0) {
    row.Cell("0");
  } else {
    row.Cell(ShortMicros{ns});
  }
}

void PutHostTime(TimeNs ns, CsvRow& row) { row.Cell(ShortMicros{static_cast<double>(ns)}); }

}  // namespace

void WriteOperatorDetails(const raw::Session& session, const std::filesystem::path& path) {
  const raw::TorchOps& ops = session.ops;
  if (ops.Empty()) return;
  const raw::OperatorTimes times = raw::SumOperatorTimes(session);
  ChunkedFile file(path);
  file.Write(
      "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
      "Device Self Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),"
      "Device Total Duration With AICore(us)\r\n");
  file.WriteRows(ops.Size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view name = session.strings.View(ops.name[i]);
      if (IsStepMark(name)) continue;
      CsvRow row(out);
      row.Text(name);
      row.Text(ListLines(session.strings.View(ops.shapes[i])));
      row.Text(ListLines(session.strings.View(ops.stack[i])));
      PutHostTime(times.host_self[i], row);
      PutHostTime(times.host_total[i], row);
      PutDeviceTime(times.device_self[i], row);
      PutDeviceTime(times.device_total[i], row);
      PutDeviceTime(times.cube_self[i], row);
      PutDeviceTime(times.cube_total[i], row);
    }
  });
  file.Close();
}

}  // namespace mpa::profiler_output
