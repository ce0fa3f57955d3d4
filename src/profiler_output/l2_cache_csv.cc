// SPDX-License-Identifier: Apache-2.0
// l2_cache.csv: how each task used the L2 cache.
#include <algorithm>

#include "chunked_file.h"
#include "csv_text.h"
#include "kernel_rules.h"
#include "text_files.h"

namespace mpa::profiler_output {
namespace {

bool IsHwts(const raw::SessionInfo& info, std::int64_t device) {
  return std::any_of(info.devices.begin(), info.devices.end(), [&](const raw::Device& described) {
    return described.id == device && described.generation == raw::Generation::kHwts;
  });
}

}  // namespace

void WriteL2Cache(const raw::Session& session, const std::filesystem::path& path) {
  const raw::L2CacheUse& use = session.l2_cache;
  if (use.Empty()) return;
  ChunkedFile file(path);
  file.Write("Device_id,Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\r\n");
  file.WriteRows(use.Size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view name = session.strings.View(use.name[i]);
      CsvRow row(out);
      row.Cell(use.device[i]);
      row.Cell(use.stream[i]);
      row.Cell(use.task[i]);
      // Other chips count hits of the whole device; a metric set of the cores has those of a task.
      if (IsHwts(session.info, use.device[i])) {
        row.Cell(Decimal{use.hit_rate[i]});
      } else {
        row.Text(kNone);
      }
      row.Cell(Decimal{use.victim_rate[i]});
      row.Text(name.empty() ? kNone : name);
    }
  });
  file.Close();
}

}  // namespace mpa::profiler_output
