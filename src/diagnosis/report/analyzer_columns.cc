// SPDX-License-Identifier: Apache-2.0
#include "analyzer_columns.h"

#include <string>
#include <string_view>

namespace mpa {
namespace {

constexpr double kMegabyte = 1e6;

Column TextColumn(std::string_view name, double width, std::string_view meaning) {
  return NamedColumn(name, Format::kText, width, meaning);
}
Column CountColumn(std::string_view name, std::string_view meaning) {
  return NamedColumn(name, Format::kInteger, 12, meaning);
}
Column NumberColumn(std::string_view name, std::string_view meaning) {
  return NamedColumn(name, Format::kDecimals4, 16, meaning);
}
Column TimeColumn(std::string_view name, Unit unit, std::string_view meaning) {
  return {.name = std::string(name),
          .format = Format::kDecimals3,
          .width = 16,
          .unit = unit,
          .meaning = std::string(meaning)};
}
double Bandwidth(const MovedRow::Moved& moved) {
  return moved.time > 0 ? static_cast<double>(moved.bytes) / static_cast<double>(moved.time) : 0;
}
double Megabytes(const MovedRow::Moved& moved) {
  return static_cast<double>(moved.bytes) / kMegabyte;
}

}  // namespace

const RowsOfSheet<SlowRankRow>& SlowRankColumns() {
  static const RowsOfSheet<SlowRankRow> columns = {
      {CountColumn("step", "Step"),
       [](const SlowRankRow& row) -> Cell { return std::int64_t{row.step}; }},
      {CountColumn("rank_id", "Rank"), [](const SlowRankRow& row) -> Cell { return row.rank; }},
      {TimeColumn("compute(us)", Unit::kNsShownAsUs, "Time in which kernels ran"),
       [](const SlowRankRow& row) -> Cell { return row.compute; }},
      {TimeColumn("communication(us)", Unit::kNsShownAsUs, "Communication that no kernel hid"),
       [](const SlowRankRow& row) -> Cell { return row.communication; }},
      {TimeColumn("free(us)", Unit::kNsShownAsUs, "The rest of the step"),
       [](const SlowRankRow& row) -> Cell { return row.free; }},
  };
  return columns;
}

const RowsOfSheet<SlowLinkRow>& SlowLinkColumns() {
  static const RowsOfSheet<SlowLinkRow> columns = {
      {CountColumn("step", "Step"),
       [](const SlowLinkRow& row) -> Cell { return std::int64_t{row.step}; }},
      {CountColumn("rank_id", "Rank"), [](const SlowLinkRow& row) -> Cell { return row.rank; }},
      {NumberColumn("RDMA bandwidth(GB/s)", "Size over time"),
       [](const SlowLinkRow& row) -> Cell { return Bandwidth(row.rdma); }},
      {NumberColumn("RDMA size(mb)", "Data that was sent by RDMA"),
       [](const SlowLinkRow& row) -> Cell { return Megabytes(row.rdma); }},
      {TimeColumn("RDMA time(ms)", Unit::kNsShownAsMs, "Time of these tasks"),
       [](const SlowLinkRow& row) -> Cell { return row.rdma.time; }},
      {NumberColumn("SDMA bandwidth(GB/s)", "Size over time"),
       [](const SlowLinkRow& row) -> Cell { return Bandwidth(row.sdma); }},
      {NumberColumn("SDMA size(mb)", "Data that was moved by SDMA"),
       [](const SlowLinkRow& row) -> Cell { return Megabytes(row.sdma); }},
      {TimeColumn("SDMA time(ms)", Unit::kNsShownAsMs, "Time of these tasks"),
       [](const SlowLinkRow& row) -> Cell { return row.sdma.time; }},
  };
  return columns;
}

const RowsOfSheet<AiCpuOfRank>& AiCpuColumns() {
  static const RowsOfSheet<AiCpuOfRank> columns = {
      {TextColumn("op_name", 40, "Kernel"),
       [](const AiCpuOfRank& row) -> Cell { return row.kernel->name; }},
      {TextColumn("op_type", 24, "Its type"),
       [](const AiCpuOfRank& row) -> Cell { return row.kernel->type; }},
      {TimeColumn("task_duration", Unit::kNsShownAsUs, "Its duration, in us"),
       [](const AiCpuOfRank& row) -> Cell { return row.kernel->dur; }},
      {TextColumn("input_shapes", 40, "Shapes of its inputs"),
       [](const AiCpuOfRank& row) -> Cell { return row.kernel->shapes; }},
      {CountColumn("rank_id", "Rank"), [](const AiCpuOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

const RowsOfSheet<CompileOfRank>& CompileColumns() {
  static const RowsOfSheet<CompileOfRank> columns = {
      {TextColumn("Issues", 24, "What was found"),
       [](const CompileOfRank&) -> Cell { return std::string("operator dispatch"); }},
      {TextColumn("op name", 30, "The call"),
       [](const CompileOfRank&) -> Cell { return std::string("aclopCompileAndExecute"); }},
      {CountColumn("counts", "How often it was made"),
       [](const CompileOfRank& row) -> Cell { return row.count; }},
      {TimeColumn("total time", Unit::kNsShownAsUs, "Its time on the host, in us"),
       [](const CompileOfRank& row) -> Cell { return row.time; }},
      {CountColumn("rank_id", "Rank"), [](const CompileOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

const RowsOfSheet<CollectedOfRank>& CollectedColumns() {
  static const RowsOfSheet<CollectedOfRank> columns = {
      {CountColumn("Rank id", "Rank"), [](const CollectedOfRank& row) -> Cell { return row.rank; }},
      {TimeColumn("timestamp", Unit::kNsShownAsUs, "When it began, in us"),
       [](const CollectedOfRank& row) -> Cell { return row.row.start; }},
      {TimeColumn("duration(us)", Unit::kNsShownAsUs, "How long it took"),
       [](const CollectedOfRank& row) -> Cell { return row.row.dur; }},
  };
  return columns;
}

const RowsOfSheet<MovedOfRank>& AlignmentColumns() {
  static const RowsOfSheet<MovedOfRank> columns = {
      {TextColumn("op name", 36, "The operation"),
       [](const MovedOfRank& row) -> Cell { return row.row->name; }},
      {CountColumn("total size(Byte)", "Data that it moved by SDMA"),
       [](const MovedOfRank& row) -> Cell { return row.row->sdma.bytes; }},
      {TimeColumn("duration(us)", Unit::kNsShownAsUs, "Time of these tasks"),
       [](const MovedOfRank& row) -> Cell { return row.row->sdma.time; }},
      {TimeColumn("abnormal duration(us)", Unit::kNsShownAsUs,
                  "That of tasks whose size is not a multiple of 512 bytes"),
       [](const MovedOfRank& row) -> Cell { return row.row->sdma.unaligned; }},
      {NumberColumn("bandwidth(GB/s)", "Size over time"),
       [](const MovedOfRank& row) -> Cell { return Bandwidth(row.row->sdma); }},
      {CountColumn("rank_id", "Rank"), [](const MovedOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

const RowsOfSheet<PacketsOfRank>& PacketColumns() {
  static const RowsOfSheet<PacketsOfRank> columns = {
      {CountColumn("SDMA total count", "Operations that moved data by SDMA"),
       [](const PacketsOfRank& row) -> Cell { return row.sdma.total; }},
      {CountColumn("Small SDMA count", "Those of less than 16 MB"),
       [](const PacketsOfRank& row) -> Cell { return row.sdma.small; }},
      {NamedColumn("Small SDMA ratio", Format::kPercent, 16, "Their share"),
       [](const PacketsOfRank& row) -> Cell { return row.sdma.Share(); }},
      {TimeColumn("Small SDMA duration(ms)", Unit::kNsShownAsMs, "Time of their tasks"),
       [](const PacketsOfRank& row) -> Cell { return row.sdma.small_time; }},
      {CountColumn("RDMA total count", "Operations that sent data by RDMA"),
       [](const PacketsOfRank& row) -> Cell { return row.rdma.total; }},
      {CountColumn("Small RDMA count", "Those of less than 1 MB"),
       [](const PacketsOfRank& row) -> Cell { return row.rdma.small; }},
      {NamedColumn("Small RDMA ratio", Format::kPercent, 16, "Their share"),
       [](const PacketsOfRank& row) -> Cell { return row.rdma.Share(); }},
      {TimeColumn("Small RDMA duration(ms)", Unit::kNsShownAsMs, "Time of their tasks"),
       [](const PacketsOfRank& row) -> Cell { return row.rdma.small_time; }},
      {CountColumn("rank_id", "Rank"), [](const PacketsOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

const RowsOfSheet<MovedOfRank>& ResentColumns() {
  static const RowsOfSheet<MovedOfRank> columns = {
      {TextColumn("Op name", 36, "The operation"),
       [](const MovedOfRank& row) -> Cell { return row.row->name; }},
      {CountColumn("Step id", "Step"),
       [](const MovedOfRank& row) -> Cell { return std::int64_t{row.row->step}; }},
      {CountColumn("Rank id", "Rank"), [](const MovedOfRank& row) -> Cell { return row.rank; }},
      {NumberColumn("RDMA transmit size(MB)", "What it sent"),
       [](const MovedOfRank& row) -> Cell { return Megabytes(row.row->rdma); }},
      {TimeColumn("RDMA transmit time(ms)", Unit::kNsShownAsMs, "Time of the tasks"),
       [](const MovedOfRank& row) -> Cell { return row.row->rdma.time; }},
      {NumberColumn("RDMA bandwidth", "Size over time, GB/s"),
       [](const MovedOfRank& row) -> Cell { return Bandwidth(row.row->rdma); }},
  };
  return columns;
}

const RowsOfSheet<ContendedOfRank>& ContentionColumns() {
  static const RowsOfSheet<ContendedOfRank> columns = {
      {TextColumn("op name", 36, "The operation"),
       [](const ContendedOfRank& row) -> Cell { return std::string(row.operation); }},
      {TimeColumn("duration(ms)", Unit::kNsShownAsMs,
                  "Time of its tasks that ran while cube cores computed"),
       [](const ContendedOfRank& row) -> Cell { return row.beside.time; }},
      {NumberColumn("bandwidth(GB/s)", "Their size over their time"),
       [](const ContendedOfRank& row) -> Cell { return row.beside.Bandwidth(); }},
      {NumberColumn("bandwidth alone(GB/s)", "That of the tasks of the job that ran alone"),
       [](const ContendedOfRank& row) -> Cell { return row.alone; }},
      {TextColumn("transport", 12, "SDMA, RDMA"),
       [](const ContendedOfRank& row) -> Cell { return std::string(row.transport); }},
      {CountColumn("rank_id", "Rank"), [](const ContendedOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

const RowsOfSheet<FusibleOfRank>& FusibleColumns() {
  static const RowsOfSheet<FusibleOfRank> columns = {
      {TextColumn("Affinity API", 40, "The call that replaces the operators"),
       [](const FusibleOfRank& row) -> Cell { return row.row->api; }},
      {CountColumn("Stack called counts", "How often they ran"),
       [](const FusibleOfRank& row) -> Cell { return row.row->count; }},
      {CountColumn("rank_id", "Rank"), [](const FusibleOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

namespace {

using KernelColumns = RowsOfSheet<KernelOfRank>;

Cell CountOrNone(std::int32_t count) { return count < 0 ? Cell{} : Cell{std::int64_t{count}}; }
Cell ShareOrNone(std::int16_t thousandths) {
  return thousandths < 0 ? Cell{} : Cell{static_cast<double>(thousandths) / 1000};
}

template <std::int16_t UnitLoads::*Unit>
ColumnOf<KernelOfRank> LoadColumn(std::string_view name, std::string_view meaning) {
  return {NamedColumn(name, Format::kDecimals3, 11, meaning),
          [](const KernelOfRank& row) { return ShareOrNone(row.kernel->loads.*Unit); }};
}

template <TensorText Text>
ColumnOf<KernelOfRank> TensorColumn(std::string_view name, double width, std::string_view meaning) {
  return {NamedColumn(name, Format::kText, width, meaning), [](const KernelOfRank& row) -> Cell {
            return row.kernel->tensors[static_cast<std::size_t>(Text)];
          }};
}

void AddHead(KernelColumns& columns) {
  columns.push_back({NamedColumn("op_name", Format::kText, 40, "Kernel"),
                     [](const KernelOfRank& row) -> Cell { return row.kernel->name; }});
  columns.push_back({NamedColumn("op_type", Format::kText, 24, "Its type"),
                     [](const KernelOfRank& row) -> Cell { return row.kernel->type; }});
  columns.push_back({NamedColumn("task_type", Format::kText, 18, "The cores that it runs on"),
                     [](const KernelOfRank& row) -> Cell { return row.kernel->core; }});
  columns.push_back({{.name = "task_duration",
                      .format = Format::kDecimals3,
                      .width = 14,
                      .unit = Unit::kNsShownAsUs,
                      .meaning = "Its duration, in us"},
                     [](const KernelOfRank& row) -> Cell { return row.kernel->dur; }});
}

void AddTensors(KernelColumns& columns) {
  columns.push_back(
      TensorColumn<TensorText::kInputShapes>("input_shapes", 36, "Shapes of its inputs"));
  columns.push_back(TensorColumn<TensorText::kInputTypes>("input_data_types", 24, "Their types"));
  columns.push_back(TensorColumn<TensorText::kInputFormats>("input_formats", 24, "Their formats"));
  columns.push_back(
      TensorColumn<TensorText::kOutputShapes>("output_shapes", 36, "Shapes of its outputs"));
  columns.push_back(TensorColumn<TensorText::kOutputTypes>("output_data_types", 24, "Their types"));
  columns.push_back(
      TensorColumn<TensorText::kOutputFormats>("output_formats", 24, "Their formats"));
}

ColumnOf<KernelOfRank> BlocksColumn() {
  return {NamedColumn("block_dim", Format::kInteger, 11, "Blocks that it was split into"),
          [](const KernelOfRank& row) { return CountOrNone(row.kernel->blocks); }};
}

ColumnOf<KernelOfRank> RankColumn() {
  return {NamedColumn("rank_id", Format::kInteger, 10, "Rank"),
          [](const KernelOfRank& row) -> Cell { return row.rank; }};
}

}  // namespace

const KernelColumns& BlockDimColumns() {
  static const KernelColumns columns = [] {
    KernelColumns made;
    AddHead(made);
    made.push_back({NamedColumn("income", Format::kGeneral, 10,
                                "Empty: how much more blocks would save is not known"),
                    [](const KernelOfRank&) { return Cell{}; }});
    made.push_back(BlocksColumn());
    made.push_back({NamedColumn("mix_block_dim", Format::kInteger, 15, "Blocks of its vector part"),
                    [](const KernelOfRank& row) { return CountOrNone(row.kernel->mix_blocks); }});
    AddTensors(made);
    made.push_back(
        {NamedColumn("cores", Format::kInteger, 10, "Cores that the device has for the blocks"),
         [](const KernelOfRank& row) -> Cell { return std::int64_t{row.kernel->cores}; }});
    made.push_back(RankColumn());
    return made;
  }();
  return columns;
}

const KernelColumns& NoBoundColumns() {
  static const KernelColumns columns = [] {
    KernelColumns made;
    AddHead(made);
    made.push_back(LoadColumn<&UnitLoads::vec>("vec_ratio",
                                               "Share of the time in which the vector unit works"));
    made.push_back(
        LoadColumn<&UnitLoads::mac>("mac_ratio", "The same of the unit that multiplies matrices"));
    made.push_back(LoadColumn<&UnitLoads::scalar>(
        "scalar_ratio", "The same of the scalar unit, of the busier kind of cores"));
    made.push_back(LoadColumn<&UnitLoads::mte1>(
        "mte1_ratio", "The same of moving data between the buffers of the cube core"));
    made.push_back(LoadColumn<&UnitLoads::mte2>(
        "mte2_ratio", "The same of loading, of the busier kind of cores"));
    made.push_back(
        LoadColumn<&UnitLoads::mte3>("mte3_ratio", "The same of storing from the vector core"));
    made.push_back(BlocksColumn());
    AddTensors(made);
    made.push_back(
        LoadColumn<&UnitLoads::fixpipe>("fixpipe_ratio", "The same of storing from the cube core"));
    made.push_back(RankColumn());
    return made;
  }();
  return columns;
}

const RowsOfSheet<ClockOfRank>& ClockColumns() {
  const auto number = [](std::string_view name, std::string_view meaning) {
    return NamedColumn(name, Format::kDecimals2, 18, meaning);
  };
  static const RowsOfSheet<ClockOfRank> columns = {
      {NamedColumn("Operator name", Format::kText, 40, "Kernel"),
       [](const ClockOfRank& row) -> Cell { return row.clock->name; }},
      {NamedColumn("Count", Format::kInteger, 10, "How often it ran"),
       [](const ClockOfRank& row) -> Cell { return row.clock->count; }},
      {{.name = "Total duration(us)",
        .format = Format::kDecimals3,
        .width = 18,
        .unit = Unit::kNsShownAsUs,
        .meaning = "Their time"},
       [](const ClockOfRank& row) -> Cell { return row.clock->time; }},
      {NamedColumn("AI CORE frequency decreased ratio", Format::kPercent, 32,
                   "How much the mean clock is below the rated one"),
       [](const ClockOfRank& row) -> Cell { return 1 - row.clock->mhz / row.rated; }},
      {number("Average frequency", "Mean clock, weighted by time, in MHz"),
       [](const ClockOfRank& row) -> Cell { return row.clock->mhz; }},
      {NamedColumn("Max frequency", Format::kInteger, 15, "The highest clock, in MHz"),
       [](const ClockOfRank& row) -> Cell { return row.clock->most; }},
      {NamedColumn("Min frequency", Format::kInteger, 15, "The lowest clock, in MHz"),
       [](const ClockOfRank& row) -> Cell { return row.clock->least; }},
      {NamedColumn("rank_id", Format::kInteger, 10, "Rank"),
       [](const ClockOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

}  // namespace mpa
