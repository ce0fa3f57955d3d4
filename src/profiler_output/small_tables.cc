// SPDX-License-Identifier: Apache-2.0
// Text tables that one function writes: tasks, steps, L2 cache, operators, AI CPU, input queues.
#include <algorithm>
#include <numeric>

#include "csv_text.h"
#include "mpa/model/step_bounds.h"
#include "mpa/raw/labels.h"
#include "mpa/raw/summaries.h"
#include "text_files.h"

namespace mpa::profiler_output {

// task_time.csv: every device task; of an FFTS+ group one task stands for all.

namespace {

/// ns as µs; "0" for nothing.
struct DeviceTime {
  double ns;
};
void PutOne(std::string& out, DeviceTime time) {
  time.ns == 0 ? Put(out, 0) : Put(out, ShortMicros{time.ns});
}

/// The tasks of the table, in order of start. Of tasks that differ in their context only, those of
/// context 0 are listed; when there are none, all.
std::vector<std::uint32_t> ListedTasks(const raw::Tasks& tasks) {
  std::vector<std::uint32_t> rows(tasks.Size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  if (std::ranges::all_of(tasks.context,
                          [](std::int64_t context) { return context == raw::kNoContext; })) {
    return rows;
  }
  const auto key = [&](std::uint32_t i) {
    return std::tuple(tasks.device[i], tasks.stream[i], tasks.task_id[i], tasks.batch[i]);
  };
  std::ranges::sort(rows, [&](std::uint32_t a, std::uint32_t b) {
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
  std::ranges::sort(listed);
  return listed;
}

}  // namespace

void WriteTaskTime(const raw::Session& session, const std::filesystem::path& path) {
  const raw::Tasks& tasks = session.tasks;
  const std::vector<std::uint32_t> listed = ListedTasks(tasks);
  if (listed.empty()) return;
  WriteTextTable(path,
                 "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
                 "task_stop(us)\r\n",
                 listed.size(), [&](std::size_t i, std::string& out) {
                   const std::size_t task = listed[i];
                   const std::string_view function = session.strings.View(tasks.function[task]);
                   CsvRow(out).Cells(tasks.device[task], function.empty() ? kNone : function,
                                     session.strings.View(raw::TaskType(session, task)),
                                     tasks.stream[task], tasks.task_id[task],
                                     Micros{static_cast<TimeNs>(tasks.Exact(task))},
                                     Stamp{tasks.start[task]}, Stamp{tasks.end[task]});
                 });
}

// step_trace_time.csv: what the devices did in each step.

void WriteStepTraceTime(const raw::Session& session, const std::filesystem::path& path) {
  if (session.overlaps.Empty()) return;
  const std::vector<raw::StepTime> steps = raw::StepTimes(session, raw::StepTimeForm::kText);
  if (steps.empty()) return;
  std::string text =
      "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
      "Bubble,Communication(Not Overlapped and Exclude Receive),Preparing\r\n";
  for (const raw::StepTime& step : steps) {
    CsvRow row(text);
    row.Cells(step.device, step.step < 0 ? std::nullopt : std::optional(step.step));
    for (const double ns :
         {step.computing, step.exposed_communication, step.overlapped, step.communication,
          step.free, step.stage, step.bubble, step.exposed_without_receive, step.preparing}) {
      row.Cell(DeviceTime{ns});
    }
  }
  io::WriteText(path, text);
}

// l2_cache.csv: how each task used the L2 cache.

void WriteL2Cache(const raw::Session& session, const std::filesystem::path& path) {
  const raw::L2CacheUse& use = session.l2_cache;
  if (use.Empty()) return;
  WriteTextTable(path, "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\r\n", use.Size(),
                 [&](std::size_t i, std::string& out) {
                   const std::string_view name = session.strings.View(use.name[i]);
                   CsvRow row(out);
                   row.Cells(use.device[i], use.stream[i], use.task[i]);
                   // Other chips count hits of the whole device; a metric set of the cores has
                   // those of a task.
                   const bool of_task = raw::IsHwts(session);
                   of_task ? row.Cells(Decimal{use.hit_rate[i]}) : row.Cells(kNone);
                   row.Cells(Decimal{use.victim_rate[i]}, name.empty() ? kNone : name);
                 });
}

// operator_details.csv: one row an operator of the framework, with its times on host and device.

void WriteOperatorDetails(const raw::Session& session, const std::filesystem::path& path) {
  const raw::TorchOps& ops = session.ops;
  if (ops.Empty()) return;
  const raw::OperatorTimes times = raw::SumOperatorTimes(session);
  WriteTextTable(
      path,
      "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
      "Device Self Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),"
      "Device Total Duration With AICore(us)\r\n",
      ops.Size(), [&](std::size_t i, std::string& out) {
        const std::string_view name = session.strings.View(ops.name[i]);
        if (IsProfilerStep(name)) return;
        CsvRow(out).Cells(name, raw::ListLines(session.strings.View(ops.shapes[i])),
                          raw::ListLines(session.strings.View(ops.stack[i])),
                          ShortMicros{static_cast<double>(times.host_self[i])},
                          ShortMicros{static_cast<double>(times.host_total[i])},
                          DeviceTime{times.device_self[i]}, DeviceTime{times.device_total[i]},
                          DeviceTime{times.cube_self[i]}, DeviceTime{times.cube_total[i]});
      });
}

// data_preprocess.csv: what the AI CPU says of its kernels.

void WriteDataPreprocess(const raw::Session& session, const std::filesystem::path& path) {
  const raw::AiCpuKernels& kernels = session.ai_cpu;
  if (kernels.Empty()) return;
  WriteTextTable(
      path,
      "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),"
      "Dispatch_time(us),Total_time(us),Stream ID,Task ID\r\n",
      kernels.Size(), [&](std::size_t i, std::string& out) {
        const auto micros = [](std::int64_t us) { return Rounded{static_cast<double>(us)}; };
        const auto nanos = [](TimeNs ns) { return Rounded{static_cast<double>(ns) / 1000}; };
        CsvRow(out).Cells(kernels.device[i], Stamp{kernels.start[i]},
                          session.strings.View(kernels.name[i]), micros(kernels.compute[i]),
                          micros(kernels.copy[i]), nanos(kernels.dur[i]),
                          micros(kernels.dispatch[i]), nanos(kernels.total[i]), kernels.stream[i],
                          kernels.task[i]);
      });
}

// dp.csv: what the program did with its queues of input data.

void WriteInputQueue(const raw::Session& session, const std::filesystem::path& path) {
  const raw::InputQueue& queue = session.input_queue;
  if (queue.Empty()) return;
  WriteTextTable(path, "Device_id,Timestamp(us),Action,Source,Cached Buffer Size\r\n", queue.Size(),
                 [&](std::size_t i, std::string& out) {
                   CsvRow(out).Cells(queue.device[i], Micros{queue.time[i]},
                                     session.strings.View(queue.action[i]),
                                     session.strings.View(queue.source[i]), queue.size[i]);
                 });
}

}  // namespace mpa::profiler_output
