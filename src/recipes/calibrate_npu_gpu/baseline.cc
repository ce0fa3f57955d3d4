// SPDX-License-Identifier: Apache-2.0
// The modules of a GPU run: from the SQLite export of Nsight Systems or a Kineto trace.
#include <algorithm>
#include <fstream>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "matching.h"
#include "mpa/base/error.h"
#include "mpa/base/stable_sort.h"
#include "mpa/capture/capture.h"
#include "mpa/io/sqlite.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/launches.h"
#include "mpa/readers/reader.h"

namespace mpa::calibrate {
namespace {

namespace fs = std::filesystem;

using Names = std::unordered_map<std::int64_t, std::string>;

Names ReadNames(const io::Database& database) {
  Names names;
  if (!database.HasTable("StringIds")) return names;
  io::Statement rows = database.Query("SELECT id, value FROM StringIds");
  while (rows.Step()) names[rows.IntOr(0, -1)] = rows.Text(1);
  return names;
}

std::string NameOf(const Names& names, std::int64_t id, const char* unknown) {
  const auto found = names.find(id);
  return found != names.end() ? found->second : unknown;
}

// What happens on the threads of the program. Of what happens at once, ranges end first, then
// begin, the longer ones first; then kernels are launched.
struct HostEvent {
  enum class Kind : std::uint8_t { kEnd, kBegin, kLaunch };
  std::int64_t thread = 0;
  TimeNs time = 0;
  Kind kind{};
  TimeNs end = 0;         // of the range
  std::size_t index = 0;  // of the range or kernel

  auto Key() const { return std::tuple(thread, time, kind, -end, index); }
};

struct GpuKernel {
  std::int64_t device = -1;
  std::string name;
  TimeNs dur = 0;
};

class NsysExport {
 public:
  NsysExport(const fs::path& path, const std::vector<std::string>& markers)
      : database_(path), names_(ReadNames(database_)), markers_(markers) {
    for (const char* table :
         {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL"}) {
      if (database_.HasTable(table)) continue;
      Fail(ErrorKind::kInput,
           "{}: no table {}; give an export of Nsight Systems ('nsys profile --trace=cuda,nvtx',"
           " then 'nsys export --type sqlite')",
           path.string(), table);
    }
    ReadRanges();
    ReadKernels();
    StableSort(events_, {}, &HostEvent::Key);
  }

  std::map<std::int64_t, ModuleProfile> Profiles() const {
    std::map<std::int64_t, std::map<std::tuple<std::string, std::string, std::string, std::string>,
                                    std::pair<TimeNs, std::int64_t>>>
        sums;  // of the kernels of one name, by device
    std::vector<std::size_t> open;
    std::int64_t thread = 0;
    for (const HostEvent& event : events_) {
      if (event.thread != thread) open.clear();
      thread = event.thread;
      if (event.kind == HostEvent::Kind::kBegin) open.push_back(event.index);
      if (event.kind == HostEvent::Kind::kEnd) std::erase(open, event.index);
      if (event.kind != HostEvent::Kind::kLaunch) continue;
      const auto [parent, module, op] = PlaceOf(open);
      if (module.empty()) continue;
      const GpuKernel& kernel = kernels_[event.index];
      auto& sum = sums[kernel.device][{parent, module, op, kernel.name}];
      sum.first += kernel.dur;
      ++sum.second;
    }
    std::map<std::int64_t, ModuleProfile> profiles;
    for (const auto& [device, rows] : sums) {
      ModuleProfile profile;
      for (const auto& [place, sum] : rows) {
        const auto& [parent, module, op, kernel] = place;
        profile.push_back({parent, module, op, kernel, sum.first, sum.second});
      }
      profiles[device] = Combine(std::move(profile));
    }
    return profiles;
  }

 private:
  void ReadRanges() {
    constexpr int kPushPop = 59;
    io::Statement rows = database_.Query(
        "SELECT start, end, globalTid, text, textId FROM NVTX_EVENTS WHERE eventType = " +
        std::to_string(kPushPop));
    while (rows.Step()) {
      const auto start = rows.Int(0), end = rows.Int(1);
      if (!start || !end || !IsTime(*start) || !IsTime(*end) || *end <= *start) continue;
      const std::int64_t thread = rows.IntOr(2, -1);
      const std::size_t index = ranges_.size();
      ranges_.push_back(rows.row().IsNull(3) ? NameOf(names_, rows.IntOr(4, -1), "Unknown_Region")
                                             : std::string(rows.Text(3)));
      events_.push_back({thread, *start, HostEvent::Kind::kBegin, *end, index});
      events_.push_back({thread, *end, HostEvent::Kind::kEnd, *end, index});
    }
  }

  void ReadKernels() {
    struct Launch {
      TimeNs time = 0;
      std::int64_t thread = 0;
    };
    std::unordered_map<std::int64_t, Launch> launches;
    io::Statement calls =
        database_.Query("SELECT correlationId, start, globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    while (calls.Step()) {
      if (const auto time = calls.Int(1)) {
        launches[calls.IntOr(0, -1)] = {*time, calls.IntOr(2, -1)};
      }
    }
    io::Statement rows = database_.Query(
        "SELECT correlationId, start, end, deviceId, demangledName FROM"
        " CUPTI_ACTIVITY_KIND_KERNEL");
    while (rows.Step()) {
      const auto launch = launches.find(rows.IntOr(0, -1));
      const auto start = rows.Int(1), end = rows.Int(2);
      if (launch == launches.end() || !start || !end) continue;
      if (!IsTime(*start) || !IsTime(*end) || !IsDuration(*end - *start)) continue;
      events_.push_back({launch->second.thread, launch->second.time, HostEvent::Kind::kLaunch, 0,
                         kernels_.size()});
      kernels_.push_back(
          {rows.IntOr(3, -1), NameOf(names_, rows.IntOr(4, -1), "unknown"), *end - *start});
    }
  }

  bool IsModule(const std::string& range) const {
    return std::ranges::any_of(markers_, [&](const std::string& marker) {
      return range.find(marker) != std::string::npos;
    });
  }

  // The parents, the module and the operator that the open ranges name.
  std::tuple<std::string, std::string, std::string> PlaceOf(
      const std::vector<std::size_t>& open) const {
    std::string parent, module, op = "None";
    for (const std::size_t index : open) {
      const std::string& range = ranges_[index];
      if (range.find("::") != std::string::npos) op = range.substr(0, range.find(','));
      if (!IsModule(range)) continue;
      if (!module.empty()) parent += (parent.empty() ? "" : "/") + module;
      module = range;
    }
    return {parent, module, op};
  }

  io::Database database_;
  Names names_;
  std::vector<std::string> markers_, ranges_;
  std::vector<GpuKernel> kernels_;
  std::vector<HostEvent> events_;
};

bool IsDatabase(const fs::path& path) {
  constexpr std::string_view kMark = "SQLite format 3";
  std::string begin(kMark.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kMark;
}

// The work of each operator, with that of the calls of the runtime in it.
AllOpWork WorkOfOperators(const RankTrace& trace) {
  const Nesting nesting(OpSpans(trace));
  AllOpWork all = FindOpWork(trace);
  std::vector<OpWork> ops;
  std::unordered_map<std::uint32_t, std::size_t> place_of_op;
  for (OpWork& work : all.ops) {
    std::int64_t op = work.op;
    while (op != Nesting::kNone &&
           IsRuntimeCall(trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(op)]))) {
      op = nesting.Parent(static_cast<std::size_t>(op));
    }
    if (op != Nesting::kNone) work.op = static_cast<std::uint32_t>(op);
    const auto [place, is_new] = place_of_op.try_emplace(work.op, ops.size());
    if (is_new) {
      ops.push_back(std::move(work));
    } else {
      std::vector<DeviceWork>& kernels = ops[place->second].kernels;
      kernels.insert(kernels.end(), work.kernels.begin(), work.kernels.end());
    }
  }
  all.ops = std::move(ops);
  return all;
}

ModuleProfile ProfileOfTrace(const fs::path& path) {
  const RankInput input = OpenRank(path, {});
  if (input.kind != CaptureKind::kGpu) {
    Fail(ErrorKind::kInput,
         "{}: neither an SQLite export of Nsight Systems nor a Kineto trace of a GPU",
         path.string());
  }
  RankTrace trace;
  for (const Reader& reader : AllReaders()) {
    for (const CaptureFile& file : input.files) {
      if (file.kind != reader.reads || !Intersects(reader.fills, kModuleTables)) continue;
      reader.read(file, {kModuleTables, ""}, trace);
    }
  }
  LinkByTime(trace);
  return ProfileOf(SumModules(trace, ThreadGroups(trace), WorkOfOperators(trace)).rows);
}

}  // namespace

std::map<std::int64_t, ModuleProfile> ReadBaseline(const fs::path& path,
                                                   const std::vector<std::string>& markers) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    Fail(ErrorKind::kInput, "{}: no such file; check the path", path.string());
  }
  std::map<std::int64_t, ModuleProfile> profiles;
  if (IsDatabase(path)) {
    profiles = NsysExport(path, markers).Profiles();
  } else if (ModuleProfile profile = ProfileOfTrace(path); !profile.empty()) {
    profiles[-1] = std::move(profile);
  }
  if (profiles.empty()) {
    Fail(ErrorKind::kInput,
         "{}: no kernels in modules; mark modules with NVTX ranges and name them with"
         " --module_markers, or record a Kineto trace with with_modules=True",
         path.string());
  }
  return profiles;
}

}  // namespace mpa::calibrate
