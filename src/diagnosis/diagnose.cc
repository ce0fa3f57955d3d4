// SPDX-License-Identifier: Apache-2.0
// From the parts of all ranks to the diagnosis of the job.
#include "diagnose.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/job/choice.h"
#include "mpa/diagnosis/job/steps.h"
#include "mpa/diagnosis/report/pictures.h"

namespace mpa {
namespace {

// As many ranks as the job has at least: those that were captured, and those that they met.
std::int64_t RanksSeen(const Job& job) {
  auto seen = static_cast<std::int64_t>(job.ranks.size());
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    if (job.ranks[rank].rank.IsNumber()) seen = std::max(seen, job.ranks[rank].rank.Number() + 1);
    const auto& of_rank = job.operations.of_rank[rank];
    for (const PeerTransfer& transfer : job.Part(rank).transfers) {
      const RankId peer = RankInJob(job.operations.all[of_rank[transfer.operation]], transfer.peer);
      if (peer.IsNumber()) seen = std::max(seen, peer.Number() + 1);
    }
  }
  return seen;
}

// The ranks that are compared, and what they did together. The graphs of some of them make the job.
struct ComparedRanks {
  const std::vector<DiagnosedRank>& ranks;
  const JobOperations& operations;
};

void AddFacts(const std::vector<DiagnosedRank>& ranks, const ComparedRanks& compared,
              const Job& job, Diagnosis& diagnosis) {
  std::map<const RankDiagnosis*, std::size_t> position;  // of those whose steps are all there
  for (std::size_t i = 0; i < compared.ranks.size(); ++i) position[compared.ranks[i].part] = i;
  const CategoryDivider divider(compared.ranks, compared.operations);
  std::set<std::string> formats, levels;
  for (const DiagnosedRank& rank : ranks) {
    diagnosis.ranks.push_back(rank.rank);
    formats.insert(rank.part->source);
    if (!rank.part->level.empty()) levels.insert(rank.part->level);
    for (const JobGroup& group : rank.part->collectives.groups)
      diagnosis.world = std::max(diagnosis.world, group.ranks.Largest().Number() + 1);
    const auto found = position.find(rank.part);
    for (const StepPart& step : rank.part->steps) {
      AccountRow& row = diagnosis.accounting.emplace_back();
      row.rank = rank.rank;
      row.step = step.id;
      row.window = step.end - step.begin;
      row.communicates = !rank.part->operations.empty();
      if (&step == &rank.part->steps.front()) row.earlier = rank.part->earlier;
      const std::vector<TimeNs> categories =
          found == position.end() ? step.categories : divider.Categories(found->second, step);
      for (std::size_t category = 0; category < categories.size(); ++category) {
        if (categories[category] != 0)
          row.categories.emplace_back(NameOf(static_cast<TimeCategory>(category)),
                                      categories[category]);
      }
    }
  }
  const auto of_job = static_cast<std::int64_t>(compared.operations.lateness.of_job);
  diagnosis.world = std::max(
      diagnosis.world, std::max({RanksSeen(job), of_job, static_cast<std::int64_t>(ranks.size())}));
  diagnosis.formats.assign(formats.begin(), formats.end());
  if (!levels.empty()) diagnosis.level = *levels.begin();
  diagnosis.settings = SettingsOf(compared.ranks);
  const auto& steps = job.Part(0).steps;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (steps[step].id < 0) continue;  // the whole capture
    (step < job.first_step ? diagnosis.dropped_steps : diagnosis.steps).push_back(steps[step].id);
  }
}

// What costs every rank a little in every step is how the job was written, not a deviation.
bool DemoteUsual(const Job& job, const Waterfall& waterfall, std::vector<Finding>& candidates) {
  bool any = false;
  for (const Gain& gain : waterfall.gains) {
    Finding& candidate = candidates[gain.candidate];
    const bool is_small = gain.gain < ShareOf(waterfall.step, job.thresholds[kFaultShare]);
    if (!is_small || candidate.what_if.opportunity || !candidate.ranks.empty()) continue;
    candidate.what_if.opportunity = any = true;
    candidate.kind = FindingKind::kOpportunity;
  }
  return any;
}

// Two ranks whose clocks contradict each other do not show who of them is late by less.
TimeNs DoubtOf(const Job& job, const Finding& finding) {
  TimeNs most = 0;
  if (finding.type->area != Area::kRanks) return most;
  for (const ClockDoubt& doubt : job.operations.lateness.doubts) {
    const auto is_named = [&](RankId rank) {
      return std::ranges::find(finding.ranks, rank) != finding.ranks.end();
    };
    // Uncaptured ranks are seen by all others; a jittering rank may be any of them.
    const bool rests_on_it = finding.Is(kRankLate) || finding.ranks.empty() ||
                             is_named(doubt.first) || is_named(doubt.second);
    if (rests_on_it) most = std::max(most, doubt.residual);
  }
  return most;
}

// Removes the lateness of uncaptured ranks: they then do what the captured ones do.
Removal ArrivalsOfOthers(const Job& job) {
  Removal removal;
  removal.cuts = job.graph.before_late;
  for (const auto& edges : job.graph.late)
    removal.cuts.insert(removal.cuts.end(), edges.begin(), edges.end());
  return removal;
}

// Candidates that save enough are findings, those that save nothing have passed. The rest is hidden
// behind findings.
void FindHidden(const Job& job, StepReplays& replays, std::vector<Finding> rest,
                Diagnosis& diagnosis) {
  if (diagnosis.findings.empty()) return;
  const bool waits_for_others = std::ranges::any_of(
      diagnosis.findings, [](const Finding& finding) { return finding.Is(kRankLate); });
  const Removal arrivals = ArrivalsOfOthers(job);
  StepReplays::Removals others = FixesOf(diagnosis);
  others.insert(others.begin(), &arrivals);
  for (Finding& candidate : rest) {
    const bool saves_alone = candidate.alone >= LeastGain(job.thresholds, diagnosis.step) &&
                             candidate.alone >= DoubtOf(job, candidate);
    if (saves_alone) {
      const Removal own = std::move(candidate.what_if.expect);
      const auto step_with = [&](const Removal& fix) { return replays.Time({&fix, &own}); };
      AddHidden(step_with, std::move(candidate), diagnosis);
    } else if (waits_for_others && candidate.ranks.empty()) {
      AddHiddenBehindOthers(replays, others, std::move(candidate), diagnosis);
    }
  }
}

// By how much captured ranks came after all others, over all collectives; 0: not known.
TimeNs BehindOthers(const Lateness& lateness, const std::vector<RankId>& ranks) {
  TimeNs behind = 0;
  for (const LateRanks& late : lateness.ranks) {
    const bool is_of_them = late.captured && std::ranges::all_of(late.ranks, [&](RankId rank) {
                              return std::ranges::find(ranks, rank) != ranks.end();
                            });
    if (is_of_them) behind += late.as_last;
  }
  return behind;
}

Job ChosenJob(const std::vector<DiagnosedRank>& ranks, const RankChoice& choice,
              const Thresholds& thresholds) {
  std::vector<DiagnosedRank> chosen;
  std::set<RankId> captured;
  for (const DiagnosedRank& rank : ranks) captured.insert(rank.rank);
  for (const RankIndex rank : choice.whole) chosen.push_back(ranks[rank]);
  if (chosen.empty())
    Fail(ErrorKind::kInput, "no part can be read completely; make the parts again with --fresh");
  JobOperations operations = JoinOperations(chosen, thresholds, captured);
  return MakeJob(std::move(chosen), std::move(operations), thresholds);
}

// The numbers of the ranks at these positions, ascending.
std::vector<RankId> RanksAt(const std::vector<DiagnosedRank>& ranks,
                            const std::vector<std::size_t>& positions) {
  std::vector<RankId> numbers;
  for (const std::size_t position : positions) numbers.push_back(ranks[position].rank);
  std::ranges::sort(numbers);
  return numbers;
}

// The account of a rank has no steps where no device work was recorded.
std::vector<DiagnosedRank> WithDeviceWork(std::vector<DiagnosedRank> ranks) {
  std::erase_if(ranks, [](const DiagnosedRank& rank) { return rank.part->steps.empty(); });
  return ranks;
}

std::optional<StepsOnHost> LongestOnHost(const std::vector<DiagnosedRank>& ranks) {
  std::optional<StepsOnHost> longest;
  for (const DiagnosedRank& rank : ranks) {
    const HostAlone& host = rank.part->host_alone;
    const TimeNs median = host.MedianStep();
    if (host.steps.empty() || (longest && median <= longest->median)) continue;
    longest = {.rank = rank.rank,
               .steps = std::ssize(host.steps),
               .median = median,
               .all = std::accumulate(host.steps.begin(), host.steps.end(), TimeNs{0}),
               .categories = {}};
    for (std::size_t i = 0; i < host.categories.size(); ++i) {
      if (host.categories[i] > 0)
        longest->categories.emplace_back(NameOf(static_cast<TimeCategory>(i)), host.categories[i]);
    }
    StableSort(longest->categories, std::greater{},
               [](const auto& category) { return category.second; });
  }
  return longest;
}

// What the host did says nothing of a step whose device work is unknown.
Diagnosis NothingJudged(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds) {
  Diagnosis diagnosis;
  diagnosis.thresholds = thresholds;
  std::set<std::string> formats;
  for (const DiagnosedRank& rank : ranks) {
    diagnosis.ranks.push_back(rank.rank);
    formats.insert(rank.part->source);
    diagnosis.level = std::max(diagnosis.level, rank.part->level);
  }
  diagnosis.on_host = LongestOnHost(ranks);
  diagnosis.formats.assign(formats.begin(), formats.end());
  diagnosis.world = static_cast<std::int64_t>(ranks.size());
  const std::string_view needs = "work of the device";
  const std::string_view hint = formats.contains(std::string(kGpuSource)) ? "activities=[CPU, CUDA]"
                                                                          : "activities=[CPU, NPU]";
  for (const FindingType* finding : Catalogue()) {
    if (finding->area != Area::kCapture && !IsOfScheduler(*finding))
      diagnosis.not_judged.push_back({finding, {needs}, {hint}, {}});
  }
  return diagnosis;
}

// All causes of a job that may be findings. Those of an area are looked for in turn, as one may
// look at what those before it found, and areas at the same time; the order is always the same.
// `fusions` gets the known ones that the job has not made.
std::vector<Finding> FindCandidates(const Job& job, OpenFusions& fusions) {
  static constexpr Area kSearched[] = {Area::kRanks, Area::kBalance, Area::kCommunication,
                                       Area::kHosts, Area::kDevices};
  IssuingOfRanks issuing(job.ranks);
  std::vector<FindingSearch> searches;
  for (std::size_t i = 0; i < std::size(kSearched); ++i) searches.push_back({job, issuing});
  ParallelFor(searches.size(), [&](std::size_t i) {
    for (const FindingType* type : Catalogue()) {
      if (type->area == kSearched[i] && type->find != nullptr) type->find(searches[i]);
    }
  });
  std::vector<Finding> candidates;
  for (FindingSearch& search : searches) {
    if (search.fusions) fusions = std::move(*search.fusions);
    candidates.insert(candidates.end(), std::make_move_iterator(search.candidates.begin()),
                      std::make_move_iterator(search.candidates.end()));
  }
  LeaveToCores(candidates);
  return candidates;
}

// Leaves the candidates that a replay can give a place among the findings. A job has as many as
// collectives or kinds of kernels, and a replay goes through all of its work: for each of many
// that are next to nothing it would take the square of that. What a fix takes out is the most that
// it saves, unless it says that work no longer waits for other work.
void DropTrifles(const Job& job, TimeNs least, std::vector<Finding>& candidates) {
  std::erase_if(candidates, [&](const Finding& candidate) {
    const Removal& removal = candidate.what_if.expect;
    if (!removal.cuts.empty() || !removal.prompt.empty()) return false;
    TimeNs taken = 0;
    for (const auto& node : removal.durations)
      taken += std::max<TimeNs>(node.less, 0);  // light stages get more
    for (const auto& edge : removal.waits) taken += std::max<TimeNs>(edge.less, 0);
    return PerStep(job, taken) + 1 < least;
  });
}

// What fixing the candidates saves. Those that cost all ranks a little become opportunities.
Waterfall Judge(const Job& job, StepReplays& replays, std::vector<Finding>& candidates) {
  const auto share_of_step = [&](const Threshold& share) {
    return std::max<TimeNs>(1, ShareOf(job.step_time, job.thresholds[share]));
  };
  const TimeNs least = share_of_step(kSearchShare), least_of_two = share_of_step(kPairShare);
  DropTrifles(job, std::min({least, least_of_two / 2, LeastGain(job.thresholds, job.step_time)}),
              candidates);
  std::vector<const WhatIf*> what_ifs;
  for (const Finding& candidate : candidates) what_ifs.push_back(&candidate.what_if);
  WaterfallSearch search(replays, std::move(what_ifs), least, least_of_two);
  Waterfall waterfall = search.Run();
  if (DemoteUsual(job, waterfall, candidates)) waterfall = search.Run();
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].alone = waterfall.alone[i];
  return waterfall;
}

void PutInOrder(const std::vector<std::size_t>& order, std::vector<Finding>& findings) {
  std::vector<Finding> ordered;
  for (const std::size_t finding : order) ordered.push_back(std::move(findings[finding]));
  findings = std::move(ordered);
}

// The finding that is asked about by its key, or by the number that it will have.
std::optional<std::size_t> Asked(std::string_view explain, const std::vector<std::size_t>& order,
                                 const std::vector<Finding>& findings) {
  if (const auto place = PlaceOf(explain, order.size())) return order[*place];
  const auto found = std::ranges::find(findings, explain, &Finding::key);
  if (found == findings.end()) return std::nullopt;
  return static_cast<std::size_t>(found - findings.begin());
}

// What is known of ranks that others wait for, and that are not analysed.
void AddStates(const AbsentRanks& absent, Diagnosis& diagnosis) {
  for (std::vector<Finding>* findings : {&diagnosis.findings, &diagnosis.hidden}) {
    for (Finding& found : *findings) {
      if (!found.Is(kRankLate)) continue;
      found.absent = found.ranks.empty() ? absent : AbsentRanks();
      for (const RankId rank : found.ranks) found.absent->Add(rank, absent.Of(rank));
    }
  }
}

// On which ranks a finding shows: of some that were replayed, nothing is known of the others.
void TellWhose(Diagnosis& diagnosis) {
  for (std::vector<Finding>* findings : {&diagnosis.findings, &diagnosis.hidden}) {
    for (Finding& found : *findings) {
      if (!diagnosis.replayed.ranks.empty()) found.seen_on.clear();
      const std::int64_t seen = std::ssize(found.seen_on);
      found.is_on_all = seen > 1 && seen == diagnosis.world;
    }
  }
}

Certainty LessSure(Certainty certainty) {
  return certainty == Certainty::kHigh ? Certainty::kMedium : Certainty::kLow;
}

// Moves the candidates that save enough to the findings. Leaves the others.
void TakeFindings(const Job& job, const Waterfall& waterfall, std::vector<Finding>& candidates,
                  Diagnosis& diagnosis) {
  const Lateness& lateness = diagnosis.lateness;
  const TimeNs least = LeastGain(job.thresholds, waterfall.step);
  const std::size_t others = lateness.of_job - std::min(lateness.of_job, lateness.captured);
  for (const Gain& gain : waterfall.gains) {
    Finding& candidate = candidates[gain.candidate];
    // What is fixed first saves as much as it does alone. Others may save much alone and nothing
    // more behind it.
    if (gain.gain < least && !gain.pays_only_with_next) continue;
    const TimeNs doubt = DoubtOf(job, candidate);
    if (doubt > 0 && gain.gain < doubt) continue;
    Finding& found = diagnosis.findings.emplace_back(std::exchange(candidate, {}));
    if (doubt > 0) found.confidence = LessSure(found.confidence);
    // The replay does not know of others that came shortly before a rank that was late.
    TimeNs most = std::numeric_limits<TimeNs>::max();
    if (found.late && others > 0) {
      found.Measure(kIfOthersCame, others);
      if (const TimeNs behind = BehindOthers(lateness, found.ranks); behind > 0)
        most = PerStep(job, behind);
    }
    found.gain = std::min(gain.gain, most);
    found.alone = std::min(found.alone, most);
    found.gain_max = std::min(gain.most, most);
    found.pays_only_with_next = gain.pays_only_with_next;
    diagnosis.step_after_fixes -= found.gain;
  }
  std::erase_if(candidates, [](const Finding& taken) { return taken.type == nullptr; });
}

}  // namespace

std::optional<std::size_t> PlaceOf(std::string_view number, std::size_t findings) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  return is_number && value > 0 && value <= findings ? std::optional(value - 1) : std::nullopt;
}

std::vector<std::size_t> ReplayedOf(const std::vector<DiagnosedRank>& outlines,
                                    const Thresholds& thresholds, std::int64_t bytes) {
  if (HaveRoom(outlines, bytes)) {  // what they did together need not be known
    std::vector<std::size_t> all(outlines.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  const CommonSteps common = FindCommonSteps(WithDeviceWork(outlines));
  if (common.ranks.empty()) return {};
  const std::vector<RankId> whole = RanksAt(
      common.ranks,
      ChooseRanks(common.ranks, JoinOperations(common.ranks, thresholds), thresholds, bytes));
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    if (std::ranges::binary_search(whole, outlines[i].rank)) positions.push_back(i);
  }
  return positions;
}

void Conclusions::AddGain(Finding found) {
  diagnosis.step_after_fixes -= found.gain;
  diagnosis.findings.push_back(std::move(found));
}

Diagnosis Diagnose(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds,
                   std::string_view explain, bool for_page, const AbsentRanks& absent) {
  const std::vector<DiagnosedRank> working = WithDeviceWork(ranks);
  if (working.empty()) return NothingJudged(ranks, thresholds);
  const CommonSteps common = FindCommonSteps(working);
  JobOperations operations = JoinOperations(common.ranks, thresholds);
  const RankChoice choice = ChosenRanks(common.ranks, operations, thresholds);
  const bool all = choice.whole.size() == common.ranks.size();
  const Job job = all ? MakeJob(common.ranks, std::move(operations), thresholds)
                      : ChosenJob(common.ranks, choice, thresholds);
  Diagnosis diagnosis;
  diagnosis.thresholds = thresholds;
  AddFacts(ranks, {common.ranks, all ? job.operations : operations}, job, diagnosis);
  if (all) {
    diagnosis.lateness = job.operations.lateness;
  } else {
    diagnosis.replayed = {RanksAt(common.ranks, choice.whole), choice.stand_out, choice.left_out};
    diagnosis.lateness =
        std::exchange(operations, {}).lateness;  // of many ranks it takes much room
  }
  diagnosis.ranks_left_out = common.left_out;
  for (const DiagnosedRank& rank : ranks) {
    if (rank.part->steps.empty()) diagnosis.ranks_without_work.push_back(rank.rank);
  }
  diagnosis.steps_left_out = common.not_on_all;
  for (const auto& [rank, state] : absent.states) diagnosis.lateness.absent.Add(rank, state);
  OpenFusions fusions;
  std::vector<Finding> candidates = FindCandidates(job, fusions);
  StepReplays replays(job.graph.graph, job.graph.steps);
  const Waterfall waterfall = Judge(job, replays, candidates);
  diagnosis.step = diagnosis.step_after_fixes = waterfall.step;
  TakeFindings(job, waterfall, candidates, diagnosis);
  EvidenceFinder evidence(job);
  for (Finding& finding : diagnosis.findings)
    evidence.Find(finding.what_if, CategoriesOfFix(finding), finding);
  FindHiding(replays, diagnosis);
  FindHidden(job, replays, std::move(candidates), diagnosis);
  TellFusions(job, fusions, replays, evidence, diagnosis);
  Conclusions conclusions{job, replays, diagnosis};
  for (const FindingType* type : Catalogue()) {
    if (type->conclude != nullptr) type->conclude(conclusions);
  }
  if (for_page) diagnosis.pictures = PicturesOf(job);
  AddStates(absent, diagnosis);
  TellWhose(diagnosis);
  FitAdvice(job, diagnosis);
  FindInnocentCalls(job, replays, diagnosis);
  FindPassedChecks(job, diagnosis);
  AddLinesOfInnocentCalls(job, diagnosis);
  const std::vector<std::size_t> order = OrderOfFindings(diagnosis.findings);
  const StepReplays::Removals fixes = FixesOf(diagnosis);
  if (const auto asked = Asked(explain, order, diagnosis.findings); asked && *asked < fixes.size())
    AddChain(job, fixes, *asked, diagnosis.findings[*asked]);
  PutInOrder(order, diagnosis.findings);
  if (for_page) diagnosis.pictures.places = PlacesOf(job, diagnosis.findings);
  return diagnosis;
}

}  // namespace mpa
