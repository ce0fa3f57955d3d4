// SPDX-License-Identifier: Apache-2.0
// step_trace_time.csv: what the devices did in each step.
#include "chunked_file.h"
#include "csv_text.h"
#include "mpa/raw/step_times.h"
#include "text_files.h"

namespace mpa::profiler_output {

void WriteStepTraceTime(const raw::Session& session, const std::filesystem::path& path) {
  if (session.activities.Empty()) return;
  const std::vector<raw::StepTime> steps = raw::StepTimes(session, raw::StepTimeForm::kText);
  if (steps.empty()) return;
  std::string text =
      "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
      "Bubble,Communication(Not Overlapped and Exclude Receive),Preparing\r\n";
  for (const raw::StepTime& step : steps) {
    CsvRow row(text);
    row.Cell(step.device);
    if (step.step < 0) {
      row.Cell();
    } else {
      row.Cell(step.step);
    }
    for (const double ns :
         {step.computing, step.exposed_communication, step.overlapped, step.communication,
          step.free, step.stage, step.bubble, step.exposed_without_receive, step.preparing}) {
      if (ns == 0) {
        row.Cell("0");
      } else {
        row.Cell(ShortMicros{ns});
      }
    }
  }
  ChunkedFile file(path);
  file.Write(text);
  file.Close();
}

}  // namespace mpa::profiler_output
