// SPDX-License-Identifier: Apache-2.0
// Findings and accounts in the words that the screen, the page and the workbook share.
#include "mpa/diagnosis/report/finding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <numeric>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/job/metric_names.h"
#include "mpa/measure/leaf.h"

namespace mpa {
namespace {

bool InChinese(Language language) { return language == Language::kChinese; }

double InMs(TimeNs time) { return static_cast<double>(time) / 1e6; }

// Gains that differ by less are said once.
bool WinsLessAlone(const Rules& rules, const FoundCause& finding) {
  return std::abs(finding.alone - finding.gain) > ShareOf(finding.gain, rules.hidden_share);
}

std::string PlaceOf(const FoundCause& finding, Language language) {
  if (finding.evidence.empty()) return LeafText(finding.leaf, language);
  // Names of operators may be longer than a line.
  constexpr std::size_t kLongestName = 40;
  const Evidence& place = finding.evidence.front();
  return AtLine(place.op.empty() ? place.name : place.op, place.line, language, kLongestName);
}

// "0.1 of 7.4 ms": the time of a place, and that of all places if others count.
std::string PartText(const Evidence& place) {
  const bool is_short = place.of_all < 100'000;
  const double unit = is_short ? 1e3 : 1e6;
  const auto number = [unit](TimeNs time) {
    return fmt::format("{:.1f}", static_cast<double>(time) / unit);
  };
  const std::string whole = fmt::format("{} {}", number(place.of_all), is_short ? "us" : "ms");
  const std::string own = number(place.time);
  return own == number(place.of_all) ? whole : fmt::format("{} of {}", own, whole);
}

// What is known of the first place is said of it, not of the whole finding.
std::string FactOf(const FoundCause& finding, const Metric& metric, Language language) {
  if (finding.evidence.empty() || finding.evidence.front().time == 0)
    return MetricText(metric, language);
  const Evidence& place = finding.evidence.front();
  if (metric.name == "calls_per_step") {
    return place.calls > 0 ? MetricText({metric.name, place.calls, metric.unit}, language) : "";
  }
  if (metric.name != "time_per_step") return MetricText(metric, language);
  // Of an operation the capture does not tell how much of it is exposed.
  if (finding.finding->area == Area::kCommunication && place.of_all > 0) {
    const std::int64_t percent = (200 * place.time + place.of_all) / (2 * place.of_all);
    return fmt::format(fmt::runtime(InChinese(language) ? "占 {1} 的 {0} %" : "{} % of {}"),
                       percent, MetricText(metric, language));
  }
  return fmt::format(fmt::runtime(InChinese(language) ? "每个 step {}" : "{} a step"),
                     PartText(place));
}

// "TASK_QUEUE_ENABLE=0: the thread that calls operators launches them, too"
std::string SettingTitle(const FoundSetting& setting, Language language) {
  const std::string name = Printable(setting.variable);
  const Variable* variable = VariableNamed(setting.variable);
  if (setting.differs || variable == nullptr) {
    return fmt::format(fmt::runtime(InChinese(language) ? "各卡的 {} 取值不一致"
                                                        : "the ranks have different values of {}"),
                       name);
  }
  const std::string value = setting.values.size() == 1
                                ? "=" + ShortenMiddle(Printable(setting.values.front().first), 16)
                                : "";
  return fmt::format(fmt::runtime(InChinese(language) ? "{}{}：{}" : "{}{}: {}"), name, value,
                     variable->costs.In(language));
}

// "0 on rank 3, 2 on ranks 0-2, adds to host.launch_bound": as much as fits into the columns.
std::string SettingFacts(const FoundSetting& setting, Language language, std::size_t columns) {
  std::vector<std::string> facts;
  for (const auto& [value, ranks] : setting.values) {
    const std::string shown = value.empty() ? (InChinese(language) ? "未设置" : "no value")
                                            : ShortenMiddle(Printable(value), 40);
    facts.push_back(fmt::format(fmt::runtime(InChinese(language) ? "{}：{}" : "{} on {}"), shown,
                                RanksText(ranks, language)));
  }
  if (!setting.serves.empty())
    facts.push_back((InChinese(language) ? "影响 " : "adds to ") + Printable(setting.serves));
  std::string text;
  for (const std::string& fact : facts) {
    const std::string before = text.empty() ? "" : InChinese(language) ? "，" : ", ";
    if (ColumnsOf(text) + ColumnsOf(before) + ColumnsOf(fact) > columns) break;
    text += before + fact;
  }
  return text;
}

// Percents of the whole that add up to 100: those with the largest rests are rounded up.
void AddPercents(std::vector<StepShare>& shares) {
  TimeNs whole = 0;
  for (const StepShare& share : shares) whole += share.time;
  if (whole <= 0) return;
  int given = 0;
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rest = [&](std::size_t i) { return shares[i].time * 100 % whole; };
  for (StepShare& share : shares) {
    share.percent = static_cast<int>(share.time * 100 / whole);
    given += share.percent;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rest(a) > rest(b); });
  for (std::size_t i = 0; i < order.size() && given < 100; ++i, ++given) ++shares[order[i]].percent;
}

}  // namespace

FindingSection SectionOf(const FoundCause& finding) {
  if (finding.finding->area == Area::kCapture) return FindingSection::kCapture;
  if (finding.finding->area == Area::kSettings) return FindingSection::kSettings;
  return finding.kind == FindingKind::kFault ? FindingSection::kFaults
                                             : FindingSection::kOpportunities;
}

const Wording& HeadingOf(FindingSection section) {
  static const Wording headings[] = {{"Faults", "问题"},
                                     {"Works as written, could be faster", "可优化项"},
                                     {"Settings and memory", "环境变量与内存"},
                                     {"About the capture", "关于采集"}};
  return headings[static_cast<std::size_t>(section)];
}

bool IsOfStep(const FoundCause& finding) { return SectionOf(finding) < FindingSection::kSettings; }

MsText::MsText(TimeNs step) : decimals_(step >= 10'000'000 ? 1 : step >= 1'000'000 ? 2 : 3) {}

std::string MsText::operator()(TimeNs time) const {
  return fmt::format("{:.{}f}", InMs(time), decimals_);
}

std::string TitleOf(const FoundCause& finding, Language language) {
  if (finding.setting) return SettingTitle(*finding.setting, language);
  const std::string_view title = finding.Title().In(language);
  const std::string ranks = RanksText(finding.ranks, language);
  std::string text = fmt::format(fmt::runtime(title), ranks);
  const bool names_ranks = title.find("{}") != std::string_view::npos;
  if (!names_ranks && !finding.ranks.empty()) {
    text += fmt::format(fmt::runtime(InChinese(language) ? "（{}）" : " ({})"), ranks);
  }
  if (finding.confidence != Certainty::kLow) return text;
  return (InChinese(language) ? "可能：" : "probably: ") + text;
}

std::string GainText(const Diagnosis& diagnosis, const FoundCause& finding, Language language) {
  const MsText ms(diagnosis.step);
  if (finding.gain_max == 0 && !finding.with_next)
    return "";  // it says something about the capture
  if (finding.with_next)
    return InChinese(language) ? "与下一项同时解决才有收益" : "pays only with the next finding";
  if (WinsLessAlone(diagnosis.rules, finding)) {
    return fmt::format(
        fmt::runtime(InChinese(language) ? "可省 {} ms（单独 {}）" : "saves {} ms (alone {})"),
        ms(finding.gain), ms(finding.alone));
  }
  const double share = diagnosis.step > 0 ? 100 * InMs(finding.gain) / InMs(diagnosis.step) : 0;
  return fmt::format(
      fmt::runtime(InChinese(language) ? "可省 {} ms（{:.0f} %）" : "saves {} ms ({:.0f} %)"),
      ms(finding.gain), share);
}

std::string LeastShareText(const Rules& rules) {
  return fmt::format("{:g} %", 100 * rules.least_share);
}

std::string SeverityText(const Diagnosis& diagnosis, const FoundCause& finding) {
  std::string text(NameOf(ImpactOf(diagnosis, finding)));
  for (char& letter : text)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

std::string FactsText(const FoundCause& finding, Language language, std::size_t columns) {
  if (finding.setting) return SettingFacts(*finding.setting, language, columns);
  const std::string comma = InChinese(language) ? "，" : ", ";
  std::string facts = PlaceOf(finding, language);
  const auto is_time = [](const Metric& metric) { return metric.name == "time_per_step"; };
  std::vector<Metric> metrics = finding.metrics;
  std::stable_partition(metrics.begin(), metrics.end(), is_time);
  if ((metrics.empty() || !is_time(metrics.front())) && !finding.evidence.empty() &&
      finding.evidence.front().time > 0) {
    const std::string part = comma + PartText(finding.evidence.front());
    const std::string fact =
        metrics.empty() ? "" : ": " + FactOf(finding, metrics.front(), language);
    // What was measured says more than the share of the place.
    if (ColumnsOf(facts) + ColumnsOf(part) + ColumnsOf(fact) <= columns) facts += part;
  }
  bool first = true;
  for (const Metric& metric : metrics) {
    const std::string fact = FactOf(finding, metric, language);
    if (fact.empty()) continue;
    const std::string before = facts.empty() ? ""
                               : first       ? (InChinese(language) ? "：" : ": ")
                                             : comma;
    if (ColumnsOf(facts) + ColumnsOf(before) + ColumnsOf(fact) > columns) break;
    facts += before + fact;
    first = false;
  }
  return facts;
}

std::string CaptureText(const Diagnosis& diagnosis, Language language) {
  const auto fill = [&](const Wording& texts, const auto&... values) {
    return fmt::format(fmt::runtime(texts.In(language)), values...);
  };
  const std::size_t count = diagnosis.ranks.size();
  std::string text = fmt::format("{}", count);
  if (diagnosis.world > static_cast<std::int64_t>(count))
    text = fill({"{} of {}", "共 {1} 卡，采集 {0}"}, count, diagnosis.world);
  text += InChinese(language) ? " 卡" : text == "1" ? " rank" : " ranks";
  if (diagnosis.world > static_cast<std::int64_t>(count) && !InChinese(language))
    text += " captured";
  const auto& steps = diagnosis.steps;
  if (steps.size() == 1) text += fill({", step {}", "，step {}"}, steps[0]);
  if (steps.size() > 1)
    text += fill({", steps {}-{}", "，step {}-{}"}, steps.front(), steps.back());
  const auto& dropped = diagnosis.dropped_steps;
  if (dropped.size() == 1)
    text += fill({" ({} left out: warm-up)", "（{} 为预热，不计）"}, dropped[0]);
  if (dropped.size() > 1)
    text += fill({" ({} steps left out: warm-up)", "（{} 个 step 为预热，不计）"}, dropped.size());
  if (!diagnosis.level.empty())
    text += (InChinese(language) ? "，" : ", ") + Printable(diagnosis.level);
  return text;
}

std::string NoFindingText(const Diagnosis& diagnosis, Language language) {
  return fmt::format(fmt::runtime(InChinese(language) ? "没有超过 step {} 的问题。"
                                                      : "No finding above {} of the step."),
                     LeastShareText(diagnosis.rules));
}

bool NamesLine(const std::string& name, const std::string& line) {
  const std::size_t colon = line.rfind(':');
  return colon != std::string::npos &&
         name.find(line.substr(0, colon) + "(" + line.substr(colon + 1) + ")") != std::string::npos;
}

std::string AtLine(const std::string& name, const std::string& line, Language language,
                   std::size_t columns) {
  constexpr std::size_t kLongestLine = 28, kShortestName = 8;
  const std::string behind =
      line.empty() || NamesLine(name, line)
          ? ""
          : fmt::format(fmt::runtime(InChinese(language) ? "（{}）" : " at {}"),
                        ShortenMiddle(Printable(line), kLongestLine));
  const std::size_t room = std::max(kShortestName, columns - std::min(columns, ColumnsOf(behind)));
  return CutEnd(ShortenMiddle(Printable(name), room), room) + behind;
}

std::string LeafText(std::string_view leaf, Language language) {
  static const std::map<std::string_view, std::string_view> chinese = {
      {"comp.attention", "注意力"},
      {"comp.conv", "卷积"},
      {"comp.matmul", "矩阵乘"},
      {"comp.gmm", "分组矩阵乘"},
      {"comp.mc2", "通算融合"},
      {"comp.vector", "向量"},
      {"comp.format", "格式转换"},
      {"comp.move", "搬运算子"},
      {"comp.aicpu", "AI CPU"},
      {"comp.other", "其他算子"},
      {"comm.transfer", "传输"},
      {"comm.slow", "慢链路"},
      {"comm.inner_wait", "内部等待"},
      {"comm.inner_idle", "内部空闲"},
      {"comm.unsplit", "通信"},
      {"comm.bubble", "气泡"},
      {"comm.wait_peer", "等待其他卡"},
      {"copy.h2d", "拷入"},
      {"copy.d2h", "拷出"},
      {"copy.d2d", "设备内拷贝"},
      {"free.gc", "垃圾回收"},
      {"free.profiler", "profiler 自身"},
      {"free.checkpoint", "保存 checkpoint"},
      {"free.dataloader", "数据加载"},
      {"free.sync.scalar", "标量读取"},
      {"free.copy", "阻塞拷贝"},
      {"free.sync.explicit", "同步"},
      {"free.compile", "编译"},
      {"free.aclop", "旧算子路径"},
      {"free.memory", "内存分配"},
      {"free.dispatch.comm", "集合通信下发"},
      {"free.dispatch.cann", "CANN 接口"},
      {"free.dispatch.op", "算子下发"},
      {"free.python", "Python"},
      {"free.queue", "任务队列"},
      {"free.launch_latency", "启动延迟"},
      {"free.stream_wait", "流等待"},
      {"free.device_queue", "设备队列"},
      {"free.host_idle", "host 空闲"},
      {"free.unrecorded", "未采集"},
      {"free.unknown", "未知"},
  };
  const auto known = LeafNamed(leaf);
  if (!known) return std::string(leaf);
  const auto found = chinese.find(leaf);
  return std::string(InChinese(language) && found != chinese.end() ? found->second
                                                                   : TitleOf(*known));
}

std::vector<StepShare> SharesOf(const AccountRow& row) {
  const auto sum = [&](std::string_view parent) {
    TimeNs time = 0;
    for (const auto& [leaf, of_leaf] : row.leaves) time += leaf.starts_with(parent) ? of_leaf : 0;
    return time;
  };
  const TimeNs wait = sum("comm.wait_peer"), bubble = sum("comm.bubble"),
               unsplit = sum("comm.unsplit");
  const TimeNs transfer = sum("comm.") - wait - bubble - unsplit;
  // Where nothing tells waiting from transferring, neither of them is 0.
  const bool is_split = unsplit == 0 && row.communicates;
  std::vector<StepShare> shares = {{{"compute", "计算"}, sum("comp."), 0, true},
                                   {{"waiting for ranks", "等待其他卡"}, wait, 0, is_split},
                                   {{"bubble", "流水线气泡"}, bubble},
                                   {{"transfer", "通信传输"}, transfer, 0, is_split},
                                   {{"communication", "通信"}, unsplit},
                                   {{"copies", "拷贝"}, sum("copy.")},
                                   {{"device free", "设备空闲"}, sum("free."), 0, true}};
  AddPercents(shares);
  return shares;
}

std::string ClockText(const Diagnosis& diagnosis, Language language) {
  std::string doubt = ClockDoubtText(diagnosis.lateness);
  if (doubt.empty()) return doubt;
  if (!InChinese(language)) return fmt::format("{}: {}", doubt, kDoubtMeans);
  return "卡间时钟不一致，更小的卡间差异不予判断：" + doubt;
}

std::string LateText(const Diagnosis& diagnosis, Language language) {
  const Lateness& lateness = diagnosis.lateness;
  if (lateness.ranks.empty() || !lateness.ranks.front().captured) return "";
  const LateRanks& late = lateness.ranks.front();
  const auto steps = static_cast<TimeNs>(diagnosis.steps.size() + diagnosis.dropped_steps.size());
  const bool is_named = std::any_of(
      diagnosis.findings.begin(), diagnosis.findings.end(), [&](const FoundCause& finding) {
        return std::find_first_of(finding.ranks.begin(), finding.ranks.end(), late.ranks.begin(),
                                  late.ranks.end()) != finding.ranks.end();
      });
  if (is_named ||
      late.as_last < std::max<TimeNs>(1, steps) * LeastGain(diagnosis.rules, diagnosis.step))
    return "";
  const std::string sum = LateSumText(late);
  return fmt::format("{}{}{}{}", InChinese(language) ? "最晚到达通信的卡：" : "late: ",
                     LateArrivalText(lateness, late), sum.empty() ? "" : "; ", sum);
}

std::vector<std::string> NotesOf(const Diagnosis& diagnosis, Language language) {
  std::vector<std::string> notes = diagnosis.notes;
  const auto say = [&](const auto& numbers, std::string_view english, std::string_view chinese) {
    if (!numbers.empty())
      notes.push_back(fmt::format(fmt::runtime(InChinese(language) ? chinese : english),
                                  fmt::join(numbers, ", ")));
  };
  say(diagnosis.ranks_left_out,
      "ranks left out of all comparisons, because their captures break off or lack the steps of "
      "the others: {}",
      "以下 rank 的采集数据中断或缺少其他卡的 step，不参与卡间比较：{}");
  say(diagnosis.ranks_without_work,
      "ranks left out, because no device work was recorded on them: {}",
      "以下 rank 未采集到设备任务，不参与分析：{}");
  say(diagnosis.steps_left_out,
      "steps left out of all comparisons, because not all captures have them: {}",
      "以下 step 并非所有卡都有，不参与卡间比较：{}");
  if (std::string doubt = ClockText(diagnosis, language); !doubt.empty())
    notes.push_back(std::move(doubt));
  return notes;
}

namespace {

// Ranks that a fault is about. Their steps show the cause, and those of the others what it does.
bool IsBlamed(const Diagnosis& diagnosis, std::int64_t rank) {
  if (std::find(diagnosis.culprits.begin(), diagnosis.culprits.end(), rank) !=
      diagnosis.culprits.end())
    return true;
  return std::any_of(
      diagnosis.findings.begin(), diagnosis.findings.end(), [&](const FoundCause& finding) {
        const bool is_fault = SectionOf(finding) == FindingSection::kFaults;
        return is_fault &&
               std::find(finding.ranks.begin(), finding.ranks.end(), rank) != finding.ranks.end();
      });
}

}  // namespace

std::optional<AccountRow> ShownAccount(const Diagnosis& diagnosis) {
  struct Sum {
    TimeNs window = 0, count = 0;
    std::map<std::string_view, TimeNs> leaves;
    TimeNs Mean(TimeNs sum) const { return sum / count; }
  };
  std::map<std::int64_t, Sum> of_rank;
  const auto& dropped = diagnosis.dropped_steps;
  for (const AccountRow& row : diagnosis.accounting) {
    if (std::find(dropped.begin(), dropped.end(), row.step) != dropped.end()) continue;
    Sum& sum = of_rank[row.rank];
    sum.window += row.window;
    ++sum.count;
    for (const auto& [leaf, time] : row.leaves) sum.leaves[leaf] += time;
  }
  if (of_rank.empty()) return std::nullopt;
  const auto away = [&](const auto& of) {
    return std::pair{IsBlamed(diagnosis, of.first),
                     std::abs(of.second.Mean(of.second.window) - diagnosis.step)};
  };
  const auto nearest =
      std::min_element(of_rank.begin(), of_rank.end(),
                       [&](const auto& a, const auto& b) { return away(a) < away(b); });
  const Sum& sum = nearest->second;
  AccountRow mean;
  mean.rank = nearest->first;
  mean.window = sum.Mean(sum.window);
  // Means of running sums: what they lose by rounding does not add up.
  TimeNs before = 0;
  for (const auto& [leaf, time] : sum.leaves) {
    mean.leaves.emplace_back(leaf, sum.Mean(before + time) - sum.Mean(before));
    before += time;
  }
  return mean;
}

}  // namespace mpa
