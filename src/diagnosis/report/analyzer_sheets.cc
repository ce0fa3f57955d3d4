// SPDX-License-Identifier: Apache-2.0
#include "analyzer_sheets.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer_columns.h"
#include "mpa/diagnosis/causes/compared_tasks.h"
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

constexpr Wording kSlowRank{"slow rank", "慢卡分析"}, kSlowLink{"slow link", "慢链路分析"},
    kAiCpuIssues{"AICPU Issues", "AICPU算子"}, kDispatch{"Operator Dispatch Issues", "算子下发"},
    kCollections{"GC Analysis", "GC分析"},
    kAlignmentSheet{"Byte Alignment Analysis", "字节对齐分析"},
    kPackets{"Packet Analysis", "包分析"},
    kResentSheet{"Communication Retransmission Analysis", "通信重传分析"},
    kContention{"Bandwidth Contention Analysis", "带宽分析"},
    kFusible{"Affinity API Issues", "亲和API接口"};

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
    AddSheet(kSlowRank, SlowRankColumns(), [&](const RankDiagnosis& part, auto add) {
      for (const StepPart& step : part.steps) {
        SlowRankRow row;
        row.step = step.id;
        for (std::size_t i = 0; i < kLeaves; ++i) {
          const Leaf leaf = static_cast<Leaf>(i);
          (IsCompute(leaf)         ? row.compute
           : IsCommunication(leaf) ? row.communication
                                   : row.free) += step.leaves[i];
        }
        add(row);
      }
    });
  }

  void AddSlowLinks() {
    AddSheet(kSlowLink, SlowLinkColumns(), [&](const RankDiagnosis& part, auto add) {
      std::map<std::int32_t, SlowLinkRow> of_step;
      const auto sum = [](MovedRow::Moved& into, const MovedRow::Moved& moved) {
        into.bytes += moved.bytes;
        into.time += moved.time;
      };
      for (const MovedRow& moved : part.analyzers.moved) {
        SlowLinkRow& row = of_step[moved.step];
        row.step = moved.step;
        sum(row.sdma, moved.sdma);
        sum(row.rdma, moved.rdma);
      }
      for (const auto& [step, row] : of_step) add(row);
    });
  }

  void AddAiCpu() {
    TimeNs time = 0;
    const std::size_t rows =
        AddSheet(kAiCpuIssues, AiCpuColumns(), [&](const RankDiagnosis& part, auto add) {
          for (const AiCpuRow& kernel : part.analyzers.ai_cpu) {
            AiCpuOfRank row;
            row.kernel = &kernel;
            time += kernel.dur;
            add(row);
          }
        });
    if (rows == 0) return;
    NoteAsFinding("op.aicpu", kAiCpuIssues, static_cast<std::int64_t>(rows), time,
                  {"{} kernels run on the AI CPU", "{} 个算子运行在 AI CPU 上"}, rows);
  }

  void AddCompiles() {
    std::int64_t count = 0;
    TimeNs time = 0;
    AddSheet(kDispatch, CompileColumns(), [&](const RankDiagnosis& part, auto add) {
      if (part.analyzers.compiles == 0) return;
      CompileOfRank row;
      row.count = part.analyzers.compiles;
      row.time = part.analyzers.compile_time;
      count += row.count;
      time += row.time;
      add(row);
    });
    if (count == 0) return;
    NoteAsFinding("host.aclop", kDispatch, count, time,
                  {"{} calls of aclopCompileAndExecute", "{} 次 aclopCompileAndExecute 调用"},
                  count);
  }

  void AddCollected() {
    TimeNs time = 0;
    const std::size_t rows =
        AddSheet(kCollections, CollectedColumns(), [&](const RankDiagnosis& part, auto add) {
          for (const CollectedRow& collected : part.analyzers.collected) {
            CollectedOfRank row;
            row.row = collected;
            time += collected.dur;
            add(row);
          }
        });
    if (rows == 0) return;
    NoteAsFinding("host.gc", kCollections, static_cast<std::int64_t>(rows), time,
                  {"{} garbage collections of 1 ms or more", "{} 次 1 ms 以上的垃圾回收"}, rows);
  }

  void AddAlignment() {
    TimeNs time = 0;
    const std::size_t rows =
        AddSheet(kAlignmentSheet, AlignmentColumns(), [&](const RankDiagnosis& part, auto add) {
          for (const MovedRow& moved : part.analyzers.moved) {
            if (moved.sdma.unaligned_tasks == 0) continue;
            MovedOfRank row;
            row.row = &moved;
            time += moved.sdma.unaligned;
            add(row);
          }
        });
    if (rows == 0) return;
    Note(kAlignmentSheet, static_cast<std::int64_t>(rows), time,
         {"{} communication operators move sizes that are not multiples of 512 bytes",
          "{} 个通信算子的数据量不是 512 字节的整数倍"},
         {"pad the buckets of gradients to multiples of 512 bytes",
          "将梯度 bucket 补齐为 512 字节的整数倍"},
         rows);
  }

  void AddPackets() {
    Packets sum;
    AddSheet(kPackets, PacketColumns(), [&](const RankDiagnosis& part, auto add) {
      PacketsOfRank row;
      for (const MovedRow& moved : part.analyzers.moved) {
        row.sdma.Add(moved.sdma, kSmallSdma);
        row.rdma.Add(moved.rdma, kSmallRdma);
      }
      if (row.sdma.Share() <= kSmallShare && row.rdma.Share() <= kSmallShare) return;
      sum.small += row.sdma.small + row.rdma.small;
      sum.small_time += row.sdma.small_time + row.rdma.small_time;
      add(row);
    });
    if (sum.small == 0) return;
    NoteAsFinding("comm.small", kPackets, sum.small, sum.small_time,
                  {"{} communication operators move little data", "{} 个通信算子的数据量过小"},
                  sum.small);
  }

  void AddResent() {
    TimeNs time = 0;
    const std::size_t rows =
        AddSheet(kResentSheet, ResentColumns(), [&](const RankDiagnosis& part, auto add) {
          for (const MovedRow& moved : part.analyzers.moved) {
            if (moved.rdma.time <= kResent) continue;
            MovedOfRank row;
            row.row = &moved;
            time += moved.rdma.time;
            add(row);
          }
        });
    if (rows == 0) return;
    Note(kResentSheet, static_cast<std::int64_t>(rows), time,
         {"{} operators sent by RDMA for more than 4 s", "{} 个算子 RDMA 发送超过 4 s"},
         {"check optics, flow control (PFC, ECN) and HCCL_RDMA_TIMEOUT",
          "检查光模块、流控（PFC、ECN）和 HCCL_RDMA_TIMEOUT"},
         rows);
  }

  // The operations of the finding.
  void AddContention() {
    const double ratio = of_.rules.beside_ratio;
    const std::map<std::string, ComparedTasks> compared =
        CompareTasks(ranks_, &PeerTransfer::beside);
    TimeNs time = 0;
    const std::size_t rows =
        AddSheet(kContention, ContentionColumns(), [&](const RankDiagnosis& part, auto add) {
          std::map<std::pair<std::uint32_t, NameId>, TaskSum> beside;  // by operation and transport
          for (const PeerTransfer& transfer : part.transfers)
            Add(transfer.beside, beside[{transfer.operation, transfer.transport}]);
          for (const auto& [of, sum] : beside) {
            ContendedOfRank row;
            row.operation = part.names[part.operations[of.first].name];
            row.transport = part.names[of.second];
            const ComparedTasks& tasks = compared.at(std::string(row.transport));
            row.beside = sum;
            row.alone = tasks.without.Bandwidth();
            if (sum.time == 0 || !tasks.AreSlower(ratio, of_.rules) ||
                sum.Bandwidth() >= ratio * row.alone)
              continue;
            time += sum.time;
            add(row);
          }
        });
    if (rows == 0) return;
    NoteAsFinding("comm.contention", kContention, static_cast<std::int64_t>(rows), time,
                  {"{} communication operators lose bandwidth to computing at the same time",
                   "{} 个通信算子与计算并行时带宽下降"},
                  rows);
  }

  void AddFusible() {
    std::int64_t count = 0;
    const std::size_t rows =
        AddSheet(kFusible, FusibleColumns(), [&](const RankDiagnosis& part, auto add) {
          for (const FusibleRow& fusible : part.analyzers.fusible) {
            FusibleOfRank row;
            row.row = &fusible;
            count += fusible.count;
            add(row);
          }
        });
    if (rows == 0) return;
    Note(kFusible, count, 0,
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
  for (AnalyzerNote& note : AddPerfSheets(ranks, diagnosis, language, report))
    notes.push_back(std::move(note));
  for (AnalyzerNote& note : AddSequenceSheets(ranks, diagnosis, language, report))
    notes.push_back(std::move(note));
  return notes;
}

std::string CategoryOf(const FoundCause& finding, Language language) {
  static const std::map<std::string_view, Wording> categories = {
      {"rank.late_compute", kSlowRank},
      {"rank.late_host", kSlowRank},
      {"rank.late_input", kSlowRank},
      {"rank.late", kSlowRank},
      {"rank.jitter", kSlowRank},
      {"link.slow", kSlowLink},
      {"host.compile", kDispatch},
      {"host.aclop", kDispatch},
      {"host.gc", kCollections},
      {"host.sync", {"Synchronize Stream Issues", "Synchronize Stream Issues"}},
      {"host.launch_blocking", {"Synchronize Stream Issues", "Synchronize Stream Issues"}},
      {"host.dataloader", {"Slow Dataloader Issues", "Slow Dataloader Issues"}},
      {"host.memory", {"Memory Operator Issues", "Memory Operator Issues"}},
      {"comm.small", kPackets},
      {"comm.unaligned", kAlignmentSheet},
      {"comm.retransmit", kResentSheet},
      {"comm.contention", kContention},
      {"op.aicpu", kAiCpuIssues},
      {"op.attention", kFusible},
      {"op.unfused", kFusible},
      {"op.optimizer", kFusible},
      {"dev.clock", kClockSheet},
      {"env.check", {"Environment Variable Issues", "环境变量分析"}},
  };
  const auto found = categories.find(finding.id);
  return found == categories.end() ? TitleOf(finding, language)
                                   : std::string(found->second.In(language));
}

}  // namespace mpa
