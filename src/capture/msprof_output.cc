// SPDX-License-Identifier: Apache-2.0
// mindstudio_profiler_output: what CANN's msprof exports, under the names
// <table>[_<number>...][_slice_<number>]_<time>. Each export adds files, and keeps those before it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/io/numbers.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

struct ReadKind {
  std::string_view table, extension;
  FileKind kind;
};
constexpr std::array<ReadKind, 4> kReadKinds = {{
    {"msprof", ".json", FileKind::kTraceView},
    {"op_summary", ".csv", FileKind::kKernelDetails},
    {"op_statistic", ".csv", FileKind::kOpStatistic},
    {"l2_cache", ".csv", FileKind::kL2Cache},
}};

// The parts of a name. `table` has the numbers of device, model and iteration that early versions
// put behind it.
struct ExportedFile {
  std::string table, extension;
  std::int64_t time = 0, slice = 0;
  fs::path path;

  auto Order() const { return std::tuple(time, slice, path); }
};

// Takes "_<digits>" off the end of `name`.
std::optional<std::int64_t> TakeNumber(std::string& name) {
  const std::size_t underscore = name.rfind('_');
  if (underscore == std::string::npos || underscore + 1 == name.size()) return std::nullopt;
  const std::string_view digits = std::string_view(name).substr(underscore + 1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> number = io::ParseInt(digits);
  if (number) name.resize(underscore);
  return number;
}

ExportedFile ParseName(const fs::path& path) {
  constexpr std::int64_t kFirstTime = 10'000'000'000'000;  // 14 digits: 20260225061530
  ExportedFile file;
  file.path = path;
  file.extension = path.extension().string();
  file.table = path.stem().string();
  std::string before = file.table;
  if (const auto time = TakeNumber(before); time && *time >= kFirstTime) {
    file.time = *time;
    file.table = before;
  }
  constexpr std::string_view kSlice = "_slice";
  before = file.table;
  if (const auto slice = TakeNumber(before); slice && before.ends_with(kSlice)) {
    file.table = before.substr(0, before.size() - kSlice.size());
    file.slice = *slice;
  }
  return file;
}

const ReadKind* KindOf(const ExportedFile& file) {
  std::string table = file.table;
  while (TakeNumber(table)) {
  }
  const auto found = std::ranges::find_if(kReadKinds, [&](const ReadKind& kind) {
    return kind.table == table && kind.extension == file.extension;
  });
  return found == kReadKinds.end() ? nullptr : &*found;
}

// The slices of the last export among the files of one table. Those of one export may have
// different times; their numbers rise.
std::vector<ExportedFile> LastExport(std::vector<ExportedFile> files, MsprofOutput& output) {
  StableSort(files, [](const auto& a, const auto& b) { return a.Order() < b.Order(); });
  auto first = files.end() - 1;
  while (first != files.begin() && (first - 1)->slice < first->slice) --first;
  for (auto file = files.begin(); file != first; ++file) output.earlier.push_back(file->path);
  files.erase(files.begin(), first);
  std::int64_t expected = 0;
  for (const ExportedFile& file : files) {
    if (file.slice > expected) {
      output.lost_slices.push_back(
          fmt::format("{}_slice_{}_*{}", file.table, expected, file.extension));
    }
    expected = file.slice + 1;
  }
  return files;
}

}  // namespace

void AddMsprofOutput(const fs::path& directory, RankInput& rank) {
  const fs::path output = directory / kMsprofOutput;
  std::map<std::pair<const ReadKind*, std::string>, std::vector<ExportedFile>> tables;
  std::set<std::string> unread;
  for (const fs::path& entry : Entries(IsDirectory(output) ? output : directory)) {
    ExportedFile file = ParseName(entry);
    const ReadKind* kind = KindOf(file);
    // op_statistic.csv of torch_npu looks like an early one of msprof.
    if (kind != nullptr && rank.Find(kind->kind) == nullptr) {
      tables[{kind, file.table}].push_back(std::move(file));
    } else if (file.extension == ".csv" || file.extension == ".json") {
      unread.insert(file.table);
    }
  }
  if (tables.empty()) return;
  rank.msprof.emplace().unread.assign(unread.begin(), unread.end());
  for (auto& [table, files] : tables) {
    for (const ExportedFile& file : LastExport(std::move(files), *rank.msprof)) {
      const bool is_slice =
          table.first->kind == FileKind::kTraceView && rank.Find(FileKind::kTraceView) != nullptr;
      AddFile(rank, table.first->kind, file.path);
      if (!is_slice) continue;
      // Its events are joined with those of the others.
      const CaptureFile slice = rank.files.back();
      rank.files.pop_back();
      rank.files.back().slices.push_back(slice.path);
      rank.files.back().bytes += slice.bytes;
    }
  }
  // What "msprof --analyze" adds; it is of the capture, not of one export.
  const fs::path analyze = CaptureDirectory(directory) / "analyze";
  std::error_code ignored;
  if (const fs::path sums = analyze / "communication.json"; fs::exists(sums, ignored)) {
    AddFile(rank, FileKind::kCommunication, sums);
  }
  if (fs::exists(analyze / "communication_matrix.json", ignored)) {
    rank.msprof->unread.emplace_back("communication_matrix");
  }
  if (rank.Find(FileKind::kTraceView) != nullptr) rank.kind = CaptureKind::kNpuText;
}

std::optional<FileKind> KindOfMsprofTable(std::string_view name) {
  for (const ReadKind& kind : kReadKinds) {
    const bool is_table = kind.kind != FileKind::kTraceView && kind.kind != FileKind::kL2Cache &&
                          name.starts_with(kind.table);
    if (is_table && name.ends_with(kind.extension)) return kind.kind;
  }
  return std::nullopt;
}

}  // namespace mpa
