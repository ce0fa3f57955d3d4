// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/measure/module_statistic.h"

namespace mpa::calibrate {

/// What an operator launched at its place in a module.
struct ModuleOp {
  std::string parent, module, op;
  std::string kernels;  ///< names, joined by ", "
  TimeNs total = 0;     ///< of the kernels
  std::int64_t count = 0;

  double Average() const {
    return count > 0 ? static_cast<double>(total) / static_cast<double>(count) : 0;
  }
  /// "Net/Linear"
  std::string Key() const { return parent.empty() ? module : parent + '/' + module; }
};

/// In order of parent, module and operator, each once.
using ModuleProfile = std::vector<ModuleOp>;

/// Rows of one operator in one module become one.
ModuleProfile Combine(ModuleProfile rows);

ModuleProfile ProfileOf(const std::vector<ModuleStatisticRow>& rows);

/// The profiles of the devices of a GPU run by the number of the device; -1: the file does not say,
/// it is of one device. `markers`: a range whose name contains one of them is a module. Throws
/// Error (kInput) when the file is neither an export of Nsight Systems nor a Kineto trace with
/// modules.
std::map<std::int64_t, ModuleProfile> ReadBaseline(const std::filesystem::path& path,
                                                   const std::vector<std::string>& markers);

/// How alike two texts are, from 0 to 1: twice what their longest common pieces hold, by the length
/// of both (Ratcliff and Obershelp).
double Likeness(std::string_view a, std::string_view b);

/// How a module found its partner.
enum class MatchKind : std::uint8_t { kRule, kFuzzy, kNone };

/// Operators of a module on both sides that stand in one row: the n-th longest of each.
struct MatchedRow {
  std::string key;  ///< of the GPU where it has the module
  MatchKind kind{};
  const ModuleOp* npu = nullptr;  ///< null: the side has no further operator
  const ModuleOp* gpu = nullptr;
  std::optional<TimeNs> npu_module, gpu_module;  ///< kernels of the whole module
};

/// Modules of equal names belong together, where NPU names lose the word "Ascend". Each of the
/// others belongs to the one GPU module without partner that is named most alike, if their names
/// are alike enough; the most alike find each other first. Rows are in order of the parent, then of
/// the difference of the modules, greatest first, then of GPU time.
std::vector<MatchedRow> MatchModules(const ModuleProfile& npu, const ModuleProfile& gpu,
                                     double threshold);

}  // namespace mpa::calibrate
