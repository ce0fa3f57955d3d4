// SPDX-License-Identifier: Apache-2.0
// Facts that need no graph: sizes of transfers, kernels on the AI CPU, compilations, use of cores.
#include "mpa/diagnosis/part/analyzer_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/part/fusion_patterns.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

constexpr TimeNs kMinCollection = 1'000'000;
constexpr std::size_t kMaxKernels = 1000;

class AnalyzerRowsMaker {
 public:
  explicit AnalyzerRowsMaker(const RankTrace& trace) : trace_(trace) {}

  AnalyzerRows Make() && {
    AddMoved();
    AddAiCpu();
    AddCollected();
    AddCompiles();
    AddFusible();
    rows_.on_some_cores = KernelsOnSomeCores(trace_);
    rows_.without_bound = KernelsWithoutBound(trace_);
    rows_.clocks = ClocksOfKernels(trace_);
    rows_.performance = KernelPerformance(trace_);
    rows_.sequences = RepeatedSequences(trace_);
    AddLostPackets();
    return std::move(rows_);
  }

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }

  // Totals only grow; a smaller one has started again.
  void AddLostPackets() {
    const Counters& counters = trace_.counters;
    const auto is_loss = [&](std::size_t row) {
      if (counters.kind[row] != CounterKind::kTotal) return false;
      const std::string_view group = View(counters.group[row]), name = View(counters.name[row]);
      return group == "RoCE" ? ContainsAny(name, {"errors", "dropped"})
                             : ContainsAny(name, {"roceTxErrPkt", "roceRxErrPkt", "roceNewPktRty"});
    };
    const CounterSamples& samples = trace_.counter_samples;
    double lost = 0;
    bool any = false;
    for (std::size_t i = 1; i < samples.Size(); ++i) {
      if (samples.counter[i] != samples.counter[i - 1]) continue;
      if (!is_loss(static_cast<std::size_t>(samples.counter[i]))) continue;
      any = true;
      lost += std::max(0.0, samples.value[i] - samples.value[i - 1]);
    }
    constexpr double kMost = 1e15;
    if (any) rows_.lost_packets = static_cast<std::int64_t>(std::min(lost, kMost));
  }

  void AddMoved() {
    const CommTasks& tasks = trace_.comm_tasks;
    const std::vector<std::int64_t> operations = OperationsOfTasks(trace_);
    // Of what whole nanoseconds leave out, for many short tasks of an operation.
    struct Rests {
      double sdma = 0, rdma = 0, unaligned = 0;
    };
    std::map<std::int64_t, MovedRow> moved;  // by row of the communications
    std::map<std::int64_t, Rests> rests;
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      if (operations[i] < 0 || !MovesData(trace_, i)) continue;
      const std::string_view transport = View(tasks.transport[i]);
      const bool rdma = transport == "RDMA", sdma = transport == "SDMA";
      if (!rdma && !sdma) continue;
      MovedRow& row = moved[operations[i]];
      const Traffic traffic{1, tasks.bytes[i], tasks.dur[i]};
      (rdma ? row.rdma : row.sdma).Add(traffic);
      Rests& rest = rests[operations[i]];
      (rdma ? rest.rdma : rest.sdma) += tasks.dur_rest[i];
      if (rdma || !IsOddSize(traffic.bytes)) continue;
      row.unaligned.Add(traffic);
      rest.unaligned += tasks.dur_rest[i];
    }
    const StepBounds steps(trace_, kAsRecorded);
    const Communications& comms = trace_.communications;
    std::vector<std::pair<TimeNs, std::int64_t>> order;
    for (const auto& [operation, row] : moved)
      order.emplace_back(comms.start[static_cast<std::size_t>(operation)], operation);
    std::ranges::sort(order);
    for (const auto& [start, operation] : order) {
      MovedRow& row = moved[operation];
      const Rests& rest = rests[operation];
      row.sdma.time += std::llround(rest.sdma);
      row.unaligned.time += std::llround(rest.unaligned);
      row.rdma.time += std::llround(rest.rdma);
      row.name = View(comms.name[static_cast<std::size_t>(operation)]);
      const auto step = steps.OfDeviceWork(comms.link[static_cast<std::size_t>(operation)], start);
      if (step) row.step = steps.Id(*step);
      rows_.moved.push_back(std::move(row));
    }
  }

  void AddAiCpu() {
    const Kernels& kernels = trace_.kernels;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < kernels.Size(); ++i) {
      if (IsAiCpu(View(kernels.core[i]))) found.push_back(i);
    }
    StableSort(found, std::greater{}, [&](std::size_t a) { return kernels.dur[a]; });
    found.resize(std::min(found.size(), kMaxKernels));
    for (const std::size_t i : found) {
      rows_.ai_cpu.push_back({std::string(View(kernels.name[i])),
                              std::string(View(kernels.op_type[i])),
                              std::string(View(kernels.shapes[i])), kernels.dur[i]});
    }
  }

  void AddCollected() {
    const GarbageCollections& rows = trace_.garbage_collections;
    for (std::size_t i = 0; i < rows.Size(); ++i) {
      if (rows.dur[i] >= kMinCollection && trace_.IsOfStep(rows.start[i]))
        rows_.collected.push_back({rows.start[i], rows.dur[i]});
    }
  }

  void AddCompiles() {
    const HostCalls& calls = trace_.host_calls;
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      if (!trace_.IsOfStep(calls.start[i]) || !IsOpCompileAndExecute(View(calls.name[i]))) continue;
      ++rows_.compiles;
      rows_.compile_time += calls.dur[i];
    }
  }

  // Operators that no other one of their thread encloses, in order of time.
  void AddFusible() {
    const HostOps& ops = trace_.host_ops;
    const auto order = RowsBy(ops.Size(), [&](std::size_t op) {
      return std::pair{ops.start[op], -ops.dur[op]};
    });
    std::map<std::int32_t, std::pair<TimeNs, std::vector<std::string_view>>> of_track;
    std::map<std::string, std::int64_t> sums;
    for (const std::size_t i : order) {
      const std::string_view name = View(ops.name[i]);
      if (name.starts_with("Optimizer.step#")) NoteOptimizer(name, sums);
      if (!name.starts_with("aten::")) continue;
      auto& [end, names] = of_track[ops.track[i]];
      if (!names.empty() && ops.start[i] < end) continue;
      end = ops.start[i] + ops.dur[i];
      names.push_back(name.substr(6));
    }
    for (const auto& [track, run] : of_track) {
      for (const FusibleRow& row : FusibleRuns(run.second)) sums[row.api] += row.count;
    }
    for (const auto& [api, count] : sums) rows_.fusible.push_back({api, count});
  }

  static void NoteOptimizer(std::string_view name, std::map<std::string, std::int64_t>& sums) {
    std::string_view optimizer = name.substr(name.find('#') + 1);
    optimizer = optimizer.substr(0, optimizer.find('.'));
    if (!IsOneOf(optimizer, {"AdamW", "SGD", "Adadelta", "Lamb", "AdamP", "BertAdam", "RMSprop",
                             "RMSpropTF", "Adam"}))
      return;
    ++sums["torch_npu.optim.NpuFused" + std::string(optimizer)];
  }

  const RankTrace& trace_;
  AnalyzerRows rows_;
};

// Takes the first word off a text of words.
std::string_view TakeWord(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// How many names from `at` on are such a run; 0: they are none.
std::size_t LengthOfRun(const std::vector<std::string_view>& names, std::size_t at,
                        std::string_view operators) {
  const std::size_t first = at;
  while (!operators.empty()) {
    std::string_view word = TakeWord(operators, ' ');
    const bool optional = word.ends_with('?');
    if (optional) word.remove_suffix(1);
    bool matches = false;
    while (!word.empty() && at < names.size())
      matches = TakeWord(word, '|') == names[at] || matches;
    if (matches) {
      ++at;
    } else if (!optional) {
      return 0;
    }
  }
  return at - first;
}

}  // namespace

std::vector<FusibleRow> FusibleRuns(const std::vector<std::string_view>& names) {
  std::map<std::string_view, std::int64_t> counts;
  for (std::size_t at = 0; at < names.size();) {
    // Of several runs that begin here the longest counts, and what it holds counts once.
    std::size_t longest = 0;
    std::string_view api;
    for (const FusionPattern& pattern : FusionPatterns()) {
      for (const std::string_view run : pattern.runs) {
        const std::size_t length = LengthOfRun(names, at, run);
        if (length <= longest) continue;
        longest = length;
        api = pattern.api;
      }
    }
    if (longest > 0) ++counts[api];
    at += std::max<std::size_t>(1, longest);
  }
  std::vector<FusibleRow> rows;
  for (const auto& [api, count] : counts) rows.push_back({std::string(api), count});
  return rows;
}

AnalyzerRows MakeAnalyzerRows(const RankTrace& trace) { return AnalyzerRowsMaker(trace).Make(); }

// Kernels that make little use of their cores, and the clock while they ran.

namespace {

constexpr std::size_t kMaxListed = 1000;
// If all kernels without bound are shorter, none of them matters.
constexpr TimeNs kLongKernel = 20'000;

class KernelLister {
 public:
  explicit KernelLister(const RankTrace& trace) : trace_(trace), chip_(ChipRowOf(trace)) {}

  // The cores that the blocks of a kernel are for: of a mixed kernel those of its main part.
  std::int32_t CoresOf(std::size_t row) const {
    if (!chip_) return 0;
    const std::int64_t cube = trace_.chips.cube_cores[*chip_];
    const std::int64_t vector = trace_.chips.vector_cores[*chip_];
    const std::string_view core = View(trace_.kernels.core[row]);
    if (IsOneOf(core, {"AI_CORE", "MIX_AIC"})) return static_cast<std::int32_t>(cube);
    if (!IsOneOf(core, {"AI_VECTOR_CORE", "MIX_AIV"})) return 0;
    return static_cast<std::int32_t>(vector > 0 ? vector : cube);
  }

  bool LeavesCoresIdle(std::size_t row) const {
    const std::int32_t cores = CoresOf(row), blocks = trace_.kernel_loads.blocks[row];
    if (cores == 0 || blocks <= 0 || blocks % cores == 0) return false;
    // A mixed kernel that fills the vector cores is not held up by its cube part.
    const std::int64_t vector = trace_.chips.vector_cores[*chip_];
    const std::int32_t mixed = trace_.kernel_loads.mix_blocks[row];
    return View(trace_.kernels.core[row]) != "MIX_AIC" || vector == 0 || mixed <= 0 ||
           mixed % vector != 0;
  }

  KernelList List(std::vector<std::size_t> found) const {
    const Kernels& kernels = trace_.kernels;
    KernelList list;
    list.count = static_cast<std::int64_t>(found.size());
    for (const std::size_t row : found) list.time += kernels.dur[row];
    StableSort(found, std::greater{}, [&](std::size_t a) { return kernels.dur[a]; });
    found.resize(std::min(found.size(), kMaxListed));
    for (const std::size_t row : found) list.rows.push_back(RowOf(row));
    return list;
  }

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }

  KernelRow RowOf(std::size_t row) const {
    const Kernels& kernels = trace_.kernels;
    const KernelLoads& loads = trace_.kernel_loads;
    // Some captures write "N/A" for shapes that they do not know.
    const auto text = [&](StringId id) {
      return View(id) == "N/A" ? std::string() : std::string(View(id));
    };
    return {.name = text(kernels.name[row]),
            .type = text(kernels.op_type[row]),
            .core = text(kernels.core[row]),
            .dur = kernels.dur[row],
            .blocks = loads.blocks[row],
            .mix_blocks = loads.mix_blocks[row],
            .cores = CoresOf(row),
            .loads = LoadsOf(loads, row),
            .tensors = {text(kernels.shapes[row]), text(kernels.input_types[row]),
                        text(kernels.input_formats[row]), text(kernels.output_shapes[row]),
                        text(loads.output_types[row]), text(kernels.output_formats[row])}};
  }

  const RankTrace& trace_;
  const std::optional<std::size_t> chip_;
};

}  // namespace

bool IsAiCpu(std::string_view core) { return IsOneOf(core, {"AI_CPU", "KERNEL_AICPU"}); }

KernelList KernelsOnSomeCores(const RankTrace& trace) {
  const KernelLister lister(trace);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < trace.kernel_loads.Size(); ++i) {
    if (lister.LeavesCoresIdle(i)) found.push_back(i);
  }
  return lister.List(std::move(found));
}

KernelList KernelsWithoutBound(const RankTrace& trace) {
  std::vector<std::size_t> found;
  TimeNs longest = 0;
  for (std::size_t i = 0; i < trace.kernel_loads.Size(); ++i) {
    if (!IsUnbound(LoadsOf(trace.kernel_loads, i))) continue;
    found.push_back(i);
    longest = std::max(longest, trace.kernels.dur[i]);
  }
  return longest > kLongKernel ? KernelLister(trace).List(std::move(found)) : KernelList{};
}

std::vector<ClockRow> ClocksOfKernels(const RankTrace& trace) {
  if (trace.core_clocks.Empty()) return {};
  const Kernels& kernels = trace.kernels;
  std::map<std::string_view, ClockRow> by_name;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (IsAiCpu(trace.strings.View(kernels.core[i]))) continue;
    const auto clock =
        ClockDuring(trace.core_clocks, kernels.start[i], kernels.start[i] + kernels.dur[i]);
    if (!clock) continue;
    const std::string_view name = trace.strings.View(kernels.name[i]);
    const auto [found, is_new] =
        by_name.try_emplace(name, ClockRow{.name = std::string(name), .least = clock->least});
    ClockRow& row = found->second;
    ++row.count;
    row.time += kernels.dur[i];
    row.mhz += clock->mean * static_cast<double>(kernels.dur[i]);
    row.least = std::min(row.least, clock->least);
    row.most = std::max(row.most, clock->most);
  }
  std::vector<ClockRow> rows;
  for (auto& [name, row] : by_name) {
    if (row.time == 0) continue;
    row.mhz /= static_cast<double>(row.time);
    rows.push_back(std::move(row));
  }
  StableSort(rows, std::greater{}, &ClockRow::time);
  rows.resize(std::min(rows.size(), kMaxListed));
  return rows;
}

}  // namespace mpa
