// SPDX-License-Identifier: Apache-2.0
// The matrix of links: the fastest, the middle and the slowest operations for each kind of
// operation and pair of ranks.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "collective_traffic.h"
#include "mpa/base/text.h"
#include "round_decimal.h"

namespace mpa::raw {
namespace {

constexpr std::int64_t kNoRank = 0xFFFFFFFF;

using Link = std::pair<std::int64_t, std::int64_t>;  // ranks from and to

/// The amount that one operation moved over one link.
struct LinkTraffic {
  Link link;
  std::string_view transport{};  // empty: no link with a name in the matrix
  double megabytes = 0, milliseconds = 0, bandwidth = 0;
  StringId op{};
};

std::string_view TransportOfCopy(std::int64_t link) {
  switch (link) {
    case 0:
      return "LOCAL";
    case 1:
    case 5:  // HCCS_SW
      return "HCCS";
    case 2:
      return "PCIE";
    case 4:
      return "SIO";
    default:
      return {};
  }
}

double Bandwidth(double megabytes, double milliseconds) {
  return milliseconds == 0 ? 0 : RoundDecimal(megabytes / milliseconds, 4);
}

/// In the order in which the links are used first.
std::vector<LinkTraffic> TrafficOf(const Session& session, const CollectiveRows& rows) {
  const CollectiveParts& parts = session.parts;
  std::vector<LinkTraffic> traffic;
  std::map<Link, std::size_t> place;
  const TrafficReader reader(session, rows.collective);
  for (const std::vector<std::size_t>& plane : PartsByPlane(session, rows)) {
    for (std::size_t i = 0; i < plane.size();) {
      const std::size_t part = plane[i];
      if (parts.local_rank[part] == kNoRank) {
        ++i;
        continue;
      }
      const Transfer transfer = reader.At(plane, i);
      i += transfer.parts;
      if (transfer.kind == TransferKind::kNone) continue;
      const std::int64_t remote = parts.remote_rank[part];
      const Link link{parts.local_rank[part], remote == kNoRank ? parts.local_rank[part] : remote};
      const auto [found, is_first] = place.try_emplace(link, traffic.size());
      if (is_first) {
        traffic.push_back({.link = link, .op = session.collectives.name[rows.collective]});
      }
      LinkTraffic& sum = traffic[found->second];
      sum.transport =
          transfer.kind == TransferKind::kRdma ? "RDMA" : TransportOfCopy(transfer.link);
      sum.megabytes += transfer.megabytes;
      sum.milliseconds += transfer.milliseconds;
    }
  }
  for (LinkTraffic& sum : traffic) sum.bandwidth = Bandwidth(sum.megabytes, sum.milliseconds);
  return traffic;
}

/// "allreduce" of "hcom_allReduce__586_0_1": the kind that occurs first in the name; if several
/// begin there, the one listed first.
std::string KindOf(std::string_view op) {
  constexpr std::array<std::string_view, 10> kKinds = {
      "send",    "reduce",    "invalid", "broadcast", "allreduce",
      "receive", "allgather", "scatter", "alltoall",  "batchsendrecv"};
  const std::string name = ToLower(op);
  std::size_t first = std::string::npos;
  std::string_view kind;
  for (const std::string_view candidate : kKinds) {
    const std::size_t at = name.find(candidate);
    if (at < first) {
      first = at;
      kind = candidate;
    }
  }
  return std::string(kind.empty() ? op.substr(0, op.find("__")) : kind);
}

/// The amount that all operations of a kind in a group moved over one link.
struct Series {
  std::string kind;
  StringId group{};
  std::vector<LinkTraffic> traffic;
};

std::vector<Series> SeriesOf(const Session& session,
                             const std::vector<CollectiveRows>& collectives) {
  std::vector<Series> all;
  std::map<std::tuple<std::string, StringId, Link>, std::size_t> place;
  for (const CollectiveRows& rows : collectives) {
    const std::string kind =
        KindOf(session.strings.View(session.collectives.name[rows.collective]));
    const StringId group = session.collectives.group[rows.collective];
    for (const LinkTraffic& traffic : TrafficOf(session, rows)) {
      const auto [found, is_first] = place.try_emplace({kind, group, traffic.link}, all.size());
      if (is_first) all.push_back({.kind = kind, .group = group, .traffic = {}});
      all[found->second].traffic.push_back(traffic);
    }
  }
  return all;
}

/// Collects entries by name; the names are in order of first use.
class MatrixBuilder {
 public:
  explicit MatrixBuilder(const Session& session) : session_(session) {}

  void Add(const Series& series, std::string_view place, const LinkTraffic& traffic) {
    const std::string name = series.kind + "-" + std::string(place);
    const auto [found, is_first] = place_.try_emplace({name, series.group}, by_name_.size());
    if (is_first) by_name_.emplace_back();
    by_name_[found->second].push_back({.name = name,
                                       .group = std::string(session_.strings.View(series.group)),
                                       .source = traffic.link.first,
                                       .destination = traffic.link.second,
                                       .transport = std::string(traffic.transport),
                                       .megabytes = traffic.megabytes,
                                       .milliseconds = traffic.milliseconds,
                                       .bandwidth = traffic.bandwidth,
                                       .op = std::string(session_.strings.View(traffic.op))});
  }

  std::vector<MatrixEntry> Take() {
    std::vector<MatrixEntry> entries;
    for (std::vector<MatrixEntry>& part : by_name_) {
      std::move(part.begin(), part.end(), std::back_inserter(entries));
    }
    return entries;
  }

 private:
  const Session& session_;
  std::vector<std::vector<MatrixEntry>> by_name_;
  std::map<std::pair<std::string, StringId>, std::size_t> place_;
};

LinkTraffic Total(const std::vector<LinkTraffic>& traffic) {
  LinkTraffic total{.link = traffic.front().link, .transport = traffic.front().transport};
  for (const LinkTraffic& part : traffic) {
    total.megabytes += part.megabytes;
    total.milliseconds += part.milliseconds;
  }
  total.bandwidth = Bandwidth(total.megabytes, total.milliseconds);
  return total;
}

}  // namespace

std::vector<MatrixEntry> LinkMatrix(const Session& session,
                                    const std::vector<CollectiveRows>& collectives) {
  MatrixBuilder matrix(session);
  for (Series& series : SeriesOf(session, collectives)) {
    std::vector<LinkTraffic>& traffic = series.traffic;
    std::stable_sort(
        traffic.begin(), traffic.end(),
        [](const LinkTraffic& a, const LinkTraffic& b) { return a.bandwidth > b.bandwidth; });
    const std::size_t count = traffic.size();
    matrix.Add(series, "top1", traffic.front());
    matrix.Add(series, "middle", traffic[count / 2]);
    matrix.Add(series, "bottom1", traffic.back());
    matrix.Add(series, "total", Total(traffic));
    if (count >= 2) matrix.Add(series, "bottom2", traffic[count - 2]);
    if (count >= 3) matrix.Add(series, "bottom3", traffic[count - 3]);
  }
  return matrix.Take();
}

}  // namespace mpa::raw
