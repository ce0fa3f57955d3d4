// SPDX-License-Identifier: Apache-2.0
#include "capture_mismatch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/gate/comparable.h"
#include "mpa/io/input_text.h"

namespace mpa {
namespace {

gate::RunSummary CollectionOf(const LoadedCapture& capture) {
  const RankFacts facts = SurveyRank(capture.input);
  gate::RunSummary run;
  run.facts = CollectionFacts({facts});
  if (facts.world_size) run.facts["world_size"] = std::to_string(*facts.world_size);
  const std::vector<std::int32_t>& ids = capture.trace.steps.id;
  const std::set<std::int32_t> steps(ids.begin(), ids.end());
  if (!steps.empty()) run.facts["steps"] = std::to_string(steps.size());
  run.shapes = gate::CountShapes(capture.trace);
  run.settings = facts.all_settings;
  return run;
}

// What spoils the numbers most comes first.
std::size_t PlaceOf(const std::string& field) {
  constexpr std::array<std::string_view, 5> kFirst = {"device", "steps", "world_size", "shapes",
                                                      "profiler_level"};
  return static_cast<std::size_t>(std::ranges::find(kFirst, field) - kFirst.begin());
}

}  // namespace

ComparedCollections CompareCollections(const LoadedCapture& base, const LoadedCapture& comparison) {
  const gate::RunSummary before = CollectionOf(base), after = CollectionOf(comparison);
  ComparedCollections compared{"", CompareSettings(before.settings, after.settings)};
  std::vector<GateMismatch> mismatches = gate::FindMismatches({before}, {after}, {});
  if (mismatches.empty()) return compared;
  StableSort(mismatches, [](const GateMismatch& a, const GateMismatch& b) {
    return PlaceOf(a.field) < PlaceOf(b.field);
  });
  compared.mismatch =
      Say("The captures are not alike (base / comparison): {}", gate::MismatchText(mismatches));
  return compared;
}

RecordedSettings SettingsToCompare(const std::vector<RankFacts>& ranks) {
  std::vector<const RecordedSettings*> of_ranks;
  for (const RankFacts& rank : ranks) of_ranks.push_back(&rank.all_settings);
  RecordedSettings joined = JoinSettings(of_ranks);
  for (auto& [kind, values] : joined) {
    std::erase_if(
        values, [](const auto& setting) { return DiffersByNature(setting.first, setting.second); });
  }
  return joined;
}

void FactSets::Add(const std::string& field, const std::string& value) {
  if (!value.empty()) values_[field].insert(value);
}

gate::Facts FactSets::Joined() const {
  gate::Facts facts;
  for (const auto& [field, values] : values_) {
    facts[field] = fmt::format("{}", fmt::join(values, ", "));
  }
  return facts;
}

namespace {

void AddSettings(const ProfilerInfo& info, FactSets& facts) {
  facts.Add("profiler_level", info.level);
  facts.Add("aic_metrics", info.aic_metrics);
  const std::set<std::string> activities(info.activities.begin(), info.activities.end());
  facts.Add("activities", fmt::format("{}", fmt::join(activities, " and ")));
  const auto add_switch = [&](const char* field, bool on) { facts.Add(field, on ? "on" : "off"); };
  add_switch("record_shapes", info.record_shapes);
  add_switch("profile_memory", info.profile_memory);
  add_switch("with_stack", info.with_stack);
  add_switch("with_modules", info.with_modules);
}

}  // namespace

gate::Facts CollectionFacts(const std::vector<RankFacts>& ranks) {
  FactSets facts;
  for (const RankFacts& rank : ranks) {
    facts.Add("device", rank.kind == CaptureKind::kGpu ? "GPU" : "NPU");
    facts.Add("soc", rank.device_name);
    facts.Add("framework", rank.framework);
    facts.Add("torch_npu_version", rank.torch_npu_version);
    facts.Add("cann_version", rank.cann_version);
    if (rank.settings) AddSettings(*rank.settings, facts);
  }
  return facts.Joined();
}

namespace {

namespace fs = std::filesystem;

// By their place below the path; a file that was given itself has none.
using FilesByPlace = std::map<std::string, fs::path>;

FilesByPlace FilesOf(const RunSource& source) {
  std::error_code ignored;
  const fs::path root = fs::canonical(source.path, ignored);
  FilesByPlace files;
  const auto add = [&](const fs::path& path) {
    files[path.lexically_relative(root).generic_string()] = path;
  };
  if (source.ranks.empty()) add(root);
  for (const FoundRank& rank : source.ranks) {
    for (const CaptureFile& file : rank.input.files) {
      if (!fs::is_directory(file.path, ignored)) {
        add(file.path);
        continue;
      }
      for (const fs::directory_entry& entry :
           fs::recursive_directory_iterator(file.path, ignored)) {
        if (entry.is_regular_file(ignored)) add(entry.path());
      }
    }
  }
  return files;
}

bool HaveSameContent(const fs::path& a, const fs::path& b) {
  return io::InputText(a, io::Content::kAsIs).text() == io::InputText(b, io::Content::kAsIs).text();
}

}  // namespace

bool IsSameCapture(const RunSource& a, const RunSource& b) {
  std::error_code ignored;
  if (fs::equivalent(a.path, b.path, ignored)) return true;
  const FilesByPlace of_a = FilesOf(a), of_b = FilesOf(b);
  const bool alike = std::equal(
      of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [&](const auto& left, const auto& right) {
        return left.first == right.first &&
               fs::file_size(left.second, ignored) == fs::file_size(right.second, ignored);
      });
  return alike && !of_a.empty() && std::ranges::all_of(of_a, [&](const auto& file) {
           return HaveSameContent(file.second, of_b.at(file.first));
         });
}

}  // namespace mpa
