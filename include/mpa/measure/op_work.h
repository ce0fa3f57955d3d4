// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// A kernel of the module statistic: a row of one of three tables.
struct ModuleKernel {
  enum class Table : std::uint8_t { kKernels, kCommunications, kScheduleKernels };
  Table table{};
  std::uint32_t row = 0;

  friend bool operator==(const ModuleKernel&, const ModuleKernel&) = default;
};

TimeNs StartOf(const RankTrace& trace, const ModuleKernel& kernel);
TimeNs DurationOf(const RankTrace& trace, const ModuleKernel& kernel);
/// The kernel's name; of a collective its type ("hcom_allReduce_"), for its name occurs once.
std::string NameOf(const RankTrace& trace, const ModuleKernel& kernel);

/// An operator with what it launched itself: compute kernels, then collectives, then kernels that
/// arrange collectives, each in order of start.
struct OpWork {
  std::uint32_t op = 0;  ///< row of the host operators
  std::vector<ModuleKernel> kernels;
};

struct AllOpWork {
  std::vector<OpWork> ops;               ///< those that launched something
  std::vector<ModuleKernel> without_op;  ///< no operator is known to have launched them
};

/// Gives all kernels to the innermost operators that launched them. A kernel with several launches
/// is listed with each of the operators. Throws Error (kCorrupt) when a connection ties too many
/// launches to too many kernels.
AllOpWork FindOpWork(const RankTrace& trace);

}  // namespace mpa
