// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "csv_text.h"
#include "kernel_rules.h"
#include "mpa/raw/kernel_sums.h"
#include "mpa/raw/labels.h"
#include "text_files.h"

namespace mpa::profiler_output {

bool HasMixedCores(const raw::Session& session) {
  const auto& devices = session.info.devices;
  return devices.empty() || std::any_of(devices.begin(), devices.end(), [](const auto& device) {
           return device.generation != raw::Generation::kHwts;
         });
}

// kernel_details.csv: one row a kernel or collective, in order of device and start.

namespace {

struct KernelRow {
  TimeNs start, end;
  std::int32_t kernel;      ///< row in Kernels; -1: `collective`
  std::int32_t collective;  ///< row in Collectives
  std::int64_t device;
  TimeNs wait;  ///< since the end of the row before on the device; -1: there is none
};

/// A column of counters.
struct MetricColumn {
  enum class Form { kNs, kWhole, kPercent, kPlain };
  std::size_t column;  ///< in Counters
  std::string header;
  Form form;
};

std::vector<KernelRow> KernelRows(const raw::Session& session) {
  const raw::Tasks& tasks = session.tasks;
  std::vector<KernelRow> rows;
  rows.reserve(session.kernels.Size() + session.collectives.Size());
  for (std::size_t i = 0; i < session.kernels.Size(); ++i) {
    if (!raw::IsListedKernel(session, i)) continue;
    const auto task = static_cast<std::size_t>(session.kernels.task[i]);
    rows.push_back({tasks.start[task], tasks.end[task], static_cast<std::int32_t>(i), -1,
                    tasks.device[task], -1});
  }
  const raw::Collectives& collectives = session.collectives;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    rows.push_back({collectives.start[i], collectives.end[i], -1, static_cast<std::int32_t>(i),
                    collectives.device[i], -1});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return a.device != b.device ? a.device < b.device : a.start < b.start;
  });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].device != rows[i - 1].device) continue;
    rows[i].wait = std::max<TimeNs>(rows[i].start - rows[i - 1].end, 0);
  }
  return rows;
}

MetricColumn MetricOf(std::size_t column, const std::string& name) {
  using Form = MetricColumn::Form;
  if (name.ends_with("_time")) return {column, name + "(us)", Form::kNs};
  if (name.ends_with("_cycles")) return {column, name, Form::kWhole};
  if (name == "cube_utilization") return {column, name + "(%)", Form::kPercent};
  if (name.ends_with("_bw")) return {column, name + "(GB/s)", Form::kPlain};
  if (name.ends_with("_datas")) return {column, name + "(KB)", Form::kPlain};
  return {column, name, Form::kPlain};
}

std::vector<MetricColumn> Metrics(const raw::Counters& counters) {
  std::vector<MetricColumn> metrics;
  for (std::size_t i = 0; i < counters.names.size(); ++i) {
    if (counters.in_details[i] != 0) metrics.push_back(MetricOf(i, counters.names[i]));
  }
  return metrics;
}

bool HasSteps(const raw::Session& session) {
  const std::vector<TimeNs>& starts = session.steps.device_start;
  return std::any_of(starts.begin(), starts.end(), [](TimeNs start) { return start >= 0; });
}

class KernelTable {
 public:
  explicit KernelTable(const raw::Session& session)
      : session_(session),
        steps_(session.steps),
        rows_(KernelRows(session)),
        metrics_(Metrics(session.counters)) {}

  std::size_t Size() const { return rows_.size(); }

  std::string Header() const {
    std::string line;
    CsvRow row(line);
    if (has_steps_) row.Cell("Step Id");
    row.Cell("Device_id");
    if (!level0_) row.Cell("Model ID,Task ID,Stream ID");
    row.Cell("Name,Type");
    if (!level0_) row.Cell("OP State");
    row.Cell("Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num");
    if (!level0_ && mixed_) row.Cell("Mix Block Num");
    if (!level0_) row.Cell("HF32 Eligible");
    row.Cell("Input Shapes,Input Data Types,Input Formats");
    row.Cell("Output Shapes,Output Data Types,Output Formats");
    if (level0_) return line;
    if (mixed_) row.Cell("Context ID");
    for (const MetricColumn& metric : metrics_) row.Cell(metric.header);
    return line;
  }

  void AppendRow(std::size_t i, std::string& out) const {
    const KernelRow& kernel = rows_[i];
    CsvRow row(out);
    if (has_steps_) PutStep(kernel.start, row);
    row.Cell(kernel.device);
    if (kernel.kernel >= 0) {
      PutKernel(kernel, row);
    } else {
      PutCollective(kernel, row);
    }
  }

 private:
  std::string_view View(StringId id) const { return session_.strings.View(id); }

  void PutStep(TimeNs start, CsvRow& row) const {
    const std::int32_t step = steps_.At(start);
    if (step < 0) {
      row.Cell();
    } else {
      row.Cell(session_.steps.id[static_cast<std::size_t>(step)]);
    }
  }

  static void PutTimes(const KernelRow& kernel, CsvRow& row) {
    row.Time(kernel.start);
    row.Cell(Micros{kernel.end - kernel.start});
    if (kernel.wait < 0) {
      row.Cell("0");
    } else {
      row.Cell(Micros{kernel.wait}, "000");
    }
  }

  void PutKernel(const KernelRow& which, CsvRow& row) const {
    const raw::Kernels& kernels = session_.kernels;
    const raw::Tasks& tasks = session_.tasks;
    const auto kernel = static_cast<std::size_t>(which.kernel);
    const auto task = static_cast<std::size_t>(kernels.task[kernel]);
    if (!level0_) {
      row.Cell(tasks.model[task]);
      row.Cell(tasks.task[task]);
      row.Cell(tasks.stream[task]);
    }
    row.Text(View(kernels.name[kernel]));
    row.Text(View(kernels.op_type[kernel]));
    if (!level0_) row.Text(View(kernels.state[kernel]));
    row.Text(View(kernels.core[kernel]));
    PutTimes(which, row);
    row.Cell(kernels.blocks[kernel]);
    if (!level0_ && mixed_) row.Cell(kernels.mix_blocks[kernel]);
    if (!level0_) row.Text(View(kernels.hf32[kernel]));
    row.Text(View(kernels.input_shapes[kernel]));
    row.Text(View(kernels.input_types[kernel]));
    row.Text(View(kernels.input_formats[kernel]));
    row.Text(View(kernels.output_shapes[kernel]));
    row.Text(View(kernels.output_types[kernel]));
    row.Text(View(kernels.output_formats[kernel]));
    if (level0_) return;
    if (mixed_) PutContext(tasks.context[task], row);
    PutCounters(kernels.counters[kernel], row);
  }

  void PutCollective(const KernelRow& which, CsvRow& row) const {
    const raw::Collectives& collectives = session_.collectives;
    const auto collective = static_cast<std::size_t>(which.collective);
    if (!level0_) {
      row.Cell(collectives.model[collective]);
      PutNone(2, row);
    }
    row.Text(View(collectives.name[collective]));
    row.Text(View(collectives.op_type[collective]));
    if (!level0_) PutNone(1, row);
    row.Cell("COMMUNICATION");
    PutTimes(which, row);
    row.Cell("0");
    constexpr std::size_t kShapes = 6;
    PutNone(kShapes, row);
    if (level0_) return;
    constexpr std::size_t kHf32 = 1, kMixAndContext = 2;
    PutNone(kHf32 + (mixed_ ? kMixAndContext : 0) + metrics_.size(), row);
  }

  static void PutNone(std::size_t cells, CsvRow& row) {
    for (std::size_t i = 0; i < cells; ++i) row.Cell(kNone);
  }

  static void PutContext(std::int64_t context, CsvRow& row) {
    if (context == raw::kNoContext) {
      row.Cell(kNone);
    } else {
      row.Cell(context);
    }
  }

  void PutCounters(std::int32_t counters, CsvRow& row) const {
    const raw::Counters& table = session_.counters;
    for (const MetricColumn& metric : metrics_) {
      if (counters < 0) {
        row.Cell(kNone);
      } else {
        const std::size_t first = static_cast<std::size_t>(counters) * table.names.size();
        PutMetric(metric.form, table.values[first + metric.column], row);
      }
    }
  }

  static void PutMetric(MetricColumn::Form form, double value, CsvRow& row) {
    if (!std::isfinite(value)) return row.Cell(kNone);
    switch (form) {
      case MetricColumn::Form::kNs:
        return row.Cell(Rounded{value / 1000});
      case MetricColumn::Form::kWhole:
        return row.Cell(RoundedShort{value});
      case MetricColumn::Form::kPercent:
        return row.Cell(ThreeDecimals{value});
      case MetricColumn::Form::kPlain:
        return row.Cell(Rounded{value});
    }
  }

  const raw::Session& session_;
  raw::StepsOnDevice steps_;
  std::vector<KernelRow> rows_;
  std::vector<MetricColumn> metrics_;
  bool level0_ = IsLevel0(session_);
  bool mixed_ = HasMixedCores(session_);
  bool has_steps_ = HasSteps(session_);
};

}  // namespace

void WriteKernelDetails(const raw::Session& session, const std::filesystem::path& path) {
  const KernelTable table(session);
  if (table.Size() == 0) return;
  WriteTextTable(path, table.Header(), table.Size(),
                 [&](std::size_t i, std::string& out) { table.AppendRow(i, out); });
}

// op_statistic.csv: kernel durations by device, type and core, longest first.

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
