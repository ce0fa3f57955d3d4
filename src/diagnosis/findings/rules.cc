// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/findings/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/io/json_document.h"

namespace mpa {
namespace {

constexpr std::string_view kRulesSchema = "mpa.rules/1";

constexpr double kLongestTime = 1e12, kMostBytes = 1e12, kMostCalls = 1e6;

const RuleEntry* FindRule(std::string_view finding, std::string_view name) {
  const auto found = std::find_if(
      RuleList().begin(), RuleList().end(),
      [&](const RuleEntry& entry) { return entry.finding == finding && entry.name == name; });
  return found == RuleList().end() ? nullptr : &*found;
}

bool IsGroup(std::string_view finding) {
  return std::any_of(RuleList().begin(), RuleList().end(),
                     [&](const RuleEntry& entry) { return entry.finding == finding; });
}

std::string NamesIn(std::string_view finding) {
  std::string names;
  for (const RuleEntry& entry : RuleList()) {
    if (entry.finding == finding)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  return names;
}

void SetRule(std::string_view finding, std::string_view name, const nlohmann::json& value,
             Rules& rules) {
  const RuleEntry* entry = FindRule(finding, name);
  if (entry == nullptr) {
    Fail(ErrorKind::kUsage, "{}: unknown rule '{}'; available: {}", finding, Printable(name),
         NamesIn(finding));
  }
  // A comparison with what is not a number is false.
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!value.is_number() || !(number >= entry->least && number <= entry->most)) {
    Fail(ErrorKind::kUsage, "{}: {}: give a number from {} to {}", finding, name, entry->least,
         entry->most);
  }
  rules.*entry->value = number;
}

}  // namespace

const std::vector<RuleEntry>& RuleList() {
  static const std::vector<RuleEntry> entries = {
      {"all", "least_share", &Rules::least_share, 0, 1,
       "a finding saves at least this share of the step"},
      {"all", "least_ns", &Rules::least_ns, 0, kLongestTime, "a finding saves at least this time"},
      {"all", "search_share", &Rules::search_share, 0, 1,
       "gains below this share end the search for more"},
      {"all", "pair_share", &Rules::pair_share, 0, 1,
       "two findings that pay only together save at least this share"},
      {"all", "fault_share", &Rules::fault_share, 0, 1,
       "what all ranks lose below this share is an opportunity, not a fault"},
      {"all", "low_share", &Rules::low_share, 0, 1, "severity low from this share on"},
      {"all", "medium_share", &Rules::medium_share, 0, 1, "severity medium from this share on"},
      {"all", "high_share", &Rules::high_share, 0, 1, "severity high from this share on"},
      {"all", "critical_share", &Rules::critical_share, 0, 1,
       "severity critical from this share on"},
      {"all", "warm_up_ratio", &Rules::warm_up_ratio, 1, 1000,
       "a first step this many times as long as the others is warm-up"},
      {"all", "warm_up_compiling", &Rules::warm_up_compiling, 0, 1,
       "a first step is warm-up if compiling takes this share of it, and hardly any time of the "
       "others"},
      {"all", "warm_up_rest", &Rules::warm_up_rest, 0, 1,
       "hardly any time: the others compile for at most this share of what the first step "
       "compiles"},
      {"all", "systematic_share", &Rules::systematic_share, 0, 1,
       "a finding seen in this share of the steps is systematic"},
      {"all", "intermittent_share", &Rules::intermittent_share, 0, 1,
       "a finding seen in this share of the steps is intermittent"},
      {"all", "innocent_share", &Rules::innocent_share, 0, 1,
       "a call that waits for this share of the step looks guilty"},
      {"all", "explained_share", &Rules::explained_share, 0, 1,
       "a finding explains a wait that is shorter by this share without it"},
      {"all", "hidden_share", &Rules::hidden_share, 0, 1,
       "a finding hides behind others if its gain alone is smaller by more than this share"},
      {"all", "grown_ratio", &Rules::grown_ratio, 1, 1000,
       "a finding has grown when it costs this many times what it cost in the baseline"},
      {"all", "operations", &Rules::least_operations, 1, kMostCalls,
       "fewer operations do not show what is usual"},
      {"rank", "share", &Rules::late_share, 0, 1,
       "a rank is late by at least this share of the step"},
      {"rank", "of_peers", &Rules::late_of_peers, 0, 1000,
       "a late rank takes longer than its peers by at least this share of their time"},
      {"rank", "peers", &Rules::late_peers, 2, kMostCalls,
       "ranks of a role, with the late one, that define what is normal"},
      {"rank", "pair_steps", &Rules::late_pair_steps, 1, kMostCalls,
       "of the two ranks of a role, the late one is slower in at least this many steps, and in "
       "most of them"},
      {"rank", "alike", &Rules::late_alike, 1, 1000,
       "late ranks whose excess differs by less than this ratio are one finding"},
      {"rank", "blocks_ratio", &Rules::late_blocks_ratio, 1, 1000,
       "a rank waits for its device more often than its peers by more than this ratio"},
      {"rank", "unmatched_share", &Rules::unmatched_share, 0, 1,
       "above this share of operations that ranks lack, a group whose names have no number is not "
       "compared"},
      {"rank", "lateness_share", &Rules::lateness_share, 0, 1,
       "the wait for a rank is explained from this share of the step on"},
      {"rank", "lateness_ns", &Rules::lateness_ns, 0, kLongestTime,
       "the wait for a rank is explained from this time on"},
      {"rank", "cause_share", &Rules::late_cause_share, 0, 1,
       "work that explains this share of the lateness is the cause of it"},
      {"rank", "main_share", &Rules::late_main_share, 0, 1,
       "work that explains this share is mainly the cause; less is one of several"},
      {"rank", "behind_share", &Rules::late_behind_share, 0, 1,
       "a rank has fallen behind at the first kernel that is late by this share of the lateness"},
      {"rank.late_compute", "clock_ratio", &Rules::late_clock_ratio, 0, 1,
       "a clock below this share of that of the peers is named"},
      {"rank.late", "share", &Rules::outsider_share, 0, 1,
       "a rank that was not captured is late by at least this share of the step"},
      {"rank.late", "least_ns", &Rules::outsider_ns, 0, kLongestTime,
       "a rank that was not captured is late by at least this time"},
      {"rank.jitter", "steps", &Rules::jitter_steps, 2, kMostCalls,
       "fewer steps do not show a habit"},
      {"rank.jitter", "ranks", &Rules::jitter_ranks, 2, kMostCalls,
       "at least this many ranks are the worst in turn"},
      {"rank.jitter", "share", &Rules::jitter_share, 0, 1,
       "stalls of changing ranks cost at least this share of the step"},
      {"rank.jitter", "top_share", &Rules::jitter_top_share, 0, 1,
       "no rank is the worst in more of the steps"},
      {"link.slow", "bandwidth_ratio", &Rules::link_bandwidth_ratio, 0, 1,
       "a link is slow below this share of the usual bandwidth of its kind"},
      {"link.slow", "least_bytes", &Rules::link_least_bytes, 1, kMostBytes,
       "smaller transfers do not show the bandwidth"},
      {"link.slow", "share", &Rules::link_slow_share, 0, 1,
       "a group or a rank is slow in at least this share of its operations"},
      {"link.slow", "members", &Rules::link_members, 2, kMostCalls,
       "operations of fewer ranks do not show which of them is slow"},
      {"link.slow", "card_gbs", &Rules::card_gbs, 0, 1e6,
       "what a link between cards of a host moves, in GB/s; 0: as the chip's entry says"},
      {"link.slow", "card_share", &Rules::card_share, 0, 1,
       "where all such links are equally slow, they are slow below this share of it"},
      {"link.slow", "port_gbs", &Rules::port_gbs, 0, 1e6,
       "what a port to other hosts moves, in GB/s; 0: as the chip's entry says"},
      {"link.slow", "port_share", &Rules::port_share, 0, 1,
       "ports are slow when the faster operations reach less than this share of it"},
      {"link.slow", "port_bytes", &Rules::port_bytes, 1, kMostBytes,
       "operations that move less through a port do not show its speed"},
      {"pp.stage_imbalance", "ratio", &Rules::stage_ratio, 1, 1000,
       "a stage has too many layers from this multiple of the mean on"},
      {"ep.imbalance", "foreign_share", &Rules::foreign_share, 0, 1,
       "if this share of the excess has shapes of its own, it is more work and not slower work"},
      {"host.dataloader", "usual_ns", &Rules::loader_ns, 0, kLongestTime,
       "an iterator that takes less than this time per step is normal"},
      {"host.sync", "usual_calls", &Rules::usual_syncs, 0, kMostCalls,
       "this many synchronisations at the end of a step are usual"},
      {"host.gc", "gap_ns", &Rules::gap_ns, 1'000'000, kLongestTime,
       "where collections are not recorded, the host may collect garbage while it records nothing "
       "for this time"},
      {"host.checkpoint", "least_copy_ns", &Rules::checkpoint_copy_ns, 0, kLongestTime,
       "shorter copies to the host are single numbers, not a checkpoint"},
      {"host.launch_bound", "gain", &Rules::launch_gain, 0, 1,
       "a fix removes this share of the host's work"},
      {"host.launch_bound", "kernels", &Rules::launch_run, 1, kMostCalls,
       "at least this many kernels in a row start late because they are launched late"},
      {"host.launch_bound", "share", &Rules::launch_share, 0, 1,
       "the device waits for such launches for this share of the step"},
      {"host.launch_bound", "stall_ratio", &Rules::stall_ratio, 2, 1e6,
       "without calls of the runtime, an operator or a launch stalls that takes this many times "
       "the median"},
      {"host.python", "share", &Rules::python_share, 0, 1,
       "Python between operators takes at least this share of the step"},
      {"host.python", "gain", &Rules::python_gain, 0, 1, "a fix removes this share of it"},
      {"host.launch_blocking", "share", &Rules::blocking_share, 0, 1,
       "this share of the launches is followed by a wait"},
      {"host.cpu_contention", "ratio", &Rules::cpu_ratio, 1, 1000,
       "the upper decile of the launches takes this many times the median"},
      {"host.cpu_contention", "launches", &Rules::cpu_launches, 1, kMostCalls,
       "fewer launches per step are not judged"},
      {"host.cpu_contention", "steps", &Rules::cpu_steps, 1, kMostCalls,
       "fewer steps are not judged"},
      {"op.aicpu", "gain", &Rules::aicpu_gain, 0, 1,
       "a fix removes this share of the kernels' time"},
      {"op.format", "gain", &Rules::format_gain, 0, 1,
       "a fix removes this share of the kernels' time"},
      {"op.attention", "gain", &Rules::attention_gain, 0, 1,
       "a fix removes this share of the kernels between the products"},
      {"op.attention", "reach", &Rules::attention_reach, 1, 1000,
       "at most this many kernels are between the products"},
      {"op.attention", "sequence", &Rules::attention_sequence, 0, 1e9,
       "shorter sequences gain little from a fused kernel"},
      {"op.slow", "share", &Rules::slow_share, 0, 1,
       "kernels of a kind take at least this share of the step"},
      {"op.slow", "use", &Rules::slow_use, 0, 1,
       "a kernel is slow below this share of what the chip can do"},
      {"op.slow", "reach", &Rules::slow_reach, 0.01, 1, "a fix reaches this share of it"},
      {"op.slow", "least_ns", &Rules::slow_kernel_ns, 0, kLongestTime,
       "shorter kernels spend most of their time on starting"},
      {"op.slow", "memory_gbs", &Rules::memory_gbs, 0, 1e6,
       "highest bandwidth of the device memory, in GB/s; 0: as the chip's entry says"},
      {"op.slow", "cache_bytes", &Rules::cache_bytes, 0, kMostBytes,
       "smaller tensors fit the cache, and do not show that bandwidth; 0: as the chip's entry "
       "says"},
      {"op.variance", "share", &Rules::variance_share, 0, 1,
       "kernels of a kind take at least this share of the step"},
      {"op.variance", "ratio", &Rules::variance_ratio, 1, 1000,
       "their upper decile takes this many times the median"},
      {"op.variance", "calls", &Rules::variance_calls, 2, kMostCalls,
       "fewer kernels per step are not judged"},
      {"op.fp32", "share", &Rules::fp32_share, 0, 1,
       "products of FP32 take at least this share of the step"},
      {"op.fp32", "gain", &Rules::fp32_gain, 0, 1, "a fix removes this share of the kernels' time"},
      {"op.fp32", "most", &Rules::fp32_most, 0, 1, "no fix removes more than this share"},
      {"op.optimizer", "share", &Rules::optimizer_share, 0, 1,
       "the optimizer takes at least this share of the step"},
      {"op.optimizer", "launches", &Rules::optimizer_launches, 1, kMostCalls,
       "it launches more kernels per step than this"},
      {"op.optimizer", "gain", &Rules::optimizer_gain, 0, 1,
       "a fix removes this share of its time"},
      {"op.zero_grad", "calls", &Rules::zero_calls, 1, kMostCalls,
       "clearing gradients runs at least this many kernels per step"},
      {"op.unfused", "share", &Rules::unfused_share, 0, 1,
       "the pieces take at least this share of the step"},
      {"op.unfused", "chain", &Rules::unfused_chain, 2, kMostCalls,
       "at least this many vector kernels in a row on equal tensors could be one"},
      {"dev.clock", "ratio", &Rules::clock_ratio, 0, 1,
       "a device is throttled below this share of its rated clock"},
      {"comm.not_overlapped", "gain", &Rules::overlap_share, 0, 1,
       "a good schedule hides at most this share of the transfers"},
      {"comm.not_overlapped", "beside_ns", &Rules::beside_ns, 0, kLongestTime,
       "an operation stands between kernels if they end and start within this time of it"},
      {"comm.not_overlapped", "alone_share", &Rules::alone_share, 0, 1,
       "what is computed needs an operation between kernels if nothing is computed for this share "
       "of it"},
      {"comm.small", "latency_ratio", &Rules::small_latency_ratio, 1, 1000,
       "a small operation takes this many times what its data take"},
      {"comm.small", "count_share", &Rules::small_count_share, 0, 1,
       "this share of a group's operations is small"},
      {"comm.small", "calls", &Rules::small_calls, 1, kMostCalls,
       "a group has at least this many small operations per step"},
      {"comm.small", "bytes", &Rules::small_bytes, 1, kMostBytes,
       "larger operations do not count as small"},
      {"comm.small", "vector_gain", &Rules::small_vector_gain, 0, 1,
       "in inference, vector cores remove this share of the latency of small operations"},
      {"comm.small", "buckets", &Rules::bucket_calls, 2, kMostCalls,
       "without recorded transfers, a group reduces at least this often per step"},
      {"comm.exposed", "share", &Rules::exposed_share, 0, 1,
       "exposed communication takes at least this share of the step"},
      {"comm.exposed", "gain", &Rules::exposed_gain, 0, 1, "a fix removes this share of it"},
      {"comm.unaligned", "ratio", &Rules::odd_ratio, 0, 1,
       "tasks of odd sizes reach less than this share of the bandwidth of the others"},
      {"comm.contention", "ratio", &Rules::beside_ratio, 0, 1,
       "tasks beside computing reach less than this share of the bandwidth of the others"},
      {"comm", "tasks", &Rules::compared_tasks, 1, kMostCalls,
       "fewer tasks of a kind are not compared with others"},
      {"comm", "alike_sizes", &Rules::alike_sizes, 1, 1e6,
       "tasks are compared with others that are at most this many times as large"},
      {"comm.retransmit", "ratio", &Rules::retransmit_ratio, kLongTaskRatio, 1e6,
       "a task takes this many times what is usual for its size"},
      {"comm.inner", "share", &Rules::inner_share, 0, 1,
       "idle time within operations takes at least this share of the step"},
      {"comm.inner", "gain", &Rules::inner_gain, 0, 1, "a fix removes this share of it"},
      {"comm.buffer", "bytes", &Rules::buffer_bytes, 1, kMostBytes,
       "HCCL_BUFFSIZE where it is not recorded"},
      {"comm.buffer", "ratio", &Rules::buffer_ratio, 0, 1,
       "messages beyond it reach less than this share of the bandwidth"},
      {"comm.buffer", "reach", &Rules::buffer_reach, 1, 1e6,
       "they are compared with messages down to one in this many of it"},
      {"mem.pressure", "retries", &Rules::memory_retries, 0.01, kMostCalls,
       "allocations free memory and ask again this many times per step"},
      {"mem.pressure", "in_pieces", &Rules::memory_in_pieces, 1, 1e6,
       "the memory is in pieces if the allocator holds this many times what its tensors take"},
      {"step.long", "ratio", &Rules::long_ratio, 1, 1000,
       "the step takes at least this many times the median of the others"},
      {"capture.warmup", "steps", &Rules::few_steps, 1, kMostCalls,
       "with fewer steps, a habit cannot be distinguished from an accident"},
      {"pp.bubble", "share", &Rules::bubble_share, 0, 1, "a smaller ideal bubble is not reported"},
  };
  return entries;
}

Rules ParseRules(std::string_view text) {
  const nlohmann::json document = io::ParseJson(text);
  if (!document.is_object() || io::Member(document, "schema") != kRulesSchema) {
    Fail(ErrorKind::kUsage,
         "not a rule file: it has no \"schema\": \"{}\"; 'advisor --print_rules' writes one",
         kRulesSchema);
  }
  Rules rules;
  for (const auto& [finding, of_finding] : document.items()) {
    if (finding == "schema") continue;
    if (!IsGroup(finding)) {
      Fail(ErrorKind::kUsage, "no rules for '{}'; 'advisor --print_rules' lists all",
           Printable(finding));
    }
    if (!of_finding.is_object()) Fail(ErrorKind::kUsage, "{}: give an object of rules", finding);
    for (const auto& [name, value] : of_finding.items()) SetRule(finding, name, value, rules);
  }
  return rules;
}

std::string RulesText(const Rules& rules) {
  nlohmann::ordered_json document = {{"schema", kRulesSchema}};
  for (const RuleEntry& entry : RuleList()) {
    const double value = rules.*entry.value;
    nlohmann::ordered_json& of_finding = document[std::string(entry.finding)];
    if (value == static_cast<double>(Whole(value))) {
      of_finding[std::string(entry.name)] = Whole(value);
    } else {
      of_finding[std::string(entry.name)] = value;
    }
  }
  return document.dump(2) + "\n";
}

}  // namespace mpa
