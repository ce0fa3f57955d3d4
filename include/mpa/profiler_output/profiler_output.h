// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/base/time.h"
#include "mpa/raw/session.h"

/// Writes what the profiler's own parser would have left of a raw capture, with its names, columns
/// and units, so that any tool for parsed captures can open it.
namespace mpa::profiler_output {

/// trace_view.json, the tables (.csv) and communication*.json. `directory` exists.
void WriteText(const raw::Session& session, const std::filesystem::path& directory);

/// ascend_pytorch_profiler_<rank>.db and analysis.db. `directory` exists.
void WriteDatabases(const raw::Session& session, const std::filesystem::path& directory);

// kernel_details.csv and api_statistic.csv, from whatever has their rows: raw data or a database.

/// What a cell without a value shows.
inline constexpr std::string_view kNone = "N/A";

/// A kernel or collective of kernel_details.csv. Numbers below 0 and the counters of a row without
/// them show kNone.
struct KernelLine {
  std::optional<std::int64_t> step;  ///< an empty cell without one
  std::int64_t model = -1, task = -1, stream = -1;
  std::string_view name, op_type, state = kNone, core;
  std::int64_t blocks = -1, mix_blocks = -1;
  std::string_view hf32 = kNone;
  /// Shapes, types and formats of the inputs, then of the outputs.
  std::array<std::string_view, 6> tensors = {kNone, kNone, kNone, kNone, kNone, kNone};
  std::int64_t context = -1;
  const double* counters = nullptr;  ///< one value for each of KernelColumns::counters
};

/// The line of a kernel, without its place. Texts without a value are shown as `none`.
KernelLine DescribeKernel(const KernelDescriptionFields<InTable>& kernels, std::size_t row,
                          const StringPool& strings, std::string_view none);

/// Where a row of kernel_details.csv lies.
struct KernelSpan {
  TimeNs start, end;
  std::int64_t device;
  std::size_t row;   ///< of the caller
  TimeNs wait = -1;  ///< since the end of the row before on the device; -1 for the first
};

/// Brings rows into the order of the file, that of device and start, and sets their waits.
void ArrangeKernels(std::vector<KernelSpan>& spans);

/// Which columns kernel_details.csv has.
struct KernelColumns {
  bool steps = false;   ///< the capture has steps
  bool level0 = false;  ///< which records no types and shapes
  bool mixed = true;    ///< the chip has mixed cores and FFTS+ groups; see HasMixedCores()
  /// As Counters::names of raw data. Those that cannot occur on their kind of core are not shown.
  std::vector<std::string> counters;
};

class KernelDetails {
 public:
  explicit KernelDetails(KernelColumns columns);

  std::string Header() const;
  /// Appends a row. Several threads may do so at once, each to a text of its own.
  void Append(const KernelSpan& span, const KernelLine& line, std::string& out) const;

 private:
  /// A column of a counter.
  struct Metric {
    enum class Form { kNs, kWhole, kPercent, kPlain };
    std::size_t place;  ///< among the counters
    std::string header;
    Form form;
  };
  static Metric MetricOf(std::size_t place, const std::string& name);

  KernelColumns columns_;
  std::vector<Metric> metrics_;
};

/// True for a chip of a database that has mixed cores and FFTS+ groups, and for one that is not
/// known.
bool HasMixedCores(std::string_view chip);

/// Durations. Their mean in us runs along with the sum of squared distances from it, so that no
/// second pass is needed.
struct CallSum : Tally<TimeNs> {
  double mean = 0, squares = 0;

  void Add(TimeNs dur);
};

/// By name, then the number of the level: the order of the table.
using CallSums = std::map<std::pair<std::string_view, std::int64_t>, CallSum>;

/// The number of a level and the name of a call that the timeline names "AscendCL@launch"; -1 and
/// the whole text where it names no level.
std::pair<std::int64_t, std::string_view> LevelAndName(std::string_view call);

/// The text of api_statistic.csv. `place` is where the calls ran: "host".
std::string ApiStatistic(const CallSums& sums, std::string_view place);

}  // namespace mpa::profiler_output
