// SPDX-License-Identifier: Apache-2.0
// analysis.db: the profiler's own sums of communication and of steps, beside a profiler database.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "communication_steps.h"
#include "mpa/io/sqlite.h"
#include "mpa/measure/collectives.h"
#include "mpa/readers/reader.h"
#include "profiler_db_tables.h"

namespace mpa::readers {
namespace {

// Older exporters write neither steps nor types; an operator that sends or receives is p2p then.
bool IsP2p(std::string_view type, std::string_view op) {
  if (!type.empty()) return type == "p2p";
  return IsPointToPointName(op);
}

std::string StepOf(const io::Row& row) { return row.IsNull(0) ? "step" : std::string(row.Text(0)); }

using OpKey = std::tuple<std::string, bool, std::string, std::string>;

// Operators by step, kind, name and group, in the order of their first rows.
class Ops {
 public:
  explicit Ops(RankTrace& trace) : trace_(trace) {}

  CommunicationOp& Of(const io::Row& row) {
    const std::string step = StepOf(row), name(row.Text(2)), group(row.Text(3));
    const bool p2p = IsP2p(row.Text(1), name);
    CommunicationStep& summary = SummaryOf(step, trace_);
    std::vector<CommunicationOp>& ops = p2p ? summary.p2p : summary.collective;
    const auto [found, is_new] = place_.try_emplace({step, p2p, name, group}, ops.size());
    if (is_new) ops.push_back({.name = name, .group = group, .time = {}, .links = {}});
    return ops[found->second];
  }

 private:
  RankTrace& trace_;
  std::map<OpKey, std::size_t> place_;
};

void ReadTimes(const io::Database& database, Ops& ops) {
  const auto read = [&](const io::Row& row) {
    CommunicationTime& time = ops.Of(row).time;
    time.start_us = row.RealOr(4, 0);
    time.elapse = row.RealOr(5, 0);
    time.transit = row.RealOr(6, 0);
    time.wait = row.RealOr(7, 0);
    time.synchronization = row.RealOr(8, 0);
    time.idle = row.RealOr(9, 0);
  };
  ScanTable(database, "CommAnalyzerTime",
            "step?, type?, hccl_op_name, group_name, start_timestamp, elapse_time, transit_time,"
            " wait_time, synchronization_time, idle_time",
            read);
}

void ReadBandwidths(const io::Database& database, Ops& ops, Issues& issues) {
  constexpr const char* kTable = "CommAnalyzerBandwidth";
  const auto read = [&](const io::Row& row) {
    const std::string_view transport = row.Text(4);
    const auto kind = std::ranges::find_if(
        kAllLinkKinds, [&](LinkKind known) { return NameOf(known) == transport; });
    if (kind == std::end(kAllLinkKinds)) {
      issues.Count("bandwidth of an unknown kind of link left out", kTable);
      return;
    }
    LinkUse& use = ops.Of(row).links[*kind];
    use.megabytes = row.RealOr(5, 0);
    use.milliseconds = row.RealOr(6, 0);
    use.bandwidth = row.RealOr(7, 0);
    use.large_packet_ratio = row.RealOr(8, 0);
    const double size = row.RealOr(9, 0), packets = row.RealOr(10, 0), total = row.RealOr(11, 0);
    if (size + packets + total == 0) return;  // packets were not distinguished
    auto& [count, duration] = use.sizes[size];
    count += packets;
    duration += total;
  };
  ScanTable(database, kTable,
            "step?, type?, hccl_op_name, group_name, transport_type, transit_size, transit_time,"
            " bandwidth, large_packet_ratio, package_size, count, total_duration",
            read);
}

void ReadMatrixTable(const io::Database& database, RankTrace& trace) {
  const auto read = [&](const io::Row& row) {
    MatrixEntry entry{.name = std::string(row.Text(2)),
                      .group = std::string(row.Text(3)),
                      .source = row.IntOr(4, -1),
                      .destination = row.IntOr(5, -1),
                      .transport = std::string(row.Text(6)),
                      .megabytes = row.RealOr(7, 0),
                      .milliseconds = row.RealOr(8, 0),
                      .bandwidth = row.RealOr(9, 0),
                      .op = std::string(row.Text(10))};
    CommunicationStep& step = SummaryOf(StepOf(row), trace);
    const bool p2p = IsP2p(row.Text(1), entry.op.empty() ? entry.name : entry.op);
    (p2p ? step.p2p_matrix : step.collective_matrix).push_back(std::move(entry));
  };
  ScanTable(database, "CommAnalyzerMatrix",
            "step?, type?, hccl_op_name, group_name, CAST(src_rank AS INTEGER),"
            " CAST(dst_rank AS INTEGER), transport_type, transit_size, transit_time, bandwidth,"
            " op_name?",
            read);
}

// Microseconds of the table.
TimeNs NsOf(const io::Row& row, int column, Issues& issues) {
  const double us = row.RealOr(column, 0);
  constexpr double kMax = 1e12;
  if (us >= -kMax && us <= kMax) return std::llround(us * 1e3);
  issues.Count("invalid time, taken as 0", "StepTraceTime");
  return 0;
}

void ReadStepTable(const io::Database& database, RankTrace& trace) {
  const auto read = [&](const io::Row& row) {
    const auto time = [&](int column) { return NsOf(row, column, trace.issues); };
    trace.step_times.Append({.step = StepOfName(row.Text(0)),
                             .computing = time(1),
                             .exposed_communication = time(2),
                             .communication = time(4),
                             .free = time(5),
                             .overlapped = time(3),
                             .stage = time(6),
                             .bubble = time(7),
                             .exposed_without_receive = time(8),
                             .preparing = time(9)});
  };
  ScanTable(database, "StepTraceTime",
            "step, computing, communication_not_overlapped, overlapped, communication, free, stage,"
            " bubble, communication_not_overlapped_and_exclude_receive, preparing",
            read);
}

void ReadAnalysisDb(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  const io::Database database(file.path);
  if (Intersects(request.wanted, Tables::kCommSummary)) {
    Ops ops(trace);
    ReadTimes(database, ops);
    ReadBandwidths(database, ops, trace.issues);
    ReadMatrixTable(database, trace);
  }
  if (Intersects(request.wanted, Tables::kStepTimes)) ReadStepTable(database, trace);
}

}  // namespace

Reader AnalysisDb() {
  return {"analysis database", FileKind::kAnalysisDb, Tables::kCommSummary | Tables::kStepTimes,
          ReadAnalysisDb};
}

}  // namespace mpa::readers
