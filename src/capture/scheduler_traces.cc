// SPDX-License-Identifier: Apache-2.0
// Traces of the operating system's scheduler, which tell what kept the threads of a rank waiting.
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/capture/scheduler_files.h"
#include "mpa/io/input_text.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// ftrace, the report of trace-cmd, perf script; and what the last two are made of.
bool IsSchedulerTrace(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool is_text = name.ends_with(".txt") || name.ends_with(".txt.gz");
  if (!is_text && !name.ends_with(".dat") && !name.ends_with(".data")) return false;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  constexpr std::size_t kBeginning = 16384;
  const std::string start = io::ReadStart(path, kBeginning);
  if (!is_text) return start.starts_with(kTraceCmdData) || start.starts_with(kPerfData);
  return start.starts_with("# tracer:") ||
         ContainsAny(
             start,
             {" sched_switch: ", ":sched_switch: ", " sched_waking: ", " irq_handler_entry: "});
}

void AddFrom(const fs::path& directory, RankInput& rank) {
  std::vector<fs::path> entries;
  try {
    entries = Entries(directory);
  } catch (const Error&) {
    return;  // that may not be listed; the capture itself can be read
  }
  for (const fs::path& entry : entries) {
    try {
      if (IsSchedulerTrace(entry)) AddFile(rank, FileKind::kSchedulerTrace, entry);
    } catch (const Error&) {
      continue;  // any other file that cannot be read
    }
  }
}

}  // namespace

void AddSchedulerTraces(RankInput& rank) {
  const fs::path capture = CaptureDirectory(rank.path);
  AddFrom(capture, rank);
  if (IsDirectory(rank.path)) AddFrom(capture.parent_path(), rank);
}

}  // namespace mpa
