// SPDX-License-Identifier: Apache-2.0
#include "kernel_columns.h"

#include <string>
#include <string_view>

namespace mpa {
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
