// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnose.h"
#include "mpa/base/error.h"
#include "mpa/base/memory.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/choice.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/diagnosis/part/part_tables.h"
#include "mpa/diagnosis/report/cause_text.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"
#include "mpa/measure/accounting.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa {

// What goes into the bytes of a part; see part_bytes.h.

constexpr TimeCategory LastOf(TimeCategory) { return TimeCategory::kUnknown; }
constexpr NodeKind LastOf(NodeKind) { return NodeKind::kLeave; }
constexpr PerfFamily LastOf(PerfFamily) { return PerfFamily::kVector; }
constexpr PerfVerdict LastOf(PerfVerdict) { return PerfVerdict::kShape; }
constexpr WaitsFor LastOf(WaitsFor) { return WaitsFor::kEnd; }

namespace {

// A GraphEdge as a row in columns.
struct EdgeInColumns {
  static constexpr bool kInColumns = true;
  std::uint32_t node = 0;
  std::int32_t on = 0;
  WaitsFor from{};
  TimeNs weight = 0;
};

}  // namespace

template <class Archive>
void serialize(Archive& archive, RankGraph& graph) {
  std::vector<EdgeInColumns> edges;
  edges.reserve(graph.edges.size());
  for (const GraphEdge& edge : graph.edges)
    edges.push_back({edge.node, static_cast<std::int32_t>(edge.on), edge.from, edge.weight});
  archive(graph.nodes, edges, graph.collectives, graph.last, graph.opening);
  if (std::same_as<Archive, PartWriter>) return;
  graph.edges.reserve(edges.size());
  for (const EdgeInColumns& edge : edges) {
    if (edge.on < 0) Fail(ErrorKind::kCorrupt, "the part holds a number that nothing has");
    graph.edges.push_back({edge.node, static_cast<std::uint32_t>(edge.on), edge.from, edge.weight});
  }
}

namespace {

RankDiagnosis MapDiagnosis(const RankTrace& trace, const RecipeArguments& arguments) {
  RankDiagnosis part = MakeRankDiagnosis(trace, arguments.Has(kFinding.name));
  CheckPart(part);  // here the capture is known, and costs its rank alone
  return part;
}

Dimension DimensionOf(const FindingType& finding) {
  if (finding.dimension != Dimension::kOfArea) return finding.dimension;
  switch (finding.area) {
    case Area::kHosts:
      return Dimension::kSchedule;
    case Area::kDevices:
    case Area::kBalance:
      return Dimension::kComputation;
    default:
      return Dimension::kNone;
  }
}

bool IsOfDimension(const FindingType& finding, std::string_view dimension) {
  if (dimension == "computation") return DimensionOf(finding) == Dimension::kComputation;
  return dimension != "schedule" || DimensionOf(finding) == Dimension::kSchedule;
}

// What hides some findings, and what hides that, among those that are left out. Of two that pay
// only together, both.
std::vector<NeededFinding> DominatingFindings(const std::vector<Finding>& shown,
                                              const std::vector<Finding>& left_out) {
  std::set<std::string> wanted;
  for (const Finding& finding : shown) wanted.insert(finding.after.begin(), finding.after.end());
  for (std::size_t known = 0; known != wanted.size();) {
    known = wanted.size();
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      const bool pays_with_next = left_out[i].pays_only_with_next && i + 1 < left_out.size() &&
                                  wanted.contains(left_out[i + 1].key);
      if (pays_with_next) wanted.insert(left_out[i].key);
      if (wanted.contains(left_out[i].key))
        wanted.insert(left_out[i].after.begin(), left_out[i].after.end());
    }
  }
  std::vector<NeededFinding> needed;
  for (const Finding& finding : left_out) {
    if (wanted.contains(finding.key)) needed.push_back({finding.key, finding.gain});
  }
  return needed;
}

// Leaves the findings of one dimension, as the commands of the Python tool do. The gains stay: they
// hold once what hides them is fixed, too.
void KeepDimension(const RecipeArguments& arguments, Diagnosis& diagnosis) {
  const std::string dimension = arguments[kQuestion];
  if (arguments.Has(kFinding.name)) return;
  const auto categories = [&](const Finding& found) {
    return !IsOfDimension(*found.type, dimension);
  };
  std::vector<Finding> left_out;
  std::ranges::copy_if(diagnosis.findings, std::back_inserter(left_out), categories);
  std::erase_if(diagnosis.findings, categories);
  std::erase_if(diagnosis.hidden, categories);
  std::erase_if(diagnosis.passed_checks,
                [&](const FindingType* finding) { return !IsOfDimension(*finding, dimension); });
  if (!IsOfDimension(kOpUnfused, dimension)) {
    diagnosis.known_fusions = 0;
    diagnosis.fusions.clear();
  }
  diagnosis.hiding_findings_not_shown = DominatingFindings(diagnosis.findings, left_out);
  for (const Finding& finding : left_out) {
    diagnosis.step_after_fixes += finding.gain;
    if (finding.kind == FindingKind::kFault)
      diagnosis.culprits.insert(diagnosis.culprits.end(), finding.ranks.begin(),
                                finding.ranks.end());
  }
  for (const NeededFinding& finding : diagnosis.hiding_findings_not_shown)
    diagnosis.step_after_fixes -= finding.gain;
}

// A misspelt key, or one of the same kind.
std::optional<std::string> NearestKey(const std::string& key,
                                      const std::vector<std::string>& keys) {
  if (auto closest = Closest(key, keys)) return closest;
  const std::string id = key.substr(0, key.find('/'));
  const auto same =
      std::ranges::find_if(keys, [&](const std::string& known) { return known.starts_with(id); });
  if (same != keys.end() && !id.empty()) return *same;
  std::vector<std::string> ids;
  for (const std::string& known : keys) ids.push_back(known.substr(0, known.find('/')));
  const auto closest = Closest(id, ids);
  if (!closest) return std::nullopt;
  return keys[static_cast<std::size_t>(std::ranges::find(ids, *closest) - ids.begin())];
}

[[noreturn]] void FailWithoutFindings(const std::string& key, const Thresholds& thresholds) {
  std::vector<std::string> ids;
  for (const FindingType* finding : Catalogue()) ids.emplace_back(finding->id);
  const std::string id = key.substr(0, key.find('/'));
  const auto nearest = std::ranges::find(ids, id) == ids.end() ? Closest(id, ids) : std::nullopt;
  const std::string share = LeastShareText(thresholds);
  if (!nearest) {
    Fail(ErrorKind::kUsage,
         "no finding '{}'; this job has no findings: no cause costs {} of the step", key, share);
  }
  Fail(ErrorKind::kUsage,
       "no finding '{}' (did you mean '{}'?); this job has no findings: no cause costs {} of the"
       " step",
       key, *nearest, share);
}

// Numbers are those of all findings: a screen of one dimension has others.
NextQuestion NextQuestionOf(const RecipeArguments& arguments, const Diagnosis& diagnosis) {
  NextQuestion next;
  if (arguments[kQuestion] != "all" && !diagnosis.findings.empty())
    next.finding = ShellWord(diagnosis.findings.front().key);
  if (!arguments.captures.empty()) next.captures = arguments.captures;
  return next;
}

}  // namespace

const Finding& FindingAsked(const Diagnosis& diagnosis, const std::string& key) {
  std::vector<std::string> keys;
  if (const auto place = PlaceOf(key, diagnosis.findings.size())) return diagnosis.findings[*place];
  for (const Finding& finding : diagnosis.findings) {
    if (finding.key == key) return finding;
    keys.push_back(finding.key);
  }
  for (const Finding& hidden : diagnosis.hidden) {
    if (hidden.key != key && hidden.type->id != key) continue;
    Fail(ErrorKind::kUsage,
         "no finding '{}': alone it saves {} ms, but hardly anything once others are fixed; ask for"
         " {}",
         key, MsText(diagnosis.step)(hidden.alone), fmt::join(hidden.after, Translated(" or ")));
  }
  if (keys.empty()) FailWithoutFindings(key, diagnosis.thresholds);
  const auto nearest = NearestKey(key, keys);
  const std::string available = fmt::format("{}", fmt::join(keys, ", "));
  if (!nearest) Fail(ErrorKind::kUsage, "no finding '{}'; available: {}", key, available);
  Fail(ErrorKind::kUsage, "no finding '{}'; did you mean '{}'? available: {}", key, *nearest,
       available);
}

namespace {

// What is said of one finding.
void Explain(Diagnosis& diagnosis, const RecipeArguments& arguments, OutputSelection wanted,
             Report& report) {
  constexpr std::size_t kPlaces = 8;
  Finding finding = FindingAsked(diagnosis, arguments[kFinding]);
  const std::size_t places = arguments[kEvidence].value_or(kPlaces);
  if (wanted.screen != Detail::kNone)
    report.lines = ScreenLinesOf(WhyLines(diagnosis, finding, places));
  diagnosis.findings = {std::move(finding)};
}

}  // namespace

std::vector<DiagnosedRank> DiagnosedRanksOf(const std::vector<RankPart>& parts) {
  std::vector<DiagnosedRank> ranks;
  for (const RankPart& part : parts) {
    ranks.push_back({part.rank, static_cast<const RankDiagnosis*>(part.part.get())});
    CheckPart(*ranks.back().part);
  }
  return ranks;
}

namespace {

void ReduceDiagnosis(const std::vector<OfRank<RankDiagnosis>>& parts,
                     const RecipeArguments& arguments, OutputSelection wanted, Report& report) {
  constexpr std::size_t kOnScreen = 5, kInDocument = 20, kPlaces = 5;
  std::vector<DiagnosedRank> ranks;
  for (const auto& [rank, part] : parts) {
    CheckPart(part);
    ranks.push_back({rank, &part});
    BeginRank(rank, report);
  }
  Diagnosis diagnosis = Diagnose(ranks, arguments[kRules], arguments[kFinding],
                                 wanted.sheets && !arguments.Has(kFinding.name), report.absent);
  KeepDimension(arguments, diagnosis);
  if (arguments.Has(kFinding.name)) {
    Explain(diagnosis, arguments, wanted, report);
  } else {
    if (wanted.screen != Detail::kNone) {
      report.lines =
          ScreenLinesOf(DiagnosisScreen(diagnosis, arguments[kTopFindings].value_or(kOnScreen),
                                        NextQuestionOf(arguments, diagnosis)));
    }
    if (wanted.sheets) {
      AddProblemSheets(ranks, diagnosis, report);
      report.page =
          DiagnosisPage(diagnosis, arguments.captures.empty() ? "DIR" : arguments.captures);
      std::string tuned = TuningList(ranks);
      if (!tuned.empty()) report.documents.push_back({std::string(kTuningList), std::move(tuned)});
    } else {
      report.page.emplace().lead = {VerdictText(diagnosis)};  // all that programs read of it
    }
  }
  const DiagnosisJsonOptions options{.findings = arguments[kTopFindings].value_or(kInDocument),
                                     .evidence = arguments[kEvidence].value_or(kPlaces),
                                     .max_chars = arguments[kMaxChars]};
  const DiagnosisJsonOptions whole{.findings = diagnosis.findings.size(), .evidence = 0};
  report.documents.insert(report.documents.begin(),
                          {{std::string(kDiagnosisDocument), DiagnosisJson(diagnosis, options)},
                           {std::string(kWholeDiagnosis), DiagnosisJson(diagnosis, whole)}});
  const std::vector<std::string> notes = NotesOf(diagnosis);
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
}

const RankDiagnosis& DiagnosisIn(const RankPart& part) {
  return *static_cast<const RankDiagnosis*>(part.part.get());
}

constexpr Recipe::Outlines kOutlines{
    .encode = [](const RankPart& part) { return ToBytes(OutlineOf(DiagnosisIn(part))); },
    .memory = [](const RankPart& part) { return MemoryOfReplay(DiagnosisIn(part)); },
    .choose =
        [](const std::vector<RankPart>& parts, const RecipeArguments& arguments,
           std::int64_t bytes) {
          return ReplayedOf(DiagnosedRanksOf(parts), arguments[kRules], bytes);
        }};

Verdict CanDiagnose(const RankFacts& facts) { return JudgeReadable(facts); }

}  // namespace

JobCauses CausesOf(const std::vector<RankPart>& parts, const AbsentRanks& absent) {
  std::vector<DiagnosedRank> ranks = DiagnosedRanksOf(parts);
  const std::vector<std::size_t> replayed = ReplayedOf(ranks, {}, UsualMemory());
  std::deque<RankDiagnosis> outlines;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!std::ranges::binary_search(replayed, i))
      ranks[i].part = &outlines.emplace_back(OutlineOf(*ranks[i].part));
  }
  return CausesIn(Diagnose(ranks, {}, "", /*for_page=*/false, absent));
}

Recipe DiagnosisRecipe() {
  RecipeInfo info;
  info.name = "advisor";
  info.folder = "Advisor";
  info.summary = "What slows the step down, on which ranks, and how much time a fix saves";
  info.needs = kPartTables;
  info.can_run = CanDiagnose;
  info.empty_is_answer = true;
  Recipe recipe = MakeRecipe<MapDiagnosis, ReduceDiagnosis>(std::move(info));
  recipe.outlines = &kOutlines;
  return recipe;
}

}  // namespace mpa
