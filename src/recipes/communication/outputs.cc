// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/recipe/arguments.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"
#include "sums.h"

namespace mpa::recipes::communication {
namespace {

constexpr double kWidth = 16;

Column Words(const char* name, const char* meaning) {
  return NamedColumn(name, Format::kText, kWidth, meaning);
}
Column Whole(const char* name, const char* meaning) {
  return NamedColumn(name, Format::kInteger, kWidth, meaning);
}
Column Real(const char* name, const char* meaning) {
  return NamedColumn(name, Format::kDecimals4, kWidth, meaning);
}

// Adds the items as a sheet, if there are any.
template <typename Item>
void AddSheet(const SheetTitle& title, std::vector<ColumnOf<Item>> columns,
              const std::vector<Item>& items, const char* text_file, Report& report,
              std::vector<Chart> charts = {}) {
  if (items.empty()) return;
  ItemSheet list(title, std::move(columns), {text_file, TextFile::Unit::kAsTheyAre});
  list.sheet.charts = std::move(charts);
  for (const Item& item : items) list.Add(item);
  report.sheets.push_back(std::move(list.sheet));
}

// The same for many items, which refer to parts or to sources of the report.
template <typename Item>
void AddMadeSheet(const SheetTitle& title, std::vector<ColumnOf<Item>> columns,
                  const std::vector<Item>& items, const char* text_file, Report& report,
                  std::vector<Chart> charts = {}) {
  if (items.empty()) return;
  ItemSheet<Item> sheet(title, std::move(columns), {text_file, TextFile::Unit::kAsTheyAre});
  sheet.sheet.charts = std::move(charts);
  PartSheet<Item> list(std::move(sheet));
  for (const Item& item : items) list.Add(item, {});
  report.sheets.push_back(std::move(list).Take());
}

std::vector<ColumnOf<Group>> GroupColumns() {
  using Item = Group;
  return {
      {Words("type", "collective or p2p."), Member<&Item::Type>},
      {Words("rank_set", "The ranks of the group."),
       [](const Item& item) -> Cell { return RankSetText(item.ranks); }},
      {Words("group_name", "Hash of the group's id."), Member<&Item::name>},
      {Words("group_id", "Id of the group; empty if the metadata lacks it."), Member<&Item::id>},
      {Words("pg_name", "The job's name for the group, such as tp."),
       Member<&Item::process_group>}};
}

template <double CommunicationTime::*kTime>
constexpr Cell (*kOfTime)(const RankOp* const&) =
    Member<&RankOp::op, &CommunicationOp::time, kTime>;

bool IsTotal(const RankOp& item) { return item.op->name == kTotal; }

std::vector<ColumnOf<const RankOp*>> TimeColumns() {
  using Item = const RankOp*;
  return {
      {Words("step", "The step."), Member<&RankOp::step>},
      {Whole("rank_id", "The rank."), Member<&RankOp::rank, kRank>},
      {Words("hccl_op_name", "The operator, or Total Op Info."),
       Member<&RankOp::op, &CommunicationOp::name>},
      {Words("group_name", "The hash of the group."), Member<&RankOp::op, &CommunicationOp::group>},
      {Whole("start_timestamp", "Start of the operator, in us since the epoch."),
       [](const Item& item) -> Cell {
         return static_cast<std::int64_t>(std::llround(item->op->time.start_us));
       }},
      {Real("elapsed_time", "Time from the start to the end of the operator, in ms."),
       kOfTime<&CommunicationTime::elapse>},
      {Real("transit_time", "Time spent transferring, in ms."),
       kOfTime<&CommunicationTime::transit>},
      {Real("wait_time", "Time spent waiting, in ms."), kOfTime<&CommunicationTime::wait>},
      {Real("synchronization_time", "Time spent waiting before the first transfer, in ms."),
       kOfTime<&CommunicationTime::synchronization>},
      {Real("idle_time", "Time spent neither transferring nor waiting, in ms."),
       kOfTime<&CommunicationTime::idle>},
      {Real("synchronization_time_ratio",
            "Synchronization time divided by the sum of synchronization and transfer times."),
       [](const Item& item) -> Cell {
         return IsTotal(*item) ? item->op->time.synchronization_ratio : 0.0;
       }},
      {Real("wait_time_ratio", "Waiting time divided by the sum of waiting and transfer times."),
       [](const Item& item) -> Cell { return IsTotal(*item) ? item->op->time.wait_ratio : 0.0; }}};
}

// Packets of one size over one kind of link.
struct Packets {
  const RankOp* op;
  LinkKind kind{};
  const LinkUse* use;
  double size = 0;

  /// None where packets were not distinguished.
  std::pair<double, double> CountAndTime() const {
    const auto found = use->sizes.find(size);
    return found == use->sizes.end() ? std::pair<double, double>() : found->second;
  }
};

std::vector<ColumnOf<Packets>> PacketColumns() {
  using Item = Packets;
  return {{Words("step", "The step."), Member<&Item::op, &RankOp::step>},
          {Whole("rank_id", "The rank."), Member<&Item::op, &RankOp::rank, kRank>},
          {Words("hccl_op_name", "The operator, or Total Op Info."),
           Member<&Item::op, &RankOp::op, &CommunicationOp::name>},
          {Words("group_name", "The hash of the group."),
           Member<&Item::op, &RankOp::op, &CommunicationOp::group>},
          {Words("band_type", "Kind of link."), Member<&Item::kind>},
          {Real("transit_size", "Data that moved over links of this kind, in MB of 10^6 bytes."),
           Member<&Item::use, &LinkUse::megabytes>},
          {Real("transit_time", "Time of the transfer, in ms."),
           Member<&Item::use, &LinkUse::milliseconds>},
          {Real("bandwidth", "Bandwidth, in GB/s."), Member<&Item::use, &LinkUse::bandwidth>},
          {Real("large_packet_ratio", "Share of large packets."),
           Member<&Item::use, &LinkUse::large_packet_ratio>},
          {Real("package_size", "Size of the packets of this row, in MB of 10^6 bytes."),
           Member<&Item::size>},
          {Real("count", "Number of packets of this size."),
           [](const Item& item) -> Cell { return item.CountAndTime().first; }},
          {Real("total_duration", "Time of all packets of this size, in ms."),
           [](const Item& item) -> Cell { return item.CountAndTime().second; }}};
}

// With `by_group` of links between ranks of which the job does not name one.
std::vector<ColumnOf<const RankLink*>> LinkColumns(bool by_group) {
  using Item = const RankLink*;
  std::vector<ColumnOf<Item>> columns = {
      {Words("step", "The step."), Member<&RankLink::step>},
      {Words("hccl_op_name", "Kind of the operator and its place among them, or Total Op Info."),
       Member<&RankLink::name>},
      {Words("group_name", "The hash of the group."), Member<&RankLink::group>},
      {Whole("src_rank", "Sending rank, by its number in the job; empty: unknown."),
       Member<&RankLink::source, kRank>},
      {Whole("dst_rank", "Receiving rank, by its number in the job; empty: unknown."),
       Member<&RankLink::destination, kRank>},
      {Words("transport_type", "Kind of link."), Member<&RankLink::transport>},
      {Words("op_name", "The operator."), Member<&RankLink::op>},
      {Real("transit_size", "Data that moved, in MB of 10^6 bytes."), Member<&RankLink::megabytes>},
      {Real("transit_time", "Time of the transfer, in ms."), Member<&RankLink::milliseconds>},
      {Real("bandwidth", "Bandwidth, in GB/s; 0 without a time."), Member<&RankLink::Bandwidth>}};
  if (by_group) {
    columns.push_back({Whole("src_group_rank", "Sending rank, by its number in the group."),
                       Member<&RankLink::source_in_group>});
    columns.push_back({Whole("dst_group_rank", "Receiving rank, by its number in the group."),
                       Member<&RankLink::destination_in_group>});
  }
  return columns;
}

// In us.
template <TimeNs StepTimes::Row::*kTime>
Cell TimeCell(const StepTraceRow& row) {
  return InUs(row.times.*kTime);
}

template <std::int64_t GridPlace::*kIndex>
Cell IndexCell(const StepTraceRow& row) {
  return row.place ? Cell((*row.place).*kIndex) : Cell();
}

std::vector<ColumnOf<StepTraceRow>> StepColumns() {
  using Item = StepTraceRow;
  return {
      {Words("step", "The step."), Member<&Item::step>},
      {Words("type", "rank; or stage, whose times are those of its longest rank."),
       [](const Item& item) -> Cell { return std::string(item.stage ? "stage" : "rank"); }},
      {Words("index", "The rank, or the ranks of the stage."),
       [](const Item& item) -> Cell {
         return item.stage ? RankSetText(item.ranks) : RankName(item.rank);
       }},
      {Real("computing", "Computing time, in us."), TimeCell<&StepTimes::Row::computing>},
      {Real("communication_not_overlapped", "Communication while nothing is computed, in us."),
       TimeCell<&StepTimes::Row::exposed_communication>},
      {Real("overlapped", "Communication while something is computed, in us."),
       TimeCell<&StepTimes::Row::overlapped>},
      {Real("communication", "Communication time, in us."),
       TimeCell<&StepTimes::Row::communication>},
      {Real("free", "Idle time, in us."), TimeCell<&StepTimes::Row::free>},
      {Real("stage", "Time of the step without the bubble, in us."),
       TimeCell<&StepTimes::Row::stage>},
      {Real("bubble", "Time spent waiting to receive, in us."), TimeCell<&StepTimes::Row::bubble>},
      {Real("communication_not_overlapped_and_exclude_receive",
            "Exposed communication time without receiving, in us."),
       TimeCell<&StepTimes::Row::exposed_without_receive>},
      {Real("preparing", "Time from the start of the step to its first device work, in us."),
       [](const StepTraceRow& row) {
         return row.times.preparing < 0 ? Cell() : Cell(InUs(row.times.preparing));
       }},
      {Whole("dp_index", "Place of the rank in data parallelism; empty if unknown."),
       IndexCell<&GridPlace::dp>},
      {Whole("pp_index", "Place of the rank in the pipeline; empty if unknown."),
       IndexCell<&GridPlace::pp>},
      {Whole("tp_index", "Place of the rank in tensor parallelism; empty if unknown."),
       IndexCell<&GridPlace::tp>}};
}

struct Host {
  std::string uid, name;
};
struct DeviceItem {
  RankId rank;
  std::int64_t device = -1;
  std::string host, path;
};
struct BaseItem {
  std::string key, value;
};

std::vector<ColumnOf<Host>> HostColumns() {
  using Item = Host;
  return {{Words("hostUid", "Number of the host."), Member<&Item::uid>},
          {Words("hostName", "Name of the host."), Member<&Item::name>}};
}

// Text captures list the links that an operator did not use, too.
bool IsUsed(const LinkUse& use) {
  return use.megabytes + use.milliseconds + use.bandwidth + use.large_packet_ratio > 0;
}

std::vector<ColumnOf<DeviceItem>> DeviceColumns() {
  using Item = DeviceItem;
  return {{Whole("rankId", "The rank."), Member<&Item::rank, kRank>},
          {Whole("deviceId", "Device of the rank."), Member<&Item::device>},
          {Words("hostUid", "Number of the rank's host."), Member<&Item::host>},
          {Words("profilePath", "Directory of the rank's capture."), Member<&Item::path>}};
}

std::vector<ColumnOf<BaseItem>> BaseColumns() {
  using Item = BaseItem;
  return {{Words("key", "distributed_args."), Member<&Item::key>},
          {Words("value", "A JSON object."), Member<&Item::value>}};
}

}  // namespace

void AddGroupSheet(const std::vector<Group>& groups, Report& report) {
  AddSheet({"CommunicationGroupMapping", ToTranslate("Process groups and their ranks")},
           GroupColumns(), groups, "communication_group_mapping", report);
}

void AddTimeSheets(const std::shared_ptr<const OpSums>& sums, Report& report) {
  std::vector<const RankOp*> all;
  all.reserve(sums->ops.size() + sums->totals.listed.size());
  for (const auto* ops : {&sums->ops, &sums->totals.listed}) {
    for (const RankOp& op : *ops) all.push_back(&op);
  }
  std::vector<Packets> packets;
  for (const RankOp* op : all) {
    for (const auto& [kind, use] : op->op->links) {
      if (use.sizes.empty()) {  // packets were not distinguished
        if (IsUsed(use)) packets.push_back({op, kind, &use});
      } else if (IsTotal(*op)) {
        for (const auto& [size, packets_of_size] : use.sizes)
          packets.push_back({op, kind, &use, size});
      } else {  // the largest first
        for (auto size = use.sizes.rbegin(); size != use.sizes.rend(); ++size)
          packets.push_back({op, kind, &use, size->first});
      }
    }
  }
  report.sources.push_back(sums);
  AddMadeSheet({"ClusterCommunicationTime",
                ToTranslate("Transfer, wait and idle time of each communication operator")},
               TimeColumns(), all, "cluster_communication_time", report,
               {{.kind = Chart::Kind::kStacked,
                 .title = "Communication of each rank, all groups and steps",
                 .labels = {"rank_id"},
                 .values = {{"transit_time", Tint::kTransfer},
                            {"wait_time", Tint::kWait},
                            {"idle_time", Tint::kFree}},
                 .measured = Measured::kMs,
                 .same = Chart::SameLabel::kSum,
                 .of_ranks = true,
                 .only_in = "hccl_op_name",
                 .only = std::string(kTotal)}});
  AddMadeSheet({"ClusterCommunicationBandwidth",
                ToTranslate("Size and bandwidth of transfers by link and operator")},
               PacketColumns(), packets, "cluster_communication_bandwidth", report);
}

void AddMatrixSheet(const std::shared_ptr<const LinkSums>& sums, Report& report) {
  std::vector<const RankLink*> known, by_group;
  for (const auto* links : {&sums->links, &sums->totals}) {
    for (const RankLink& link : *links) (link.KnowsEnds() ? known : by_group).push_back(&link);
  }
  // In an order that all formats of captures have.
  StableSort(by_group, {}, [](const RankLink* link) {
    return std::tie(link->step, link->name, link->group, link->source_in_group,
                    link->destination_in_group);
  });
  report.sources.push_back(sums);
  const auto of_links = [](std::string title, const char* column, Measured measured,
                           Chart::SameLabel same) {
    Chart chart =
        HeatOf(std::move(title), "src_rank", "dst_rank", {column, Tint::kTransfer}, measured, same);
    chart.without_same = true;
    chart.only_in = "hccl_op_name";
    chart.only = kTotal;
    return chart;
  };
  AddMadeSheet("ClusterCommunicationMatrix", LinkColumns(false), known,
               "cluster_communication_matrix", report,
               {of_links("Bandwidth from rank to rank, mean of groups and steps", "bandwidth",
                         Measured::kGbPerSecond, Chart::SameLabel::kMean),
                of_links("Time of transfers from rank to rank, all groups and steps",
                         "transit_time", Measured::kMs, Chart::SameLabel::kSum)});
  AddMadeSheet("CommunicationMatrixByGroupRank", LinkColumns(true), by_group,
               "communication_matrix_by_group_rank", report);
}

void AddStepSheet(const std::vector<StepTraceRow>& rows, Report& report) {
  AddSheet(
      {"ClusterStepTraceTime", ToTranslate("Computing, communication and free time of each step")},
      StepColumns(), rows, "", report,
      {{.kind = Chart::Kind::kStacked,
        .title = "The mean step of each rank",
        .labels = {"index"},
        .values = {{"computing", Tint::kCompute},
                   {"communication_not_overlapped", Tint::kUnsplit},
                   {"free", Tint::kFree}},
        .measured = Measured::kUs,
        .same = Chart::SameLabel::kMean,
        .of_ranks = true,
        .only_in = "type",
        .only = "rank"}});
}

void AddJobSheets(const Ranks& ranks, Report& report) {
  std::vector<Host> hosts;
  std::vector<DeviceItem> devices;
  std::vector<BaseItem> base;
  std::set<std::string> known;
  for (const auto& [rank, part] : ranks) {
    const JobInfo& job = part.job;
    if (!job.host_uid.empty() && known.insert(job.host_uid).second) {
      hosts.push_back({job.host_uid, job.host_name});
    }
    for (const DeviceOfRank& device : job.devices) {
      devices.push_back(
          {device.rank < 0 ? rank : device.rank, device.device, job.host_uid, part.capture});
    }
    if (base.empty() && !job.distributed_args.empty()) {
      base.push_back({"distributed_args", job.distributed_args});
    }
  }
  AddSheet({"HostInfo", ToTranslate("Names of the hosts")}, HostColumns(), hosts, "host_info",
           report);
  AddSheet({"RankDeviceMap", ToTranslate("Which device and host each rank runs on")},
           DeviceColumns(), devices, "rank_device_map", report);
  AddSheet("ClusterBaseInfo", BaseColumns(), base, "cluster_base_info", report);
}

}  // namespace mpa::recipes::communication
