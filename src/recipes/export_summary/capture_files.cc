// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string_view>

#include "files.h"
#include "mpa/io/input_text.h"

namespace mpa::export_summary {

SummaryFile FileOfCapture(const RankTrace& trace, const char* name) {
  namespace fs = std::filesystem;
  const fs::path capture(trace.capture_path);
  for (const fs::path& path : {capture / "ASCEND_PROFILER_OUTPUT" / name, capture / name}) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) continue;
    const io::InputText input(path);
    SummaryFile file;
    file.text = input.text();
    if (!file.text.empty() && file.text.back() != '\n') file.text += '\n';
    file.rows = std::max<std::int64_t>(std::count(file.text.begin(), file.text.end(), '\n') - 1, 0);
    return file;
  }
  return {};
}

}  // namespace mpa::export_summary
