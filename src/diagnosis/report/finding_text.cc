// SPDX-License-Identifier: Apache-2.0
// Findings and accounts in the words that the screen, the page and the workbook share.
#include "mpa/diagnosis/report/finding_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/base/utf8.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/job/metric_names.h"
#include "mpa/measure/time_category.h"

namespace mpa {
namespace {

// Gains that differ by less are said once.
bool WinsLessAlone(const Thresholds& thresholds, const Finding& finding) {
  return std::abs(finding.alone - finding.gain) > ShareOf(finding.gain, thresholds[kHiddenShare]);
}

// " on rank 0": whose numbers those of the first place are; empty where it shows on one rank alone.
std::string RankOfPlace(const Finding& finding) {
  const RankId rank = finding.evidence.front().rank;
  const bool of_one = std::ranges::all_of(
      finding.evidence, [&](const Evidence& place) { return place.rank == rank; });
  return of_one || rank < 0 ? "" : Say(" on rank {}", RankName(rank));
}

// What was measured, the whole time first, as the ranks together or the first place show it.
std::vector<std::string> MeasuredTexts(const Finding& finding) {
  const auto is_time = [](const Metric& metric) { return metric.info == &kTimePerStep; };
  std::vector<Metric> metrics = finding.metrics;
  std::erase_if(metrics, [](const Metric& metric) { return metric.info == &kIfOthersCame; });
  const bool has_time =
      std::ranges::any_of(metrics, [](const Metric& metric) { return metric.info->unit == "ns"; });
  if (!has_time && !finding.evidence.empty() && finding.evidence.front().of_all > 0)
    metrics.push_back({&kTimePerStep, 0});  // its text is that of the places
  std::stable_partition(metrics.begin(), metrics.end(), is_time);
  std::vector<std::string> texts;
  for (const Metric& metric : metrics) {
    if (std::string text = FactText(finding, metric); !text.empty())
      texts.push_back(std::move(text));
  }
  return texts;
}

std::string NameOfPlace(const Evidence& place, std::size_t columns) {
  return AtLine(place.op.empty() ? place.name : place.op, place.line, columns);
}

// Of the time of all places of the rank; all of it where that is unknown.
std::int64_t PercentOf(const Evidence& place) {
  return place.of_all > 0 ? (200 * place.time + place.of_all) / (2 * place.of_all) : 100;
}

// "TASK_QUEUE_ENABLE=0: the thread that calls operators launches them, too"
std::string SettingTitle(const FoundSetting& setting) {
  const std::string name = Printable(setting.variable);
  const Variable* variable = VariableNamed(setting.variable);
  if (setting.differs || variable == nullptr) {
    return Say("the ranks have different values of {}", name);
  }
  const std::string value = setting.values.size() == 1
                                ? "=" + ShortenMiddle(Printable(setting.values.front().first), 16)
                                : "";
  return Say("{}{}: {}", name, value, Translated(CostsOf(*variable)));
}

// "0 on rank 3, 2 on ranks 0-2, adds to host.launch_bound": as much as fits into the columns.
std::string SettingFacts(const FoundSetting& setting, std::size_t columns) {
  std::vector<std::string> facts;
  for (const auto& [value, ranks] : setting.values) {
    const std::string shown = value.empty() ? Say("no value") : ShortenMiddle(Printable(value), 40);
    facts.push_back(Say("{} on {}", shown, RankList(ranks).Text(RankList::kMostRuns)));
  }
  if (!setting.serves.empty()) facts.push_back(Say("adds to {}", Printable(setting.serves)));
  std::string text;
  for (const std::string& fact : facts) {
    std::string longer = text.empty() ? fact : Say("{}, {}", text, fact);
    if (ColumnsOf(longer) > columns) break;
    text = std::move(longer);
  }
  return text;
}

// Percents of the whole that add up to 100: those with the largest rests are rounded up.
void AddPercents(std::vector<StepShare>& shares) {
  TimeNs whole = 0;
  for (const StepShare& share : shares) whole += share.time;
  if (whole <= 0) return;
  int given = 0;
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rest = [&](std::size_t i) { return shares[i].time * 100 % whole; };
  for (StepShare& share : shares) {
    share.percent = static_cast<int>(share.time * 100 / whole);
    given += share.percent;
  }
  StableSort(order, std::greater{}, rest);
  for (std::size_t i = 0; i < order.size() && given < 100; ++i, ++given) ++shares[order[i]].percent;
}

}  // namespace

FindingSection SectionOf(const Finding& finding) {
  if (finding.type->area == Area::kCapture) return FindingSection::kCapture;
  if (finding.type->area == Area::kSettings) return FindingSection::kSettings;
  if (finding.type->area == Area::kLatency) return FindingSection::kLatency;
  return FindingSection::kStep;
}

bool IsFault(const Finding& finding) {
  return IsOfStep(finding) && finding.kind == FindingKind::kFault;
}

std::string_view HeadingOf(FindingSection section) {
  static const std::string_view headings[] = {"What costs the step", "How long requests wait",
                                              "Settings and memory", "About the capture"};
  return headings[static_cast<std::size_t>(section)];
}

bool IsOfStep(const Finding& finding) { return SectionOf(finding) < FindingSection::kLatency; }

MsText::MsText(TimeNs step) : decimals_(step >= 10'000'000 ? 1 : step >= 1'000'000 ? 2 : 3) {}

std::string MsText::operator()(TimeNs time) const {
  return fmt::format("{:.{}f}", InMs(time), decimals_);
}

std::string ShortTitleOf(const Finding& finding) {
  if (finding.setting) return SettingTitle(*finding.setting);
  const std::string_view title = Translated(finding.Title());
  const std::string ranks = CulpritsText(finding);
  std::string text = fmt::format(fmt::runtime(title), ranks);
  const bool names_ranks = title.find("{}") != std::string_view::npos;
  if (!names_ranks && !finding.ranks.empty()) {
    text += Say(" ({})", ranks);
  }
  if (finding.confidence != Certainty::kLow) return text;
  return Say("probably: {}", text);
}

std::string TitleOf(const Finding& finding) {
  const std::string title = ShortTitleOf(finding);
  if (finding.setting || finding.absent || !finding.ranks.empty()) return title;
  if (finding.is_on_all) return title + Say(" (all ranks)");
  if (finding.seen_on.size() < 2) return title;
  return title + Say(" ({})", RankList(finding.seen_on).Text(RankList::kMostRuns));
}

std::string GainText(const Diagnosis& diagnosis, const Finding& finding) {
  const MsText ms(diagnosis.step);
  if (finding.gain_max == 0 && !finding.pays_only_with_next)
    return "";  // it says something about the capture
  if (finding.pays_only_with_next) return Say("pays only with the next finding");
  if (WinsLessAlone(diagnosis.thresholds, finding)) {
    return Say("saves {} ms (alone {} ms)", ms(finding.gain), ms(finding.alone));
  }
  const double share = diagnosis.step > 0 ? 100 * InMs(finding.gain) / InMs(diagnosis.step) : 0;
  return Say("saves {} ms ({:.0f} %)", ms(finding.gain), share);
}

std::string VerdictText(const Diagnosis& diagnosis) {
  if (diagnosis.accounting.empty()) return Say("No device work was recorded: nothing is judged");
  const auto first = std::ranges::find_if(diagnosis.findings, [](const Finding& finding) {
    return IsOfStep(finding) && (finding.gain > 0 || finding.pays_only_with_next);
  });
  if (first == diagnosis.findings.end()) return NoFindingText(diagnosis);
  std::string title = TitleOf(*first);
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  const MsText ms(diagnosis.step);
  if (first->gain <= 0) {
    return Say("{}, which pays only with the next finding; the step takes {} ms", title,
               ms(diagnosis.step));
  }
  return Say("{}: a fix saves {} of the step's {} ms ({:.0f} %)", title, ms(first->gain),
             ms(diagnosis.step), 100 * InMs(first->gain) / InMs(diagnosis.step));
}

std::string NeedsText(const NotJudged& row) {
  if (row.ranks.empty()) return std::string(Translated(row.needs));
  return Say("{} on {}", Translated(row.needs), RankList(row.ranks).Text());
}

std::string LeastShareText(const Thresholds& thresholds) {
  return fmt::format("{:g} %", 100 * thresholds[kMinShare]);
}

std::string SeverityText(const Diagnosis& diagnosis, const Finding& finding) {
  std::string text(Translated(NameOf(ImpactOf(diagnosis, finding))));
  for (char& letter : text)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

std::string FactText(const Finding& finding, const Metric& metric) {
  if (finding.evidence.empty()) return MetricText(metric);
  const Evidence& place = finding.evidence.front();
  // What is exposed is known of communication as a whole, not of its places.
  const bool is_time = metric.info == &kTimePerStep;
  const bool is_exposed = is_time && finding.type->area == Area::kCommunication && metric.value > 0;
  if (is_time && place.of_all > 0 && !is_exposed) {
    const Metric of_rank{metric.info, static_cast<double>(place.of_all)};
    return MetricText(of_rank) + RankOfPlace(finding);
  }
  if ((metric.info == &kCallsPerStep || is_exposed) && !RankOfPlace(finding).empty()) {
    return Say("{}, mean of the ranks", MetricText(metric));
  }
  return MetricText(metric);
}

std::string FactsText(const Finding& finding, std::size_t columns) {
  if (finding.setting) return SettingFacts(*finding.setting, columns);
  const std::vector<std::string> measured = MeasuredTexts(finding);
  constexpr std::size_t kMeasured = 36, kMost = 16;  // columns that a name leaves
  constexpr std::int64_t kTypical = 10;              // a place of less percent is one of many
  std::string facts, most, example;
  if (finding.evidence.empty()) {
    facts = CategoryText(finding.category);
  } else if (const Evidence& place = finding.evidence.front();
             measured.empty() || PercentOf(place) == 100) {
    facts = NameOfPlace(place, columns - kMeasured);
  } else if (const std::string name = NameOfPlace(place, columns - kMeasured - kMost);
             PercentOf(place) < kTypical) {
    example = Say("; one of many: {}", name);
  } else {
    most = Say("; most: {} ({} %)", name, PercentOf(place));
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    std::string longer = facts.empty() ? measured[i]
                         : i == 0      ? Say("{}: {}", facts, measured[i])
                                       : Say("{}, {}", facts, measured[i]);
    if (ColumnsOf(longer) + ColumnsOf(most) > columns && !facts.empty()) break;
    facts = std::move(longer);
  }
  for (const std::string& place : {most, example}) {
    if (ColumnsOf(facts) + ColumnsOf(place) <= columns) facts += place;
  }
  return facts;
}

std::string CaptureText(const Diagnosis& diagnosis) {
  const std::size_t count = diagnosis.ranks.size();
  const AbsentRanks& absent = diagnosis.lateness.absent;
  std::string text = diagnosis.world <= static_cast<std::int64_t>(count)
                         ? count == 1 ? Say("1 rank") : Say("{} ranks", count)
                     : absent.AnyCaptured()
                         ? Say("{} of {} ranks read", count, diagnosis.world)
                         : Say("{} of {} ranks captured", count, diagnosis.world);
  if (const std::string states = absent.Counts(); !states.empty()) text += Say(" ({})", states);
  const auto& steps = diagnosis.steps;
  if (steps.size() == 1) text += Say(", step {}", steps[0]);
  if (steps.size() > 1) text += Say(", steps {}-{}", steps.front(), steps.back());
  const auto& dropped = diagnosis.dropped_steps;
  if (dropped.size() == 1) text += Say(" ({} left out: warm-up)", dropped[0]);
  if (dropped.size() > 1) text += Say(" ({} steps left out: warm-up)", dropped.size());
  return diagnosis.level.empty() ? text : Say("{}, {}", text, Printable(diagnosis.level));
}

std::string NoFindingText(const Diagnosis& diagnosis) {
  return Say("No finding above {} of the step.", LeastShareText(diagnosis.thresholds));
}

bool NamesLine(const std::string& name, const std::string& line) {
  const std::size_t colon = line.rfind(':');
  return colon != std::string::npos &&
         name.find(line.substr(0, colon) + "(" + line.substr(colon + 1) + ")") != std::string::npos;
}

std::string AtLine(const std::string& name, const std::string& line, std::size_t columns) {
  constexpr std::size_t kShortestName = 8, kShortestLine = 28;
  const std::size_t longest_line = std::max(kShortestLine, columns / 3);
  const std::string behind = line.empty() || NamesLine(name, line)
                                 ? ""
                                 : Say(" at {}", ShortenName(Printable(line), longest_line));
  const std::size_t room = std::max(kShortestName, columns - std::min(columns, ColumnsOf(behind)));
  return ShortenName(Printable(name), room) + behind;
}

std::string CategoryText(std::string_view category) {
  const auto known = CategoryNamed(category);
  return std::string(known ? Translated(TitleOf(*known)) : category);
}

std::string OnHostText(const StepsOnHost& host) {
  constexpr std::size_t kMost = 4;
  const std::string steps = host.steps == 1 ? Say("1 step") : Say("{} steps", host.steps);
  const double median = InMs(host.median);
  std::string text = host.rank < 0 ? Say("on the host: {}, median {:.3f} ms", steps, median)
                                   : Say("on the host of rank {}: {}, median {:.3f} ms",
                                         RankName(host.rank), steps, median);
  std::size_t told = 0;
  for (const auto& [category, time] : host.categories) {
    if (told == kMost || time * 100 < host.all) break;
    text += Translated(told++ == 0 ? "; " : ", ");
    text += fmt::format("{} {:.0f} %", CategoryText(category), 100 * Share(time, host.all));
  }
  return text;
}

std::vector<StepShare> SharesOf(const AccountRow& row) {
  const auto sum = [&](std::string_view parent) {
    TimeNs time = 0;
    for (const auto& [category, of_category] : row.categories)
      time += category.starts_with(parent) ? of_category : 0;
    return time;
  };
  const TimeNs wait = sum("comm.wait_peer"), bubble = sum("comm.bubble"),
               unsplit = sum("comm.unsplit");
  const TimeNs transfer = sum("comm.") - wait - bubble - unsplit;
  // Where nothing tells waiting from transferring, neither of them is 0.
  const bool is_split = unsplit == 0 && row.communicates;
  std::vector<StepShare> shares = {{"compute", sum("comp."), 0, true, Tint::kCompute},
                                   {"waiting for ranks", wait, 0, is_split, Tint::kWait},
                                   {"bubble", bubble, 0, false, Tint::kBase},
                                   {"transfer", transfer, 0, is_split, Tint::kTransfer},
                                   {"communication", unsplit, 0, false, Tint::kUnsplit},
                                   {"copies", sum("copy."), 0, false, Tint::kCopy},
                                   {"device free", sum("free."), 0, true, Tint::kFree}};
  AddPercents(shares);
  return shares;
}

std::string ClockText(const Diagnosis& diagnosis) {
  const std::string doubt = ClockDoubtText(diagnosis.lateness);
  return doubt.empty() ? "" : Say("{}: {}", doubt, Translated(kDoubtMeans));
}

std::string LateText(const Diagnosis& diagnosis) {
  const Lateness& lateness = diagnosis.lateness;
  if (lateness.ranks.empty() || !lateness.ranks.front().captured) return "";
  const LateRanks& late = lateness.ranks.front();
  const auto steps = static_cast<TimeNs>(diagnosis.steps.size() + diagnosis.dropped_steps.size());
  const bool is_named = std::ranges::any_of(diagnosis.findings, [&](const Finding& finding) {
    return std::find_first_of(finding.ranks.begin(), finding.ranks.end(), late.ranks.begin(),
                              late.ranks.end()) != finding.ranks.end();
  });
  if (is_named ||
      late.as_last < std::max<TimeNs>(1, steps) * LeastGain(diagnosis.thresholds, diagnosis.step))
    return "";
  const std::string sum = LateSumText(late), arrival = LateArrivalText(lateness, late);
  return sum.empty() ? Say("late: {}", arrival) : Say("late: {}; {}", arrival, sum);
}

std::vector<std::string> NotesOf(const Diagnosis& diagnosis) {
  std::vector<std::string> notes = diagnosis.notes;
  if (!diagnosis.ranks_left_out.empty()) {
    notes.push_back(
        Say("ranks left out of all comparisons because their captures break off or lack the steps"
            " of the others: {}",
            RankNames(diagnosis.ranks_left_out, ", ")));
  }
  if (!diagnosis.ranks_without_work.empty()) {
    notes.push_back(Say("ranks left out because no device work was recorded on them: {}",
                        RankNames(diagnosis.ranks_without_work, ", ")));
  }
  if (!diagnosis.steps_left_out.empty()) {
    notes.push_back(Say("steps left out of all comparisons because not all captures have them: {}",
                        fmt::join(diagnosis.steps_left_out, ", ")));
  }
  const ReplayedRanks& replayed = diagnosis.replayed;
  if (!replayed.ranks.empty()) {
    notes.push_back(
        Say("{} of {} ranks were replayed: those that stand out, and others for comparison",
            replayed.ranks.size(), diagnosis.ranks.size()));
  }
  if (replayed.left_out > 0) {
    notes.push_back(
        Say("{} of {} ranks that stand out were not replayed; a larger --memory allows"
            " more",
            replayed.left_out, replayed.stand_out));
  }
  if (std::string doubt = ClockText(diagnosis); !doubt.empty()) notes.push_back(std::move(doubt));
  return notes;
}

bool IsBlamed(const Diagnosis& diagnosis, RankId rank) {
  if (std::ranges::find(diagnosis.culprits, rank) != diagnosis.culprits.end()) return true;
  return std::ranges::any_of(diagnosis.findings, [&](const Finding& finding) {
    return IsFault(finding) && std::ranges::find(finding.ranks, rank) != finding.ranks.end();
  });
}

std::optional<AccountRow> ShownAccount(const Diagnosis& diagnosis) {
  struct Sum {
    TimeNs window = 0, count = 0;
    std::map<std::string_view, TimeNs> categories;
    TimeNs Mean(TimeNs sum) const { return sum / count; }
  };
  std::map<RankId, Sum> of_rank;
  const auto& dropped = diagnosis.dropped_steps;
  for (const AccountRow& row : diagnosis.accounting) {
    if (std::ranges::find(dropped, row.step) != dropped.end()) continue;
    Sum& sum = of_rank[row.rank];
    sum.window += row.window;
    ++sum.count;
    for (const auto& [category, time] : row.categories) sum.categories[category] += time;
  }
  if (of_rank.empty()) return std::nullopt;
  const auto away = [&](const auto& of) {
    return std::pair{IsBlamed(diagnosis, of.first),
                     std::abs(of.second.Mean(of.second.window) - diagnosis.step)};
  };
  const auto nearest = std::ranges::min_element(of_rank, {}, away);
  const Sum& sum = nearest->second;
  AccountRow mean;
  mean.rank = nearest->first;
  mean.window = sum.Mean(sum.window);
  // Means of running sums: what they lose by rounding does not add up.
  TimeNs before = 0;
  for (const auto& [category, time] : sum.categories) {
    mean.categories.emplace_back(category, sum.Mean(before + time) - sum.Mean(before));
    before += time;
  }
  return mean;
}

}  // namespace mpa
