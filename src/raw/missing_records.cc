// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "control_documents.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/capture/record_kinds.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_document.h"
#include "slices.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;
using io::Member;

constexpr std::string_view kNoteMark = ".done";
constexpr std::string_view kSliceMark = ".slice_";

struct FoundSlice {
  std::optional<std::int64_t> bytes, noted;
  bool has_note = false;
};
using FoundSlices = std::map<std::int64_t, FoundSlice>;  // by number

std::optional<std::int64_t> NotedSize(const fs::path& note) {
  try {
    constexpr std::size_t kMaxLength = 4096;
    return KeyValues(io::ReadStart(note, kMaxLength)).Find("filesize");
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The slices of each kind: "aging.compact.task_track", "stars_soc.data.0".
std::map<std::string, FoundSlices> FindSlices(const fs::path& directory) {
  std::map<std::string, FoundSlices> kinds;
  for (const fs::path& path : EntriesWith(directory, "")) {
    std::string name = path.filename().string();
    const bool is_note = name.ends_with(kNoteMark);
    if (is_note) name.resize(name.size() - kNoteMark.size());
    const std::size_t at = name.rfind(kSliceMark);
    if (at == std::string::npos) continue;
    const auto number = NumberAfter(std::string_view(name).substr(at), kSliceMark);
    std::error_code error;
    if (!number || !fs::is_regular_file(path, error)) continue;
    FoundSlice& slice = kinds[name.substr(0, at)][*number];
    if (is_note) {
      slice.has_note = true;
      slice.noted = NotedSize(path);
    } else {
      slice.bytes = static_cast<std::int64_t>(fs::file_size(path, error));
    }
  }
  return kinds;
}

class SliceJudge {
 public:
  SliceJudge(std::string kind, std::string_view side, Issues& issues)
      : kind_(std::move(kind)), side_(side), issues_(issues) {}

  void JudgeSize(std::int64_t number, const FoundSlice& slice, bool others_have_notes) const {
    const std::string place = fmt::format("{}{}{}", kind_, kSliceMark, number);
    if (!slice.bytes) {
      Count("is missing, its records are lost", place);
    } else if (slice.noted && slice.bytes != slice.noted) {
      Count("is not as long as the profiler left it, records are lost",
            Say("{}, {} of {} bytes", place, *slice.bytes, *slice.noted));
    } else if (*slice.bytes == 0 && !slice.noted) {
      Count("is empty, its records are lost", place);
    } else if (others_have_notes && !slice.has_note && !kind_.ends_with("_dic")) {
      Count("was not closed by the profiler, or its .done is lost: its end may be missing", place);
    }
  }

  void JudgeNumbers(const FoundSlices& slices) const {
    const auto count = static_cast<std::int64_t>(slices.size());
    const std::int64_t first = slices.begin()->first, last = slices.rbegin()->first;
    if (last - first + 1 == count && first == 0) return;
    Count(first > 0 ? "has lost its first slices, by a limit of the storage or a broken copy"
                    : "has lost slices between others",
          Say("{} of {} slices", count, last + 1));
  }

 private:
  void Count(std::string_view what, std::string_view place) const {
    issues_.Count(Say("{}/{} {}; copy the capture again", side_, kind_, Translated(what)), place);
  }

  std::string kind_;
  std::string_view side_;
  Issues& issues_;
};

// Nothing is lost if the file is not read anyway.
bool Matters(std::string_view kind, std::string_view side) {
  const RecordSide where = side == "host" ? RecordSide::kHost : RecordSide::kDevice;
  const RecordKind* known = KindOfRecords(where, fmt::format("{}{}0", kind, kSliceMark));
  return known != nullptr && known->use != RecordUse::kNotRead;
}

bool HasAny(const DataFiles& files, std::initializer_list<std::string_view> stems) {
  return std::ranges::any_of(
      stems, [&](std::string_view stem) { return CountRecords(files, stem, 1) > 0; });
}

bool HoldsBytes(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return !error && bytes > 0;
}

class KindJudge {
 public:
  KindJudge(const ExpectedRecords& expected, Issues& issues)
      : expected_(expected), issues_(issues) {
    for (const SideDocuments& side : expected.sides) {
      (side.name == "host" ? host_ : devices_.emplace_back()) = DataFiles(side.directory / "data");
    }
  }

  void Judge() const {
    if (!expected_.sides.empty()) JudgeDriver();
    JudgeFramework();
  }

 private:
  static bool HasLog(const DataFiles& files) {
    return HasAny(files, {"stars_soc.data", "hwts.data", "hwts.aiv_data", "hwts.log.data",
                          "nano_stars_profile.data"});
  }

  void Missing(std::string_view kind, std::string_view cost) const {
    issues_.Count(
        Say("{} is missing: {}; copy the capture again", Translated(kind), Translated(cost)),
        "no record of it");
  }

  void JudgeDriver() const {
    const bool worked = std::ranges::any_of(devices_, HasLog);
    const bool launched = HasAny(host_, {"compact.task_track", "compact.task_track_v2"});
    const bool called = HasAny(host_, {"api_event.data"});
    if (worked && !launched) {
      Missing("host/task_track", "the kind, name and operator of the device's work are unknown");
    }
    if ((worked || launched) && !called) {
      Missing("host/api_event.data", "work of the device has no operators and no collectives");
    }
    if ((launched || called) && !HasAny(host_, {"additional.type_info_dic"})) {
      Missing("host/type_info_dic", "kinds of calls and tasks are unknown, so kernels are lost");
    }
    if ((launched || called) && !HasAny(host_, {"additional.hash_dic"})) {
      Missing("host/hash_dic", "names are shown as numbers");
    }
    if (launched && !worked) {
      Missing("the task log of the device (stars_soc.data or hwts.data)",
              "all work of the device is lost");
    }
    JudgeCounters();
  }

  void JudgeCounters() const {
    std::size_t device = 0;
    for (const SideDocuments& side : expected_.sides) {
      if (side.name == "host") continue;
      const DataFiles& files = devices_[device++];
      if (TextOf(Member(side.sample, "ai_core_profiling")) != "on" || !HasLog(files)) continue;
      if (HasAny(files, {"ffts_profile.data", "aicore.data", "stars_block.data"})) continue;
      if (TextOf(Member(side.sample, "ai_core_metrics")).empty()) continue;
      Missing(side.name + "/ffts_profile.data or aicore.data", "kernels have no counters");
    }
  }

  void JudgeFramework() const {
    const Json& common = MemberOf(expected_.settings, {"config", "common_config"});
    const auto on = [&](const char* key) { return Member(common, key) == Json(true); };
    const Json& activities = Member(common, "activities");
    const bool host =
        activities.is_array() && std::ranges::any_of(activities, [](const Json& activity) {
          return TextOf(activity).ends_with("CPU");
        });
    // Other frameworks use other file names.
    const bool torch = !Member(expected_.settings, "torch_npu_version").is_null() ||
                       !EntriesWith(expected_.framework, "torch.").empty();
    if (!torch) return;
    if (expected_.framework.empty()) {
      if (host) Missing("FRAMEWORK", "operators and steps are lost");
      return;
    }
    JudgeEmptyFiles();
    const auto has = [&](const char* name) { return HoldsBytes(expected_.framework / name); };
    if (host && !has("torch.op_range")) {
      Missing("FRAMEWORK/torch.op_range", "operators and steps are lost");
    }
    if (on("profile_memory") && !has("torch.memory_usage")) {
      Missing("FRAMEWORK/torch.memory_usage", "the memory of operators is lost");
    }
    const bool calls = has("torch.python_tracer_func"), names = has("torch.python_tracer_hash");
    // Not every version records both when stacks are requested.
    if (names && !calls) Missing("FRAMEWORK/torch.python_tracer_func", "Python calls are lost");
    if (calls && !names) Missing("FRAMEWORK/torch.python_tracer_hash", "Python calls are lost");
  }

  void JudgeEmptyFiles() const {
    for (const fs::path& path : EntriesWith(expected_.framework, "torch.")) {
      std::error_code error;
      if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > 0) continue;
      issues_.Count(Say("FRAMEWORK/{} is empty, its records are lost; copy the capture"
                        " again",
                        path.filename().string()),
                    path.string());
    }
  }

  const ExpectedRecords& expected_;
  Issues& issues_;
  DataFiles host_;
  std::vector<DataFiles> devices_;
};

}  // namespace

void CountMissingSlices(const fs::path& directory, std::string_view side, Issues& issues) {
  const std::map<std::string, FoundSlices> kinds = FindSlices(directory);
  const bool notes = std::ranges::any_of(kinds, [](const auto& kind) {
    return std::ranges::any_of(kind.second,
                               [](const auto& slice) { return slice.second.has_note; });
  });
  for (const auto& [kind, slices] : kinds) {
    if (!Matters(kind, side)) continue;
    const SliceJudge judge(kind, side, issues);
    for (const auto& [number, slice] : slices) judge.JudgeSize(number, slice, notes);
    judge.JudgeNumbers(slices);
  }
}

void CountMissingKinds(const ExpectedRecords& expected, Issues& issues) {
  KindJudge(expected, issues).Judge();
}

}  // namespace mpa::raw
