// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "mpa/report/member_columns.h"
#include "outputs.h"

namespace mpa::rl_roles {
namespace {

template <typename Item>
ColumnOf<Item> Computed(const char* name, Format format, const char* meaning,
                        Cell (*cell)(const Item&)) {
  return {NamedColumn(name, format, 14, meaning), cell};
}

// The columns of what devices did, which `times` leads to.
template <typename Item, auto kTimes>
void AddTimes(std::vector<ColumnOf<Item>>& columns) {
  const auto add = [&]<auto kMember>(const char* name, const char* meaning) {
    columns.push_back(Computed<Item>(name, Format::kInteger, meaning, [](const Item& item) -> Cell {
      return kTimes(item).*kMember;
    }));
  };
  add.template operator()<&DeviceTimes::computing>("computingNs", "Kernels compute, in ns.");
  add.template operator()<&DeviceTimes::communication>(
      "communicationNs", "Communication that no kernel hides, with waiting, in ns.");
  add.template operator()<&DeviceTimes::copies>("copyNs", "Copies alone, in ns.");
  add.template operator()<&DeviceTimes::free>("freeNs", "The device had nothing to do, in ns.");
}

Cell OfTail(const IterationAccount& item, TimeNs time) {
  return item.tail.devices > 0 ? Cell(time - item.time.begin) : Cell();
}

std::vector<ColumnOf<IterationAccount>> IterationColumns() {
  using Item = IterationAccount;
  std::vector<ColumnOf<Item>> columns = {
      CountColumn<&Item::iteration>("iteration", 10,
                                    "As directories number it, else counted from 0."),
      CountColumn<&Item::time, &Interval::begin>("startNs", 20, "Begin of the first role, in ns."),
      CountColumn<&Item::Wall>("wallNs", 14, "From there to the end of the last role, in ns."),
      CountColumn<&Item::devices>("devices", 8, "Devices that run a role in it."),
      CountColumn<&Item::DeviceTime>("deviceTimeNs", 14, "wallNs of all these devices, in ns."),
      CountColumn<&Item::RoleTime>(
          "roleNs", 14,
          "Time of roles on devices, in ns; with the next three columns, less sharedNs, it is "
          "deviceTimeNs."),
      CountColumn<&Item::bubble>("bubbleNs", 14,
                                 "Device time in which no role runs anywhere, in ns."),
      CountColumn<&Item::waiting>(
          "waitingNs", 14, "Device time without a role, while other devices run one, in ns."),
      CountColumn<&Item::other>("otherIterationNs", 14,
                                "Device time in roles of other iterations, in ns."),
      CountColumn<&Item::shared>("sharedNs", 14,
                                 "Counted twice, because two roles run on one device, in ns."),
      CountColumn<&Item::BubbleWall>("bubbleWallNs", 14, "Time in which no role runs, in ns."),
      CountColumn<&Item::tail, &Tail::devices>("rolloutDevices", 10, "Devices that generate."),
      Computed<Item>("firstFinishNs", Format::kInteger,
                     "When the first device had generated all, from the begin, in ns.",
                     [](const Item& item) { return OfTail(item, item.tail.first); }),
      Computed<Item>("medianFinishNs", Format::kInteger, "The same of the median device.",
                     [](const Item& item) { return OfTail(item, item.tail.median); }),
      Computed<Item>("lastFinishNs", Format::kInteger, "The same of the last device.",
                     [](const Item& item) { return OfTail(item, item.tail.last); }),
      CountColumn<&Item::tail, &Tail::last_rank>("lastRank", 8, "The rank of the last device."),
      CountColumn<&Item::tail, &Tail::idle>(
          "tailIdleNs", 14,
          "Device time between the finish of a device and that of the last, in ns."),
      NumberColumn<&Item::tail, &Tail::IdlePercent>(
          "tailIdlePercent", Format::kDecimals2, 14,
          "Its share of the device time from the begin of the rollout to the last finish.")};
  return columns;
}

struct RoleItem {
  const IterationAccount* iteration = nullptr;
  const RoleAccount* role = nullptr;
};

std::vector<ColumnOf<RoleItem>> RoleColumns() {
  using Item = RoleItem;
  std::vector<ColumnOf<Item>> columns = {
      CountColumn<&Item::role, &RoleAccount::iteration>("iteration", 10, "As in RlIterations."),
      TextColumn<&Item::role, &RoleAccount::role>(
          "role", 22, "The role, by one name for all names that frameworks give it."),
      TextColumn<&Item::role, &RoleAccount::Kind>(
          "kind", 14,
          "rollout, log prob, reference, reward, values, update, weight sync or other."),
      CountColumn<&Item::role, &RoleAccount::devices>("devices", 8, "Devices that run it."),
      Computed<Item>(
          "startNs", Format::kInteger,
          "When the first device begins it, from the begin of the iteration, in ns.",
          [](const Item& item) -> Cell { return item.role->begin - item.iteration->time.begin; }),
      Computed<Item>(
          "endNs", Format::kInteger, "When the last device ends it, likewise.",
          [](const Item& item) -> Cell { return item.role->end - item.iteration->time.begin; }),
      CountColumn<&Item::role, &RoleAccount::wall>("wallNs", 14,
                                                   "Time in which any device runs it, in ns."),
      CountColumn<&Item::role, &RoleAccount::overlap>(
          "overlapNs", 14, "Of it, time in which another role runs as well, in ns."),
      CountColumn<&Item::role, &RoleAccount::DeviceTime>(
          "deviceNs", 14, "Time of all devices in it, in ns; the next four columns add up to it.")};
  AddTimes<Item, [](const Item& item) -> const DeviceTimes& { return item.role->times; }>(columns);
  columns.push_back(CountColumn<&Item::role, &RoleAccount::waiting>(
      "waitingNs", 14,
      "Time of devices without a role while this one runs elsewhere, in ns. Where several run, it "
      "is of the one that began first."));
  columns.push_back(CountColumn<&Item::role, &RoleAccount::gain>(
      "halvingGainNs", 14,
      "By how much all iterations together were shorter if the role took half as long, in ns."));
  return columns;
}

std::vector<ColumnOf<Bubble>> BubbleColumns() {
  return {CountColumn<&Bubble::iteration>("iteration", 10, "As in RlIterations."),
          CountColumn<&Bubble::time, &Interval::begin>("startNs", 20, "Begin, in ns."),
          Computed<Bubble>("durationNs", Format::kInteger, "How long no role runs, in ns.",
                           [](const Bubble& one) -> Cell { return one.time.end - one.time.begin; }),
          TextColumn<&Bubble::before>("before", 22, "The role that ended last."),
          TextColumn<&Bubble::behind>("behind", 22, "The role that begins.")};
}

std::vector<ColumnOf<JobRun>> RunColumns() {
  using Item = JobRun;
  std::vector<ColumnOf<Item>> columns = {
      CountColumn<&Item::iteration>("iteration", 10, "As in RlIterations."),
      TextColumn<&Item::run, &RoleRun::role>("role", 22, "As in RlRoles."),
      CountColumn<&Item::rank>("rankId", 8, "The rank; -1: unknown."),
      CountColumn<&Item::device>("device", 8, "A number that is given to each device of the job."),
      TextColumn<&Item::capture, &CaptureRoles::host>("host", 20, "The host; empty: unknown."),
      TextColumn<&Item::capture, &CaptureRoles::group>("directory", 24,
                                                       "The directories that lead to the capture."),
      TextColumn<&Item::capture, &CaptureRoles::name>("capture", 36, "The capture."),
      CountColumn<&Item::begin>("startNs", 20, "Begin on the common clock, in ns."),
      CountColumn<&Item::Length>("durationNs", 14,
                                 "Its length, in ns; the next four columns add up to it.")};
  AddTimes<Item, [](const Item& item) -> const DeviceTimes& { return item.run->times; }>(columns);
  columns.push_back(Computed<Item>(
      "finishNs", Format::kInteger,
      "From its begin to the end of its last kernel, of a server that of its last step, in ns.",
      [](const Item& item) -> Cell { return item.finish - item.begin; }));
  const auto add = [&]<auto kMember>(const char* name, const char* meaning) {
    columns.push_back(CountColumn<&Item::run, &RoleRun::decode, kMember>(name, 14, meaning));
  };
  add.template operator()<&DecodeSteps::steps>("decodeSteps",
                                               "Steps that only decode; 0: none are named.");
  add.template operator()<&DecodeSteps::few>(
      "fewRequestSteps",
      "Those of them with a quarter of the requests of the largest one, or less.");
  add.template operator()<&DecodeSteps::time>("decodeNs", "Time of the steps that decode, in ns.");
  add.template operator()<&DecodeSteps::few_time>("fewRequestNs",
                                                  "Of those with few requests, in ns.");
  add.template operator()<&DecodeSteps::largest>("largestBatch", "Requests of the largest step.");
  return columns;
}

}  // namespace

void AddSheets(const JobRoles& job, const std::vector<IterationAccount>& accounts, Report& report) {
  ItemSheet iterations("RlIterations", IterationColumns());
  ItemSheet roles("RlRoles", RoleColumns());
  ItemSheet bubbles("RlBubbles", BubbleColumns());
  ItemSheet runs("RlRuns", RunColumns());
  for (const IterationAccount& account : accounts) {
    iterations.Add(account);
    for (const RoleAccount& role : account.roles) roles.Add({&account, &role});
    for (const Bubble& bubble : account.bubbles) bubbles.Add(bubble);
  }
  for (const JobRun& run : job.runs) runs.Add(run, BeginRank(run.rank, report));
  for (Sheet* sheet : {&iterations.sheet, &roles.sheet, &bubbles.sheet, &runs.sheet})
    report.sheets.push_back(std::move(*sheet));
}

}  // namespace mpa::rl_roles
