// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/report/report.h"

/// The rows and columns of the sheets that the Python tool's advisor has, too.
namespace mpa {

template <typename Row>
using RowsOfSheet = std::vector<ColumnOf<Row>>;

struct WithRank {
  std::int64_t rank = -1;
};

struct SlowRankRow : WithRank {
  std::int32_t step = -1;
  TimeNs compute = 0, communication = 0, free = 0;
};

struct SlowLinkRow : WithRank {
  std::int32_t step = -1;
  MovedRow::Moved sdma, rdma;
};

struct AiCpuOfRank : WithRank {
  const AiCpuRow* kernel = nullptr;
};

struct CompileOfRank : WithRank {
  std::int64_t count = 0;
  TimeNs time = 0;
};

struct CollectedOfRank : WithRank {
  CollectedRow row;
};

struct MovedOfRank : WithRank {
  const MovedRow* row = nullptr;
};

struct Packets {
  std::int64_t total = 0, small = 0;
  TimeNs small_time = 0;
  void Add(const MovedRow::Moved& moved, std::int64_t least) {
    if (moved.bytes == 0) return;
    ++total;
    if (moved.bytes >= least) return;
    ++small;
    small_time += moved.time;
  }
  double Share() const {
    return total > 0 ? static_cast<double>(small) / static_cast<double>(total) : 0;
  }
};

struct PacketsOfRank : WithRank {
  Packets sdma, rdma;
};

struct ContendedOfRank : WithRank {
  std::string_view operation, transport;
  TaskSum beside{};  ///< while cube cores computed
  double alone = 0;  ///< bandwidth of the tasks of the job that run alone, GB/s
};

struct FusibleOfRank : WithRank {
  const FusibleRow* row = nullptr;
};

const RowsOfSheet<SlowRankRow>& SlowRankColumns();
const RowsOfSheet<SlowLinkRow>& SlowLinkColumns();
const RowsOfSheet<AiCpuOfRank>& AiCpuColumns();
const RowsOfSheet<CompileOfRank>& CompileColumns();
const RowsOfSheet<CollectedOfRank>& CollectedColumns();
const RowsOfSheet<MovedOfRank>& AlignmentColumns();
const RowsOfSheet<PacketsOfRank>& PacketColumns();
const RowsOfSheet<MovedOfRank>& ResentColumns();
const RowsOfSheet<ContendedOfRank>& ContentionColumns();
const RowsOfSheet<FusibleOfRank>& FusibleColumns();

// The columns of the sheets of kernels that make little use of their cores.

struct KernelOfRank : WithRank {
  const KernelRow* kernel = nullptr;
};

struct ClockOfRank : WithRank {
  const ClockRow* clock = nullptr;
  double rated = 0;
};

const RowsOfSheet<KernelOfRank>& BlockDimColumns();
const RowsOfSheet<KernelOfRank>& NoBoundColumns();
const RowsOfSheet<ClockOfRank>& ClockColumns();

}  // namespace mpa
