// SPDX-License-Identifier: Apache-2.0
// The words of charts for what columns hold.
#include "chart_words.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mpa/base/language.h"

namespace mpa::writers {
namespace {

// By the key of a column, without its unit unless another column has the same name without it.
const std::unordered_map<std::string_view, std::string_view> kWords = {
    {"attention", ToTranslate("attention")},
    {"before", ToTranslate("role before")},
    {"behind", ToTranslate("role behind")},
    {"bubble", ToTranslate("no role runs")},
    {"bubbles", ToTranslate("bubbles")},
    {"bytes", ToTranslate("memory held")},
    {"call_site", ToTranslate("call site")},
    {"cann_duration", ToTranslate("in CANN")},
    {"communication", ToTranslate("communication")},
    {"communication_not_overlapped", ToTranslate("exposed communication")},
    {"communication_op", ToTranslate("operator")},
    {"compute_type", ToTranslate("data type")},
    {"computing", ToTranslate("computing")},
    {"copies", ToTranslate("copies")},
    {"copy", ToTranslate("copies")},
    {"device_duration", ToTranslate("on the device")},
    {"dp_rank", ToTranslate("data parallel rank")},
    {"duration", ToTranslate("duration")},
    {"dynamo", ToTranslate("Dynamo")},
    {"ep_ranks", ToTranslate("ranks that share experts")},
    {"execution", ToTranslate("batches run")},
    {"framework_duration", ToTranslate("in the framework")},
    {"free", ToTranslate("free")},
    {"function", ToTranslate("function")},
    {"ge", ToTranslate("GE")},
    {"gpu_total_kernel_duration", ToTranslate("GPU")},
    {"graph_id", ToTranslate("graph")},
    {"group", ToTranslate("group")},
    {"host", ToTranslate("host")},
    {"idle_time", ToTranslate("idle")},
    {"index", ToTranslate("rank")},
    {"input_shapes", ToTranslate("input shapes")},
    {"input_shapes_summary", ToTranslate("tokens")},
    {"instance", ToTranslate("instance")},
    {"interrupted", ToTranslate("interrupted")},
    {"iteration", ToTranslate("iteration")},
    {"kernel", ToTranslate("kernel")},
    {"kind", ToTranslate("kind")},
    {"late", ToTranslate("late")},
    {"late_as_last", ToTranslate("others waited")},
    {"matrix", ToTranslate("matrix products")},
    {"max", ToTranslate("longest")},
    {"mean_bubble_before", ToTranslate("gap before it")},
    {"mean_duration", ToTranslate("kernel")},
    {"med", ToTranslate("median")},
    {"median", ToTranslate("median")},
    {"metric", ToTranslate("metric")},
    {"min", ToTranslate("shortest")},
    {"module", ToTranslate("module")},
    {"name", ToTranslate("name")},
    {"npu_module", ToTranslate("NPU module")},
    {"npu_parent_module", ToTranslate("parent module")},
    {"npu_total_kernel_duration", ToTranslate("NPU")},
    {"op_name", ToTranslate("operator")},
    {"op_type", ToTranslate("operator type")},
    {"op_type_related_ranks_data_size", ToTranslate("operator type, ranks, size")},
    {"operator", ToTranslate("operator")},
    {"other", ToTranslate("other")},
    {"other_kernel", ToTranslate("other kernels")},
    {"p50", ToTranslate("median")},
    {"p50ns", ToTranslate("median")},
    {"p90", ToTranslate("90th percentile")},
    {"p90ns", ToTranslate("90th percentile")},
    {"p99ns", ToTranslate("99th percentile")},
    {"parent_module", ToTranslate("parent module")},
    {"parallel_type", ToTranslate("kind of group")},
    {"part", ToTranslate("part")},
    {"phase", ToTranslate("phase")},
    {"platform", ToTranslate("platform")},
    {"position", ToTranslate("position")},
    {"preempted", ToTranslate("preempted")},
    {"prompt_tokens", ToTranslate("tokens of prompts")},
    {"q1ns", ToTranslate("first quartile")},
    {"q3ns", ToTranslate("third quartile")},
    {"rank", ToTranslate("rank")},
    {"rank_id", ToTranslate("rank")},
    {"ranks", ToTranslate("ranks")},
    {"reply_tokens", ToTranslate("tokens of replies")},
    {"role", ToTranslate("role")},
    {"role_ns", ToTranslate("a role runs")},
    {"sampling", ToTranslate("sampling")},
    {"scheduling", ToTranslate("scheduling")},
    {"segment", ToTranslate("segment")},
    {"serving", ToTranslate("serving framework")},
    {"size", ToTranslate("size")},
    {"slow_affect_count", ToTranslate("came late")},
    {"dst_rank", ToTranslate("to rank")},
    {"src_rank", ToTranslate("from rank")},
    {"state", ToTranslate("state")},
    {"step", ToTranslate("step")},
    {"step_id", ToTranslate("step")},
    {"still_held", ToTranslate("memory still held")},
    {"sum", ToTranslate("total time")},
    {"tail", ToTranslate("after the last call")},
    {"task_type", ToTranslate("task type")},
    {"thread", ToTranslate("thread")},
    {"thread_id", ToTranslate("thread id")},
    {"time_per_prompt_token", ToTranslate("per token of the prompt")},
    {"time_to_next_token", ToTranslate("to the next token")},
    {"tokens_diff", ToTranslate("tokens")},
    {"torchair_cpp", ToTranslate("TorchAir, C++")},
    {"torchair_py", ToTranslate("TorchAir, Python")},
    {"total", ToTranslate("total time")},
    {"total_kernel_duration", ToTranslate("kernel time")},
    {"total_time", ToTranslate("total time")},
    {"transit_time", ToTranslate("transfer")},
    {"wait_time", ToTranslate("waiting")},
    {"waiting", ToTranslate("waiting")},
    {"wasted", ToTranslate("beyond the peak")},
    {"woken", ToTranslate("woken, not running")},
};

}  // namespace

std::string ChartWords(const std::string& key) {
  const auto whole = kWords.find(key);
  if (whole != kWords.end()) return std::string(Translated(whole->second));
  std::string words = key;
  for (const std::string_view unit : {"_ns", "_us", "_ms", "_bytes", "_percent"}) {
    if (words.ends_with(unit)) words.resize(words.size() - unit.size());
  }
  const auto found = kWords.find(words);
  if (found != kWords.end()) return std::string(Translated(found->second));
  std::ranges::replace(words, '_', ' ');
  return words;
}

}  // namespace mpa::writers
