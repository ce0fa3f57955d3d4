// SPDX-License-Identifier: Apache-2.0
// task_time.csv: every device task; of an FFTS+ group one task stands for all.
#include <algorithm>
#include <numeric>

#include "chunked_file.h"
#include "csv_text.h"
#include "kernel_rules.h"
#include "mpa/raw/labels.h"
#include "text_files.h"

namespace mpa::profiler_output {
namespace {

/// The tasks of the table, in order of start. Of tasks that differ in their context only, those of
/// context 0 are listed; when there are none, all.
std::vector<std::uint32_t> ListedTasks(const raw::Tasks& tasks) {
  std::vector<std::uint32_t> rows(tasks.Size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  if (std::all_of(tasks.context.begin(), tasks.context.end(),
                  [](std::int64_t context) { return context == raw::kNoContext; })) {
    return rows;
  }
  const auto key = [&](std::uint32_t i) {
    return std::tuple(tasks.device[i], tasks.stream[i], tasks.task[i], tasks.batch[i]);
  };
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(key(a), tasks.context[a], a) < std::tuple(key(b), tasks.context[b], b);
  });
  std::vector<std::uint32_t> listed;
  for (std::size_t i = 0; i < rows.size();) {
    const std::size_t first = i;
    const bool has_zero = tasks.context[rows[first]] == 0;
    for (; i < rows.size() && key(rows[i]) == key(rows[first]); ++i) {
      if (!has_zero || tasks.context[rows[i]] == 0) listed.push_back(rows[i]);
    }
  }
  std::sort(listed.begin(), listed.end());
  return listed;
}

}  // namespace

void WriteTaskTime(const raw::Session& session, const std::filesystem::path& path) {
  const raw::Tasks& tasks = session.tasks;
  const std::vector<std::uint32_t> listed = ListedTasks(tasks);
  if (listed.empty()) return;
  ChunkedFile file(path);
  file.Write(
      "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
      "task_stop(us)\r\n");
  file.WriteRows(listed.size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t task = listed[i];
      const std::string_view function = session.strings.View(tasks.function[task]);
      CsvRow row(out);
      row.Cell(tasks.device[task]);
      row.Text(function.empty() ? kNone : function);
      row.Text(session.strings.View(raw::TaskType(session, task)));
      row.Cell(tasks.stream[task]);
      row.Cell(tasks.task[task]);
      row.Cell(Micros{static_cast<TimeNs>(tasks.dur[task])});
      row.Time(tasks.start[task]);
      row.Time(tasks.end[task]);
    }
  });
  file.Close();
}

}  // namespace mpa::profiler_output
