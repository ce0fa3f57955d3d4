// SPDX-License-Identifier: Apache-2.0
// Sheets of kernels that could use their cores, their units or their neighbours better.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer_sheets.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

constexpr std::string_view kBlockDim = "Block Dim Issues", kNoBound = "Operator No Bound Issues",
                           kHostSequences = "Host Bound Operator Sequences",
                           kMteSequences = "MTE Bound Operator Sequences",
                           kSequences = "Fusible Operator Analysis";

using KernelColumns = SheetColumns<KernelRow>;

// A share in thousandths; -1 is "not measured".
constexpr auto kThousandths = [](std::int16_t share) {
  return share < 0 ? Cell() : Cell(static_cast<double>(share) / 1000);
};
template <std::int16_t UnitLoads::*Unit>
ColumnOf<KernelRow> LoadColumn(std::string_view name, std::string_view meaning) {
  return NumberColumn<&KernelRow::loads, Unit, kThousandths>(name, Format::kDecimals3, 11, meaning);
}

template <TensorText Text>
ColumnOf<KernelRow> TensorColumn(std::string_view name, double width, std::string_view meaning) {
  return TextColumn<&KernelRow::tensors, kAt<Text>>(name, width, meaning);
}

// What the sheets of kernels have in common around their own columns.
KernelColumns WithTensors(KernelColumns own, ColumnOf<KernelRow> last) {
  using enum TensorText;
  return Joined<KernelRow>(
      {TextColumn<&KernelRow::name>("op_name", 40, "Kernel"),
       TextColumn<&KernelRow::type>("op_type", 24, "Type of the kernel"),
       TextColumn<&KernelRow::core>("task_type", 18, "Cores that the kernel runs on"),
       TimeColumn<&KernelRow::dur>("task_duration", 14, Unit::kNsShownAsUs,
                                   "Duration of the kernel, in us")},
      std::move(own),
      {TensorColumn<kInputShapes>("input_shapes", 36, "Shapes of the inputs"),
       TensorColumn<kInputTypes>("input_data_types", 24, "Data types of the inputs"),
       TensorColumn<kInputFormats>("input_formats", 24, "Formats of the inputs"),
       TensorColumn<kOutputShapes>("output_shapes", 36, "Shapes of the outputs"),
       TensorColumn<kOutputTypes>("output_data_types", 24, "Data types of the outputs"),
       TensorColumn<kOutputFormats>("output_formats", 24, "Formats of the outputs"),
       std::move(last), RankColumn<KernelRow>(10)});
}

ColumnOf<KernelRow> BlocksColumn() {
  return CountColumn<&KernelRow::blocks, kIfKnown>("block_dim", 11,
                                                   "Blocks into which the kernel was split");
}

// Kernels of one name that ran while the clock was low.
struct ThrottledRow {
  ClockRow clock;
  double decreased = 0;  // how much the mean clock is below the rated one, as a share of it
};

std::string_view SheetNameOf(PerfFamily family) {
  static constexpr std::string_view kCube = "Cube Operator Perf Analysis",
                                    kAttention = "FA Operator Perf Analysis",
                                    kVector = "Vector Operator Perf Analysis";
  return family == PerfFamily::kCube        ? kCube
         : family == PerfFamily::kAttention ? kAttention
                                            : kVector;
}

std::string_view TypeOf(PerfVerdict verdict) {
  static constexpr std::string_view kRoom = "room", kBound = "bound", kShape = "shape";
  return verdict == PerfVerdict::kRoom ? kRoom : verdict == PerfVerdict::kBound ? kBound : kShape;
}

std::string DescriptionOf(const PerfRow& row) {
  const std::string_view what = Translated(row.what);
  if (row.verdict == PerfVerdict::kRoom)
    return Say("no unit reaches its limit; {} is the nearest", what);
  if (row.verdict == PerfVerdict::kBound) return Say("{} is at its limit", what);
  return row.family == PerfFamily::kCube ? Say("{} of the inputs is not a multiple of 256", what)
                                         : Say("{} is not a multiple of 128", what);
}

struct JudgedRow {
  PerfRow kernel;
  std::string type, description;
  std::optional<double> Room() const {
    return kernel.verdict == PerfVerdict::kRoom ? std::optional(kernel.room) : std::nullopt;
  }
};

const SheetColumns<JudgedRow>& PerfColumns() {
  using Row = JudgedRow;
  static const SheetColumns<Row> columns = {
      TextColumn<&Row::type>("Type", 14,
                             "Whether a unit is at its limit, none is, or the shapes do not fit"),
      TextColumn<&Row::description>("Description", 48, "The unit or the axis"),
      TextColumn<&Row::kernel, &PerfRow::name>("op_name", 40, "Kernel"),
      TextColumn<&Row::kernel, &PerfRow::type>("op_type", 24, "Type of the kernel"),
      TextColumn<&Row::kernel, &PerfRow::shapes>("input_shapes", 36, "Shapes of the inputs"),
      TextColumn<&Row::kernel, &PerfRow::types>("input_data_types", 24, "Data types of the inputs"),
      CountColumn<&Row::kernel, &PerfRow::count>("count", 10, "Calls with these shapes"),
      TimeColumn<&Row::kernel, &PerfRow::time>("total_time(us)", 14, Unit::kNsShownAsUs,
                                               "Time of these calls, in us"),
      NumberColumn<&Row::Room>(
          "room ratio", Format::kPercent, 12,
          "How far the nearest unit is from its limit, as a share of the time of the core"),
      RankColumn<Row>(10),
  };
  return columns;
}

// As the Python tool writes them.
constexpr auto kTrueOrFalse = [](bool value) { return std::string(value ? "True" : "False"); };
constexpr auto kJoined = [](const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
};

const SheetColumns<KernelSequence>& SequenceColumns() {
  using Row = KernelSequence;
  static const SheetColumns<Row> columns = {
      CountColumn<&Row::first>("start index", 12,
                               "Row in kernel_details.csv of the first kernel in the first run,"
                               " from 0, without the header"),
      CountColumn<&Row::last>("end index", 12,
                              "Row in kernel_details.csv of the last kernel in the"
                              " first run, from 0, without the header"),
      TimeColumn<&Row::total>("total time(us)", 18, Unit::kNsShownAsUs,
                              "Time of all runs, with the gaps between the kernels, in us"),
      TimeColumn<&Row::busy>("execution time(us)", 18, Unit::kNsShownAsUs,
                             "Time of the kernels in all runs, in us"),
      TimeColumn<&Row::moving, kIfKnown>(
          "mte time(us)", 18, Unit::kNsShownAsUs,
          "Time in which the kernels load and store, added up, in us; empty"
          " where it was not measured"),
      CountColumn<&Row::count>("occurrences", 12, "Number of runs"),
      TextColumn<&Row::mte_bound, kTrueOrFalse>(
          "mte bound", 11,
          "Whether the kernels load and store for more than 80 % of the time of their cores"),
      TextColumn<&Row::host_bound, kTrueOrFalse>(
          "host bound", 11, "Whether kernels run for less than 40 % of the total time"),
      TextColumn<&Row::names, kJoined>("op_names", 80, "Kernels of the sequence"),
      RankColumn<Row>(10),
  };
  return columns;
}

// Counts all of them; the sheet shows the longest of each rank, as many of all that a workbook
// stays readable.
AnalyzerSheets::Listed AddKernels(std::string_view name, const KernelColumns& columns,
                                  KernelList AnalyzerRows::*list, AnalyzerSheets& sheets) {
  constexpr std::size_t kMaxKernels = 100'000;
  std::size_t ranks = 0, most = 0;  // that list kernels, and what one of them lists
  for (const DiagnosedRank& rank : sheets.ranks) {
    const std::size_t rows = (rank.part->analyzers.*list).rows.size();
    ranks += rows > 0 ? 1 : 0;
    most = std::max(most, rows);
  }
  const std::size_t of_rank =
      std::max<std::size_t>(1, kMaxKernels / std::max<std::size_t>(1, ranks));
  AnalyzerSheets::Listed sum;
  const std::int64_t shown = sheets.Add(name, columns, [&](const RankDiagnosis& part, auto add) {
    const KernelList& kernels = part.analyzers.*list;
    sum.rows += kernels.count;
    sum.time += kernels.time;
    for (std::size_t i = 0; i < std::min(of_rank, kernels.rows.size()); ++i) add(kernels.rows[i]);
  });
  if (most > of_rank) {
    sheets.left_out.push_back(
        Say("{} has the {} longest kernels of each rank; {} shorter ones are left out",
            Translated(name), of_rank, sum.rows - shown));
  }
  return sum;
}

void AddFusible(AnalyzerSheets& sheets) {
  static const SheetColumns<FusibleRow> columns = {
      TextColumn<&FusibleRow::api>("Affinity API", 40, "The call that replaces the operators"),
      CountColumn<&FusibleRow::count>("Stack called counts", 12, "How often the operators ran"),
      RankColumn<FusibleRow>(12),
  };
  AnalyzerSheets::Listed runs;
  sheets.Add(kOpUnfused.problem, columns, [&](const RankDiagnosis& part, auto add) {
    for (const FusibleRow& fusible : part.analyzers.fusible) {
      runs.rows += fusible.count;
      add(fusible);
    }
  });
  sheets.AddNote(kOpUnfused.problem, runs,
                 Say("operators that one call could replace ran {} times", runs.rows),
                 Say("use the calls of the sheet; check the precision"));
}

void AddBlockDim(AnalyzerSheets& sheets) {
  static const KernelColumns columns = WithTensors(
      {{NamedColumn("income", Format::kGeneral, 10,
                    "Empty: how much more blocks would save is unknown"),
        [](const KernelRow&) { return Cell{}; }},
       BlocksColumn(),
       CountColumn<&KernelRow::mix_blocks, kIfKnown>("mix_block_dim", 15,
                                                     "Blocks of the kernel's vector part")},
      CountColumn<&KernelRow::cores>("cores", 10, "Cores that the device has for the blocks"));
  const auto listed = AddKernels(kBlockDim, columns, &AnalyzerRows::on_some_cores, sheets);
  sheets.AddNote(
      kBlockDim, listed,
      Say("{} kernels leave cores idle: the number of their blocks is not a multiple of the number"
          " of cores",
          listed.rows),
      Say("tune the tiling of the longest ones with AOE, or choose shapes that split evenly"));
}

void AddNoBound(AnalyzerSheets& sheets) {
  static const KernelColumns columns = WithTensors(
      {LoadColumn<&UnitLoads::vec>("vec_ratio", "Share of the time in which the vector unit works"),
       LoadColumn<&UnitLoads::mac>("mac_ratio", "Share of the time in which the matrix unit works"),
       LoadColumn<&UnitLoads::scalar>(
           "scalar_ratio",
           "Share of the time in which the scalar unit works, on the busier kind of cores"),
       LoadColumn<&UnitLoads::mte1>(
           "mte1_ratio",
           "Share of the time in which data moves between the buffers of the cube core"),
       LoadColumn<&UnitLoads::mte2>(
           "mte2_ratio", "Share of the time in which data is loaded, on the busier kind of cores"),
       LoadColumn<&UnitLoads::mte3>("mte3_ratio",
                                    "Share of the time in which the vector core stores"),
       BlocksColumn()},
      LoadColumn<&UnitLoads::fixpipe>("fixpipe_ratio",
                                      "Share of the time in which the cube core stores"));
  const auto listed = AddKernels(kNoBound, columns, &AnalyzerRows::without_bound, sheets);
  sheets.AddNote(
      kNoBound, listed,
      Say("{} kernels use each unit of their cores for less than 80 % of their time", listed.rows),
      Say("tune the longest ones with AOE, fuse short ones with their neighbours"));
}

// Those that the finding would call throttled.
void AddClocks(AnalyzerSheets& sheets) {
  using Row = ThrottledRow;
  static const SheetColumns<Row> columns = {
      TextColumn<&Row::clock, &ClockRow::name>("Operator name", 40, "Kernel"),
      CountColumn<&Row::clock, &ClockRow::count>("Count", 10, "Number of calls"),
      TimeColumn<&Row::clock, &ClockRow::time>("Total duration(us)", 18, Unit::kNsShownAsUs,
                                               "Time of these calls, in us"),
      NumberColumn<&Row::decreased>("AI CORE frequency decreased ratio", Format::kPercent, 32,
                                    "How much the mean clock is below the rated one"),
      NumberColumn<&Row::clock, &ClockRow::mhz>("Average frequency", Format::kDecimals2, 18,
                                                "Mean clock, weighted by time, in MHz"),
      CountColumn<&Row::clock, &ClockRow::most>("Max frequency", 15, "The highest clock, in MHz"),
      CountColumn<&Row::clock, &ClockRow::least>("Min frequency", 15, "The lowest clock, in MHz"),
      RankColumn<Row>(10),
  };
  AnalyzerSheets::Listed slow;
  slow.rows = sheets.Add(kDevClock.problem, columns, [&](const RankDiagnosis& part, auto add) {
    const auto rated = static_cast<double>(part.rated_mhz);
    for (const ClockRow& clock : part.analyzers.clocks) {
      if (clock.mhz >= sheets.diagnosis.thresholds[kClockRatio] * rated) continue;
      slow.time += clock.time;
      add({clock, 1 - clock.mhz / rated});
    }
  });
  sheets.NoteAsFinding(kDevClock, slow,
                       Say("kernels of {} names ran while the clock was low", slow.rows));
}

void AddFamily(PerfFamily family, AnalyzerSheets& sheets) {
  AnalyzerSheets::Listed improvable;
  sheets.Add(SheetNameOf(family), PerfColumns(), [&](const RankDiagnosis& part, auto add) {
    for (const PerfRow& kernel : part.analyzers.performance) {
      if (kernel.family != family) continue;
      if (kernel.verdict != PerfVerdict::kBound) {
        improvable.rows += kernel.count;
        improvable.time += kernel.time;
      }
      add({kernel, std::string(Translated(TypeOf(kernel.verdict))), DescriptionOf(kernel)});
    }
  });
  sheets.AddNote(SheetNameOf(family), improvable,
                 Say("{} kernels could use the units of their cores better", improvable.rows),
                 Say("start with the first of the sheet: fitting shapes, fusion, tuned tiling"));
}

void AddBound(std::string_view name, bool KernelSequence::*is_bound, AnalyzerSheets& sheets) {
  sheets.Add(name, SequenceColumns(), [&](const RankDiagnosis& part, auto add) {
    for (const KernelSequence& sequence : part.analyzers.sequences.rows) {
      if (sequence.*is_bound) add(sequence);
    }
  });
}

void NoteSequences(AnalyzerSheets& sheets) {
  SequenceList sum;
  for (const DiagnosedRank& rank : sheets.ranks) {
    const SequenceList& list = rank.part->analyzers.sequences;
    sum.count += list.count;
    sum.total += list.total;
    sum.busy += list.busy;
    sum.moving += list.moving;
  }
  constexpr double kMillisecond = 1e6;
  const auto share = [&](TimeNs time) { return sum.total > 0 ? Share(time, sum.total) : 0; };
  // Without counters nothing is known of loads and stores.
  const std::string moving =
      sum.moving > 0 ? Say(", {:.3f} loads and stores", share(sum.moving)) : "";
  sheets.AddNote(
      kSequences, {sum.count, sum.total},
      Say("repeated sequences of kernels that could be fused: {}. They take {:.3f} ms,"
          " of which kernels run for {:.3f} ms; {:.3f} of the time are gaps{}",
          sum.count, static_cast<double>(sum.total) / kMillisecond,
          static_cast<double>(sum.busy) / kMillisecond,
          share(std::max<TimeNs>(0, sum.total - sum.busy)), moving),
      Say("fuse their kernels, or use operators that do the work of several; where the host"
          " is late, find its code by the stacks first"));
}

}  // namespace

void AddKernelSheets(AnalyzerSheets& sheets) {
  AddFusible(sheets);
  AddBlockDim(sheets);
  AddNoBound(sheets);
  AddClocks(sheets);
  for (const PerfFamily family : kPerfFamilies) AddFamily(family, sheets);
  AddBound(kHostSequences, &KernelSequence::host_bound, sheets);
  AddBound(kMteSequences, &KernelSequence::mte_bound, sheets);
  NoteSequences(sheets);
}

}  // namespace mpa
