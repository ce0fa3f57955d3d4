// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "analyzer_sheets.h"
#include "mpa/diagnosis/causes/variables.h"
#include "sheet_maker.h"

namespace mpa {
namespace {

struct VariableRow {
  std::string name, value, description, suggestion;
};

class EnvironmentSheetMaker : private SheetMaker {
 public:
  using SheetMaker::SheetMaker;

  std::vector<AnalyzerNote> Make() && {
    static constexpr Wording kEnvironment{"Environment Variable Issues", "环境变量分析"};
    using Row = VariableRow;
    static const SheetColumns<Row> columns = {
        TextColumn<&Row::name>("Environment", 28, "The variable"),
        TextColumn<&Row::value>("Value", 24, "Its value on the rank; empty where it is not set"),
        TextColumn<&Row::description>("Description", 50, "What it costs"),
        TextColumn<&Row::suggestion>("Suggestion", 50, "What to set"),
        RankColumn<Row>(10),
    };
    std::set<std::string> poor;
    std::size_t rank = 0;
    AddSheet(kEnvironment, columns, [&](const RankDiagnosis& part, auto add) {
      for (const std::string& name : PoorOf(ranks_[rank++].rank, part)) {
        poor.insert(name);
        add(RowOf(name, part));
      }
    });
    Note(kEnvironment, static_cast<std::int64_t>(poor.size()), 0,
         {"{} environment variables have values that may cost time",
          "{} 个环境变量的取值可能影响性能"},
         {"set them as the sheet says", "按表中建议设置"}, poor.size());
    return TakeNotes();
  }

 private:
  // By name.
  std::set<std::string> PoorOf(std::int64_t rank, const RankDiagnosis& part) const {
    std::set<std::string> names;
    for (const FoundCause& finding : of_.findings) {
      if (finding.setting && finding.Concerns(rank)) names.insert(finding.setting->variable);
    }
    for (const Variable& variable : Variables()) {
      if (!variable.is_finding && IsPoor(variable, part.settings))
        names.insert(std::string(variable.name));
    }
    return names;
  }

  VariableRow RowOf(const std::string& name, const RankDiagnosis& part) const {
    static constexpr Wording kDiffers{"the ranks have different values", "各卡取值不一致"};
    const Variable* variable = VariableNamed(name);
    const bool costs = variable != nullptr && IsPoor(*variable, part.settings);
    return {name, ValueIn(part.settings, name), Text(costs ? variable->costs : kDiffers),
            Text(costs ? variable->advice : kAgree)};
  }
};

}  // namespace

std::vector<AnalyzerNote> AddEnvironmentSheet(const std::vector<DiagnosedRank>& ranks,
                                              const Diagnosis& diagnosis, Language language,
                                              Report& report) {
  return EnvironmentSheetMaker(ranks, diagnosis, language, report).Make();
}

}  // namespace mpa
