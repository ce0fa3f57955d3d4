// SPDX-License-Identifier: Apache-2.0
// The advisor's lists of transfers: their sizes, those that were sent again, those that computing
// slowed down.
#include <map>
#include <string>
#include <utility>

#include "analyzer_sheets.h"
#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

// Smaller operations are small packets, as the Python tool has it.
constexpr std::int64_t kSmallSdma = 16'000'000, kSmallRdma = 1'000'000;
constexpr double kSmallShare = 0.2;
// Longer transfers by RDMA were sent again.
constexpr TimeNs kResent = 4'000'000'000;

struct Packets {
  std::int64_t total = 0, small = 0;
  TimeNs small_time = 0;
  void Add(const Traffic& moved, std::int64_t least) {
    if (moved.bytes == 0) return;
    ++total;
    if (moved.bytes >= least) return;
    ++small;
    small_time += moved.time;
  }
  double SmallShare() const { return total > 0 ? Share(small, total) : 0; }
};

struct PacketsRow {
  Packets sdma, rdma;
};

struct ContendedRow {
  std::string operation, transport;
  Traffic beside{};  // while cube cores computed
  double alone = 0;  // bandwidth of the tasks of the job that run alone, GB/s
};

void AddAlignment(AnalyzerSheets& sheets) {
  static const SheetColumns<MovedRow> columns = {
      TextColumn<&MovedRow::name>("op name", 36, "The operation"),
      CountColumn<&MovedRow::sdma, &Traffic::bytes>(
          "total size(Byte)", 12, "Data that the operation moved by SDMA, in bytes"),
      TimeColumn<&MovedRow::sdma, &Traffic::time>("duration(us)", 16, Unit::kNsShownAsUs,
                                                  "Time of the SDMA tasks, in us"),
      TimeColumn<&MovedRow::unaligned, &Traffic::time>(
          "abnormal duration(us)", 16, Unit::kNsShownAsUs,
          "Time of SDMA tasks whose size is not a multiple of 512 bytes, in us"),
      NumberColumn<&MovedRow::sdma, &Traffic::GigabytesPerSecond>(
          "bandwidth(GB/s)", Format::kDecimals4, 16, "Size divided by time, in GB/s"),
      RankColumn<MovedRow>(12),
  };
  const auto listed = sheets.AddList(
      kCommUnaligned.problem, columns, &AnalyzerRows::moved,
      [](const MovedRow& row) { return row.unaligned.time; },
      [](const MovedRow& row) { return row.unaligned.count > 0; });
  sheets.AddNote(
      kCommUnaligned.problem, listed,
      Say("{} communication operators move sizes that are not multiples of 512 bytes", listed.rows),
      Say("pad the buckets of gradients to multiples of 512 bytes"));
}

void AddPackets(AnalyzerSheets& sheets) {
  using Row = PacketsRow;
  static const SheetColumns<Row> columns = {
      CountColumn<&Row::sdma, &Packets::total>("SDMA total count", 12,
                                               "Operations that moved data by SDMA"),
      CountColumn<&Row::sdma, &Packets::small>("Small SDMA count", 12,
                                               "Operations that moved less than 16 MB by SDMA"),
      NumberColumn<&Row::sdma, &Packets::SmallShare>(
          "Small SDMA ratio", Format::kPercent, 16,
          "Share of small operations among those by SDMA"),
      TimeColumn<&Row::sdma, &Packets::small_time>(
          "Small SDMA duration(ms)", 16, Unit::kNsShownAsMs,
          "Time of the small operations' SDMA tasks, in ms"),
      CountColumn<&Row::rdma, &Packets::total>("RDMA total count", 12,
                                               "Operations that sent data by RDMA"),
      CountColumn<&Row::rdma, &Packets::small>("Small RDMA count", 12,
                                               "Operations that sent less than 1 MB by RDMA"),
      NumberColumn<&Row::rdma, &Packets::SmallShare>(
          "Small RDMA ratio", Format::kPercent, 16,
          "Share of small operations among those by RDMA"),
      TimeColumn<&Row::rdma, &Packets::small_time>(
          "Small RDMA duration(ms)", 16, Unit::kNsShownAsMs,
          "Time of the small operations' RDMA tasks, in ms"),
      RankColumn<Row>(12),
  };
  AnalyzerSheets::Listed small;
  sheets.Add(kCommSmall.problem, columns, [&](const RankDiagnosis& part, auto add) {
    Row row;
    for (const MovedRow& moved : part.analyzers.moved) {
      row.sdma.Add(moved.sdma, kSmallSdma);
      row.rdma.Add(moved.rdma, kSmallRdma);
    }
    if (row.sdma.SmallShare() <= kSmallShare && row.rdma.SmallShare() <= kSmallShare) return;
    small.rows += row.sdma.small + row.rdma.small;
    small.time += row.sdma.small_time + row.rdma.small_time;
    add(row);
  });
  sheets.NoteAsFinding(kCommSmall, small,
                       Say("{} communication operators move little data", small.rows));
}

void AddResent(AnalyzerSheets& sheets) {
  static const SheetColumns<MovedRow> columns = {
      TextColumn<&MovedRow::name>("Op name", 36, "The operation"),
      CountColumn<&MovedRow::step>("Step id", 12, "Step"),
      RankColumn<MovedRow>(12, "Rank id"),
      NumberColumn<&MovedRow::rdma, &Traffic::Megabytes>(
          "RDMA transmit size(MB)", Format::kDecimals4, 16, "Data that the operation sent, in MB"),
      TimeColumn<&MovedRow::rdma, &Traffic::time>("RDMA transmit time(ms)", 16, Unit::kNsShownAsMs,
                                                  "Time of the RDMA tasks, in ms"),
      NumberColumn<&MovedRow::rdma, &Traffic::GigabytesPerSecond>(
          "RDMA bandwidth", Format::kDecimals4, 16, "Size divided by time, in GB/s"),
  };
  const auto listed = sheets.AddList(
      kCommRetransmit.problem, columns, &AnalyzerRows::moved,
      [](const MovedRow& row) { return row.rdma.time; },
      [](const MovedRow& row) { return row.rdma.time > kResent; });
  sheets.AddNote(kCommRetransmit.problem, listed,
                 Say("{} operators sent by RDMA for more than 4 s", listed.rows),
                 Say("check optics, flow control (PFC, ECN) and HCCL_RDMA_TIMEOUT"));
}

// The operations of the finding.
void AddContention(AnalyzerSheets& sheets) {
  using Row = ContendedRow;
  static const SheetColumns<Row> columns = {
      TextColumn<&Row::operation>("op name", 36, "The operation"),
      TimeColumn<&Row::beside, &Traffic::time>(
          "duration(ms)", 16, Unit::kNsShownAsMs,
          "Time of the operation's tasks that ran while cube cores computed"),
      NumberColumn<&Row::beside, &Traffic::GigabytesPerSecond>(
          "bandwidth(GB/s)", Format::kDecimals4, 16, "Size of these tasks divided by their time"),
      NumberColumn<&Row::alone>("bandwidth alone(GB/s)", Format::kDecimals4, 16,
                                "Bandwidth of the job's tasks that ran alone"),
      TextColumn<&Row::transport>("transport", 12, "SDMA, RDMA"),
      RankColumn<Row>(12),
  };
  const double ratio = sheets.diagnosis.thresholds[kBesideRatio];
  const std::map<std::string, ComparedTasks> compared =
      CompareTasks(sheets.ranks, &PeerTransfer::beside);
  AnalyzerSheets::Listed slowed;
  slowed.rows =
      sheets.Add(kCommContention.problem, columns, [&](const RankDiagnosis& part, auto add) {
        std::map<std::pair<std::uint32_t, NameId>, Traffic> beside;  // by operation and transport
        for (const PeerTransfer& transfer : part.transfers)
          beside[{transfer.operation, transfer.transport}].Add(transfer.beside);
        for (const auto& [of, sum] : beside) {
          const std::string& transport = part.names[of.second];
          const ComparedTasks& tasks = compared.at(transport);
          const double alone = tasks.without.GigabytesPerSecond();
          if (sum.time == 0 || !tasks.AreSlower(ratio, sheets.diagnosis.thresholds) ||
              sum.GigabytesPerSecond() >= ratio * alone)
            continue;
          slowed.time += sum.time;
          add({part.names[part.operations[of.first].name], transport, sum, alone});
        }
      });
  sheets.NoteAsFinding(
      kCommContention, slowed,
      Say("{} communication operators lose bandwidth to computing at the same time", slowed.rows));
}

}  // namespace

void AddTransferSheets(AnalyzerSheets& sheets) {
  AddAlignment(sheets);
  AddPackets(sheets);
  AddResent(sheets);
  AddContention(sheets);
}

}  // namespace mpa
