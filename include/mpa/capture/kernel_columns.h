// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/io/csv_file.h"

namespace mpa {

/// How the columns of a table of kernels are headed.
struct KernelColumns {
  std::string_view name, type, core, start, dur;
};

/// Those of kernel_details.csv, or of op_summary_*.csv, from which torch_npu makes the former.
inline KernelColumns KernelColumnsOf(const io::CsvFile& csv) {
  if (!csv.Find("Op Name")) {
    return {"Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)"};
  }
  return {"Op Name", "OP Type", "Task Type", "Task Start Time(us)", "Task Duration(us)"};
}

}  // namespace mpa
