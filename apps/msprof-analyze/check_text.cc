// SPDX-License-Identifier: Apache-2.0
// The report of `check` for the screen.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "check_report.h"
#include "help.h"
#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/base/text.h"
#include "mpa/collectives/lateness.h"
#include "mpa/settings/costly.h"

namespace mpa {
namespace {

constexpr const char* kBold = "1";
constexpr const char* kRed = "31";
constexpr const char* kGreen = "32";
constexpr const char* kYellow = "33";

std::string Join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, Translated(", ")));
}

// "0-15, 20" from numbers in rising order.
std::string Ranges(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    parts.push_back(last == i ? fmt::format("{}", numbers[i])
                              : fmt::format("{}-{}", numbers[i], numbers[last]));
    i = last + 1;
  }
  return Join(parts);
}

std::string Size(std::int64_t bytes) {
  constexpr double kKilo = 1e3, kMega = 1e6, kGiga = 1e9;
  const double size = static_cast<double>(bytes);
  if (size >= kGiga) return fmt::format("{:.1f} GB", size / kGiga);
  if (size >= kMega) return fmt::format("{:.1f} MB", size / kMega);
  return fmt::format("{:.1f} kB", size / kKilo);
}

// "ProfilerActivity.CPU" is CPU, "ACL_AICORE_PIPE_UTILIZATION" is PIPE_UTILIZATION.
std::string Short(const std::string& value, std::string_view prefix) {
  return value.starts_with(prefix) ? value.substr(prefix.size()) : value;
}

std::string CaptureText(const RankFacts& facts) {
  static constexpr const char* kKinds[] = {
      "nothing readable", "text, parsed",    "database, parsed",    "raw, not parsed",
      "GPU trace",        "memory snapshot", "records of a server", "NPU trace of torch.profiler"};
  const std::string_view kind = Translated(kKinds[static_cast<std::size_t>(facts.kind)]);
  if (!facts.problem.empty() && facts.kind != CaptureKind::kUnknown)
    return Say("{}, {}", kind, NameOf(RankState::kDamaged));
  if (facts.complete == Recorded::kYes) return Say("{}, complete", kind);
  if (facts.complete == Recorded::kNo) return Say("{}, incomplete", kind);
  return std::string(kind);
}

// "1 broken (one record once), 17 kept", with -v the names of all.
std::string PromisesText(const std::vector<KeptPromise>& promises) {
  constexpr std::pair<Kept, const char*> kStates[] = {{Kept::kBroken, "{} broken"},
                                                      {Kept::kKept, "{} kept"},
                                                      {Kept::kNotChecked, "{} not checked"}};
  std::vector<std::string> states;
  for (const auto& [state, form] : kStates) {
    std::vector<std::string> names;
    for (const KeptPromise& promise : promises) {
      if (promise.kept != state) continue;
      names.emplace_back(Translated(promise.rule->name));
      std::ranges::replace(names.back(), '_', ' ');
    }
    if (names.empty()) continue;
    const bool named = state == Kept::kBroken || LogEnabled(LogLevel::kInfo);
    states.push_back(fmt::format(fmt::runtime(Translated(form)), names.size()));
    if (named) states.back() = Say("{} ({})", states.back(), Join(names));
  }
  return Join(states);
}

std::string FrameworkText(const RankFacts& facts) {
  std::vector<std::string> parts;
  if (!facts.framework.empty()) parts.push_back(facts.framework);
  if (!facts.torch_npu_version.empty()) parts.push_back("torch_npu " + facts.torch_npu_version);
  if (!facts.cann_version.empty()) parts.push_back("CANN " + facts.cann_version);
  return Join(parts);
}

std::string SettingsText(const ProfilerInfo& settings) {
  std::vector<std::string> parts;
  if (!settings.level.empty()) parts.push_back(settings.level);
  std::vector<std::string> activities;
  for (const std::string& activity : settings.activities) {
    activities.push_back(Short(activity, "ProfilerActivity."));
  }
  if (!activities.empty()) parts.push_back(fmt::format("{}", fmt::join(activities, " + ")));
  if (!settings.aic_metrics.empty()) {
    parts.push_back("aic_metrics " + Short(settings.aic_metrics, "ACL_AICORE_"));
  }
  if (const auto& schedule = settings.schedule) {
    parts.push_back(fmt::format("schedule: skip_first {} wait {} warmup {} active {} repeat {}",
                                schedule->skip_first, schedule->wait, schedule->warmup,
                                schedule->active, schedule->repeat));
  }
  return Join(parts);
}

const SettingValues& SettingsOfKind(SettingKind kind, const RecordedSettings& settings) {
  static const SettingValues kNone;
  const auto found = settings.find(kind);
  return found == settings.end() ? kNone : found->second;
}

// "record_shapes, with_stack": what the profiler was asked for besides.
std::string SwitchesText(const RecordedSettings& settings) {
  std::vector<std::string> on;
  for (const auto& [name, value] : SettingsOfKind(SettingKind::kProfiler, settings)) {
    if (value == "on") on.push_back(name);
  }
  return Join(on);
}

// "ASCEND_LAUNCH_BLOCKING=1 (costs time: ...), HCCL_ALGO=...; 6 recorded variables are not set".
std::string EnvironmentText(const RecordedSettings& settings) {
  const SettingValues& variables = SettingsOfKind(SettingKind::kEnvironment, settings);
  std::vector<std::string> set;
  for (const auto& [name, value] : variables) {
    if (value.empty()) continue;
    set.push_back(fmt::format("{}={}", name, value));
    if (CostsTime(name, variables))
      set.back() =
          Say("{} (costs time: {})", set.back(), Translated(CostlySettingNamed(name)->costs));
  }
  const std::size_t empty = variables.size() - set.size();
  if (empty == 0) return Join(set);
  const std::string others = Counted(static_cast<std::int64_t>(empty), "recorded variable");
  return set.empty() ? Say("{} not set", others) : Say("{}; {} not set", Join(set), others);
}

// The versions that the line of the framework does not have.
std::string VersionsText(const RecordedSettings& settings) {
  std::vector<std::string> versions;
  for (const auto& [name, value] : SettingsOfKind(SettingKind::kVersion, settings)) {
    if (!IsOneOf(name, {"torch_npu_version", "cann_version"}))
      versions.push_back(fmt::format("{} {}", name, value));
  }
  return Join(versions);
}

// As many as a screen has room for, with -v all of them.
std::string MetadataText(const SettingValues& metadata) {
  constexpr std::size_t kMost = 8, kColumns = 60;
  const bool all = LogEnabled(LogLevel::kInfo);
  std::vector<std::string> shown;
  for (const auto& [name, value] : metadata) {
    if (!all && shown.size() == kMost) break;
    shown.push_back(fmt::format("{}={}", name, all ? value : CutEnd(value, kColumns)));
  }
  if (shown.size() < metadata.size())
    shown.push_back(Say("{} more (-v)", metadata.size() - shown.size()));
  return fmt::format("{}", fmt::join(shown, "; "));  // lists have commas
}

std::string StepsText(const RankFacts& facts) {
  if (!facts.steps) return "";
  if (facts.steps->empty()) return Say("none marked");
  return fmt::format("{} ({})", facts.steps->size(), Ranges(*facts.steps));
}

void AddContents(const Contents& recorded, WrappedText& page) {
  const auto names = [&](Recorded state) {
    std::vector<std::string> found;
    for (const RecordedContent& content : kRecordedContents) {
      // Nobody misses those, as analyses of files of another kind.
      const bool is_apart = content.state == &Contents::hardware && state == Recorded::kNo;
      if (recorded.*content.state == state && !is_apart)
        found.emplace_back(Translated(content.words));
    }
    return Join(found);
  };
  page.AddLabelled("  recorded", names(Recorded::kYes));
  page.AddLabelled("  not recorded", names(Recorded::kNo));
}

// The kinds of records of a raw capture, and files whose kind nobody knows.
void AddRecords(const RecordInventory& records, WrappedText& page) {
  const auto names = [&](bool read) {
    std::vector<std::string> found;
    for (const RecordInventory::Entry& entry : records.kinds) {
      if ((entry.kind->use == RecordUse::kRead) == read) found.emplace_back(entry.kind->name);
    }
    return Join(found);
  };
  page.AddLabelled("  records read", names(true));
  page.AddLabelled("  not read", names(false));
  if (records.unknown.empty()) return;
  constexpr std::size_t kFiles = 8;  // a directory of something else can bring hundreds
  std::vector<std::string> files;
  for (std::size_t i = 0; i < std::min(kFiles, records.unknown.size()); ++i) {
    files.push_back(records.unknown[i].filename().string());
  }
  if (records.unknown.size() > kFiles) {
    files.push_back(Say("{} more", records.unknown.size() - kFiles));
  }
  page.AddLabelled("  unknown files", Join(files));
}

void AddWarnings(const std::vector<Warning>& warnings, const std::filesystem::path& root,
                 WrappedText& page) {
  constexpr std::size_t kPaths = 4;  // a wrong directory can bring hundreds
  for (const Warning& warning : warnings) {
    page.Add("  ! ", 4, Translated(warning.text));
    for (std::size_t i = 0; i < std::min(kPaths, warning.paths.size()); ++i) {
      page.Add("      ", 6, warning.paths[i].lexically_relative(root).string());
    }
    if (warning.paths.size() > kPaths) {
      page.Add("      ", 6, Say("and {} more", warning.paths.size() - kPaths));
    }
    page.Add("    -> ", 7, Translated(warning.advice));
  }
}

// What is in the way of every analysis, if it is one thing.
const Lack* CommonLack(const std::vector<Verdict>& verdicts) {
  const auto same = [&](const Verdict& verdict) {
    return verdict.ability == Ability::kCannotRun && verdict.lacks.size() == 1 &&
           verdict.lacks[0].reason == verdicts[0].lacks[0].reason;
  };
  const bool one =
      !verdicts.empty() && !verdicts[0].lacks.empty() && std::ranges::all_of(verdicts, same);
  return one ? &verdicts[0].lacks[0] : nullptr;
}

// The setting stands on the line of the reason where both fit.
void AddLack(const Lack& lack, WrappedText& page) {
  constexpr std::size_t kIndent = 6;
  const std::string_view reason = Translated(lack.reason), setting = Translated(lack.setting);
  const std::string both = fmt::format("{} -> {}", reason, setting);
  const bool on_one_line = !setting.empty() && kIndent + ColumnsOf(both) <= kUsualWidth;
  page.Add("    - ", kIndent, on_one_line ? std::string_view(both) : reason);
  if (!setting.empty() && !on_one_line) page.Add("      -> ", 9, setting);
}

// "compare: api, kernels; cluster: all, hccl_sum and 12 more", with -v all of them.
std::string AnalysesText(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& names) {
  constexpr std::size_t kMax = 4;
  std::string text;
  for (const auto& [command, analyses] : names) {
    const bool all = LogEnabled(LogLevel::kInfo) || analyses.size() <= kMax + 1;
    const std::size_t shown = all ? analyses.size() : kMax;
    const std::string names = fmt::format(
        "{}",
        fmt::join(analyses.begin(), analyses.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", command,
                        all ? names : Say("{} and {} more", names, analyses.size() - shown));
  }
  return text;
}

// The JSON document lists the contents that only the events show. The page has no room for them.
std::vector<Verdict> OnPage(std::vector<Verdict> verdicts) {
  for (Verdict& verdict : verdicts) {
    for (Lack& lack : verdict.lacks) {
      if (lack.setting == kTrialTells) lack.reason = Translated("only the events tell");
    }
  }
  return verdicts;
}

void AddVerdicts(const std::vector<Verdict>& verdicts, WrappedText& page) {
  if (const Lack* lack = CommonLack(verdicts)) {
    page.AddColored(kRed, Translated("  no analysis can run"));
    AddLack(*lack, page);
    return;
  }
  static constexpr std::pair<const char*, const char*> kAbilities[] = {
      {kGreen, "  can run: "},
      {kYellow, "  runs with less: "},
      {kYellow, "  may run: "},
      {kRed, "  cannot run: "}};
  // Analyses of the same verdict stand together: there are many.
  std::vector<bool> said(verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) said[i] = verdicts[i].is_apart;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (said[i]) continue;
    const Verdict& verdict = verdicts[i];
    std::vector<std::pair<std::string, std::vector<std::string>>> names;  // by command
    for (std::size_t k = i; k < verdicts.size(); ++k) {
      if (!(verdicts[k] == verdict)) continue;
      said[k] = true;
      const std::string& name = AllAnalyzerChecks()[k].name;
      const std::size_t colon = name.find(": ");
      if (names.empty() || names.back().first != name.substr(0, colon))
        names.push_back({name.substr(0, colon), {}});
      names.back().second.push_back(name.substr(colon + 2));
    }
    const auto& [color, words] = kAbilities[static_cast<std::size_t>(verdict.ability)];
    page.AddColored(color, std::string(Translated(words)), 4, AnalysesText(names));
    for (const Lack& lack : verdict.lacks) AddLack(lack, page);
  }
}

// What is said of a rank, apart from what differs from rank to rank anyway. `metadata` is that of
// all ranks of which the same is said.
std::string Body(const RankFacts& facts, const JudgedCapture& judged,
                 const std::vector<std::string>& unread_tables, const SettingValues& metadata,
                 const std::filesystem::path& root, bool color) {
  WrappedText page(color);
  const std::string promises = PromisesText(judged.promises);
  page.AddLabelled("  capture", promises.empty()
                                    ? CaptureText(facts)
                                    : Say("{}; promises: {}", CaptureText(facts), promises));
  page.AddLabelled("  framework", FrameworkText(facts));
  if (facts.settings) page.AddLabelled("  settings", SettingsText(*facts.settings));
  page.AddLabelled("  switched on", SwitchesText(facts.all_settings));
  page.AddLabelled("  versions", VersionsText(facts.all_settings));
  page.AddLabelled("  environment", EnvironmentText(facts.all_settings));
  page.AddLabelled("  metadata", MetadataText(metadata));
  page.AddLabelled("  steps", StepsText(facts));
  page.AddLabelled("  tables", Join(facts.server_tables));
  AddContents(facts.recorded, page);
  AddRecords(facts.records, page);
  page.AddLabelled("  not read", Join(unread_tables));
  AddVerdicts(OnPage(judged.verdicts), page);
  AddWarnings(facts.warnings, root, page);
  return page.text();
}

// Ranks with the same body, but for the tables that nothing reads and the metadata.
struct Block {
  std::string body;
  std::vector<const RankFacts*> ranks;
  const JudgedCapture* judged = nullptr;
  std::set<std::string> unread_tables;  // of any of the ranks
};

std::vector<Block> Fold(const CheckReport& report, bool color) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < report.survey.ranks.size(); ++i) {
    const RankFacts& facts = report.survey.ranks[i];
    std::string body = Body(facts, report.judged[i], {}, {}, report.survey.path, color);
    auto block =
        std::ranges::find_if(blocks, [&](const Block& known) { return known.body == body; });
    if (block == blocks.end())
      block = blocks.insert(block, {std::move(body), {}, &report.judged[i], {}});
    block->ranks.push_back(&facts);
    if (facts.kind != CaptureKind::kNpuRaw)
      block->unread_tables.insert(facts.unread_tables.begin(), facts.unread_tables.end());
  }
  for (Block& block : blocks) {
    std::vector<const RecordedSettings*> of_ranks;
    for (const RankFacts* rank : block.ranks) of_ranks.push_back(&rank->all_settings);
    block.body = Body(*block.ranks.front(), *block.judged,
                      {block.unread_tables.begin(), block.unread_tables.end()},
                      SettingsOfKind(SettingKind::kMetadata, JoinSettings(of_ranks)),
                      report.survey.path, color);
  }
  return blocks;
}

std::string Title(const Block& block) {
  constexpr std::size_t kMostLabels = 4;
  std::set<RankId> ranks, labels;
  for (const RankFacts* facts : block.ranks)
    (facts->id.IsLabel() ? labels : ranks).insert(facts->id);
  std::vector<std::string> names;
  if (!ranks.empty()) names.push_back(RankList(ranks).Names(RankList::kAllRuns));
  for (const RankId label : labels) {
    if (names.size() < kMostLabels || labels.size() == 1) names.push_back(RankName(label));
  }
  const std::size_t named = names.size() - (ranks.empty() ? 0 : 1);
  if (named < labels.size()) names.push_back(Say("{} more", labels.size() - named));
  return ranks.size() + labels.size() == 1 ? Say("Rank {}", Join(names))
                                           : Say("Ranks {}", Join(names));
}

void AddBlock(const Block& block, const std::filesystem::path& root, WrappedText& page) {
  page.AddColored(kBold, Title(block));
  std::set<std::int64_t> devices;
  std::set<std::string> device_names, hosts;
  std::int64_t bytes = 0;
  for (const RankFacts* facts : block.ranks) {
    devices.insert(facts->devices.begin(), facts->devices.end());
    if (!facts->device_name.empty()) device_names.insert(facts->device_name);
    if (!facts->host.empty()) hosts.insert(facts->host);
    bytes += facts->bytes;
  }
  const auto place = [&](const RankFacts* facts) {
    return facts->path.lexically_relative(root).string();
  };
  std::string from = place(block.ranks.front());
  if (block.ranks.size() > 1) {
    from = Say("{} to {} ({} captures)", from, place(block.ranks.back()), block.ranks.size());
  }
  if (from != ".") page.AddLabelled("  from", from);
  if (bytes > 0) page.AddLabelled("  size", Size(bytes));
  std::vector<std::string> device(device_names.begin(), device_names.end());
  if (!devices.empty())
    device.push_back(Say("device {}", Ranges({devices.begin(), devices.end()})));
  page.AddLabelled("  device", Join(device));
  constexpr std::size_t kHosts = 8;  // more than that fill the screen
  page.AddLabelled("  host", hosts.size() <= kHosts ? Join({hosts.begin(), hosts.end()})
                                                    : Say("{} to {} ({} hosts)", *hosts.begin(),
                                                          *hosts.rbegin(), hosts.size()));
}

// Which captures belong together, where there are several jobs.
void AddGroups(const std::vector<CheckedGroup>& groups, WrappedText& page) {
  if (groups.empty()) return;
  page.Add("", 0, Say("{} groups, which only rl_roles analyses together:", groups.size()));
  for (const CheckedGroup& group : groups) {
    page.Add("  - ", 4,
             fmt::format(
                 "{}: {}{}", group.name,
                 group.ranks.empty() ? "" : RankList(group.ranks).Text(RankList::kAllRuns) + "; ",
                 Counted(group.captures.size(), "capture")));
  }
}

// Sums up the blocks from `first` on, which do not fit.
std::string OthersText(const std::vector<Block>& blocks, std::size_t first) {
  std::size_t captures = 0;
  for (std::size_t i = first; i < blocks.size(); ++i) captures += blocks[i].ranks.size();
  WrappedText page(false);
  page.AddBlank();
  page.Add("", 2,
           Say("{} more captures differ from these, the first is {}; --verbose shows them",
               captures, Title(blocks[first])));
  return page.text();
}

// "7 of 8 ranks read (1 damaged)": of one job, all captures of which state their numbers.
std::string CoverageOf(const CheckReport& report) {
  std::set<RankId> read;
  AbsentRanks absent;
  std::int64_t world = 0;
  for (const RankFacts& facts : report.survey.ranks) {
    if (!facts.rank || report.groups.size() > 1) return "";
    world = std::max(world, facts.world_size.value_or(0));
    if (facts.problem.empty())
      read.insert(*facts.rank);
    else
      absent.Add(*facts.rank, RankState::kDamaged);
  }
  const std::size_t of_job =
      std::max(static_cast<std::size_t>(world), read.size() + absent.states.size());
  return CoverageText(read.size(), of_job, absent);
}

}  // namespace

std::string FormatCheckText(const CheckReport& report, bool color) {
  const Survey& survey = report.survey;
  WrappedText page(color);
  page.AddColored(kBold, survey.path.string());
  const std::size_t count = survey.ranks.size();
  const std::string coverage = CoverageOf(report);
  std::string about = Counted(static_cast<std::int64_t>(count), "capture");
  about = report.Usable() ? Say("{}, usable", about) : Say("{}, nothing usable", about);
  if (!coverage.empty()) about = Say("{}; {}", about, coverage);
  if (!report.tried) about = Say("{}; events not read (--try tries all analyses)", about);
  page.Add("", 0, about);
  AddGroups(report.groups, page);
  std::string text = page.text();
  const std::vector<Block> blocks = Fold(report, color);
  constexpr std::ptrdiff_t kMaxLines = 40;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    WrappedText head(color);
    head.AddBlank();
    AddBlock(blocks[i], survey.path, head);
    const std::string told = head.text() + blocks[i].body;
    const auto lines = std::ranges::count(text, '\n') + std::ranges::count(told, '\n');
    if (i > 0 && lines > kMaxLines && !LogEnabled(LogLevel::kInfo)) {
      text += OthersText(blocks, i);
      break;
    }
    text += told;
  }
  if (survey.warnings.empty()) return text;
  WrappedText tail(color);
  tail.AddBlank();
  tail.AddColored(kBold, Translated("All captures"));
  AddWarnings(survey.warnings, survey.path, tail);
  return text + tail.text();
}

}  // namespace mpa
