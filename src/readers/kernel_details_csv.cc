// SPDX-License-Identifier: Apache-2.0
// kernel_details.csv, op_summary_*.csv: every compute kernel of an NPU text capture with its
// counters. The set of columns varies with the profiling level and the counters chosen.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>
#include <vector>

#include "csv_rows.h"
#include "kernel_load_columns.h"
#include "mpa/base/language.h"
#include "mpa/capture/kernel_columns.h"
#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/readers/reader.h"

namespace mpa::readers {
namespace {

std::string_view Recorded(std::string_view cell) { return IsRecorded(cell) ? cell : ""; }

void CountNameless(const char* column, const io::CsvFile& csv, Issues& issues) {
  issues.Count(Say("kernel without class, its {} names nothing; parse again", column), csv.Place());
}

// Types are whatever operators are called; the profiler writes N/A for what it did not record.
bool IsType(std::string_view cell) { return !cell.empty() && !io::ParseReal(cell); }

// Cores have names of the vendor's: AI_CORE, MIX_AIC, COMMUNICATION.
bool IsCore(std::string_view cell) {
  return !cell.empty() && std::isalpha(static_cast<unsigned char>(cell[0])) != 0 &&
         std::ranges::all_of(cell, [](char c) { return c > ' ' && c < '\x7f'; });
}

// The counters of the file, and where each goes.
class CounterCells {
 public:
  CounterCells(const io::CsvFile& csv, bool with_loads, RankTrace& trace)
      : csv_(csv), trace_(trace), issues_(trace.issues) {
    for (std::size_t i = 0; i < csv.headers().size(); ++i) {
      std::string_view name = csv.headers()[i];
      const bool is_time = name.ends_with(kMicros);
      if (is_time) name.remove_suffix(kMicros.size());
      const Counter counter{
          i, CounterColumnsOf(name, trace.kernels, with_loads ? &trace.kernel_loads : nullptr),
          CounterColumnsOf(name, trace.listed_collectives, nullptr)};
      const bool is_known =
          is_time ? counter.of_kernel.times != nullptr : counter.of_kernel.loads != nullptr;
      if (is_known) counters_.push_back(counter);
      if (is_time || !with_loads || !IsCounterTitle(name)) continue;
      name = name.substr(0, name.find('('));
      if (IsOtherCounter(name)) others_.push_back({i, trace.strings.Intern(name)});
    }
  }

  // Into the last row of kernels or of collectives. Of two names of one counter, which differ by
  // chip and version, the larger value counts.
  void Read(bool is_collective) const {
    for (const Counter& counter : counters_) {
      const auto [times, loads] = is_collective ? counter.of_collective : counter.of_kernel;
      const std::string_view cell = csv_[counter.column];
      if (loads != nullptr) loads->back() = Thousandths(io::ParseReal(cell).value_or(-1));
      if (times == nullptr) continue;
      const TimeNs recorded = io::NsFromMicros(cell).value_or(-1);
      if (IsDuration(recorded)) {
        times->back() = std::max(times->back(), recorded);
      } else if (IsRecorded(cell)) {
        issues_.Count("counter left out, invalid value", csv_.Place());
      }
    }
    if (is_collective) return;
    for (const auto& [column, name] : others_) {
      if (const auto value = io::ParseReal(csv_[column]))
        SetCounter(name, *value, trace_.counter_names, trace_.kernel_loads.counters.back());
    }
  }

 private:
  static constexpr std::string_view kMicros = "(us)";

  struct Counter {
    std::size_t column;
    CounterColumns of_kernel, of_collective;
  };

  const io::CsvFile& csv_;
  RankTrace& trace_;
  Issues& issues_;
  std::vector<Counter> counters_;
  std::vector<std::pair<std::size_t, StringId>> others_;  // columns and names
};

std::int32_t StepId(std::string_view cell) {
  const auto id = io::ParseInt(cell);
  return id && *id >= 0 && *id <= std::numeric_limits<std::int32_t>::max()
             ? static_cast<std::int32_t>(*id)
             : -1;
}

// The columns that describe the tensors; none when they are not wanted.
struct TensorColumns {
  TensorColumns(const io::CsvFile& csv, bool wanted)
      : input_types(Find(csv, wanted, "Input Data Types")),
        input_formats(Find(csv, wanted, "Input Formats")),
        output_shapes(Find(csv, wanted, "Output Shapes")),
        output_formats(Find(csv, wanted, "Output Formats")),
        hf32(Find(csv, wanted, "HF32 Eligible")) {}

  static std::optional<std::size_t> Find(const io::CsvFile& csv, bool wanted,
                                         std::string_view name) {
    return wanted ? csv.Find(name) : std::nullopt;
  }

  std::optional<std::size_t> input_types, input_formats, output_shapes, output_formats, hf32;
};

using Column = std::optional<std::size_t>;

Column FindEither(const io::CsvFile& csv, std::string_view name, std::string_view other) {
  const Column column = csv.Find(name);
  return column ? column : csv.Find(other);
}

// All that op_summary_*.csv says of a kernel or collective, to write kernel_details.csv of it.
class ListedColumns {
 public:
  ListedColumns(const io::CsvFile& csv, RankTrace& trace)
      : csv_(csv),
        trace_(trace),
        state_(csv.Find("OP State")),
        output_types_(csv.Find("Output Data Types")),
        device_(csv.Find("Device_id")),
        model_(csv.Find("Model ID")),
        context_(csv.Find("Context ID")),
        task_(csv.Find("Task ID")),
        blocks_(FindEither(csv, "Block Num", "Block Dim")),
        mix_blocks_(FindEither(csv, "Mix Block Num", "Mix Block Dim")) {
    for (std::size_t i = 0; i < csv.headers().size(); ++i) {
      const std::string& header = csv.headers()[i];
      if (!IsCounterTitle(header)) continue;
      counters_.push_back({i, trace.strings.Intern(header.substr(0, header.find('('))),
                           header.ends_with("(us)") ? 1000.0 : 1.0});
    }
  }

  // `kernel` has what Kernels has of it, with the tensors.
  void Append(const Kernels::Row& kernel) const {
    const auto text = [&](Column column) { return trace_.strings.Intern(Recorded(csv_[column])); };
    const auto number = [&](Column column) { return io::ParseInt(csv_[column]).value_or(-1); };
    ListedKernels::Row row{{.name = kernel.name,
                            .op_type = kernel.op_type,
                            .core = kernel.core,
                            .state = text(state_),
                            .input_shapes = kernel.shapes,
                            .input_types = kernel.input_types,
                            .input_formats = kernel.input_formats,
                            .output_shapes = kernel.output_shapes,
                            .output_types = text(output_types_),
                            .output_formats = kernel.output_formats,
                            .hf32 = kernel.hf32,
                            .blocks = number(blocks_),
                            .mix_blocks = number(mix_blocks_)},
                           {.start = kernel.start,
                            .dur = kernel.dur,
                            .device = number(device_),
                            .model = number(model_),
                            .stream = kernel.stream,
                            .context = number(context_),
                            .task = number(task_)}};
    for (const Counter& counter : counters_) {
      const auto value = io::ParseReal(csv_[counter.column]);
      if (value)
        SetCounter(counter.name, *value * counter.unit, trace_.counter_names, row.counters);
    }
    trace_.listed_kernels.Append(row);
  }

 private:
  struct Counter {
    std::size_t column;
    StringId name;
    double unit;  // times become ns
  };

  const io::CsvFile& csv_;
  RankTrace& trace_;
  Column state_, output_types_, device_, model_, context_, task_, blocks_, mix_blocks_;
  std::vector<Counter> counters_;
};

// Which columns there are depends on the level; these come together.
void CheckKernelColumns(const io::CsvFile& csv, const KernelColumns& columns, RankTrace& trace) {
  CountMissing(csv, {columns.type, columns.core}, trace.issues);
  constexpr std::string_view kOfTensors[] = {"Input Shapes",      "Input Data Types",
                                             "Input Formats",     "Output Shapes",
                                             "Output Data Types", "Output Formats"};
  if (std::ranges::any_of(kOfTensors,
                          [&](std::string_view name) { return csv.Find(name).has_value(); }))
    CountMissing(csv, kOfTensors, trace.issues);
}

void ReadKernelDetails(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  io::CsvFile csv(file.path);
  const KernelColumns columns = KernelColumnsOf(csv);
  CheckKernelColumns(csv, columns, trace);
  const auto name = csv.Require(columns.name);
  const auto start = csv.Require(columns.start);
  const auto dur = csv.Require(columns.dur);
  const auto type = csv.Find(columns.type);
  const auto core = csv.Find(columns.core);
  const auto stream = csv.Find("Stream ID");
  const auto task = csv.Find("Task ID");
  const auto shapes = csv.Find("Input Shapes");
  const auto device = csv.Find("Device_id");
  // Of torch_npu the file itself is what kernel_details.csv is.
  const bool lists = Intersects(request.wanted, Tables::kListedKernels) && csv.Find("Op Name");
  const TensorColumns tensors(csv, lists || Intersects(request.wanted, Tables::kKernelTensors));
  const bool with_loads = Intersects(request.wanted, Tables::kKernelLoads);
  const Column output_types = csv.Find("Output Data Types");
  const Column blocks = FindEither(csv, "Block Num", "Block Dim");
  const Column mix_blocks = FindEither(csv, "Mix Block Num", "Mix Block Dim");
  const CounterCells counters(csv, with_loads, trace);
  std::optional<ListedColumns> listed;
  if (lists) listed.emplace(csv, trace);
  const Column step = FindEither(csv, "Step Id", "Step ID");
  const auto text = [&](const auto& column) { return trace.strings.Intern(Recorded(csv[column])); };
  while (NextRowOfDevice(csv, device, trace)) {
    const auto start_ns = io::NsFromMicros(csv[start]);
    const auto dur_ns = io::NsFromMicros(csv[dur]);
    if (!start_ns || !dur_ns || !IsDuration(*dur_ns)) {
      trace.issues.Count("kernel left out, invalid start or duration", csv.Place());
      continue;
    }
    if (type && !IsType(csv[type])) CountNameless("Type", csv, trace.issues);
    if (core && !IsCore(csv[core])) CountNameless("Accelerator Core", csv, trace.issues);
    const bool is_collective = IsHcclKernel(csv[core], csv[name]);
    Kernels& table = is_collective ? trace.listed_collectives : trace.kernels;
    if (with_loads && !is_collective) {
      trace.kernel_loads.Append({.output_types = text(output_types),
                                 .blocks = BlockCount(io::ParseInt(csv[blocks])),
                                 .mix_blocks = BlockCount(io::ParseInt(csv[mix_blocks])),
                                 .task = io::ParseInt(csv[task]).value_or(-1)});
    }
    const Kernels::Row row{.start = *start_ns,
                           .dur = *dur_ns,
                           .name = trace.strings.Intern(csv[name]),
                           .op_type = text(type),
                           .core = text(core),
                           .shapes = trace.strings.Intern(csv[shapes]),
                           .input_types = text(tensors.input_types),
                           .input_formats = text(tensors.input_formats),
                           .output_shapes = text(tensors.output_shapes),
                           .output_formats = text(tensors.output_formats),
                           .hf32 = text(tensors.hf32),
                           .stream = io::ParseInt(csv[stream]).value_or(-1),
                           .step = StepId(csv[step])};
    table.Append(row);
    counters.Read(is_collective);
    if (listed) listed->Append(row);
  }
}

}  // namespace

Reader KernelDetailsCsv() {
  return {"kernel_details.csv", FileKind::kKernelDetails, Tables::kKernels | Tables::kListedKernels,
          ReadKernelDetails};
}

}  // namespace mpa::readers
