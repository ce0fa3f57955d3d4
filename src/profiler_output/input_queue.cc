// SPDX-License-Identifier: Apache-2.0
// dp.csv: what the program did with its queues of input data.
#include "chunked_file.h"
#include "csv_text.h"
#include "text_files.h"

namespace mpa::profiler_output {

void WriteInputQueue(const raw::Session& session, const std::filesystem::path& path) {
  const raw::InputQueue& queue = session.input_queue;
  if (queue.Empty()) return;
  ChunkedFile file(path);
  file.Write("Device_id,Timestamp(us),Action,Source,Cached Buffer Size\r\n");
  file.WriteRows(queue.Size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) {
      CsvRow row(out);
      row.Cell(queue.device[i]);
      row.Cell(Micros{queue.time[i]});
      row.Text(session.strings.View(queue.action[i]));
      row.Text(session.strings.View(queue.source[i]));
      row.Cell(queue.size[i]);
    }
  });
  file.Close();
}

}  // namespace mpa::profiler_output
