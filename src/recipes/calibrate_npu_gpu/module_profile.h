// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
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

}  // namespace mpa::calibrate
