// SPDX-License-Identifier: Apache-2.0
// Text tables that one function writes: tasks, steps, L2 cache, operators, AI CPU, input queues.
#include <algorithm>
#include <numeric>

#include "csv_text.h"
#include "kernel_rules.h"
#include "mpa/model/step_bounds.h"
#include "mpa/raw/labels.h"
#include "mpa/raw/summaries.h"
#include "text_files.h"

namespace mpa::profiler_output {

// task_time.csv: every device task; of an FFTS+ group one task stands for all.

namespace {

/// ns as µs; "0" for nothing.
void PutDeviceTime(double ns, CsvRow& row) {
  if (ns == 0) {
    row.Cell("0");
  } else {
    row.Cell(ShortMicros{ns});
  }
}

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
  WriteTextTable(path,
                 "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
                 "task_stop(us)\r\n",
                 listed.size(), [&](std::size_t i, std::string& out) {
                   const std::size_t task = listed[i];
                   const std::string_view function = session.strings.View(tasks.function[task]);
                   CsvRow row(out);
                   row.Cell(tasks.device[task]);
                   row.Text(function.empty() ? kNone : function);
                   row.Text(session.strings.View(raw::TaskType(session, task)));
                   row.Cells(tasks.stream[task], tasks.task[task],
                             Micros{static_cast<TimeNs>(tasks.dur[task])});
                   row.Time(tasks.start[task]);
                   row.Time(tasks.end[task]);
                 });
}

// step_trace_time.csv: what the devices did in each step.

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
      PutDeviceTime(ns, row);
    }
  }
  WriteTextFile(path, text);
}

// l2_cache.csv: how each task used the L2 cache.

namespace {

bool IsHwts(const raw::SessionInfo& info, std::int64_t device) {
  return std::any_of(info.devices.begin(), info.devices.end(), [&](const raw::Device& described) {
    return described.id == device && described.generation == raw::Generation::kHwts;
  });
}

}  // namespace

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
                   if (IsHwts(session.info, use.device[i])) {
                     row.Cell(Decimal{use.hit_rate[i]});
                   } else {
                     row.Text(kNone);
                   }
                   row.Cell(Decimal{use.victim_rate[i]});
                   row.Text(name.empty() ? kNone : name);
                 });
}

// operator_details.csv: one row an operator of the framework, with its times on host and device.

namespace {

void PutHostTime(TimeNs ns, CsvRow& row) { row.Cell(ShortMicros{static_cast<double>(ns)}); }

}  // namespace

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
        if (IsStepMark(name)) return;
        CsvRow row(out);
        row.Text(name);
        row.Text(raw::ListLines(session.strings.View(ops.shapes[i])));
        row.Text(raw::ListLines(session.strings.View(ops.stack[i])));
        PutHostTime(times.host_self[i], row);
        PutHostTime(times.host_total[i], row);
        for (const auto* ns :
             {&times.device_self, &times.device_total, &times.cube_self, &times.cube_total}) {
          PutDeviceTime((*ns)[i], row);
        }
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
        CsvRow row(out);
        row.Cell(kernels.device[i]);
        row.Time(kernels.start[i]);
        row.Text(session.strings.View(kernels.name[i]));
        row.Cells(micros(kernels.compute[i]), micros(kernels.copy[i]), nanos(kernels.dur[i]),
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
                   CsvRow row(out);
                   row.Cells(queue.device[i], Micros{queue.time[i]});
                   row.Text(session.strings.View(queue.action[i]));
                   row.Text(session.strings.View(queue.source[i]));
                   row.Cell(queue.size[i]);
                 });
}

}  // namespace mpa::profiler_output
