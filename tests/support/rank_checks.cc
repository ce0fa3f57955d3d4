// SPDX-License-Identifier: Apache-2.0
#include "support/rank_checks.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace mpa::test {
namespace {

// More than there can be of anything: 13 days in ns, a petabyte.
constexpr std::int64_t kMax = std::int64_t{1} << 50;

// Notes the first breach; the rest of them follow from it.
class Promises {
 public:
  explicit Promises(const RankTrace& trace) : trace_(trace) {}

  // Every column is as long as the table, and its texts are there.
  template <typename Table>
  void Columns(std::string_view table, const Table& rows) {
    const auto check = [&](const auto& column) {
      Expect(column.size() == rows.Size(), table, column.size(), "has columns of unequal length");
      Texts(table, column);
    };
    std::apply([&](const auto&... column) { (check(column), ...); }, rows.Columns());
  }

  // Columns and spans of events.
  template <typename Table>
  void Events(std::string_view table, const Table& rows) {
    Columns(table, rows);
    for (std::size_t i = 0; i < rows.Size(); ++i) {
      Expect(IsTime(rows.start[i]), table, i, "starts beyond all times");
      Expect(IsDuration(rows.dur[i]), table, i, "has a duration that is none");
    }
  }

  template <typename Column>
  void Times(std::string_view column, const Column& times) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      Expect(IsTime(times[i]), column, i, "is beyond all times");
    }
  }

  // Rows of a table with `size` rows, or -1.
  void Rows(std::string_view column, const std::vector<std::int32_t>& rows, std::size_t size) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Expect(rows[i] >= -1 && rows[i] < static_cast<std::int64_t>(size), column, i,
             "names a row that is not there");
    }
  }

  // Numbers from `least` to kMax.
  template <typename Column>
  void Amounts(std::string_view column, const Column& numbers, std::int64_t least) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Expect(numbers[i] >= least && numbers[i] <= kMax, column, i, "is no amount");
    }
  }

  const std::string& breach() const { return breach_; }

 private:
  void Expect(bool holds, std::string_view what, std::size_t row, std::string_view breach) {
    if (!holds && breach_.empty()) breach_ = fmt::format("{}[{}] {}", what, row, breach);
  }

  template <typename Column>
  void Texts(std::string_view table, const Column& column) {
    if constexpr (std::is_same_v<typename Column::value_type, StringId>) {
      for (std::size_t i = 0; i < column.size(); ++i) {
        Expect(Index(column[i]) < trace_.strings.Size(), table, i, "has a text that is not there");
      }
    }
  }

  const RankTrace& trace_;
  std::string breach_;
};

}  // namespace

std::string BrokenPromise(const RankTrace& t) {
  Promises promises(t);
  promises.Columns("tracks", t.tracks);
  promises.Events("host_ops", t.host_ops);
  promises.Rows("host_ops.track", t.host_ops.track, t.tracks.Size());
  promises.Events("python_calls", t.python_calls);
  promises.Rows("python_calls.track", t.python_calls.track, t.tracks.Size());
  promises.Columns("backward_links", t.backward_links);
  promises.Times("backward_links.forward_time", t.backward_links.forward_time);
  promises.Times("backward_links.backward_time", t.backward_links.backward_time);
  promises.Rows("backward_links.forward_track", t.backward_links.forward_track, t.tracks.Size());
  promises.Rows("backward_links.backward_track", t.backward_links.backward_track, t.tracks.Size());
  promises.Events("mstx", t.mstx);
  promises.Rows("mstx.track", t.mstx.track, t.tracks.Size());
  promises.Events("queued_work", t.queued_work);
  promises.Times("queued_work.queued", t.queued_work.queued);
  promises.Rows("queued_work.track", t.queued_work.track, t.tracks.Size());
  promises.Rows("queued_work.queued_track", t.queued_work.queued_track, t.tracks.Size());
  promises.Events("host_calls", t.host_calls);
  promises.Rows("host_calls.track", t.host_calls.track, t.tracks.Size());
  promises.Events("garbage_collections", t.garbage_collections);
  promises.Columns("launches", t.launches);
  promises.Times("launches.host_time", t.launches.host_time);
  promises.Times("launches.device_time", t.launches.device_time);
  promises.Rows("launches.host_track", t.launches.host_track, t.tracks.Size());
  promises.Events("kernels", t.kernels);
  for (const auto* counter : {&t.kernels.aic_total, &t.kernels.aic_mac, &t.kernels.aic_mte2,
                              &t.kernels.aiv_total, &t.kernels.aiv_vec}) {
    promises.Amounts("kernels' counters", *counter, -1);
  }
  promises.Events("schedule_kernels", t.schedule_kernels);
  promises.Columns("chips", t.chips);
  promises.Columns("core_clocks", t.core_clocks);
  promises.Times("core_clocks", t.core_clocks.start);
  promises.Amounts("core_clocks.mhz", t.core_clocks.mhz, 1);
  promises.Events("device_tasks", t.device_tasks);
  promises.Events("device_runs", t.device_runs);
  promises.Events("model_iterations", t.model_iterations);
  promises.Columns("comm_groups", t.comm_groups);
  promises.Events("communications", t.communications);
  promises.Rows("communications.group", t.communications.group, t.comm_groups.Size());
  promises.Events("comm_tasks", t.comm_tasks);
  promises.Rows("comm_tasks.group", t.comm_tasks.group, t.comm_groups.Size());
  promises.Events("overlaps", t.overlaps);
  promises.Columns("memory_samples", t.memory_samples);
  promises.Times("memory_samples.time", t.memory_samples.time);
  promises.Amounts("memory_samples.reserved_bytes", t.memory_samples.reserved_bytes, 0);
  promises.Amounts("memory_samples.allocated_bytes", t.memory_samples.allocated_bytes, -1);
  promises.Columns("allocations", t.allocations);
  promises.Times("allocations.allocated", t.allocations.allocated);
  promises.Times("allocations.released", t.allocations.released);
  promises.Amounts("allocations.bytes", t.allocations.bytes, 0);
  promises.Columns("kernel_statistics", t.kernel_statistics);
  promises.Amounts("kernel_statistics.count", t.kernel_statistics.count, 1);
  promises.Amounts("kernel_statistics.total", t.kernel_statistics.total, 0);
  promises.Columns("transfers", t.transfers);
  promises.Amounts("transfers.bytes", t.transfers.bytes, 0);
  promises.Amounts("transfers.time", t.transfers.time, 0);
  promises.Columns("steps", t.steps);
  promises.Times("steps.start", t.steps.start);
  promises.Times("steps.end", t.steps.end);
  promises.Columns("step_times", t.step_times);
  promises.Amounts("step_times.computing", t.step_times.computing, -kMax);
  promises.Amounts("step_times.communication", t.step_times.communication, -kMax);
  promises.Amounts("step_times.exposed_communication", t.step_times.exposed_communication, -kMax);
  promises.Amounts("step_times.free", t.step_times.free, -kMax);
  return promises.breach();
}

}  // namespace mpa::test
