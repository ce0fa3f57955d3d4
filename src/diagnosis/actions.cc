// SPDX-License-Identifier: Apache-2.0
#include "actions.h"

#include <map>

namespace mpa {
namespace {

using namespace std::literals;

Action SetEnv(std::string_view variable, std::string_view value) {
  return {"set_env", {{"variable", variable}, {"value", value}}};
}
Action SetOption(std::string_view option, Action::Value value) {
  return {"set_option", {{"option", option}, {"value", value}}};
}
Action Check(std::string_view subject, std::string_view tool = "") {
  Action action{"check", {{"subject", subject}}, true};
  if (!tool.empty()) action.args.emplace_back("tool", tool);
  return action;
}
Action Change(std::string_view subject, std::string_view to) {
  return {"change", {{"subject", subject}, {"to", to}}};
}

}  // namespace

const std::vector<Action>& ActionsOf(std::string_view id) {
  static const std::map<std::string_view, std::vector<Action>> actions = {
      {"rank.late_compute", {Check("clock, power and temperature of the device", "npu-smi")}},
      {"rank.late_host", {Check("CPU load and binding of the node"), SetEnv("CPU_AFFINITY_CONF", "2")}},
      {"rank.late_input", {Check("storage of the node and sizes of its shards"), SetOption("DataLoader.num_workers", "more"sv)}},
      {"rank.late", {{"capture", {{"level", "Level1"sv}, {"warmup_steps", 1}, {"active_steps", 3}}, true}}},
      {"link.slow", {Check("state of the link, cabling, switch ports", "hccn_tool")}},
      {"pp.stage_imbalance", {Change("layers of the pipeline stages", "even")}},
      {"ep.imbalance", {Change("tokens of the experts", "auxiliary loss, capacity, placement or replicas")}},
      {"host.dataloader",
       {SetOption("DataLoader.num_workers", "more"sv), SetOption("DataLoader.persistent_workers", true)}},
      {"host.h2d", {SetOption("DataLoader.pin_memory", true), SetOption("Tensor.to.non_blocking", true)}},
      {"host.sync", {Change("scalar reads and synchronisations in the loop", "every n steps")}},
      {"host.compile", {SetOption("torch_npu.npu.set_compile_mode.jit_compile", false), Change("shapes", "fixed or bucketed")}},
      {"host.aclop", {Change("torch_npu and CANN", "newer"), SetOption("torch.npu.config.allow_internal_format", false)}},
      {"host.gc", {Change("garbage collection", "gc.freeze() after the start"),
                   Change("garbage collection", "every n steps on all ranks together")}},
      {"host.memory", {SetEnv("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True"), Change("empty_cache in the loop", "none")}},
      {"host.checkpoint", {Change("checkpoint", "asynchronous"), Change("checkpoint interval", "longer")}},
      {"host.launch_bound", {SetEnv("TASK_QUEUE_ENABLE", "2"), SetEnv("CPU_AFFINITY_CONF", "2")}},
      {"op.aicpu", {Change("int64 and double tensors", "int32 and float"), Change("nonzero, index, sort", "operators of the cores")}},
      {"op.format", {SetOption("torch.npu.config.allow_internal_format", false), Change("tensors", "contiguous")}},
      {"op.attention", {Change("attention", "torch_npu.npu_fusion_attention")}},
      {"comm.not_overlapped", {Change("gradient reduction", "during the backward pass"), Change("bucket size", "tuned")}},
      {"comm.small", {Change("bucket size", "larger"), Change("gradients", "accumulated")}},
      {"pp.bubble", {Change("micro-batches", "more"), Change("schedule", "interleaved")}},
  };
  static const std::vector<Action> none;
  const auto found = actions.find(id);
  return found == actions.end() ? none : found->second;
}

}  // namespace mpa
