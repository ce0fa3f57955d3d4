// SPDX-License-Identifier: Apache-2.0
// The overall comparison as the table of the tool we follow: a row for each side.
#include <fmt/format.h>

#include <algorithm>

#include "overall.h"

namespace mpa {
namespace {

std::string Time(TimeNs time) { return Fixed(static_cast<double>(time) / 1e9, 3) + 's'; }
std::string TimeAndNumber(const TimeAndCount& part) {
  return fmt::format("{}({})", Time(part.time), part.count);
}

// Adds a column; `cell` renders one side.
class ScreenBuilder {
 public:
  ScreenBuilder(ScreenTable& table, const OverallMetrics& base, const OverallMetrics& comparison)
      : table_(table), base_(base), comparison_(comparison) {
    table_.rows.resize(2);
  }

  template <typename Cell>
  void Add(const std::string& header, Cell cell) {
    table_.headers.push_back(header);
    table_.rows[0].push_back(cell(base_));
    table_.rows[1].push_back(cell(comparison_));
  }

  // The column appears when `part` is not 0 on either side.
  template <typename Part, typename Cell>
  void AddIfAny(const std::string& header, Part part, Cell cell) {
    if (part(base_) != 0 || part(comparison_) != 0) Add(header, cell);
  }

  // Time and number of kernels of some categories; N/A for a side that tells none.
  template <typename Part>
  void AddCategoriesIfAny(const std::string& header, Part part) {
    AddIfAny(
        header, [&](const OverallMetrics& side) { return part(side).time; },
        [&](const OverallMetrics& side) { return Categorised(side, part(side)); });
  }

  static std::string Categorised(const OverallMetrics& side, const TimeAndCount& part) {
    return side.has_categories ? TimeAndNumber(part) : "N/A";
  }

 private:
  ScreenTable& table_;
  const OverallMetrics& base_;
  const OverallMetrics& comparison_;
};

void AddCategoryColumns(ScreenBuilder& columns) {
  columns.Add("Cube Time(Num)", [](const OverallMetrics& side) {
    TimeAndCount cube = side.Family(Category::kMatmulCube) + side.Of(Category::kOtherCube);
    cube.time += side.Mc2Time();
    return ScreenBuilder::Categorised(side, cube);
  });
  columns.Add("Vector Time(Num)", [](const OverallMetrics& side) {
    return ScreenBuilder::Categorised(side, side.Vector());
  });
  const auto add_family = [&](const std::string& header, Category cube_half) {
    columns.AddCategoriesIfAny(header,
                               [=](const OverallMetrics& side) { return side.Family(cube_half); });
  };
  add_family("Conv Time(Forward)(Num)", Category::kConvForwardCube);
  add_family("Conv Time(Backward)(Num)", Category::kConvBackwardCube);
  add_family("Flash Attention Time(Forward)(Num)", Category::kFlashAttentionForwardCube);
  add_family("Flash Attention Time(Backward)(Num)", Category::kFlashAttentionBackwardCube);
  columns.AddCategoriesIfAny("Paged Attention Time(Num)", [](const OverallMetrics& side) {
    return side.Of(Category::kPagedAttention);
  });
}

void AddBandwidth(ScreenBuilder& columns, const std::string& header,
                  Traffic OverallMetrics::*traffic) {
  columns.AddIfAny(
      header, [=](const OverallMetrics& side) { return (side.*traffic).bytes; },
      [=](const OverallMetrics& side) {
        return Fixed((side.*traffic).GigabytesPerSecond(), 3) + "GB/s";
      });
}

// The time, and how much of it was waiting. The Python tool has another word for no waiting on each
// side.
std::string ExposedText(const OverallMetrics& side, bool compat, bool is_base) {
  const bool known = compat ? !is_base || side.Wait() != 0 : side.has_waits;
  return fmt::format(" {}({})", Time(side.exposed_communication),
                     known ? Time(side.Wait()) : " / ");
}

// Whether there are columns of categories: where a side tells them; with `compat` where both do.
bool HasCategoryColumns(const OverallMetrics& base, const OverallMetrics& comparison, bool compat) {
  return compat ? base.has_categories && comparison.has_categories
                : base.has_categories || comparison.has_categories;
}

}  // namespace

ScreenTable OverallWideScreen(const OverallMetrics& base, const OverallMetrics& comparison,
                              bool compat) {
  ScreenTable table;
  table.title = "Model Profiling Time Distribution";
  ScreenBuilder columns(table, base, comparison);
  const bool categories = HasCategoryColumns(base, comparison, compat);
  const auto is_npu = [](const OverallMetrics& side) { return side.device == DeviceKind::kNpu; };
  columns.Add("", [&](const OverallMetrics& side) { return is_npu(side) ? "NPU" : "GPU"; });
  if (!compat) {
    table.rows[0].front().insert(0, "base ");
    table.rows[1].front().insert(0, "comparison ");
  }
  if (categories) AddCategoryColumns(columns);
  columns.AddIfAny(
      "Lccl Time(Num)", [](const OverallMetrics& side) { return side.lccl.time; },
      [](const OverallMetrics& side) { return TimeAndNumber(side.lccl); });
  const auto other = [&](const OverallMetrics& side) {
    return is_npu(side) ? side.Other() : 0;  // not distinguished on GPUs
  };
  const bool has_other = compat ? other(base) != 0 || other(comparison) != 0
                                : categories && (is_npu(base) || is_npu(comparison));
  if (has_other) {
    columns.Add("Other Time", [&](const OverallMetrics& side) {
      return side.has_categories || compat ? Time(other(side)) : "N/A";
    });
  }
  columns.Add("Computing Time", [](const OverallMetrics& side) { return Time(side.computing); });
  columns.AddIfAny(
      "Mem Usage",
      [](const OverallMetrics& side) { return std::max<std::int64_t>(side.peak_memory_bytes, 0); },
      [&](const OverallMetrics& side) {
        if (side.peak_memory_bytes < 0) return std::string(compat ? "0.00G" : "N/A");
        return Fixed(static_cast<double>(side.peak_memory_bytes) / (1 << 30), 2) + 'G';
      });
  columns.Add("Uncovered Communication Time(Wait Time)", [&](const OverallMetrics& side) {
    return ExposedText(side, compat, &side == &base);
  });
  AddBandwidth(columns, "RDMA Bandwidth", &OverallMetrics::rdma_traffic);
  AddBandwidth(columns, "SDMA Bandwidth", &OverallMetrics::sdma_traffic);
  columns.AddIfAny(
      "SDMA Time(Num)",
      [](const OverallMetrics& side) {
        return side.sdma.time + side.Of(Category::kTensorMove).time;
      },
      [](const OverallMetrics& side) {
        return TimeAndNumber(side.sdma + side.Of(Category::kTensorMove));
      });
  columns.Add("Free Time", [](const OverallMetrics& side) { return Time(side.free); });
  const auto is_full = [&](const OverallMetrics& side) {
    return is_npu(side) && (compat || !side.minimal_profiling);
  };
  const bool full_profile = is_full(base) || is_full(comparison);
  columns.Add(full_profile ? "E2E Time(Not minimal profiling)" : "E2E Time",
              [](const OverallMetrics& side) { return Time(side.e2e); });
  return table;
}

}  // namespace mpa
