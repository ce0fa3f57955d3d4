// SPDX-License-Identifier: Apache-2.0
#include "mpa/raw/host_clock.h"

#include <vector>

#include "control_documents.h"
#include "control_files.h"
#include "mpa/model/issues.h"

namespace mpa::raw {

std::optional<TimeNs> MonotonicToEpoch(const std::filesystem::path& path) {
  Issues unheard;  // files that are missing here cost nothing but their own reading of the clocks
  std::vector<SideDocuments> sides;
  for (const std::filesystem::path& prof : DriverDirectories(path)) {
    if (IsDirectory(prof / "host")) sides.push_back(ReadSideDocuments(prof / "host", unheard));
  }
  sides.push_back(ReadSideDocuments(path, unheard));
  Json settings;
  for (const std::filesystem::path& file : EntriesWith(path, "profiler_info")) {
    if (file.extension() != ".json") continue;
    settings = ReadDocument(file, file.filename().string(), "", unheard);
    break;
  }
  return AgreeOnClocks(sides, settings, unheard).offset;
}

}  // namespace mpa::raw
