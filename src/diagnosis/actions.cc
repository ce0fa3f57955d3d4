// SPDX-License-Identifier: Apache-2.0
#include "actions.h"

#include <map>

#include "mpa/diagnosis/diagnosis.h"

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
      {kStallsKey, {{"capture", {{"level", "Level1"sv}, {"with_stack", true}}}, Check("the call that stands still")}},
      {"op.aicpu", {Change("int64 and double tensors", "int32 and float"), Change("nonzero, index, sort", "operators of the cores")}},
      {"op.format", {SetOption("torch.npu.config.allow_internal_format", false), Change("tensors", "contiguous")}},
      {"op.attention", {Change("attention", "torch_npu.npu_fusion_attention")}},
      {"rank.jitter", {Change("garbage collection", "every n steps on all ranks together"), Check("CPU load and shared storage")}},
      {"data.imbalance", {Change("samples", "sorted or packed by length")}},
      {"host.launch_blocking", {SetEnv("ASCEND_LAUNCH_BLOCKING", "0")}},
      {"host.cpu_contention", {SetEnv("CPU_AFFINITY_CONF", "2"), Check("other processes on the node")}},
      {"host.python", {Change("logging, metrics and locks", "out of the step")}},
      {"op.slow", {Change("shapes", "multiples of 16 or 128"), Check("tiling of the operator", "AOE")}},
      {"op.variance", {Check("contention, cache and clock while the slow ones run")}},
      {"op.fp32", {Change("matrix products", "bf16 or fp16"), SetOption("torch.npu.matmul.allow_hf32", true)}},
      {"op.optimizer", {Change("optimizer", "torch_npu.optim.NpuFused*")}},
      {"op.unfused", {Change("operators in pieces", "fused operators of torch_npu"), Change("other operators in pieces", "torch.compile")}},
      {"dev.clock", {Check("power cap, temperature and cooling", "npu-smi")}},
      {"comm.unaligned", {Change("buckets", "multiples of 512 bytes")}},
      {"comm.contention", {Check("the step with and without the overlap")}},
      {"comm.retransmit", {Check("optics and PFC/ECN of the network", "hccn_tool")}},
      {"comm.inner", {Check("HCCL_OP_EXPANSION_MODE and HCCL_BUFFSIZE")}},
      {"comm.buffer", {SetEnv("HCCL_BUFFSIZE", "larger")}},
      {"env.check", {Check("the variable of the finding")}},
      {"mem.pressure", {Change("activations", "recomputed"), Change("optimizer", "sharded over the ranks")}},
      {"capture.missing", {{"capture", {{"level", "Level1"sv}}}}},
      {"capture.overhead",
       {{"capture", {{"level", "Level1"sv}, {"with_stack", false}, {"record_shapes", false}, {"profile_memory", false}}}}},
      {"capture.warmup", {{"capture", {{"warmup_steps", 1}, {"active_steps", 3}}}}},
      {"comm.not_overlapped", {Change("gradient reduction", "during the backward pass"), Change("bucket size", "tuned")}},
      {"comm.small", {Change("bucket size", "larger"), Change("gradients", "accumulated")}},
      {"pp.bubble", {Change("micro-batches", "more"), Change("schedule", "interleaved")}},
  };
  static const std::vector<Action> none;
  const auto found = actions.find(id);
  return found == actions.end() ? none : found->second;
}

}  // namespace mpa
