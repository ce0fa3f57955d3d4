// SPDX-License-Identifier: Apache-2.0
// Iterations of reinforcement learning: what each role takes, and which one to scale.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "iteration_account.h"
#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/collectives/check_collectives.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/screen_list.h"

namespace mpa::recipes::rl_roles {
namespace {

// The columns of what devices did, which `kTimes` leads to.
template <auto... kTimes>
auto TimeColumns() {
  return std::vector{CountColumn<kTimes..., &DeviceTimes::computing>(
                         "computingNs", 14, "Time in which kernels compute, in ns."),
                     CountColumn<kTimes..., &DeviceTimes::communication>(
                         "communicationNs", 14,
                         "Time of communication that no kernel hides, with waiting, in ns."),
                     CountColumn<kTimes..., &DeviceTimes::copies>(
                         "copyNs", 14, "Time in which nothing but copies runs, in ns."),
                     CountColumn<kTimes..., &DeviceTimes::free>(
                         "freeNs", 14, "Time in which the device had nothing to do, in ns.")};
}

Cell OfTail(const IterationAccount& item, TimeNs time) {
  return item.tail.devices > 0 ? Cell(time - item.time.begin) : Cell();
}

SheetColumns<IterationAccount> IterationColumns() {
  using Item = IterationAccount;
  return {
      CountColumn<&Item::iteration>(
          "iteration", 10, "Number of the iteration, from the directories or else counted from 0."),
      CountColumn<&Item::time, &Interval::begin>("startNs", 20, "Start of the first role, in ns."),
      CountColumn<&Item::Wall>(
          "wallNs", 14, "Time from the start of the first role to the end of the last one, in ns."),
      CountColumn<&Item::devices>("devices", 8,
                                  "Number of devices that run a role in the iteration."),
      CountColumn<&Item::DeviceTime>("deviceTimeNs", 14,
                                     "wallNs times the number of devices, in ns."),
      CountColumn<&Item::RoleTime>(
          "roleNs", 14,
          "Time of roles on devices, in ns; roleNs plus the next three columns minus sharedNs is"
          " deviceTimeNs."),
      CountColumn<&Item::bubble>("bubbleNs", 14,
                                 "Device time in which no role runs anywhere, in ns."),
      CountColumn<&Item::waiting>(
          "waitingNs", 14, "Device time without a role, while other devices run one, in ns."),
      CountColumn<&Item::other>("otherIterationNs", 14,
                                "Device time in roles of other iterations, in ns."),
      CountColumn<&Item::shared>("sharedNs", 14,
                                 "Time counted twice because two roles run on one device, in ns."),
      CountColumn<&Item::BubbleWall>("bubbleWallNs", 14, "Time in which no role runs, in ns."),
      CountColumn<&Item::tail, &Tail::devices>("rolloutDevices", 10,
                                               "Number of devices that generate."),
      ComputedColumn<Item>("firstFinishNs", Format::kInteger,
                           "Time from the start of the iteration until the first device had"
                           " generated everything, in ns.",
                           [](const Item& item) { return OfTail(item, item.tail.first); }),
      ComputedColumn<Item>("medianFinishNs", Format::kInteger,
                           "Time from the start of the"
                           " iteration until the median device"
                           " had generated everything, in ns.",
                           [](const Item& item) { return OfTail(item, item.tail.median); }),
      ComputedColumn<Item>("lastFinishNs", Format::kInteger,
                           "Time from the start of the iteration"
                           " until the last device had generated"
                           " everything, in ns.",
                           [](const Item& item) { return OfTail(item, item.tail.last); }),
      CountColumn<&Item::tail, &Tail::last_rank, kRank>(
          "lastRank", 8, "The rank of the device that finished last."),
      CountColumn<&Item::tail, &Tail::idle>(
          "tailIdleNs", 14,
          "Device time between the finish of a device and that of the last, in ns."),
      NumberColumn<&Item::tail, &Tail::IdlePercent>(
          "tailIdlePercent", Format::kDecimals2, 14,
          "tailIdleNs as a share of the device time from the start of the rollout to the last"
          " finish, in percent.")};
}

struct RoleItem {
  const IterationAccount* iteration = nullptr;
  const RoleAccount* role = nullptr;
};

SheetColumns<RoleItem> RoleColumns() {
  using Item = RoleItem;
  return Joined<Item>(
      {CountColumn<&Item::role, &RoleAccount::iteration>(
           "iteration", 10, "Number of the iteration, as in RlIterations."),
       TextColumn<&Item::role, &RoleAccount::role>(
           "role", 22, "The role, by one name for all names that frameworks give it."),
       TextColumn<&Item::role, &RoleAccount::Kind>(
           "kind", 14,
           "rollout, log prob, reference, reward, values, update, weight sync or other."),
       CountColumn<&Item::role, &RoleAccount::devices>("devices", 8,
                                                       "Number of devices that run the role."),
       ComputedColumn<Item>(
           "startNs", Format::kInteger,
           "When the first device begins the role, in ns after the start of the iteration.",
           [](const Item& item) -> Cell { return item.role->begin - item.iteration->time.begin; }),
       ComputedColumn<Item>(
           "endNs", Format::kInteger,
           "When the last device ends the role, in ns after the start of the iteration.",
           [](const Item& item) -> Cell { return item.role->end - item.iteration->time.begin; }),
       CountColumn<&Item::role, &RoleAccount::wall>(
           "wallNs", 14, "Time in which any device runs the role, in ns."),
       CountColumn<&Item::role, &RoleAccount::overlap>(
           "overlapNs", 14, "Part of wallNs in which another role runs as well, in ns."),
       CountColumn<&Item::role, &RoleAccount::DeviceTime>(
           "deviceNs", 14,
           "Time of all devices in the role, in ns; the next four columns add up to it.")},
      TimeColumns<&Item::role, &RoleAccount::times>(),
      {CountColumn<&Item::role, &RoleAccount::waiting>(
           "waitingNs", 14,
           "Time in which devices have no role while this one runs elsewhere, in ns. Where several"
           " roles run, it counts for the one that began first."),
       CountColumn<&Item::role, &RoleAccount::gain>(
           "halvingGainNs", 14,
           "How much shorter all iterations together would be if the role took half as long, in"
           " ns.")});
}

SheetColumns<Bubble> BubbleColumns() {
  return {
      CountColumn<&Bubble::iteration>("iteration", 10,
                                      "Number of the iteration, as in RlIterations."),
      CountColumn<&Bubble::time, &Interval::begin>("startNs", 20, "Start of the bubble, in ns."),
      ComputedColumn<Bubble>(
          "durationNs", Format::kInteger, "How long no role runs, in ns.",
          [](const Bubble& one) -> Cell { return one.time.end - one.time.begin; }),
      TextColumn<&Bubble::before>("before", 22, "The role that ended last."),
      TextColumn<&Bubble::behind>("behind", 22, "The role that begins.")};
}

SheetColumns<JobRun> RunColumns() {
  using Item = JobRun;
  return Joined<Item>(
      {CountColumn<&Item::iteration>("iteration", 10,
                                     "Number of the iteration, as in RlIterations."),
       TextColumn<&Item::run, &RoleRun::role>("role", 22, "The role, as in RlRoles."),
       CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
       CountColumn<&Item::device>("device", 8, "Number given to each device of the job."),
       TextColumn<&Item::capture, &CaptureRoles::host>("host", 20, "The host; empty: unknown."),
       TextColumn<&Item::capture, &CaptureRoles::group>(
           "directory", 24, "The directories that lead to the capture."),
       TextColumn<&Item::capture, &CaptureRoles::name>("capture", 36, "The capture."),
       CountColumn<&Item::begin>("startNs", 20, "Start of the run on the common clock, in ns."),
       CountColumn<&Item::Length>("durationNs", 14,
                                  "Length of the run, in ns; the next four columns add up to it.")},
      TimeColumns<&Item::run, &RoleRun::times>(),
      {ComputedColumn<Item>("finishNs", Format::kInteger,
                            "Time from the start of the run to the end of its last kernel, or for a"
                            " server of its last step, in ns.",
                            [](const Item& item) -> Cell { return item.finish - item.begin; }),
       CountColumn<&Item::run, &RoleRun::decode, &DecodeSteps::steps>(
           "decodeSteps", 14, "Number of steps that only decode; 0: none are named."),
       CountColumn<&Item::run, &RoleRun::decode, &DecodeSteps::few>(
           "fewRequestSteps", 14,
           "Number of steps that only decode, with at most a quarter of the requests of the largest"
           " one."),
       CountColumn<&Item::run, &RoleRun::decode, &DecodeSteps::time>(
           "decodeNs", 14, "Time of the steps that decode, in ns."),
       CountColumn<&Item::run, &RoleRun::decode, &DecodeSteps::few_time>(
           "fewRequestNs", 14, "Time of the decode steps with few requests, in ns."),
       CountColumn<&Item::run, &RoleRun::decode, &DecodeSteps::largest>(
           "largestBatch", 14, "Requests of the largest step.")});
}

// When each device ran which role: of the longest iteration alone where there are many.
PageChart RolesChart(const JobRoles& job, const std::vector<IterationAccount>& accounts) {
  constexpr std::size_t kMaxLanes = 64, kMaxSpans = 5'000;
  const IterationAccount& longest =
      *std::ranges::max_element(accounts, {}, &IterationAccount::Wall);
  const bool shows_all = job.runs.size() <= kMaxSpans;
  Timeline lanes{.title = Say("Which role each device runs"),
                 .begin = shows_all ? accounts.front().time.begin : longest.time.begin,
                 .end = shows_all ? accounts.back().time.end : longest.time.end};
  std::map<std::size_t, std::vector<const JobRun*>> devices;
  std::map<std::string, std::size_t> kinds;
  for (const JobRun& run : job.runs) devices[run.device].push_back(&run);
  for (const auto& [device, runs] : devices) {
    if (lanes.lanes.size() == kMaxLanes) break;
    lanes.Lane(Say("device {}, {}", device, RankText(runs.front()->rank)));
    for (const JobRun* run : runs) {
      const auto [kind, is_new] = kinds.try_emplace(run->run->role, kinds.size());
      if (is_new)
        lanes.kinds.push_back(
            {fmt::format("var(--t{})", kind->second % kSeriesColours.size()), run->run->role});
      lanes.Add({run->begin, run->end, kind->second, run->run->role, run->run->role});
    }
  }
  for (const IterationAccount& account : accounts)
    lanes.marks.push_back({account.time.begin, Say("iteration {}", account.iteration)});
  if (!shows_all) lanes.text = Say("Iteration {}, the longest.", longest.iteration);
  if (devices.size() > kMaxLanes)
    lanes.text += Say(" Shown are {} of {} devices.", kMaxLanes, devices.size());
  return LanesOf(std::move(lanes));
}

void AddSheets(const JobRoles& job, const std::vector<IterationAccount>& accounts, Report& report) {
  ItemSheet iterations({"RlIterations", ToTranslate("Iterations: times and bubbles of each")},
                       IterationColumns());
  ItemSheet roles({"RlRoles", ToTranslate("Roles: how long each device runs them")}, RoleColumns());
  ItemSheet bubbles(
      {"RlBubbles", ToTranslate("Times between the roles, in which devices are idle")},
      BubbleColumns());
  ItemSheet runs({"RlRuns", ToTranslate("Each run of a role on a device")}, RunColumns());
  iterations.sheet.charts = {{.kind = Chart::Kind::kStacked,
                              .title = "Device time of the iterations",
                              .labels = {"iteration"},
                              .values = {{"roleNs", Tint::kCompute},
                                         {"waitingNs", Tint::kWait},
                                         {"bubbleNs", Tint::kFree}},
                              .measured = Measured::kNs}};
  roles.sheet.charts = {{.kind = Chart::Kind::kStacked,
                         .title = "Device time of each role, mean of the iterations",
                         .labels = {"role"},
                         .values = {{"computingNs", Tint::kCompute},
                                    {"communicationNs", Tint::kUnsplit},
                                    {"copyNs", Tint::kCopy},
                                    {"freeNs", Tint::kFree}},
                         .measured = Measured::kNs,
                         .same = Chart::SameLabel::kMean}};
  bubbles.sheet.charts = {LargestBars("Times in which no role runs, by what lies around them",
                                      {"before", "behind"}, {{"durationNs", Tint::kFree}},
                                      Measured::kNs, Chart::SameLabel::kSum)};
  for (const IterationAccount& account : accounts) {
    iterations.Add(account);
    for (const RoleAccount& role : account.roles) roles.Add({&account, &role});
    for (const Bubble& bubble : account.bubbles) bubbles.Add(bubble);
  }
  for (const JobRun& run : job.runs) runs.Add(run, BeginRank(run.rank, report));
  if (!accounts.empty()) report.drawings.push_back(RolesChart(job, accounts));
  for (Sheet* sheet : {&iterations.sheet, &roles.sheet, &bubbles.sheet, &runs.sheet})
    report.sheets.push_back(std::move(*sheet));
}

// The account of an iteration in a few lines.

// Iterations take from milliseconds in tests to many minutes.
class Unit {
 public:
  explicit Unit(TimeNs longest) : seconds_(longest >= 10'000'000'000) {}
  const char* Name() const { return seconds_ ? "s" : "ms"; }
  std::string Number(TimeNs time) const {
    const double number = static_cast<double>(time) / (seconds_ ? 1e9 : 1e6);
    return fmt::format("{:.{}f}", number, number < 1e6 ? 3 : 0);
  }
  std::string Text(TimeNs time) const { return fmt::format("{} {}", Number(time), Name()); }

 private:
  bool seconds_;
};

void AddAnswer(const std::vector<IterationAccount>& accounts, Report& report) {
  std::vector<Interval> times;
  std::size_t devices = 0;
  const RoleAccount* best = &accounts.front().roles.front();
  for (const IterationAccount& account : accounts) {
    times.push_back(account.time);
    devices = std::max(devices, account.devices);
    for (const RoleAccount& role : account.roles) best = role.gain > best->gain ? &role : best;
  }
  const TimeNs all = Length(Union(std::move(times)));  // what lies between was not captured
  const auto count = static_cast<std::int64_t>(accounts.size());
  const std::string role = ShortenName(Printable(best->role), NameColumns(28));
  const double share = PercentOf(best->gain, all);
  report.lines.push_back(
      best->gain <= 0 ? Say("no role alone makes the iteration shorter")
      : count == 1
          ? Say("scale {}: halving its time saves {:.1f} % of the iteration", role, share)
          : Say("scale {}: halving its time saves {:.1f} % of the iterations", role, share));
  report.lines.push_back(Say("{} on {}, {}", Counted(count, "iteration"),
                             Counted(static_cast<std::int64_t>(devices), "device"),
                             Unit(all).Text(all)));
}

void AddIterations(const std::vector<IterationAccount>& accounts, const Unit& unit,
                   Report& report) {
  constexpr std::size_t kShown = 6;
  const std::size_t shown = std::min(kShown, accounts.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const IterationAccount& account = accounts[i];
    report.lines.push_back(
        Say("  iteration {}: {}, no role {:.1f} %, waiting {:.1f} %, tail of rollout {:.1f} %",
            account.iteration, unit.Text(account.Wall()),
            PercentOf(account.BubbleWall(), account.Wall()),
            PercentOf(account.waiting, account.DeviceTime()), account.tail.IdlePercent()));
  }
  AddMoreLine(accounts.size(), shown, "iteration", report.lines);
}

void AddRoles(const IterationAccount& account, const Unit& unit, Report& report) {
  const ScreenList list(0, {ScreenName("role", 22), ScreenNumber("devices", 7),
                            ScreenNumber(Say("start {}", unit.Name()), 10),
                            ScreenNumber(Say("wall {}", unit.Name()), 10), ScreenNumber("%", 6, 1),
                            ScreenNumber("comp %", 6, 1), ScreenNumber("comm %", 6, 1),
                            ScreenNumber("free %", 6, 1)});
  report.lines.push_back(list.Heading());
  // Those that take most time, in order of their begins.
  constexpr std::size_t kShown = 10;
  std::vector<const RoleAccount*> shown;
  for (const RoleAccount& role : account.roles) shown.push_back(&role);
  if (shown.size() > kShown) {
    StableSort(shown, [](const auto* a, const auto* b) { return a->wall > b->wall; });
    shown.resize(kShown);
    std::ranges::sort(shown);
  }
  for (const RoleAccount* role : shown) {
    const TimeNs all = role->DeviceTime();
    report.lines.push_back(
        list.Line(role->role, role->devices, unit.Number(role->begin - account.time.begin),
                  unit.Number(role->wall), PercentOf(role->wall, account.Wall()),
                  PercentOf(role->times.computing, all), PercentOf(role->times.communication, all),
                  PercentOf(role->times.free, all)));
  }
  AddMoreLine(account.roles.size(), shown.size(), "role", report.lines);
}

void AddGaps(const IterationAccount& account, const Unit& unit, Report& report) {
  const auto length = [](const Bubble& one) { return one.time.end - one.time.begin; };
  if (!account.bubbles.empty()) {
    const Bubble& longest = *std::ranges::max_element(account.bubbles, {}, length);
    report.lines.push_back(
        Say("no role runs: {} ({:.1f} %), at most {}", unit.Text(account.BubbleWall()),
            PercentOf(account.BubbleWall(), account.Wall()), unit.Text(length(longest))));
    report.lines.push_back(Say("  between {} and {}",
                               ShortenName(Printable(longest.before), NameColumns(30)),
                               ShortenName(Printable(longest.behind), 30)));
  }
  if (account.waiting > 0) {
    const RoleAccount& most = *std::ranges::max_element(account.roles, {}, &RoleAccount::waiting);
    report.lines.push_back(Say("devices wait while others run a role: {:.1f} % of the device time",
                               PercentOf(account.waiting, account.DeviceTime())));
    report.lines.push_back(Say("  most for {}: {:.1f} %",
                               ShortenName(Printable(most.role), NameColumns(30)),
                               PercentOf(most.waiting, account.DeviceTime())));
  }
  if (account.other > 0) {
    report.lines.push_back(Say("devices run roles of other iterations: {:.1f} % of the device time",
                               PercentOf(account.other, account.DeviceTime())));
  }
}

void AddTail(const IterationAccount& account, const Unit& unit, Report& report) {
  const Tail& tail = account.tail;
  if (tail.devices > 1) {
    report.lines.push_back(
        Say("tail of rollout: {:.1f} % of its device time is idle until the last finishes",
            tail.IdlePercent()));
    report.lines.push_back(
        Say("  finished after {} (first), {} (median), {} {} (last, {})",
            unit.Number(tail.first - tail.begin), unit.Number(tail.median - tail.begin),
            unit.Number(tail.last - tail.begin), unit.Name(), RankText(tail.last_rank)));
  }
  const DecodeSteps& decode = tail.decode;
  if (decode.steps == 0) return;
  report.lines.push_back(
      Say("decoding with few requests, a quarter of {} or less: {:.1f} % of its time",
          decode.largest, PercentOf(decode.few_time, decode.time)));
  report.lines.push_back(Say("  {} of {} steps", decode.few, decode.steps));
}

void AddLines(const std::vector<IterationAccount>& accounts, Report& report) {
  if (accounts.empty()) return;
  const IterationAccount& longest =
      *std::ranges::max_element(accounts, {}, &IterationAccount::Wall);
  const Unit unit(longest.Wall());
  AddAnswer(accounts, report);
  if (accounts.size() > 1) {
    AddIterations(accounts, unit, report);
    report.lines.push_back(Say("iteration {}, the longest:", longest.iteration));
  }
  AddRoles(longest, unit, report);
  AddGaps(longest, unit, report);
  AddTail(longest, unit, report);
}

CaptureRoles MapRlRoles(const RankTrace& trace, const RecipeArguments& arguments) {
  CaptureRoles roles = RolesOf(trace);
  roles.wanted = arguments.step.value_or(-1);
  return roles;
}

void CheckRoles(const CaptureRoles& part) { CheckCollectives(part.collectives); }

// Captures of different iterations are far apart.
void NoteLongBubbles(const std::vector<IterationAccount>& accounts, Report& report) {
  for (const IterationAccount& account : accounts) {
    for (const Bubble& bubble : account.bubbles) {
      const TimeNs length = bubble.time.end - bubble.time.begin;
      if (length <= account.Wall() - account.BubbleWall()) continue;
      report.notes.push_back(Say(
          "iteration {}: between {} and {} no role runs for {}, longer than all roles together;"
          " the captures may be of different iterations, or lack the roles between them",
          account.iteration, bubble.before, bubble.behind, AmountText(Quantity::kTime, length)));
    }
  }
}

void ReduceRlRoles(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                   Report& report) {
  const JobRoles job = RolesOfJob(ranks);
  report.notes.insert(report.notes.end(), job.notes.begin(), job.notes.end());
  report.partial = job.partial;
  const std::vector<IterationAccount> accounts = AccountIterations(job);
  NoteLongBubbles(accounts, report);
  if (wanted.sheets) AddSheets(job, accounts, report);
  if (wanted.screen != Detail::kNone) AddLines(accounts, report);
}

}  // namespace
}  // namespace mpa::recipes::rl_roles

namespace mpa::recipes::rl_roles {

Recipe RlRoles() {
  return MakeRecipe<rl_roles::MapRlRoles, rl_roles::ReduceRlRoles, rl_roles::CheckRoles>(
      {.name = "rl_roles",
       .folder = "RlRoles",
       .summary = "roles of reinforcement learning: iterations, bubbles, and which to scale",
       .needs = rl_roles::kRoleTables,
       .can_run = JudgeReadable,
       .only_with = "phases of reinforcement learning",
       .cuts_steps = true,
       .joins_groups = true});
}

}  // namespace mpa::recipes::rl_roles
