// SPDX-License-Identifier: Apache-2.0
// Which rank a capture is of: the only place that decides.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "json_members.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"
#include "mpa/io/json_document.h"
#include "mpa/io/sqlite.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// What one source says.
struct Claim {
  std::string source;
  std::int64_t rank = -1;
};
using Claims = std::vector<Claim>;

// An unreadable source gives no rank; its reader reports what is wrong with it.
template <typename Read>
void Ask(Read read) {
  try {
    read();
  } catch (const Error& error) {
    Log(LogLevel::kDebug, "{}; it does not name the rank", error.what());
  }
}

// The own number in the job behind that in each group; empty where groups say different things.
std::optional<std::int64_t> RankOfGroups(const nlohmann::json& parallel_group_info) {
  std::set<std::int64_t> ranks;
  if (!parallel_group_info.is_object()) return std::nullopt;
  for (const auto& [id, group] : parallel_group_info.items()) {
    const auto own = Id(Member(group, "group_rank"));
    const nlohmann::json& members = Member(group, "global_ranks");
    if (!own || !members.is_array() || static_cast<std::size_t>(*own) >= members.size()) continue;
    if (const auto rank = Id(members[static_cast<std::size_t>(*own)])) ranks.insert(*rank);
  }
  return ranks.size() == 1 ? std::optional(*ranks.begin()) : std::nullopt;
}

void AddGroupsClaim(const nlohmann::json& parallel_group_info, const fs::path& file,
                    Claims& claims) {
  if (const auto rank = RankOfGroups(parallel_group_info))
    claims.push_back({Say("parallel_group_info of {}", file.filename().string()), *rank});
}

void AskDatabase(const CaptureFile& file, Claims& claims, Claims& of_groups) {
  CheckFollowed(file);
  const io::Database database(file.path);
  if (database.HasTable("RANK_DEVICE_MAP")) {
    std::set<std::int64_t> ranks;
    io::Statement rows = database.Query("SELECT DISTINCT rankId FROM RANK_DEVICE_MAP");
    while (rows.Step()) ranks.insert(rows.IntOr(0, -1));
    // Several devices in one database are of several ranks.
    if (ranks.size() == 1 && *ranks.begin() >= 0)
      claims.push_back({"RANK_DEVICE_MAP", *ranks.begin()});
  }
  if (!database.HasTable("META_DATA")) return;
  io::Statement rows =
      database.Query("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'");
  if (!rows.Step()) return;
  AddGroupsClaim(io::TryParseJson(rows.Text(0)), file.path, of_groups);
}

constexpr std::string_view kDigits = "0123456789";

}  // namespace

// A number within a smaller group, "tp_rank3", is another one.
std::optional<std::int64_t> RankInName(std::string_view any_case) {
  constexpr std::string_view kWord = "rank", kBetween = "-_. ";
  constexpr std::array<std::string_view, 12> kSmaller = {
      "local", "node", "group", "tp", "pp", "dp", "ep", "cp", "sp", "dcp", "attn", "device"};
  const std::string name = ToLower(std::string(any_case));
  std::set<std::int64_t> ranks;
  for (std::size_t at = name.find(kWord); at != std::string::npos; at = name.find(kWord, at + 1)) {
    if (at > 0) {
      if (kBetween.find(name[at - 1]) == std::string_view::npos) continue;
      const std::size_t before = name.find_last_of(kBetween, at > 1 ? at - 2 : 0);
      const std::size_t begin = at < 2 || before == std::string::npos ? 0 : before + 1;
      const std::string_view word = std::string_view(name).substr(begin, at - 1 - begin);
      if (std::ranges::find(kSmaller, word) != kSmaller.end()) continue;
    }
    std::size_t begin = at + kWord.size();
    if (begin < name.size() && (name[begin] == '_' || name[begin] == '-')) ++begin;
    const std::size_t end = std::min(name.find_first_not_of(kDigits, begin), name.size());
    if (begin >= end || (end < name.size() && kBetween.find(name[end]) == std::string_view::npos))
      continue;
    if (const auto rank = io::ParseInt(std::string_view(name).substr(begin, end - begin)))
      ranks.insert(*rank);
  }
  return ranks.size() == 1 ? std::optional(*ranks.begin()) : std::nullopt;
}

namespace {

// The name of the file that was given, of the folder, and of a folder around it that is called
// after nothing but a rank.
void AddNames(const RankInput& input, Claims& claims) {
  const fs::path folder = CaptureDirectory(input.path);
  const auto add = [&](const fs::path& path) {
    const std::string name = path.filename().string();
    const auto rank = RankInName(name);
    if (rank) claims.push_back({Say("the name {}", Printable(name)), *rank});
    return rank.has_value();
  };
  if (!IsDirectory(input.path) && add(input.path)) return;
  if (IsDirectory(input.path) || folder != input.path.parent_path()) {
    if (add(folder)) return;
  }
  const fs::path around = IsDirectory(input.path) ? folder.parent_path() : folder;
  const std::string name = ToLower(around.filename().string());
  const std::size_t digits = name.find_first_of(kDigits);
  if (digits == std::string::npos || name.find_first_not_of(kDigits, digits) != std::string::npos)
    return;
  const std::string_view word = std::string_view(name).substr(0, digits);
  if (word == "rank" || word == "rank_" || word == "rank-") add(around);
}

// In the order of their weight.
Claims ClaimsOf(const RankInput& input) {
  Claims claims, of_groups;
  if (input.gpu && input.gpu->rank) claims.push_back({"distributedInfo", *input.gpu->rank});
  if (input.info && input.info->rank)
    claims.push_back({input.info->path.filename().string(), *input.info->rank});
  if (const CaptureFile* database = input.Find(FileKind::kProfilerDb)) {
    if (const auto named = NumberInName(database->path))
      claims.push_back({Say("the name {}", database->path.filename().string()), *named});
    Ask([&] { AskDatabase(*database, claims, of_groups); });
  }
  // That of a file which cannot be read says less than the name of the database.
  if (claims.empty() && input.host_rank)
    claims.push_back({Say("the name of profiler_info"), *input.host_rank});
  // A single file in a folder of arbitrary files has no related files there.
  const fs::path folder = CaptureDirectory(input.path);
  if (!IsKineto(input.kind) && (IsDirectory(input.path) || folder != input.path.parent_path())) {
    Ask([&] {
      if (const auto rank = RankOfHost(folder)) claims.push_back({"host/info.json", *rank});
    });
  }
  if (const CaptureFile* metadata = input.Find(FileKind::kProfilerMetadata)) {
    Ask([&] {
      CheckFollowed(*metadata);
      AddGroupsClaim(Member(io::ReadJson(metadata->path), "parallel_group_info"), metadata->path,
                     of_groups);
    });
  }
  claims.insert(claims.end(), of_groups.begin(), of_groups.end());
  AddNames(input, claims);
  return claims;
}

// "a says rank 0, b rank 1" for the first claim and those that differ from it.
std::string ConflictIn(const RankInput& input, const Claims& claims) {
  std::string others;
  for (const Claim& claim : claims) {
    if (claim.rank != claims.front().rank) others += Say(", {} rank {}", claim.source, claim.rank);
  }
  if (others.empty()) return "";
  return Say("{}: {} says rank {}{}; {} is taken, correct the others", input.path.string(),
             claims.front().source, claims.front().rank, others, claims.front().rank);
}

void Decide(RankInput& input) {
  if (const CaptureFile* trace = input.FindKineto(); trace != nullptr && !input.gpu) {
    Ask([&] { input.gpu = ReadGpuTraceFacts(trace->path); });
  }
  Claims claims = ClaimsOf(input);
  for (const Claim& claim : claims) {
    if (claim.rank >= kMaxRanks && !input.impossible_rank) input.impossible_rank = claim.rank;
  }
  std::erase_if(claims, [](const Claim& claim) { return !RankId(claim.rank).IsNumber(); });
  if (claims.empty()) return;
  input.rank = claims.front().rank;
  input.rank_conflict = ConflictIn(input, claims);
}

// The numbers of a capture in its groups, where tables of communication tell.
struct OwnPlace {
  std::int64_t own = -1, size = 0;  ///< the size as far as links tell
};
using OwnPlaces = std::map<std::string, OwnPlace>;  // by group

void AddLink(const std::string& group, std::int64_t own, std::int64_t peer, OwnPlaces& places) {
  if (own < 0 || own >= kMaxRanks || peer >= kMaxRanks) return;
  OwnPlace& place = places[group];
  place.own = own;
  place.size = std::max({place.size, own + 1, peer + 1});
}

// Links of an operation are "<own number>-<that of the peer>".
void AddMatrix(const nlohmann::json& matrix, OwnPlaces& places) {
  if (!matrix.is_object()) return;
  for (const nlohmann::json& step : matrix) {
    if (!step.is_object()) continue;
    for (const nlohmann::json& kind : step) {
      if (!kind.is_object()) continue;
      for (const auto& [operation, links] : kind.items()) {
        const std::size_t at = operation.rfind('@');
        if (at == std::string::npos || !links.is_object()) continue;
        for (const auto& [link, values] : links.items()) {
          const std::size_t dash = link.find('-');
          if (dash == std::string::npos) continue;
          AddLink(operation.substr(at + 1),
                  io::ParseInt(std::string_view(link).substr(0, dash)).value_or(-1),
                  io::ParseInt(std::string_view(link).substr(dash + 1)).value_or(-1), places);
        }
      }
    }
  }
}

void AddLinks(const CaptureFile& file, std::string_view table, std::string_view query,
              OwnPlaces& places) {
  CheckFollowed(file);
  const io::Database database(file.path);
  if (!database.HasTable(table)) return;
  io::Statement rows = database.Query(query);
  while (rows.Step())
    AddLink(std::string(rows.Text(0)), rows.IntOr(1, -1), rows.IntOr(2, -1), places);
}

OwnPlaces OwnPlacesOf(const RankInput& input) {
  OwnPlaces places;
  if (const CaptureFile* matrix = input.Find(FileKind::kCommMatrix)) {
    Ask([&] {
      CheckFollowed(*matrix);
      AddMatrix(io::ReadJson(matrix->path, io::kMostCommunication), places);
    });
  }
  if (const CaptureFile* analysis = input.Find(FileKind::kAnalysisDb); analysis && places.empty()) {
    Ask([&] {
      AddLinks(*analysis, "CommAnalyzerMatrix",
               "SELECT DISTINCT group_name, src_rank, dst_rank FROM CommAnalyzerMatrix", places);
    });
  }
  if (const CaptureFile* database = input.Find(FileKind::kProfilerDb); database && places.empty()) {
    Ask([&] {
      AddLinks(*database, "COMMUNICATION_TASK_INFO",
               "SELECT s.value, t.srcRank, t.dstRank FROM (SELECT DISTINCT groupName, srcRank,"
               " dstRank FROM COMMUNICATION_TASK_INFO) t JOIN STRING_IDS s ON s.id = t.groupName",
               places);
    });
  }
  return places;
}

// The group with most members; null where several have as many.
const OwnPlaces::value_type* LargestOf(const OwnPlaces& places) {
  const auto largest =
      std::ranges::max_element(places, {}, [](const auto& place) { return place.second.size; });
  if (largest == places.end()) return nullptr;
  const auto has_its_size = [&](const auto& place) {
    return place.second.size == largest->second.size;
  };
  return std::ranges::count_if(places, has_its_size) == 1 ? &*largest : nullptr;
}

// Groups do not list their members here. One that all captures without a number share, and that is
// the largest of each, is taken for the whole job.
void NumberByGroup(std::span<RankInput> inputs) {
  std::vector<RankInput*> unknown;
  std::set<RankId> taken;
  for (RankInput& input : inputs) {
    if (input.rank >= 0)
      taken.insert(input.rank);
    else
      unknown.push_back(&input);
  }
  if (unknown.size() < 2) return;
  std::vector<OwnPlaces> places(unknown.size());
  ParallelFor(unknown.size(), [&](std::size_t i) { places[i] = OwnPlacesOf(*unknown[i]); });
  std::string group;
  std::vector<std::int64_t> numbers;
  for (const OwnPlaces& of_capture : places) {
    const OwnPlaces::value_type* largest = LargestOf(of_capture);
    if (largest == nullptr || (!group.empty() && group != largest->first)) return;
    group = largest->first;
    numbers.push_back(largest->second.own);
    if (!taken.insert(numbers.back()).second) return;
  }
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    unknown[i]->rank = numbers[i];
    unknown[i]->rank_origin =
        Say("{}: rank {} is its number in the communication group {}; the capture names no other",
            unknown[i]->path.string(), numbers[i], Printable(group));
  }
}

// "node0_3007919" of node0_3007919_20250109101617138_ascend_pt.
std::string WithoutTime(std::string_view name) {
  constexpr std::size_t kLeast = 13;
  std::string text;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("_.", at), name.size());
    const std::string_view word = name.substr(at, end - at);
    const bool is_time =
        word.size() >= kLeast && word.find_first_not_of(kDigits) == std::string_view::npos;
    if (!is_time) {
      if (!text.empty()) text += name[at - 1];
      text += word;
    }
    at = end + 1;
  }
  return text;
}

// The name without what all captures of its kind end in.
std::string StemOf(const fs::path& path) {
  std::string name = path.filename().string();
  for (const std::string_view end :
       {"_ascend_pt", "_ascend_ms", ".gz", ".json", ".trace", ".pt", ".db"}) {
    if (name.size() > end.size() && name.ends_with(end)) name.erase(name.size() - end.size());
  }
  return name;
}

constexpr std::size_t kLabelColumns = 32;

// Labels may not be taken for numbers.
std::string NoNumeral(std::string label) {
  const bool is_numeral = label.find_first_not_of(kDigits) == std::string::npos;
  return Printable(is_numeral ? "folder_" + label : std::move(label));
}

// Empty where two captures would have the same one.
std::vector<std::string> IfDistinct(std::vector<std::string> labels) {
  const std::set<std::string> distinct(labels.begin(), labels.end());
  return distinct.size() == labels.size() ? std::move(labels) : std::vector<std::string>();
}

template <typename Label>
std::vector<std::string> MapPaths(const std::vector<fs::path>& paths, Label label) {
  std::vector<std::string> labels;
  for (const fs::path& path : paths) labels.push_back(NoNumeral(label(path)));
  return IfDistinct(std::move(labels));
}

// The shortest labels that tell the captures apart.
std::vector<std::string> LabelsOf(const std::vector<fs::path>& paths) {
  std::vector<std::string> labels = MapPaths(paths, [](const fs::path& path) {
    return ShortenMiddle(WithoutTime(StemOf(path)), kLabelColumns);
  });
  if (labels.empty())
    labels = MapPaths(
        paths, [](const fs::path& path) { return ShortenMiddle(StemOf(path), kLabelColumns); });
  constexpr int kLevels = 4;  // of directories that are searched for captures
  for (int level = 1; labels.empty() && level <= kLevels; ++level) {
    labels = MapPaths(paths, [level](const fs::path& path) {
      std::string label = StemOf(path);
      fs::path around = path.parent_path();
      for (int up = 0; up < level; ++up, around = around.parent_path())
        label = around.filename().string() + "/" + label;
      return label;
    });
  }
  if (labels.empty()) {
    for (const fs::path& path : paths) labels.push_back(Printable(path.string()));
  }
  return labels;
}

void Label(std::span<RankInput> inputs) {
  std::vector<RankInput*> unknown;
  std::vector<fs::path> paths;
  for (RankInput& input : inputs) {
    if (input.rank >= 0) continue;
    unknown.push_back(&input);
    const bool is_file =
        !IsDirectory(input.path) && CaptureDirectory(input.path) == input.path.parent_path();
    paths.push_back(is_file ? input.path : CaptureDirectory(input.path));
  }
  if (unknown.empty()) return;
  const std::vector<std::string> labels = LabelsOf(paths);
  std::map<std::string, RankInput*> in_order;
  for (std::size_t i = 0; i < unknown.size(); ++i) in_order.emplace(labels[i], unknown[i]);
  for (const auto& [label, input] : in_order) input->rank = RankOfLabel(label);
}

}  // namespace

void NameRanks(std::span<RankInput> inputs) {
  ParallelFor(inputs.size(), [&](std::size_t i) { Decide(inputs[i]); });
  NumberByGroup(inputs);
  Label(inputs);
}

}  // namespace mpa
