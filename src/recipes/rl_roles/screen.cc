// SPDX-License-Identifier: Apache-2.0
// The account of an iteration in a few lines.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/recipe/arguments.h"
#include "outputs.h"

namespace mpa::rl_roles {
namespace {

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
  report.lines.push_back(best->gain > 0
                             ? fmt::format("scale {}: half of its time saves {:.1f} % of the {}",
                                           ShortenName(Printable(best->role), NameColumns(28)),
                                           PercentOf(best->gain, all), Plural(count, "iteration"))
                             : std::string("no role alone makes the iteration shorter"));
  report.lines.push_back(fmt::format("{} on {}, {}", Counted(count, "iteration"),
                                     Counted(static_cast<std::int64_t>(devices), "device"),
                                     Unit(all).Text(all)));
}

void AddIterations(const std::vector<IterationAccount>& accounts, const Unit& unit,
                   Report& report) {
  constexpr std::size_t kShown = 6;
  const std::size_t shown = std::min(kShown, accounts.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const IterationAccount& account = accounts[i];
    report.lines.push_back(fmt::format(
        "  iteration {}: {}, no role {:.1f} %, waiting {:.1f} %, tail of rollout {:.1f} %",
        account.iteration, unit.Text(account.Wall()),
        PercentOf(account.BubbleWall(), account.Wall()),
        PercentOf(account.waiting, account.DeviceTime()), account.tail.IdlePercent()));
  }
  AddMoreLine(accounts.size(), shown, "iteration", report.lines);
}

void AddRoles(const IterationAccount& account, const Unit& unit, Report& report) {
  report.lines.push_back(
      fmt::format("{} {:>7} {:>10} {:>10} {:>6} {:>6} {:>6} {:>6}", NameCell("role", 22), "devices",
                  fmt::format("start {}", unit.Name()), fmt::format("wall {}", unit.Name()), "%",
                  "comp %", "comm %", "free %"));
  // Those that take most time, in order of their begins.
  constexpr std::size_t kShown = 10;
  std::vector<const RoleAccount*> shown;
  for (const RoleAccount& role : account.roles) shown.push_back(&role);
  if (shown.size() > kShown) {
    std::ranges::stable_sort(shown, [](const auto* a, const auto* b) { return a->wall > b->wall; });
    shown.resize(kShown);
    std::ranges::sort(shown);
  }
  for (const RoleAccount* role : shown) {
    const TimeNs all = role->DeviceTime();
    report.lines.push_back(fmt::format(
        "{} {:>7} {:>10} {:>10} {:>6.1f} {:>6.1f} {:>6.1f} {:>6.1f}", NameCell(role->role, 22),
        role->devices, unit.Number(role->begin - account.time.begin), unit.Number(role->wall),
        PercentOf(role->wall, account.Wall()), PercentOf(role->times.computing, all),
        PercentOf(role->times.communication, all), PercentOf(role->times.free, all)));
  }
  AddMoreLine(account.roles.size(), shown.size(), "role", report.lines);
}

void AddGaps(const IterationAccount& account, const Unit& unit, Report& report) {
  const auto length = [](const Bubble& one) { return one.time.end - one.time.begin; };
  if (!account.bubbles.empty()) {
    const Bubble& longest = *std::ranges::max_element(account.bubbles, {}, length);
    report.lines.push_back(
        fmt::format("no role runs: {} ({:.1f} %), at most {}", unit.Text(account.BubbleWall()),
                    PercentOf(account.BubbleWall(), account.Wall()), unit.Text(length(longest))));
    report.lines.push_back(fmt::format("  between {} and {}",
                                       ShortenName(Printable(longest.before), NameColumns(30)),
                                       ShortenName(Printable(longest.behind), 30)));
  }
  if (account.waiting > 0) {
    const RoleAccount& most = *std::ranges::max_element(account.roles, {}, &RoleAccount::waiting);
    report.lines.push_back(
        fmt::format("devices wait while others run a role: {:.1f} % of the device time",
                    PercentOf(account.waiting, account.DeviceTime())));
    report.lines.push_back(fmt::format("  most for {}: {:.1f} %",
                                       ShortenName(Printable(most.role), NameColumns(30)),
                                       PercentOf(most.waiting, account.DeviceTime())));
  }
  if (account.other > 0) {
    report.lines.push_back(
        fmt::format("devices run roles of other iterations: {:.1f} % of the device time",
                    PercentOf(account.other, account.DeviceTime())));
  }
}

void AddTail(const IterationAccount& account, const Unit& unit, Report& report) {
  const Tail& tail = account.tail;
  if (tail.devices > 1) {
    report.lines.push_back(
        fmt::format("tail of rollout: {:.1f} % of its device time is idle until the last finishes",
                    tail.IdlePercent()));
    report.lines.push_back(
        fmt::format("  finished after {} (first), {} (median), {} {} (last, {})",
                    unit.Number(tail.first - tail.begin), unit.Number(tail.median - tail.begin),
                    unit.Number(tail.last - tail.begin), unit.Name(), RankText(tail.last_rank)));
  }
  const DecodeSteps& decode = tail.decode;
  if (decode.steps == 0) return;
  report.lines.push_back(
      fmt::format("decoding with few requests, a quarter of {} or less: {:.1f} % of its time",
                  decode.largest, PercentOf(decode.few_time, decode.time)));
  report.lines.push_back(fmt::format("  {} of {} steps", decode.few, decode.steps));
}

}  // namespace

void AddLines(const std::vector<IterationAccount>& accounts, Report& report) {
  if (accounts.empty()) return;
  const IterationAccount& longest =
      *std::ranges::max_element(accounts, {}, &IterationAccount::Wall);
  const Unit unit(longest.Wall());
  AddAnswer(accounts, report);
  if (accounts.size() > 1) {
    AddIterations(accounts, unit, report);
    report.lines.push_back(fmt::format("iteration {}, the longest:", longest.iteration));
  }
  AddRoles(longest, unit, report);
  AddGaps(longest, unit, report);
  AddTail(longest, unit, report);
}

}  // namespace mpa::rl_roles
