// SPDX-License-Identifier: Apache-2.0
// Traces of the capture of graphs, which explain the replays in other traces.
#include <system_error>

#include "file_checks.h"
#include "json_members.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/capture/capture.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// In order of name. Without the list beside them, which is not a trace.
std::vector<fs::path> TracesIn(const fs::path& directory) {
  std::vector<fs::path> traces;
  for (const fs::path& entry : Entries(directory)) {
    const std::string name = entry.filename().string();
    std::error_code ignored;
    if (name == kGraphCaptureList || !fs::is_regular_file(entry, ignored)) continue;
    if (name.ends_with(".json") || name.ends_with(".json.gz")) traces.push_back(entry);
  }
  return traces;
}

}  // namespace

void AddGraphCaptures(RankInput& rank, const fs::path& named) {
  rank.names_graph_capture = !named.empty();
  if (named.empty() && !IsDirectory(rank.path.parent_path() / kGraphCaptures)) return;
  const fs::path place =
      named.empty() ? rank.path.parent_path() / kGraphCaptures : fs::canonical(named);
  if (!IsDirectory(place)) {
    AddFile(rank, FileKind::kGraphCapture, place);
    return;
  }
  for (const fs::path& trace : TracesIn(place)) {
    std::error_code ignored;
    if (!fs::equivalent(trace, rank.path, ignored)) AddFile(rank, FileKind::kGraphCapture, trace);
  }
}

void CheckGraphCapture(const OpenOptions& options) {
  const fs::path& named = options.graph_capture;
  if (named.empty()) return;
  CheckReadable(named);
  if (!IsDirectory(named) || !TracesIn(named).empty()) return;
  Fail(ErrorKind::kInput,
       "{}: no trace of a graph capture (.json, .json.gz) there; give the file or its directory"
       " with --graph_capture",
       named.string());
}

std::vector<ListedGraphCapture> ReadGraphCaptureList(const fs::path& directory) {
  std::vector<ListedGraphCapture> listed;
  const fs::path path = directory / kGraphCaptureList;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return listed;
  try {
    const nlohmann::json document = io::ReadJson(path);
    if (!document.is_array()) return listed;
    for (const nlohmann::json& entry : document) {
      const std::string file = Text(Member(entry, "file"));
      if (file.empty()) continue;
      listed.push_back(
          {file, Id(Member(entry, "batch_size")).value_or(-1), Text(Member(entry, "mode"))});
    }
  } catch (const Error& error) {
    Log(LogLevel::kDebug, "{}; the batch sizes of its graphs are unknown", error.what());
  }
  return listed;
}

}  // namespace mpa
