// SPDX-License-Identifier: Apache-2.0
// The lines of kernel_details.csv and api_statistic.csv, whatever their rows come from.
#include <algorithm>
#include <cmath>

#include "csv_text.h"
#include "mpa/base/text.h"
#include "mpa/profiler_output/profiler_output.h"
#include "mpa/raw/labels.h"
#include "text_files.h"

namespace mpa::profiler_output {
namespace {

void PutNumber(std::int64_t number, CsvRow& row) {
  number < 0 ? row.Cell(kNone) : row.Cell(number);
}

}  // namespace

KernelLine DescribeKernel(const KernelDescriptionFields<InTable>& kernels, std::size_t row,
                          const StringPool& strings, std::string_view none) {
  const auto text = [&](const std::vector<StringId>& ids) {
    return ids[row] == StringId::kEmpty ? none : strings.View(ids[row]);
  };
  return {.step = {},
          .name = text(kernels.name),
          .op_type = text(kernels.op_type),
          .state = text(kernels.state),
          .core = text(kernels.core),
          .blocks = kernels.blocks[row],
          .mix_blocks = kernels.mix_blocks[row],
          .hf32 = text(kernels.hf32),
          .tensors = {text(kernels.input_shapes), text(kernels.input_types),
                      text(kernels.input_formats), text(kernels.output_shapes),
                      text(kernels.output_types), text(kernels.output_formats)}};
}

void ArrangeKernels(std::vector<KernelSpan>& spans) {
  std::ranges::stable_sort(spans, [](const KernelSpan& a, const KernelSpan& b) {
    return a.device != b.device ? a.device < b.device : a.start < b.start;
  });
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].device != spans[i - 1].device) continue;
    spans[i].wait = std::max<TimeNs>(spans[i].start - spans[i - 1].end, 0);
  }
}

KernelDetails::KernelDetails(KernelColumns columns) : columns_(std::move(columns)) {
  if (columns_.level0) return;
  for (std::size_t i = 0; i < columns_.counters.size(); ++i) {
    const std::string& name = columns_.counters[i];
    if (raw::IsListedCounter(name)) metrics_.push_back(MetricOf(i, name));
  }
}

KernelDetails::Metric KernelDetails::MetricOf(std::size_t place, const std::string& name) {
  using Form = Metric::Form;
  if (name.ends_with("_time")) return {place, name + "(us)", Form::kNs};
  if (name.ends_with("_cycles")) return {place, name, Form::kWhole};
  if (name == "cube_utilization") return {place, name + "(%)", Form::kPercent};
  if (name.ends_with("_bw")) return {place, name + "(GB/s)", Form::kPlain};
  if (name.ends_with("_datas")) return {place, name + "(KB)", Form::kPlain};
  return {place, name, Form::kPlain};
}

std::string KernelDetails::Header() const {
  std::string line;
  {
    CsvRow row(line);
    if (columns_.steps) row.Cell("Step Id");
    row.Cell("Device_id");
    if (!columns_.level0) row.Cell("Model ID,Task ID,Stream ID");
    row.Cell("Name,Type");
    if (!columns_.level0) row.Cell("OP State");
    row.Cell("Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num");
    if (!columns_.level0 && columns_.mixed) row.Cell("Mix Block Num");
    if (!columns_.level0) row.Cell("HF32 Eligible");
    row.Cell("Input Shapes,Input Data Types,Input Formats");
    row.Cell("Output Shapes,Output Data Types,Output Formats");
    if (!columns_.level0 && columns_.mixed) row.Cell("Context ID");
    for (const Metric& metric : metrics_) row.Text(metric.header);
  }
  return line;
}

void KernelDetails::Append(const KernelSpan& span, const KernelLine& line, std::string& out) const {
  CsvRow row(out);
  if (columns_.steps) row.Cells(line.step);
  PutNumber(span.device, row);
  if (!columns_.level0) {
    for (const std::int64_t number : {line.model, line.task, line.stream}) PutNumber(number, row);
  }
  row.Cells(line.name, line.op_type);
  if (!columns_.level0) row.Text(line.state);
  row.Cells(line.core, Stamp{span.start}, Micros{span.end - span.start});
  span.wait < 0 ? row.Cell(0) : row.Cell(Micros{span.wait}, "000");
  PutNumber(line.blocks, row);
  if (!columns_.level0 && columns_.mixed) PutNumber(line.mix_blocks, row);
  if (!columns_.level0) row.Text(line.hf32);
  for (const std::string_view tensors : line.tensors) row.Text(tensors);
  if (!columns_.level0 && columns_.mixed) PutNumber(line.context, row);
  for (const Metric& metric : metrics_) {
    using Form = Metric::Form;
    const double value = line.counters == nullptr ? NAN : line.counters[metric.place];
    if (!std::isfinite(value)) {
      row.Cell(kNone);
    } else if (metric.form == Form::kWhole) {
      row.Cell(RoundedShort{value});
    } else if (metric.form == Form::kPercent) {
      row.Cell(ThreeDecimals{value});
    } else {
      row.Cell(Rounded{metric.form == Form::kNs ? value / 1000 : value});
    }
  }
}

bool HasMixedCores(std::string_view chip) { return !IsOneOf(chip, {"Ascend910A", "Ascend310P"}); }

void CallSum::Add(TimeNs dur) {
  AddOne(dur);
  const double us = static_cast<double>(dur) / 1000;
  const double distance = us - mean;
  mean += distance / static_cast<double>(count);
  squares += distance * (us - mean);
}

std::pair<std::int64_t, std::string_view> LevelAndName(std::string_view call) {
  using raw::Level;
  const std::string_view prefix = call.substr(0, call.find('@'));
  for (const Level level :
       {Level::kAcl, Level::kModel, Level::kNode, Level::kCommunication, Level::kRuntime}) {
    // Databases call the level of collectives by its older name.
    const bool is_level =
        prefix == raw::LevelPrefix(level) || (level == Level::kCommunication && prefix == "Hccl");
    if (is_level && prefix.size() < call.size()) {
      return {static_cast<std::int64_t>(level), call.substr(prefix.size() + 1)};
    }
  }
  return {-1, call};
}

std::string ApiStatistic(const CallSums& sums, std::string_view place) {
  const auto micro = [](TimeNs ns) { return static_cast<double>(ns) / 1000; };
  std::string text = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\r\n";
  for (const auto& [key, sum] : sums) {
    const auto count = static_cast<double>(sum.count);
    CsvRow(text).Cells(place, LevelName(static_cast<raw::Level>(key.second)), key.first,
                       RoundedShort{micro(sum.sum)}, sum.count,
                       RoundedShort{micro(sum.sum) / count}, RoundedShort{micro(sum.min)},
                       RoundedShort{micro(sum.max)}, RoundedShort{sum.squares / count});
  }
  return text;
}

}  // namespace mpa::profiler_output
