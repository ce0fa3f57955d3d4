// SPDX-License-Identifier: Apache-2.0
// From the parts of all ranks to the diagnosis of the job.
#include "diagnose.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bubble.h"
#include "cause.h"
#include "chain.h"
#include "hiding.h"
#include "micro_batches.h"
#include "source_lines.h"

namespace mpa {
namespace {

void AddFacts(const Job& job, Diagnosis& diagnosis) {
  std::set<std::string> formats, levels;
  for (const DiagnosedRank& rank : job.ranks) {
    diagnosis.ranks.push_back(rank.rank);
    formats.insert(rank.part->source);
    if (!rank.part->level.empty()) levels.insert(rank.part->level);
    for (const JobGroup& group : rank.part->meetings.groups) {
      for (const std::int64_t member : group.ranks) diagnosis.world = std::max(diagnosis.world, member + 1);
    }
    for (const StepPart& step : rank.part->steps) {
      AccountRow& row = diagnosis.accounting.emplace_back();
      row.rank = rank.rank;
      row.step = step.id;
      row.window = step.end - step.begin;
      for (std::size_t leaf = 0; leaf < step.leaves.size(); ++leaf) {
        if (step.leaves[leaf] != 0) row.leaves.emplace_back(NameOf(static_cast<Leaf>(leaf)), step.leaves[leaf]);
      }
    }
  }
  diagnosis.world = std::max(diagnosis.world, static_cast<std::int64_t>(job.ranks.size()));
  diagnosis.formats.assign(formats.begin(), formats.end());
  if (!levels.empty()) diagnosis.level = *levels.begin();
  const auto& steps = job.Part(0).steps;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (steps[step].id < 0) continue;  // the whole capture
    (step < job.first_step ? diagnosis.dropped_steps : diagnosis.steps).push_back(steps[step].id);
  }
}

// What costs every rank a little in every step is how the job was written, not a deviation.
bool DemoteUsual(const Job& job, const Waterfall& waterfall, std::vector<Cause>& causes, std::vector<WhatIf>& what_ifs) {
  bool any = false;
  for (const Gain& gain : waterfall.gains) {
    const bool is_small = gain.gain < ShareOf(waterfall.step, job.rules.fault_share);
    if (!is_small || what_ifs[gain.cause].opportunity || !causes[gain.cause].finding.ranks.empty()) continue;
    what_ifs[gain.cause].opportunity = any = true;
    causes[gain.cause].finding.kind = FindingKind::kOpportunity;
  }
  return any;
}

// Calls that wait long look guilty. They are not while the device they wait for is held up itself.
void AddNotCauses(const Job& job, Diagnosis& diagnosis) {
  constexpr std::size_t kMost = 2;
  std::map<std::string, TimeNs> longest;  // of one rank, per step
  for (const DiagnosedRank& rank : job.ranks) {
    std::map<std::string, TimeNs> of_rank;
    for (const BlockedPart& call : rank.part->blocked) {
      const std::string& place = rank.part->names[call.place];
      of_rank[place.empty() ? rank.part->names[call.name] : place] += call.dur;
    }
    for (const auto& [name, time] : of_rank) {
      TimeNs& of_name = longest[name];
      of_name = std::max(of_name, time / static_cast<TimeNs>(std::max<std::size_t>(1, job.steps)));
    }
  }
  TimeNs won_by_waiting_less = 0;
  for (const FoundCause& found : diagnosis.findings) {
    if (found.id == "host.sync" || found.id == "host.h2d") won_by_waiting_less += found.gain;
  }
  std::vector<std::pair<TimeNs, std::string>> largest;
  for (const auto& [name, time] : longest) {
    if (time >= ShareOf(diagnosis.step, job.rules.innocent_share) && won_by_waiting_less * 2 < time) largest.emplace_back(time, name);
  }
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min(kMost, largest.size()); ++i) {
    NotACause& innocent = diagnosis.not_causes.emplace_back();
    innocent.name = largest[i].second;
    innocent.cost = largest[i].first;
    if (!diagnosis.findings.empty() && diagnosis.findings[0].kind == FindingKind::kFault) {
      innocent.explained_by = diagnosis.findings[0].key;
    }
  }
}

// What the captures do not hold.
void AddNotJudged(const Job& job, Diagnosis& diagnosis) {
  const auto any = [&](auto holds) {
    return std::any_of(job.ranks.begin(), job.ranks.end(), [&](const DiagnosedRank& rank) { return holds(*rank.part); });
  };
  constexpr const char* kLevel1 = "profiler_level=Level1";
  if (!any([](const RankDiagnosis& part) { return part.has_calls; })) {
    for (const char* id : {"host.compile", "host.aclop", "host.memory"}) {
      diagnosis.not_judged.push_back({id, "calls of the runtime (CANN)", kLevel1});
    }
  }
  const bool communicates = any([](const RankDiagnosis& part) { return !part.operations.empty(); });
  if (communicates && !any([](const RankDiagnosis& part) { return !part.transfers.empty(); })) {
    diagnosis.not_judged.push_back({"link.slow", "sizes and peers of transfers", kLevel1});
    diagnosis.not_judged.push_back({"comm.small", "sizes and peers of transfers", kLevel1});
  }
  if (!ShapeOfPipeline(job).complete) {
    diagnosis.not_judged.push_back({"pp.stage_imbalance", "a rank of every pipeline stage", "captures of more ranks"});
  }
  const auto& operations = job.operations.all;
  const bool few_ranks = std::none_of(job.ranks_of_role.begin(), job.ranks_of_role.end(), [&](const auto& role) { return CanCompare(job, role.second.size()); });
  if (!few_ranks && std::none_of(operations.begin(), operations.end(), [](const JobOperation& row) { return row.is_apart; })) return;
  for (const char* id : {"rank.late_compute", "rank.late_host", "rank.late_input"}) {
    // Some work of the host is compared across roles, too.
    if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [&](const FoundCause& finding) { return finding.id == id; })) continue;
    if (few_ranks) {
      diagnosis.not_judged.push_back({id, "three ranks of the same role, or two and more steps", "captures of more ranks or steps"});
    } else {
      diagnosis.not_judged.push_back({id, "the same operations of a group on all of its ranks", "captures of the same steps"});
    }
  }
}

}  // namespace

Diagnosis Diagnose(std::vector<DiagnosedRank> ranks, const Rules& rules, std::string_view explain) {
  const Job job = MakeJob(std::move(ranks), rules);
  Diagnosis diagnosis;
  diagnosis.rules = rules;
  AddFacts(job, diagnosis);
  std::vector<Cause> causes;
  FindRankCauses(job, causes);
  FindOutsiderCauses(job, causes);
  const LinkSpeeds speeds(job);
  FindSlowLinks(job, speeds, causes);
  FindCommunicationCauses(job, speeds, causes);
  FindSlowPorts(job, causes);
  FindSlowGroups(job, causes);
  FindPipelineCauses(job, causes);
  FindHostCauses(job, causes);
  FindHostHabits(job, causes);
  FindTransferCauses(job, causes);
  FindDeviceCauses(job, causes);
  FindFusionCauses(job, causes);
  FindOperatorCauses(job, causes);
  std::vector<WhatIf> what_ifs;
  for (Cause& cause : causes) what_ifs.push_back(std::move(cause.what_if));
  const TimeNs search = std::max<TimeNs>(1, ShareOf(job.step_time, rules.search_share));
  Waterfall waterfall = MakeWaterfall(job.graph.graph, job.graph.steps, what_ifs, search);
  if (DemoteUsual(job, waterfall, causes, what_ifs)) waterfall = MakeWaterfall(job.graph.graph, job.graph.steps, what_ifs, search);
  diagnosis.step = waterfall.step;
  diagnosis.floor = waterfall.step;
  const TimeNs least = std::max(Whole(rules.least_ns), ShareOf(waterfall.step, rules.least_share));
  std::vector<const WhatIf*> of_findings;
  for (const Gain& gain : waterfall.gains) {
    if (gain.gain < least && gain.alone < least && !gain.with_next) continue;
    FoundCause& found = diagnosis.findings.emplace_back(std::move(causes[gain.cause].finding));
    found.gain = gain.gain;
    found.alone = gain.alone;
    found.gain_max = gain.most;
    found.with_next = gain.with_next;
    diagnosis.floor -= gain.gain;
    of_findings.push_back(&what_ifs[gain.cause]);
  }
  FindHiding(job, of_findings, diagnosis);
  AddBubble(job, of_findings, diagnosis);
  AddNotCauses(job, diagnosis);
  AddNotJudged(job, diagnosis);
  AddCaptureFindings(job, diagnosis);
  AddLinesOfNotCauses(job, diagnosis);
  for (std::size_t i = 0; i < of_findings.size(); ++i) {
    if (diagnosis.findings[i].key != explain) continue;
    const Cause& cause = causes[static_cast<std::size_t>(of_findings[i] - what_ifs.data())];
    AddChain(job, cause.late ? &*cause.late : nullptr, of_findings, i, diagnosis);
  }
  return diagnosis;
}

}  // namespace mpa
