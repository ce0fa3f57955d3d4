// SPDX-License-Identifier: Apache-2.0
#include "analyzer_sheets.h"

#include <map>
#include <utility>

#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

struct SlowRankRow {
  std::int32_t step = -1;
  TimeNs compute = 0, communication = 0, free = 0;
};

struct SlowLinkRow {
  std::int32_t step = -1;
  Traffic sdma, rdma;
};

struct CompileRow {
  std::string issue = "operator dispatch", call = "aclopCompileAndExecute";
  std::int64_t count = 0;
  TimeNs time = 0;
};

void AddSlowRanks(AnalyzerSheets& sheets) {
  if (sheets.ranks.size() < 2) return;
  static const SheetColumns<SlowRankRow> columns = {
      CountColumn<&SlowRankRow::step>("step", 12, "Step"),
      RankColumn<SlowRankRow>(12),
      TimeColumn<&SlowRankRow::compute>("compute(us)", 16, Unit::kNsShownAsUs,
                                        "Time in which kernels ran"),
      TimeColumn<&SlowRankRow::communication>("communication(us)", 16, Unit::kNsShownAsUs,
                                              "Communication that no kernel hid"),
      TimeColumn<&SlowRankRow::free>("free(us)", 16, Unit::kNsShownAsUs, "The rest of the step"),
  };
  sheets.Add(kRankLate.problem, columns, [&](const RankDiagnosis& part, auto add) {
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

void AddSlowLinks(AnalyzerSheets& sheets) {
  using Row = SlowLinkRow;
  static const SheetColumns<Row> columns = {
      CountColumn<&Row::step>("step", 12, "Step"),
      RankColumn<Row>(12),
      NumberColumn<&Row::rdma, &Traffic::GigabytesPerSecond>(
          "RDMA bandwidth(GB/s)", Format::kDecimals4, 16, "Size over time"),
      NumberColumn<&Row::rdma, &Traffic::Megabytes>("RDMA size(mb)", Format::kDecimals4, 16,
                                                    "Data that was sent by RDMA"),
      TimeColumn<&Row::rdma, &Traffic::time>("RDMA time(ms)", 16, Unit::kNsShownAsMs,
                                             "Time of these tasks"),
      NumberColumn<&Row::sdma, &Traffic::GigabytesPerSecond>(
          "SDMA bandwidth(GB/s)", Format::kDecimals4, 16, "Size over time"),
      NumberColumn<&Row::sdma, &Traffic::Megabytes>("SDMA size(mb)", Format::kDecimals4, 16,
                                                    "Data that was moved by SDMA"),
      TimeColumn<&Row::sdma, &Traffic::time>("SDMA time(ms)", 16, Unit::kNsShownAsMs,
                                             "Time of these tasks"),
  };
  sheets.Add(kLinkSlow.problem, columns, [&](const RankDiagnosis& part, auto add) {
    std::map<std::int32_t, Row> of_step;
    for (const MovedRow& moved : part.analyzers.moved) {
      Row& row = of_step[moved.step];
      row.step = moved.step;
      row.sdma.Add(moved.sdma);
      row.rdma.Add(moved.rdma);
    }
    for (const auto& [step, row] : of_step) add(row);
  });
}

void AddAiCpu(AnalyzerSheets& sheets) {
  static const SheetColumns<AiCpuRow> columns = {
      TextColumn<&AiCpuRow::name>("op_name", 40, "Kernel"),
      TextColumn<&AiCpuRow::type>("op_type", 24, "Type of the kernel"),
      TimeColumn<&AiCpuRow::dur>("task_duration", 16, Unit::kNsShownAsUs,
                                 "Duration of the kernel, in us"),
      TextColumn<&AiCpuRow::shapes>("input_shapes", 40, "Shapes of the inputs"),
      RankColumn<AiCpuRow>(12),
  };
  const auto listed =
      sheets.AddList(kOpAicpu.problem, columns, &AnalyzerRows::ai_cpu, &AiCpuRow::dur);
  sheets.NoteAsFinding(kOpAicpu, listed, Say("{} kernels run on the AI CPU", listed.rows));
}

void AddCompiles(AnalyzerSheets& sheets) {
  static const SheetColumns<CompileRow> columns = {
      TextColumn<&CompileRow::issue>("Issues", 24, "What was found"),
      TextColumn<&CompileRow::call>("op name", 30, "The call"),
      CountColumn<&CompileRow::count>("counts", 12, "How often the call was made"),
      TimeColumn<&CompileRow::time>("total time", 16, Unit::kNsShownAsUs,
                                    "Time of the call on the host, in us"),
      RankColumn<CompileRow>(12),
  };
  AnalyzerSheets::Listed calls;
  sheets.Add(kHostAclop.problem, columns, [&](const RankDiagnosis& part, auto add) {
    if (part.analyzers.compiles == 0) return;
    calls.rows += part.analyzers.compiles;
    calls.time += part.analyzers.compile_time;
    add({.count = part.analyzers.compiles, .time = part.analyzers.compile_time});
  });
  sheets.NoteAsFinding(kHostAclop, calls, Say("{} calls of aclopCompileAndExecute", calls.rows));
}

void AddCollected(AnalyzerSheets& sheets) {
  static const SheetColumns<CollectedRow> columns = {
      RankColumn<CollectedRow>(12, "Rank id"),
      TimeColumn<&CollectedRow::start>("timestamp", 16, Unit::kNsShownAsUs,
                                       "Start of the collection, in us"),
      TimeColumn<&CollectedRow::dur>("duration(us)", 16, Unit::kNsShownAsUs,
                                     "Duration of the collection"),
  };
  const auto listed =
      sheets.AddList(kHostGc.problem, columns, &AnalyzerRows::collected, &CollectedRow::dur);
  sheets.NoteAsFinding(kHostGc, listed, Say("{} garbage collections of 1 ms or more", listed.rows));
}

}  // namespace

void AddRankSheets(AnalyzerSheets& sheets) {
  AddSlowRanks(sheets);
  AddSlowLinks(sheets);
  AddAiCpu(sheets);
  AddCompiles(sheets);
  AddCollected(sheets);
}

void AnalyzerSheets::AddNote(std::string_view category, const Listed& of, std::string description,
                             std::string suggestion) {
  const auto is_finding = [&](const Finding& finding) {
    return ProblemOf(finding) == Translated(category);
  };
  if (of.rows == 0 || std::ranges::any_of(diagnosis.findings, is_finding)) return;
  notes.push_back({std::string(Translated(category)), std::move(description), std::move(suggestion),
                   of.rows, of.time});
}

void AnalyzerSheets::NoteAsFinding(const FindingType& finding, const Listed& of,
                                   std::string description) {
  AddNote(finding.problem, of, std::move(description),
          UsualAdvice(finding, FactsOf(ranks, diagnosis.thresholds)));
}

std::string ProblemOf(const Finding& found) {
  const std::string_view problem = found.type->problem;
  return problem.empty() ? TitleOf(found) : std::string(Translated(problem));
}

}  // namespace mpa
