// SPDX-License-Identifier: Apache-2.0
// Steps, groups, times, bandwidths and links of the communication of all ranks: the plain modes of
// the Python tool, and its recipes for one subject each.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/measure/collectives.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/culprits.h"
#include "mpa/recipe/job_collectives.h"
#include "mpa/recipe/make_recipe.h"
#include "sums.h"

namespace mpa::recipes::communication {
namespace {

using communication::Group;
using communication::Part;
using communication::Ranks;

Part MapSums(const RankTrace& trace) {
  Part part{.steps = {},
            .texts = {},
            .step_times = {},
            .job = trace.job,
            .capture = trace.capture_path,
            .groups = {},
            .of_torch = false,
            .of_one_step = trace.is_one_step};
  KeepSteps(trace.communication_summary, part);
  part.of_torch = trace.device == DeviceKind::kGpu || trace.source == "torch.profiler";
  if (part.of_torch) {
    for (const StringId group : trace.comm_groups.name)
      part.groups.push_back(std::to_string(GroupHash(trace.strings.View(group))));
  }
  const StepTimes& times = trace.step_times;
  for (std::size_t i = 0; i < times.Size(); ++i) {
    part.step_times.push_back({times.step[i], times.computing[i], times.exposed_communication[i],
                               times.communication[i], times.free[i], times.overlapped[i],
                               times.stage[i], times.bubble[i], times.exposed_without_receive[i],
                               times.preparing[i]});
  }
  return part;
}

template <bool kLoad>
Part MapCommunication(const RankTrace& trace, const RecipeArguments&) {
  Part part = MapSums(trace);
  if (kLoad) part.load = LoadOfRank(trace);
  return part;
}

// What a recipe shows.
struct Subjects {
  bool steps = false, groups = true, times = false, matrix = false;
};

std::vector<LoadedRank> LoadsOf(const Ranks& ranks) {
  std::vector<LoadedRank> loaded;
  for (const auto& rank : ranks) loaded.push_back({rank.rank, rank.part.load});
  return loaded;
}

void Reduce(const Ranks& ranks, const Subjects& subjects, OutputSelection wanted, Report& report) {
  const std::vector<Group> groups = communication::FindGroups(ranks);
  const auto kept_ops = std::make_shared<const communication::OpSums>(
      subjects.times ? communication::SumOps(ranks) : communication::OpSums());
  const auto kept_links = std::make_shared<const communication::LinkSums>(
      subjects.matrix ? communication::SumLinks(ranks, groups) : communication::LinkSums());
  const communication::OpSums& ops = *kept_ops;
  const communication::LinkSums& links = *kept_links;
  std::vector<communication::StepTraceRow> steps;
  std::string problem;
  const communication::Grid grid(ranks, problem);
  if (subjects.steps) steps = communication::StepTrace(ranks, groups, grid);
  if (subjects.steps && !problem.empty()) report.notes.push_back(problem);
  report.notes.insert(report.notes.end(), links.notes.begin(), links.notes.end());
  if ((subjects.times && ops.ops.empty()) ||
      (subjects.matrix && !subjects.times && links.links.empty())) {
    const auto any = [&](bool Part::*what) {
      return std::ranges::any_of(ranks, [&](const OfRank<Part>& rank) { return rank.part.*what; });
    };
    report.notes.emplace_back(Translated(
        any(&Part::of_torch)
            ? "torch.profiler traces hold no communication sums; the recipes slow_rank and"
              " slow_link read their single operations"
        : any(&Part::of_one_step)
            ? "no communication times and links were recorded for this step; leave --step_id out to"
              " see the whole run"
            : "no communication times and links were recorded; collect with profiler_level=Level1,"
              " and keep communication.json and communication_matrix.json, or analysis.db"));
  }
  if (wanted.sheets) {
    if (subjects.groups) communication::AddGroupSheet(groups, report);
    communication::AddTimeSheets(kept_ops, report);
    communication::AddMatrixSheet(kept_links, report);
    communication::AddStepSheet(steps, report);
    if (subjects.steps) communication::AddJobSheets(ranks, report);
  }
  if (subjects.steps) {  // as text they are documents
    for (Sheet& sheet : report.sheets) sheet.text_file = {};
  }
  if (wanted.documents && subjects.steps) {
    report.documents.push_back(communication::GroupDocument(groups));
    if (!steps.empty()) {
      report.documents.push_back(communication::StepDocument(steps, grid.Known()));
    }
    if (!ops.ops.empty()) report.documents.push_back(communication::TimeDocument(kept_ops, groups));
    const auto knows_ends = &communication::RankLink::KnowsEnds;
    if (!links.links.empty()) {
      report.documents.push_back(communication::MatrixDocument(kept_links, groups));
    }
    if (!std::ranges::all_of(links.links, knows_ends)) {
      report.documents.push_back(communication::GroupMatrixDocument(kept_links, groups));
    }
  }
  if (wanted.screen == Detail::kNone) return;
  AddVerdictLines(JudgeLoads(LoadsOf(ranks), report.absent), report.lines);
  if (report.lines.empty()) communication::AddAnswer(steps, ops, links, report);
  communication::AddStepLines(steps, report);
  communication::AddGroupLines(groups, ranks.size(), report);
  communication::AddOperatorLines(ops, report);
  communication::AddLinkLines(links, report);
}

template <bool kSteps, bool kGroups, bool kTimes, bool kMatrix>
void ReduceSubjects(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                    Report& report) {
  Reduce(ranks, {kSteps, kGroups, kTimes, kMatrix}, wanted, report);
}

Verdict JudgeCommunicationRecipes(const RankFacts& facts) {
  const bool is_gpu = facts.kind == CaptureKind::kGpu;
  Verdict verdict = JudgeReadable(facts).Refuse(is_gpu && facts.recorded.groups == Recorded::kNo,
                                                "only NPU communication is summed up", "");
  if (!is_gpu) verdict.RefuseKineto(facts, "do not say how much data moved over which link");
  return verdict
      .AddLack(is_gpu, "only NPU communication is summed up: the groups are all there is", "")
      .AddLack(facts.recorded.communication == Recorded::kNo, NoCommunication(facts),
               "profiler_level=Level1");
}

// Of links alone.
Verdict JudgeLinks(const RankFacts& facts) {
  return JudgeCommunicationRecipes(facts).Refuse(facts.kind == CaptureKind::kGpu,
                                                 "only NPU communication is summed up", "");
}

Verdict JudgeGroupMap(const RankFacts& facts) {
  return IsKineto(facts.kind) ? JudgeCollectives(facts) : JudgeCommunicationRecipes(facts);
}

RecipeInfo Info(std::string_view name, std::string_view folder, std::string_view summary) {
  RecipeInfo info;
  info.name = name;
  info.folder = folder;
  info.summary = summary;
  info.needs = Tables::kCommSummary | Tables::kJobInfo | Tables::kStepTimes;
  info.can_run = JudgeCommunicationRecipes;
  return info;
}

}  // namespace

Recipe AllCommunication() {
  RecipeInfo info = Info("all", "", "steps, groups, times, bandwidths and links of all ranks");
  info.text_form_of_text = true;
  info.needs = info.needs | kLoadTables;
  info.next = kDiagnosisNext;
  return MakeRecipe<MapCommunication<true>, ReduceSubjects<true, true, true, true>,
                    [](const Part& part) {
                      CheckSteps(part);
                      CheckLoad(part.load);
                    }>(std::move(info));
}

Recipe CommunicationTimes() {
  RecipeInfo info = Info("communication_time", "", "like all, without links");
  info.text_form_of_text = true;
  return MakeRecipe<MapCommunication<false>, ReduceSubjects<true, true, true, false>, CheckSteps>(
      std::move(info));
}

Recipe CommunicationMatrix() {
  RecipeInfo info = Info("communication_matrix", "", "like all, without times and bandwidths");
  info.text_form_of_text = true;
  return MakeRecipe<MapCommunication<false>, ReduceSubjects<true, true, false, true>, CheckSteps>(
      std::move(info));
}

Recipe CommunicationGroupMap() {
  RecipeInfo info = Info("communication_group_map", "CommunicationGroupMap",
                         "which ranks form which communication group");
  info.can_run = JudgeGroupMap;
  return MakeRecipe<MapCommunication<false>, ReduceSubjects<false, true, false, false>, CheckSteps>(
      std::move(info));
}

Recipe CommunicationTimeSum() {
  return MakeRecipe<MapCommunication<false>, ReduceSubjects<false, true, true, false>, CheckSteps>(
      Info("communication_time_sum", "CommunicationTimeSum",
           "times and bandwidths of communication, by operator and by group"));
}

Recipe CommunicationMatrixSum() {
  RecipeInfo info =
      Info("communication_matrix_sum", "CommMatrixSum", "how much data moved between which ranks");
  info.can_run = JudgeLinks;
  return MakeRecipe<MapCommunication<false>, ReduceSubjects<false, false, false, true>, CheckSteps>(
      std::move(info));
}

}  // namespace mpa::recipes::communication
