// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "files.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/model/step_bounds.h"
#include "mpa/recipe/duration_sample.h"

namespace mpa::export_summary {

SummaryFile FileOfCapture(const RankTrace& trace, const char* name) {
  namespace fs = std::filesystem;
  const fs::path capture(trace.capture_path);
  for (const fs::path& path : {capture / "ASCEND_PROFILER_OUTPUT" / name, capture / name}) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) continue;
    const io::InputText input(path);
    SummaryFile file;
    file.text = input.text();
    if (!file.text.empty() && file.text.back() != '\n') file.text += '\n';
    file.rows = std::max<std::int64_t>(std::count(file.text.begin(), file.text.end(), '\n') - 1, 0);
    return file;
  }
  return {};
}

namespace {

// "acl", "launch" of AscendCL@launch: the levels as the profiler's tables call them.
std::pair<std::string, std::string> LevelAndName(std::string_view call) {
  const std::size_t at = call.find('@');
  if (at == std::string_view::npos) return {"", std::string(call)};
  const std::string level = ToLower(call.substr(0, at));
  return {level == "ascendcl" ? "acl"
          : level == "hccl"   ? "communication"
                              : level,
          std::string(call.substr(at + 1))};
}

std::string Us(double ns) { return fmt::format("{:.3f}", ns / 1000); }

}  // namespace

SummaryFile ApiStatistic(const RankTrace& trace) {
  const HostCalls& calls = trace.host_calls;
  std::map<StringId, std::vector<TimeNs>> of_text;
  for (std::size_t i = 0; i < calls.Size(); ++i) of_text[calls.name[i]].push_back(calls.dur[i]);
  std::map<std::pair<std::string, std::string>, DurationStats> by_name;  // by name, then level
  for (auto& [text, durations] : of_text) {
    auto [level, name] = LevelAndName(trace.strings.View(text));
    by_name[{std::move(name), std::move(level)}] = StatsOf(DurationSample(std::move(durations)));
  }
  SummaryFile file;
  if (by_name.empty()) return file;
  file.text = "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n";
  for (const auto& [key, stats] : by_name) {
    const auto count = static_cast<double>(stats.count);
    const double deviation = stats.deviation.value_or(0) / 1000;
    file.text += fmt::format("host,{},{},{},{},{},{},{},{:.3f}\n", key.second, CsvCell(key.first),
                             Us(static_cast<double>(stats.sum)), stats.count, Us(stats.mean),
                             Us(static_cast<double>(stats.min)), Us(static_cast<double>(stats.max)),
                             deviation * deviation * (count - 1) / count);
    ++file.rows;
  }
  return file;
}

namespace {

constexpr std::string_view kNotRecorded = "N/A";

// Microseconds with all of the nanoseconds.
std::string Micros(TimeNs ns) {
  return ns < 0 ? std::string(kNotRecorded) : fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

// How a counter of databases is called in the file, and what its value is divided by.
struct CounterColumn {
  std::string title;
  double divisor = 1;
};

CounterColumn ColumnOfCounter(std::string_view name) {
  if (name == "aic_total_time") return {"aicore_time(us)", 1000};
  if (name == "aiv_total_time") return {"aiv_time(us)", 1000};
  if (name.ends_with("_time")) return {fmt::format("{}(us)", name), 1000};
  if (name == "cube_utilization") return {"cube_utilization(%)", 1};
  if (name.ends_with("_bw")) return {fmt::format("{}(GB/s)", name), 1};
  if (name.ends_with("_datas")) return {fmt::format("{}(KB)", name), 1};
  return {std::string(name), 1};
}

// The values of the counters of each kernel, by column.
class Counters {
 public:
  explicit Counters(const RankTrace& trace) : values_(trace.counter_values) {
    std::map<StringId, std::size_t> column_of;
    for (std::size_t i = 0; i < values_.Size(); ++i) {
      const auto [found, is_new] = column_of.try_emplace(values_.name[i], columns_.size());
      if (is_new) columns_.push_back(ColumnOfCounter(trace.strings.View(values_.name[i])));
      column_.push_back(found->second);
      of_kernel_[values_.kernel[i]].push_back(i);
    }
  }

  const std::vector<CounterColumn>& Columns() const { return columns_; }

  void AppendTo(std::int64_t kernel, std::string& line) const {
    std::vector<std::optional<double>> cells(columns_.size());
    const auto found = of_kernel_.find(kernel);
    if (kernel >= 0 && found != of_kernel_.end()) {
      for (const std::size_t i : found->second) cells[column_[i]] = values_.value[i];
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += cells[i] ? fmt::format(",{}", *cells[i] / columns_[i].divisor) : ",N/A";
    }
  }

 private:
  const CounterValues& values_;
  std::vector<CounterColumn> columns_;
  std::vector<std::size_t> column_;  // of each value
  std::unordered_map<std::int64_t, std::vector<std::size_t>> of_kernel_;
};

class KernelRows {
 public:
  explicit KernelRows(const RankTrace& trace)
      : trace_(trace),
        kernels_(trace.listed_kernels),
        counters_(trace),
        has_states_(Any(kernels_.state)),
        has_hf32_(Any(kernels_.hf32)) {
    if (trace.steps.Size() > 0) steps_.emplace(trace);
  }

  std::string Header() const {
    std::string line = steps_ ? "Step Id," : "";
    line += "Device_id,Model ID,Task ID,Stream ID,Name,Type,";
    if (has_states_) line += "OP State,";
    line += "Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num,Mix Block Num,";
    if (has_hf32_) line += "HF32 Eligible,";
    line +=
        "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
        "Output Formats,Context ID";
    for (const CounterColumn& column : counters_.Columns()) line += ',' + column.title;
    return line + '\n';
  }

  // `wait` is the time since the row before on the same device ended.
  void Append(std::size_t i, TimeNs wait, std::string& text) const {
    if (steps_) {
      const auto step = steps_->OfDeviceWork(kernels_.link[i], kernels_.start[i]);
      text += step ? fmt::format("{},", steps_->Id(*step)) : ",";
    }
    text += fmt::format("{},{},{},{},{},{},", Number(kernels_.device[i]), Number(kernels_.model[i]),
                        Number(kernels_.task[i]), Number(kernels_.stream[i]),
                        Text(kernels_.name[i]), Text(kernels_.op_type[i]));
    if (has_states_) text += Text(kernels_.state[i]) + ',';
    text += fmt::format("{},{}\t,{},{},{},{},", Text(kernels_.core[i]), Micros(kernels_.start[i]),
                        Micros(kernels_.dur[i]), Micros(wait), Number(kernels_.blocks[i]),
                        Number(kernels_.mix_blocks[i]));
    if (has_hf32_) text += Text(kernels_.hf32[i]) + ',';
    for (const StringId tensors :
         {kernels_.input_shapes[i], kernels_.input_types[i], kernels_.input_formats[i],
          kernels_.output_shapes[i], kernels_.output_types[i], kernels_.output_formats[i]}) {
      text += Text(tensors) + ',';
    }
    text += Number(kernels_.context[i]);
    counters_.AppendTo(kernels_.id[i], text);
    text += '\n';
  }

 private:
  static bool Any(const std::vector<StringId>& texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [](StringId text) { return text != StringId::kEmpty; });
  }
  std::string Text(StringId text) const {
    return text == StringId::kEmpty ? std::string(kNotRecorded)
                                    : CsvCell(trace_.strings.View(text));
  }
  static std::string Number(std::int64_t number) {
    return number < 0 ? std::string(kNotRecorded) : std::to_string(number);
  }

  const RankTrace& trace_;
  const ListedKernels& kernels_;
  Counters counters_;
  std::optional<StepBounds> steps_;
  bool has_states_, has_hf32_;
};

}  // namespace

SummaryFile KernelDetails(const RankTrace& trace) {
  const ListedKernels& kernels = trace.listed_kernels;
  SummaryFile file;
  if (kernels.Empty()) return file;
  std::vector<std::size_t> rows = kernels.RowsByStart();
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return kernels.device[a] < kernels.device[b];
  });
  const KernelRows lines(trace);
  file.text = lines.Header();
  file.rows = static_cast<std::int64_t>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TimeNs wait = 0;
    if (i > 0 && kernels.device[rows[i]] == kernels.device[rows[i - 1]]) {
      const std::size_t before = rows[i - 1];
      const TimeNs end = kernels.start[before] + kernels.dur[before];
      wait = std::max<TimeNs>(kernels.start[rows[i]] - end, 0);
    }
    lines.Append(rows[i], wait, file.text);
  }
  return file;
}

}  // namespace mpa::export_summary
