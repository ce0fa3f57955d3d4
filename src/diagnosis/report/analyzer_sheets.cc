// SPDX-License-Identifier: Apache-2.0
#include "analyzer_sheets.h"

#include <map>
#include <utility>

#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "sheet_maker.h"

namespace mpa {
namespace {

// Smaller operations are small packets, as the Python tool has it.
constexpr std::int64_t kSmallSdma = 16'000'000, kSmallRdma = 1'000'000;
constexpr double kSmallShare = 0.2;
// Longer transfers by RDMA were sent again.
constexpr TimeNs kResent = 4'000'000'000;

struct SlowRankRow {
  std::int32_t step = -1;
  TimeNs compute = 0, communication = 0, free = 0;
};

struct SlowLinkRow {
  std::int32_t step = -1;
  MovedRow::Moved sdma, rdma;
};

struct CompileRow {
  std::string issue = "operator dispatch", call = "aclopCompileAndExecute";
  std::int64_t count = 0;
  TimeNs time = 0;
};

struct Packets {
  std::int64_t total = 0, small = 0;
  TimeNs small_time = 0;
  void Add(const MovedRow::Moved& moved, std::int64_t least) {
    if (moved.bytes == 0) return;
    ++total;
    if (moved.bytes >= least) return;
    ++small;
    small_time += moved.time;
  }
  double Share() const { return total > 0 ? Ratio(small, total) : 0; }
};

struct PacketsRow {
  Packets sdma, rdma;
};

struct ContendedRow {
  std::string operation, transport;
  TaskSum beside{};  // while cube cores computed
  double alone = 0;  // bandwidth of the tasks of the job that run alone, GB/s
};

class AnalyzerSheetMaker : private SheetMaker {
 public:
  using SheetMaker::SheetMaker;

  std::vector<AnalyzerNote> Make() && {
    AddSlowRanks();
    AddSlowLinks();
    AddAiCpu();
    AddCompiles();
    AddCollected();
    AddAlignment();
    AddPackets();
    AddResent();
    AddContention();
    AddFusible();
    return TakeNotes();
  }

 private:
  void AddSlowRanks() {
    if (ranks_.size() < 2) return;
    static const SheetColumns<SlowRankRow> columns = {
        CountColumn<&SlowRankRow::step>("step", 12, "Step"),
        RankColumn<SlowRankRow>(12),
        TimeColumn<&SlowRankRow::compute>("compute(us)", 16, Unit::kNsShownAsUs,
                                          "Time in which kernels ran"),
        TimeColumn<&SlowRankRow::communication>("communication(us)", 16, Unit::kNsShownAsUs,
                                                "Communication that no kernel hid"),
        TimeColumn<&SlowRankRow::free>("free(us)", 16, Unit::kNsShownAsUs, "The rest of the step"),
    };
    AddSheet(kRankLate.problem, columns, [&](const RankDiagnosis& part, auto add) {
      for (const StepPart& step : part.steps) {
        SlowRankRow row{.step = step.id};
        for (std::size_t i = 0; i < kTimeCategories; ++i) {
          const TimeCategory category = static_cast<TimeCategory>(i);
          (IsCompute(category)         ? row.compute
           : IsCommunication(category) ? row.communication
                                       : row.free) += step.categories[i];
        }
        add(row);
      }
    });
  }

  void AddSlowLinks() {
    using Row = SlowLinkRow;
    using Moved = MovedRow::Moved;
    static const SheetColumns<Row> columns = {
        CountColumn<&Row::step>("step", 12, "Step"),
        RankColumn<Row>(12),
        NumberColumn<&Row::rdma, &Moved::Bandwidth>("RDMA bandwidth(GB/s)", Format::kDecimals4, 16,
                                                    "Size over time"),
        NumberColumn<&Row::rdma, &Moved::Megabytes>("RDMA size(mb)", Format::kDecimals4, 16,
                                                    "Data that was sent by RDMA"),
        TimeColumn<&Row::rdma, &Moved::time>("RDMA time(ms)", 16, Unit::kNsShownAsMs,
                                             "Time of these tasks"),
        NumberColumn<&Row::sdma, &Moved::Bandwidth>("SDMA bandwidth(GB/s)", Format::kDecimals4, 16,
                                                    "Size over time"),
        NumberColumn<&Row::sdma, &Moved::Megabytes>("SDMA size(mb)", Format::kDecimals4, 16,
                                                    "Data that was moved by SDMA"),
        TimeColumn<&Row::sdma, &Moved::time>("SDMA time(ms)", 16, Unit::kNsShownAsMs,
                                             "Time of these tasks"),
    };
    AddSheet(kLinkSlow.problem, columns, [&](const RankDiagnosis& part, auto add) {
      std::map<std::int32_t, Row> of_step;
      const auto sum = [](Moved& into, const Moved& moved) {
        into.bytes += moved.bytes;
        into.time += moved.time;
      };
      for (const MovedRow& moved : part.analyzers.moved) {
        Row& row = of_step[moved.step];
        row.step = moved.step;
        sum(row.sdma, moved.sdma);
        sum(row.rdma, moved.rdma);
      }
      for (const auto& [step, row] : of_step) add(row);
    });
  }

  void AddAiCpu() {
    static const SheetColumns<AiCpuRow> columns = {
        TextColumn<&AiCpuRow::name>("op_name", 40, "Kernel"),
        TextColumn<&AiCpuRow::type>("op_type", 24, "Its type"),
        TimeColumn<&AiCpuRow::dur>("task_duration", 16, Unit::kNsShownAsUs, "Its duration, in us"),
        TextColumn<&AiCpuRow::shapes>("input_shapes", 40, "Shapes of its inputs"),
        RankColumn<AiCpuRow>(12),
    };
    const auto [rows, time] =
        AddList(kOpAicpu.problem, columns, &AnalyzerRows::ai_cpu, &AiCpuRow::dur);
    NoteAsFinding(kOpAicpu, rows, time,
                  {"{} kernels run on the AI CPU", "{} 个算子运行在 AI CPU 上"});
  }

  void AddCompiles() {
    static const SheetColumns<CompileRow> columns = {
        TextColumn<&CompileRow::issue>("Issues", 24, "What was found"),
        TextColumn<&CompileRow::call>("op name", 30, "The call"),
        CountColumn<&CompileRow::count>("counts", 12, "How often it was made"),
        TimeColumn<&CompileRow::time>("total time", 16, Unit::kNsShownAsUs,
                                      "Its time on the host, in us"),
        RankColumn<CompileRow>(12),
    };
    std::int64_t count = 0;
    TimeNs time = 0;
    AddSheet(kHostAclop.problem, columns, [&](const RankDiagnosis& part, auto add) {
      if (part.analyzers.compiles == 0) return;
      count += part.analyzers.compiles;
      time += part.analyzers.compile_time;
      add({.count = part.analyzers.compiles, .time = part.analyzers.compile_time});
    });
    NoteAsFinding(kHostAclop, count, time,
                  {"{} calls of aclopCompileAndExecute", "{} 次 aclopCompileAndExecute 调用"});
  }

  void AddCollected() {
    static const SheetColumns<CollectedRow> columns = {
        RankColumn<CollectedRow>(12, "Rank id"),
        TimeColumn<&CollectedRow::start>("timestamp", 16, Unit::kNsShownAsUs,
                                         "When it began, in us"),
        TimeColumn<&CollectedRow::dur>("duration(us)", 16, Unit::kNsShownAsUs, "How long it took"),
    };
    const auto [rows, time] =
        AddList(kHostGc.problem, columns, &AnalyzerRows::collected, &CollectedRow::dur);
    NoteAsFinding(kHostGc, rows, time,
                  {"{} garbage collections of 1 ms or more", "{} 次 1 ms 以上的垃圾回收"});
  }

  void AddAlignment() {
    using Moved = MovedRow::Moved;
    static const SheetColumns<MovedRow> columns = {
        TextColumn<&MovedRow::name>("op name", 36, "The operation"),
        CountColumn<&MovedRow::sdma, &Moved::bytes>("total size(Byte)", 12,
                                                    "Data that it moved by SDMA"),
        TimeColumn<&MovedRow::sdma, &Moved::time>("duration(us)", 16, Unit::kNsShownAsUs,
                                                  "Time of these tasks"),
        TimeColumn<&MovedRow::sdma, &Moved::unaligned>(
            "abnormal duration(us)", 16, Unit::kNsShownAsUs,
            "That of tasks whose size is not a multiple of 512 bytes"),
        NumberColumn<&MovedRow::sdma, &Moved::Bandwidth>("bandwidth(GB/s)", Format::kDecimals4, 16,
                                                         "Size over time"),
        RankColumn<MovedRow>(12),
    };
    const auto [rows, time] = AddList(
        kCommUnaligned.problem, columns, &AnalyzerRows::moved,
        [](const MovedRow& row) { return row.sdma.unaligned; },
        [](const MovedRow& row) { return row.sdma.unaligned_tasks > 0; });
    Note(kCommUnaligned.problem, rows, time,
         {"{} communication operators move sizes that are not multiples of 512 bytes",
          "{} 个通信算子的数据量不是 512 字节的整数倍"},
         {"pad the buckets of gradients to multiples of 512 bytes",
          "将梯度 bucket 补齐为 512 字节的整数倍"},
         rows);
  }

  void AddPackets() {
    using Row = PacketsRow;
    static const SheetColumns<Row> columns = {
        CountColumn<&Row::sdma, &Packets::total>("SDMA total count", 12,
                                                 "Operations that moved data by SDMA"),
        CountColumn<&Row::sdma, &Packets::small>("Small SDMA count", 12,
                                                 "Those of less than 16 MB"),
        NumberColumn<&Row::sdma, &Packets::Share>("Small SDMA ratio", Format::kPercent, 16,
                                                  "Their share"),
        TimeColumn<&Row::sdma, &Packets::small_time>("Small SDMA duration(ms)", 16,
                                                     Unit::kNsShownAsMs, "Time of their tasks"),
        CountColumn<&Row::rdma, &Packets::total>("RDMA total count", 12,
                                                 "Operations that sent data by RDMA"),
        CountColumn<&Row::rdma, &Packets::small>("Small RDMA count", 12, "Those of less than 1 MB"),
        NumberColumn<&Row::rdma, &Packets::Share>("Small RDMA ratio", Format::kPercent, 16,
                                                  "Their share"),
        TimeColumn<&Row::rdma, &Packets::small_time>("Small RDMA duration(ms)", 16,
                                                     Unit::kNsShownAsMs, "Time of their tasks"),
        RankColumn<Row>(12),
    };
    Packets sum;
    AddSheet(kCommSmall.problem, columns, [&](const RankDiagnosis& part, auto add) {
      Row row;
      for (const MovedRow& moved : part.analyzers.moved) {
        row.sdma.Add(moved.sdma, kSmallSdma);
        row.rdma.Add(moved.rdma, kSmallRdma);
      }
      if (row.sdma.Share() <= kSmallShare && row.rdma.Share() <= kSmallShare) return;
      sum.small += row.sdma.small + row.rdma.small;
      sum.small_time += row.sdma.small_time + row.rdma.small_time;
      add(row);
    });
    NoteAsFinding(kCommSmall, sum.small, sum.small_time,
                  {"{} communication operators move little data", "{} 个通信算子的数据量过小"});
  }

  void AddResent() {
    using Moved = MovedRow::Moved;
    static const SheetColumns<MovedRow> columns = {
        TextColumn<&MovedRow::name>("Op name", 36, "The operation"),
        CountColumn<&MovedRow::step>("Step id", 12, "Step"),
        RankColumn<MovedRow>(12, "Rank id"),
        NumberColumn<&MovedRow::rdma, &Moved::Megabytes>("RDMA transmit size(MB)",
                                                         Format::kDecimals4, 16, "What it sent"),
        TimeColumn<&MovedRow::rdma, &Moved::time>("RDMA transmit time(ms)", 16, Unit::kNsShownAsMs,
                                                  "Time of the tasks"),
        NumberColumn<&MovedRow::rdma, &Moved::Bandwidth>("RDMA bandwidth", Format::kDecimals4, 16,
                                                         "Size over time, GB/s"),
    };
    const auto [rows, time] = AddList(
        kCommRetransmit.problem, columns, &AnalyzerRows::moved,
        [](const MovedRow& row) { return row.rdma.time; },
        [](const MovedRow& row) { return row.rdma.time > kResent; });
    Note(kCommRetransmit.problem, rows, time,
         {"{} operators sent by RDMA for more than 4 s", "{} 个算子 RDMA 发送超过 4 s"},
         {"check optics, flow control (PFC, ECN) and HCCL_RDMA_TIMEOUT",
          "检查光模块、流控（PFC、ECN）和 HCCL_RDMA_TIMEOUT"},
         rows);
  }

  // The operations of the finding.
  void AddContention() {
    using Row = ContendedRow;
    static const SheetColumns<Row> columns = {
        TextColumn<&Row::operation>("op name", 36, "The operation"),
        TimeColumn<&Row::beside, &TaskSum::time>(
            "duration(ms)", 16, Unit::kNsShownAsMs,
            "Time of its tasks that ran while cube cores computed"),
        NumberColumn<&Row::beside, &TaskSum::Bandwidth>("bandwidth(GB/s)", Format::kDecimals4, 16,
                                                        "Their size over their time"),
        NumberColumn<&Row::alone>("bandwidth alone(GB/s)", Format::kDecimals4, 16,
                                  "That of the tasks of the job that ran alone"),
        TextColumn<&Row::transport>("transport", 12, "SDMA, RDMA"),
        RankColumn<Row>(12),
    };
    const double ratio = of_.thresholds[kBesideRatio];
    const std::map<std::string, ComparedTasks> compared =
        CompareTasks(ranks_, &PeerTransfer::beside);
    TimeNs time = 0;
    const std::int64_t rows =
        AddSheet(kCommContention.problem, columns, [&](const RankDiagnosis& part, auto add) {
          std::map<std::pair<std::uint32_t, NameId>, TaskSum> beside;  // by operation and transport
          for (const PeerTransfer& transfer : part.transfers)
            Add(transfer.beside, beside[{transfer.operation, transfer.transport}]);
          for (const auto& [of, sum] : beside) {
            const std::string& transport = part.names[of.second];
            const ComparedTasks& tasks = compared.at(transport);
            const double alone = tasks.without.Bandwidth();
            if (sum.time == 0 || !tasks.AreSlower(ratio, of_.thresholds) ||
                sum.Bandwidth() >= ratio * alone)
              continue;
            time += sum.time;
            add({part.names[part.operations[of.first].name], transport, sum, alone});
          }
        });
    NoteAsFinding(kCommContention, rows, time,
                  {"{} communication operators lose bandwidth to computing at the same time",
                   "{} 个通信算子与计算并行时带宽下降"});
  }

  void AddFusible() {
    static const SheetColumns<FusibleRow> columns = {
        TextColumn<&FusibleRow::api>("Affinity API", 40, "The call that replaces the operators"),
        CountColumn<&FusibleRow::count>("Stack called counts", 12, "How often they ran"),
        RankColumn<FusibleRow>(12),
    };
    std::int64_t count = 0;
    AddSheet(kOpUnfused.problem, columns, [&](const RankDiagnosis& part, auto add) {
      for (const FusibleRow& fusible : part.analyzers.fusible) {
        count += fusible.count;
        add(fusible);
      }
    });
    Note(kOpUnfused.problem, count, 0,
         {"operators that one call could replace ran {} times",
          "可由一个亲和接口替代的算子出现 {} 次"},
         {"use the calls of the sheet; check the precision", "使用表中的接口，并验证精度"}, count);
  }
};

}  // namespace

std::vector<AnalyzerNote> AddAnalyzerSheets(const std::vector<DiagnosedRank>& ranks,
                                            const Diagnosis& diagnosis, Language language,
                                            Report& report) {
  std::vector<AnalyzerNote> notes = AddEnvironmentSheet(ranks, diagnosis, language, report);
  for (AnalyzerNote& note : AnalyzerSheetMaker(ranks, diagnosis, language, report).Make())
    notes.push_back(std::move(note));
  for (AnalyzerNote& note : AddKernelSheets(ranks, diagnosis, language, report))
    notes.push_back(std::move(note));
  return notes;
}

std::string ProblemOf(const FoundCause& found, Language language) {
  const Wording& problem = found.finding->problem;
  return problem.english.empty() ? TitleOf(found, language) : std::string(problem.In(language));
}

}  // namespace mpa
