// SPDX-License-Identifier: Apache-2.0
#include "environment_sheet.h"

#include <algorithm>
#include <set>

#include "mpa/io/numbers.h"
#include "sheet_maker.h"

namespace mpa {
namespace {

// What a value costs, and what to set instead. `is_poor` judges variables without a finding.
struct VariableAdvice {
  std::string_view name;
  Wording description, suggestion;
  bool (*is_poor)(const std::string& value) = nullptr;
};

const std::vector<VariableAdvice>& VariableAdvices() {
  static const std::vector<VariableAdvice> advices = {
      {"ASCEND_LAUNCH_BLOCKING", {"the host waits for the device at every launch", "每次下发都等待设备完成"},
       {"ASCEND_LAUNCH_BLOCKING=0", "ASCEND_LAUNCH_BLOCKING=0"}},
      {"ASCEND_GLOBAL_LOG_LEVEL", {"the host writes a log of what it does", "host 输出大量日志"},
       {"ASCEND_GLOBAL_LOG_LEVEL=3", "ASCEND_GLOBAL_LOG_LEVEL=3"}},
      {"TASK_QUEUE_ENABLE", {"the thread that calls operators launches them, too", "算子调用线程同时负责下发"},
       {"TASK_QUEUE_ENABLE=2", "TASK_QUEUE_ENABLE=2"}},
      {"HCCL_DETERMINISTIC", {"collectives add up in a fixed order, which takes longer", "集合通信按固定顺序规约，耗时更长"},
       {"HCCL_DETERMINISTIC=false unless results must repeat", "无需复现结果时设置 HCCL_DETERMINISTIC=false"}},
      {"ACLNN_CACHE_LIMIT", {"few prepared operators are kept for their next call", "缓存的 aclnn 算子数量过少"},
       {"ACLNN_CACHE_LIMIT=100000", "ACLNN_CACHE_LIMIT=100000"},
       [](const std::string& value) { return io::ParseInt(value).value_or(10'000) < 10'000; }},
      {"HOST_CACHE_CAPACITY", {"results for dynamic shapes are not kept", "动态 shape 的计算结果不缓存"},
       {"HOST_CACHE_CAPACITY=20", "HOST_CACHE_CAPACITY=20"},
       [](const std::string& value) { return io::ParseInt(value).value_or(1) == 0; }},
      {"PYTORCH_NPU_ALLOC_CONF", {"segments of device memory cannot grow", "显存段不可扩展"},
       {"PYTORCH_NPU_ALLOC_CONF=expandable_segments:True", "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"},
       [](const std::string& value) { return value.find("expandable_segments:True") == std::string::npos; }},
  };
  return advices;
}

const VariableAdvice* AdviceFor(std::string_view name) {
  for (const VariableAdvice& advice : VariableAdvices()) {
    if (advice.name == name) return &advice;
  }
  return nullptr;
}

struct VariableOfRank : WithRank {
  std::string name, value, description, suggestion;
};

const RowsOfSheet<VariableOfRank>& EnvironmentColumns() {
  static const RowsOfSheet<VariableOfRank> columns = {
      {NamedColumn("Environment", Format::kText, 28, "The variable"), [](const VariableOfRank& row) -> Cell { return row.name; }},
      {NamedColumn("Value", Format::kText, 24, "Its value on the rank; empty where it is not set"), [](const VariableOfRank& row) -> Cell { return row.value; }},
      {NamedColumn("Description", Format::kText, 50, "What it costs"), [](const VariableOfRank& row) -> Cell { return row.description; }},
      {NamedColumn("Suggestion", Format::kText, 50, "What to set"), [](const VariableOfRank& row) -> Cell { return row.suggestion; }},
      {NamedColumn("rank_id", Format::kInteger, 10, "Rank"), [](const VariableOfRank& row) -> Cell { return row.rank; }},
  };
  return columns;
}

class EnvironmentSheetMaker : private SheetMaker {
 public:
  using SheetMaker::SheetMaker;

  std::vector<AnalyzerNote> Make() && {
    static constexpr Wording kEnvironment{"Environment Variable Issues", "环境变量分析"};
    std::set<std::string> poor;
    std::size_t rank = 0;
    const std::size_t rows = AddSheet(kEnvironment, EnvironmentColumns(), [&](const RankDiagnosis& part, auto add) {
      for (const std::string& name : PoorOf(ranks_[rank++].rank, part)) {
        poor.insert(name);
        add(RowOf(name, part));
      }
    });
    if (rows > 0) {
      Note(kEnvironment, static_cast<std::int64_t>(poor.size()), 0, {"{} environment variables have values that may cost time", "{} 个环境变量的取值可能影响性能"},
           {"set them as the sheet says", "按表中建议设置"}, poor.size());
    }
    return TakeNotes();
  }

 private:
  // By name.
  std::set<std::string> PoorOf(std::int64_t rank, const RankDiagnosis& part) const {
    static constexpr std::string_view kFinding = "env.check/";
    std::set<std::string> names;
    for (const FoundCause& finding : of_.findings) {
      const bool is_of_rank = finding.ranks.empty() || std::find(finding.ranks.begin(), finding.ranks.end(), rank) != finding.ranks.end();
      if (is_of_rank && finding.key.starts_with(kFinding)) names.insert(finding.key.substr(kFinding.size()));
    }
    for (const VariableAdvice& advice : VariableAdvices()) {
      const auto set = part.settings.find(std::string(advice.name));
      if (advice.is_poor != nullptr && set != part.settings.end() && advice.is_poor(set->second)) names.insert(set->first);
    }
    return names;
  }

  VariableOfRank RowOf(const std::string& name, const RankDiagnosis& part) const {
    static constexpr Wording kDiffers{"the ranks have different values", "各卡取值不一致"}, kAgree{"the same value on all ranks", "所有卡设置为相同的值"};
    const auto set = part.settings.find(name);
    // The queue may be on everywhere, but not in the same way.
    const bool differs = name == "TASK_QUEUE_ENABLE" && (set == part.settings.end() || set->second != "0");
    const VariableAdvice* advice = differs ? nullptr : AdviceFor(name);
    VariableOfRank row;
    row.name = name;
    if (set != part.settings.end()) row.value = set->second;
    row.description = (advice != nullptr ? advice->description : kDiffers).In(language_);
    row.suggestion = (advice != nullptr ? advice->suggestion : kAgree).In(language_);
    return row;
  }
};

}  // namespace

std::vector<AnalyzerNote> AddEnvironmentSheet(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                                              Language language, Report& report) {
  return EnvironmentSheetMaker(ranks, diagnosis, language, report).Make();
}

}  // namespace mpa
