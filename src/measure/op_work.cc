// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/op_work.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"

namespace mpa {
namespace {

using Table = ModuleKernel::Table;

// Which operators launched what has a link.
class LaunchingOps {
 public:
  explicit LaunchingOps(const RankTrace& trace)
      : launches_(trace.launches),
        nesting_(trace.host_ops.start, trace.host_ops.dur, trace.host_ops.track),
        tries_(MostPairs(trace.launches.Size() + trace.kernels.Size() +
                         trace.communications.Size() + trace.schedule_kernels.Size())) {
    for (std::size_t i = 0; i < launches_.Size(); ++i) {
      if (launches_.link[i] >= 0) rows_.emplace_back(launches_.link[i], i);
    }
    std::sort(rows_.begin(), rows_.end());
  }

  // Calls visit(op) for each launch with this link during which an operator ran.
  template <typename Visit>
  void ForEach(std::int64_t link, Visit visit) {
    if (link < 0) return;
    auto at = std::lower_bound(rows_.begin(), rows_.end(), std::pair{link, std::size_t{0}});
    for (; at != rows_.end() && at->first == link; ++at) {
      if (tries_-- == 0) {
        Fail(ErrorKind::kCorrupt,
             "a connection has too many launches and kernels to match them; parse the capture "
             "again");
      }
      const std::int64_t op =
          nesting_.Find(launches_.host_track[at->second], launches_.host_time[at->second]);
      if (op != Nesting::kNone) visit(static_cast<std::uint32_t>(op));
    }
  }

 private:
  const Launches& launches_;
  Nesting nesting_;
  std::size_t tries_;  // kernels with the launches of their connections that are still to be had
  std::vector<std::pair<std::int64_t, std::size_t>> rows_;  // link and launch, ordered
};

// The kernels of a table with their operators, gathered.
class Collector {
 public:
  explicit Collector(const RankTrace& trace) : launching_(trace) {
    place_of_op_.assign(trace.host_ops.Size(), kNoPlace);
  }

  template <typename Rows, typename Skip>
  void Add(Table table, const Rows& rows, Skip skip) {
    for (const std::size_t row : rows.RowsByStart()) {
      if (skip(row)) continue;
      const ModuleKernel kernel{table, static_cast<std::uint32_t>(row)};
      bool has_op = false;
      launching_.ForEach(rows.link[row], [&](std::uint32_t op) {
        WorkOf(op).kernels.push_back(kernel);
        has_op = true;
      });
      if (!has_op) work_.without_op.push_back(kernel);
    }
  }

  AllOpWork Finish() { return std::move(work_); }

 private:
  static constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

  OpWork& WorkOf(std::uint32_t op) {
    if (place_of_op_[op] == kNoPlace) {
      place_of_op_[op] = work_.ops.size();
      work_.ops.push_back({op, {}});
    }
    return work_.ops[place_of_op_[op]];
  }

  LaunchingOps launching_;
  std::vector<std::size_t> place_of_op_;
  AllOpWork work_;
};

const Kernels& KernelsOf(const RankTrace& trace, Table table) {
  return table == Table::kScheduleKernels ? trace.schedule_kernels : trace.kernels;
}

}  // namespace

TimeNs StartOf(const RankTrace& trace, const ModuleKernel& kernel) {
  if (kernel.table == Table::kCommunications) return trace.communications.start[kernel.row];
  return KernelsOf(trace, kernel.table).start[kernel.row];
}

TimeNs DurationOf(const RankTrace& trace, const ModuleKernel& kernel) {
  if (kernel.table == Table::kCommunications) return trace.communications.dur[kernel.row];
  return KernelsOf(trace, kernel.table).dur[kernel.row];
}

std::string NameOf(const RankTrace& trace, const ModuleKernel& kernel) {
  if (kernel.table != Table::kCommunications) {
    return std::string(trace.strings.View(KernelsOf(trace, kernel.table).name[kernel.row]));
  }
  std::string_view type = trace.strings.View(trace.communications.op_type[kernel.row]);
  // Text captures know the name only: "hcom_allReduce__868_0_1".
  if (const std::size_t end = type.find("__"); end != std::string_view::npos) {
    type = type.substr(0, end + 1);
  }
  return std::string(type);
}

AllOpWork FindOpWork(const RankTrace& trace) {
  // Text captures list collectives among the kernels, too.
  const Communications& communications = trace.communications;
  std::set<std::pair<std::int64_t, TimeNs>> collectives;
  for (std::size_t i = 0; i < communications.Size(); ++i) {
    if (communications.link[i] >= 0) {
      collectives.emplace(communications.link[i], communications.start[i]);
    }
  }
  const Kernels& kernels = trace.kernels;
  Collector collector(trace);
  collector.Add(Table::kKernels, kernels, [&](std::size_t i) {
    return collectives.contains({kernels.link[i], kernels.start[i]});
  });
  const auto keep_all = [](std::size_t) { return false; };
  collector.Add(Table::kCommunications, communications, keep_all);
  collector.Add(Table::kScheduleKernels, trace.schedule_kernels, keep_all);
  return collector.Finish();
}

}  // namespace mpa
