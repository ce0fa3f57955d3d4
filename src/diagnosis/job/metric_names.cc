// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/metric_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

// "{}" stands for the value with its unit.
const std::map<std::string_view, Wording>& Forms() {
  static const std::map<std::string_view, Wording> forms = {
      {"calls_per_step", {"{} calls a step", "每个 step {} 次"}},
      {"time_per_step", {"{} a step", "每个 step {}"}},
      {"silent_gaps_per_step",
       {"{} times a step nothing is recorded of the host", "每个 step 有 {} 次 host 无任何记录"}},
      {"device_idle_per_step", {"device idle for {} a step", "每个 step 设备空闲 {}"}},
      {"longest", {"longest {}", "最长 {}"}},
      {"slower_than_peers", {"{} times the time of its peers", "是其他卡的 {} 倍"}},
      {"excess_per_step", {"{} a step more than its peers", "每个 step 比其他卡多 {}"}},
      {"late_by", {"arrived {} after the second-to-last rank", "比倒数第二个到达的卡晚 {}"}},
      {"late_by_captured", {"arrived {} after the captured ranks", "比已采集的卡晚 {}"}},
      {"late_by_before_last", {"arrived {} after the ranks before it", "比更早到达的卡晚 {}"}},
      {"slower_than_steps", {"{} times the length of the others", "是其他 step 的 {} 倍"}},
      {"clock", {"cores at {}", "AI Core 频率 {}"}},
      {"clock_of_peers", {"peers at {}", "其他卡 {}"}},
      {"mean_kernel", {"mean kernel {}", "算子平均 {}"}},
      {"time_per_launch", {"one launch per {}", "平均每 {} 下发一次"}},
      {"bandwidth", {"{} over the link", "链路带宽 {}"}},
      {"bandwidth_of_others", {"other links {}", "其他链路 {}"}},
      {"bandwidth_of_links", {"such links move {}", "同类链路 {}"}},
      {"bandwidth_of_ports", {"ports of {}", "端口 {}"}},
      {"use_of_chip", {"{} of what the chip can do", "达到芯片能力的 {}"}},
      {"slowest_tenth",
       {"the slowest tenth takes {} times the median", "最慢的一成是中位数的 {} 倍"}},
      {"launches_per_step", {"{} launches a step", "每个 step 下发 {} 次"}},
      {"waits_of_launches", {"{} of the launches wait", "{} 的下发在等待"}},
      {"clock_rated", {"rated {}", "额定 {}"}},
      {"bandwidth_aligned", {"aligned ones {}", "对齐时 {}"}},
      {"bandwidth_alone", {"alone {}", "单独时 {}"}},
      {"bandwidth_below", {"smaller ones {}", "较小的消息 {}"}},
      {"beyond_usual", {"{} times the usual time", "是通常耗时的 {} 倍"}},
      {"different_ranks", {"{} different ranks", "{} 个不同的卡"}},
      {"start_up", {"start of the program: {}", "程序启动占 {}"}},
      {"steps_captured", {"steps captured: {}", "采集 step 数：{}"}},
      {"mean_size", {"mean size {}", "平均大小 {}"}},
      {"overlapped", {"{} overlapped", "已重叠 {}"}},
      {"imbalance", {"{} times the mean", "是均值的 {} 倍"}},
      {"ideal_bubble", {"ideal bubble {}", "理论气泡 {}"}},
      {"retries_per_step", {"{} retries a step", "每个 step 重试 {} 次"}},
      {"peak_reserved", {"at most {} reserved", "最多占用 {}"}},
      {"reserved_of_allocated", {"{} times what tensors take", "是张量占用的 {} 倍"}},
      {"causes_not_judged", {"causes not judged: {}", "无法判断的原因：{} 项"}},
      {"ranks_with_value", {"ranks with this value: {}", "取该值的卡：{} 个"}},
      {"different_values", {"{} different values", "{} 种不同取值"}},
      {"micro_batches", {"{} micro-batches", "{} 个 micro-batch"}},
  };
  return forms;
}

std::string ValueText(const Metric& metric) {
  if (metric.unit == "ns") {
    const bool short_time = metric.value < 100'000;
    return fmt::format("{:.1f} {}", metric.value / (short_time ? 1e3 : 1e6),
                       short_time ? "us" : "ms");
  }
  if (metric.unit == "share") return fmt::format("{:.0f} %", 100 * metric.value);
  if (metric.unit == "bytes") {
    if (metric.value >= 1e9) return fmt::format("{:.1f} GB", metric.value / 1e9);
    const bool small = metric.value < 1e6;
    return fmt::format("{:.1f} {}", metric.value / (small ? 1e3 : 1e6), small ? "kB" : "MB");
  }
  if (metric.unit == "ratio") return fmt::format("{:.2f}", metric.value);
  // Less than one a step is not none.
  if (metric.unit == "count") {
    const bool is_part =
        metric.value < 10 && std::abs(metric.value - std::round(metric.value)) > 0.05;
    return fmt::format("{:.{}f}", metric.value, is_part ? 1 : 0);
  }
  return fmt::format("{:.1f} {}", metric.value, metric.unit);
}

}  // namespace

std::string MetricText(const Metric& metric, Language language) {
  const auto form = Forms().find(metric.name);
  if (form == Forms().end()) return "";
  return fmt::format(fmt::runtime(form->second.In(language)), ValueText(metric));
}

std::string RanksText(const std::vector<std::int64_t>& ranks, Language language) {
  const bool chinese = language == Language::kChinese;
  if (ranks.empty()) return chinese ? "未采集的卡" : "a rank not captured";
  if (*std::min_element(ranks.begin(), ranks.end()) < 0)
    return chinese ? "编号未知的卡" : "ranks without a number";
  // More say nothing at a glance.
  constexpr std::size_t kMostRuns = 4;
  std::vector<std::int64_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  std::size_t runs = 0, next = 0;
  while (next < sorted.size() && runs++ < kMostRuns) {
    std::size_t last = next;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += text.empty() ? "" : ", ";
    text += last == next
                ? fmt::format("{}", sorted[next])
                : fmt::format("{}{}{}", sorted[next], last == next + 1 ? ", " : "-", sorted[last]);
    next = last + 1;
  }
  if (next < sorted.size()) {
    text += fmt::format(fmt::runtime(chinese ? " 等 {} 卡" : " and {} more"),
                        chinese ? sorted.size() : sorted.size() - next);
  }
  return fmt::format("{} {}", sorted.size() == 1 || chinese ? "rank" : "ranks", text);
}

}  // namespace mpa
