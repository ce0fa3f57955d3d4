// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export_options.h"
#include "gate_options.h"
#include "mpa/capture/capture.h"

namespace mpa {

/// The options of `compare`.
struct CompareCommandOptions {
  std::vector<std::string> comparison, base;  // of a gate there may be several
  std::string output = ".";
  std::vector<std::string> both;     // base and comparison as the script form takes them
  std::vector<std::string> enabled;  // names of comparisons
  std::string base_step, comparison_step, gpu_flow_cat, op_name_map, compare_config;
  std::string screen;  // "fit", "wide"; empty: the default
  std::int64_t max_kernels = 0;
  bool disable_details = false, disable_module = false;
  bool use_input_shape = false, use_kernel_type = false, compat = false;
  bool print_compare_config = false;
  bool debug = false;
  OpenOptions open;
  ExportOptions exports;
  GateOptions gate;
};

/// What is written without --export_type.
inline constexpr std::string_view kSheetsType = "xlsx";

/// Compares two captures. Gives the exit code.
int RunSheets(const CompareCommandOptions& options);

}  // namespace mpa
