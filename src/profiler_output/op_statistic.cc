// SPDX-License-Identifier: Apache-2.0
// op_statistic.csv: kernel durations by device, type and core, longest first.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "chunked_file.h"
#include "csv_text.h"
#include "kernel_rules.h"
#include "mpa/base/text.h"
#include "text_files.h"

namespace mpa::profiler_output {
namespace {

/// Durations in ns.
struct TypeSum {
  std::int64_t device = 0;
  std::string_view type, core;
  std::int64_t count = 0;
  double total = 0, shortest = 0, longest = 0;
  bool whole = true;  ///< no duration has a fraction of a ns
};

std::vector<TypeSum> SumByType(const raw::Session& session) {
  const raw::Kernels& kernels = session.kernels;
  std::map<std::tuple<std::int64_t, StringId, StringId>, TypeSum> sums;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(kernels.task[i]);
    const double dur = session.tasks.dur[task];
    TypeSum& sum = sums[{session.tasks.device[task], kernels.op_type[i], kernels.core[i]}];
    sum.shortest = sum.count == 0 ? dur : std::min(sum.shortest, dur);
    sum.longest = std::max(sum.longest, dur);
    sum.total += dur;
    sum.whole = sum.whole && dur == std::floor(dur);
    ++sum.count;
  }
  std::vector<TypeSum> listed;
  for (auto& [key, sum] : sums) {
    sum.device = std::get<0>(key);
    sum.type = session.strings.View(std::get<1>(key));
    sum.core = session.strings.View(std::get<2>(key));
    const bool is_piece =
        IsOneOf(sum.core, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU", "COMMUNICATION"});
    if (sum.type != kNone && !is_piece) listed.push_back(sum);
  }
  std::sort(listed.begin(), listed.end(), [](const TypeSum& a, const TypeSum& b) {
    return std::tuple(a.device, -a.total, a.type, a.core) <
           std::tuple(b.device, -b.total, b.type, b.core);
  });
  return listed;
}

/// The profiler divides whole ns as whole numbers.
double Average(const TypeSum& sum) {
  const double average = sum.total / static_cast<double>(sum.count);
  return sum.whole ? std::floor(average) : average;
}

}  // namespace

void WriteOpStatistic(const raw::Session& session, const std::filesystem::path& path) {
  const std::vector<TypeSum> sums = SumByType(session);
  if (IsLevel0(session) || sums.empty()) return;
  std::map<std::int64_t, double> device_totals;
  for (const TypeSum& sum : sums) device_totals[sum.device] += sum.total;
  std::string text =
      "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
      "Ratio(%)\r\n";
  for (const TypeSum& sum : sums) {
    const double total = device_totals[sum.device];
    CsvRow row(text);
    row.Cell(sum.device);
    row.Text(sum.type);
    row.Text(sum.core);
    row.Cell(sum.count);
    row.Cell(RoundedShort{sum.total / 1000});
    row.Cell(RoundedShort{sum.shortest / 1000});
    row.Cell(RoundedShort{Average(sum) / 1000});
    row.Cell(RoundedShort{sum.longest / 1000});
    row.Cell(RoundedShort{total > 0 ? sum.total / total * 100 : 0});
  }
  ChunkedFile file(path);
  file.Write(text);
  file.Close();
}

}  // namespace mpa::profiler_output
