// SPDX-License-Identifier: Apache-2.0
// What to do about each finding. The settings are those of torch_npu and CANN as their environment
// references describe them.
#include <map>

#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/advice.h"

namespace mpa {
namespace {

Action Check(std::string_view subject, std::string_view tool = "") {
  Action action{"check", {{"subject", std::string(subject)}}, true};
  if (!tool.empty()) action.args.emplace_back("tool", std::string(tool));
  return action;
}
Action Change(std::string_view subject, std::string_view to) {
  return {"change", {{"subject", std::string(subject)}, {"to", std::string(to)}}};
}
Action SetOption(std::string_view option, Action::Value value) {
  return {"set_option", {{"option", std::string(option)}, {"value", std::move(value)}}};
}
Action MoreOf(std::string_view option) { return SetOption(option, std::string("more")); }
Action Capture(std::vector<std::pair<std::string_view, Action::Value>> options,
               bool of_ranks = false) {
  return {"capture", std::move(options), of_ranks};
}
Action SetVariable(std::string_view variable, std::string_view value) {
  return {"set_env", {{"variable", std::string(variable)}, {"value", std::string(value)}}};
}
AdvicePart Setting(Wording text, std::string_view variable, std::string_view value) {
  return {text, SetVariable(variable, value), variable};
}

using Fits = bool (*)(const AdviceFacts& facts);
AdvicePart If(Fits fits, AdvicePart part) {
  part.fits = fits;
  return part;
}
bool IsNotCompiled(const AdviceFacts& facts) { return !facts.is_compiled; }
bool IsCompiled(const AdviceFacts& facts) { return facts.is_compiled; }
bool MostlySynchronises(const AdviceFacts& facts) { return facts.synchronising > facts.reading; }
bool MostlyReads(const AdviceFacts& facts) { return !MostlySynchronises(facts); }
bool MostlyCopiesOut(const AdviceFacts& facts) { return facts.copying_out > facts.copying_in; }
bool MostlyCopiesIn(const AdviceFacts& facts) { return !MostlyCopiesOut(facts); }
bool HasSteps(const AdviceFacts& facts) { return facts.has_steps; }
bool LacksSteps(const AdviceFacts& facts) { return !facts.has_steps; }

AdvicePart BindCores() {
  return Setting({"CPU_AFFINITY_CONF=2", "CPU_AFFINITY_CONF=2"}, "CPU_AFFINITY_CONF", "2");
}
AdvicePart BindProcesses() {
  return {{"bind the processes to cores", "进程绑核"}, Change("processes", "bound to cores")};
}
AdvicePart KeepOthersOff() {
  return {{"keep other processes and data workers off these cores",
           "让其他进程和数据加载进程避开这些核"},
          Change("other processes and data workers", "other cores")};
}
AdvicePart CheckLoad() {
  return {{"check the CPU load of the node", "检查该节点 CPU 负载"}, Check("CPU load of the node")};
}
AdvicePart NoEmptyCache() {
  return {{"no empty_cache in the loop", "循环内不要 empty_cache"},
          Change("empty_cache in the loop", "none")};
}
AdvicePart Recompute() {
  return {{"recompute activations", "激活重计算"}, Change("activations", "recomputed")};
}
AdvicePart ExpandSegments(Wording text, std::string_view variable) {
  return Setting(text, variable, "expandable_segments:True");
}
AdvicePart AnyOrder() {
  AdvicePart part = Setting({"HCCL_DETERMINISTIC=false unless results must repeat",
                             "无需复现结果时设置 HCCL_DETERMINISTIC=false"},
                            "HCCL_DETERMINISTIC", "false");
  part.against_poor = true;
  return part;
}
AdvicePart CompareNccl() {
  return {{"compare the algorithms and protocols of NCCL (NCCL_ALGO, NCCL_PROTO)",
           "对比 NCCL 的算法和协议（NCCL_ALGO、NCCL_PROTO）"},
          Check("NCCL_ALGO and NCCL_PROTO")};
}
AdvicePart ShardOptimizer() {
  return {{"shard the optimizer over the ranks", "优化器在各卡间分片"},
          Change("optimizer", "sharded over the ranks")};
}
AdvicePart SwapCard() { return {{"swap the card", "必要时换卡"}, Change("card", "another")}; }
AdvicePart FixedShapes() {
  return {{"use fixed or bucketed shapes", "使用固定或分桶的 shape"},
          Change("shapes", "fixed or bucketed")};
}
AdvicePart CheckCabling() {
  return {{"check its cabling and switch ports", "检查线缆和交换机端口"},
          Check("cabling and switch ports")};
}
AdvicePart ContiguousTensors() {
  return {{"keep tensors contiguous", "使用连续张量"}, Change("tensors", "contiguous")};
}
AdvicePart FittingShapes() {
  return {{"use shapes in multiples of 16 or 128", "shape 取 16 或 128 的倍数"},
          Change("shapes", "multiples of 16 or 128")};
}
AdvicePart LowPrecision() {
  return {{"autocast to bf16 or fp16", "autocast 到 bf16 或 fp16"},
          Change("matrix products", "bf16 or fp16")};
}
AdvicePart MendBreaks() {
  return If(IsCompiled, {{"find what breaks compiled functions apart (TORCH_LOGS=graph_breaks)",
                          "查找编译中断的位置（TORCH_LOGS=graph_breaks）"},
                         Check("breaks of compiled functions", "TORCH_LOGS=graph_breaks")});
}
AdvicePart NoReads() {
  return {{"no .item(), nonzero or printing of tensors in the loop",
           "循环内避免 .item()、nonzero 和打印张量"},
          Change("scalar reads and synchronisations in the loop", "none")};
}
AdvicePart TimeWithEvents() {
  return If(MostlySynchronises, {{"measure times with events, and read them after the step",
                                  "使用 event 计时，在 step 之后读取"},
                                 Change("measurements of time", "events, read after the step")});
}
AdvicePart NoSynchronisation(Wording text) {
  return If(MostlySynchronises, {text, Change("synchronisations in the loop", "none")});
}
AdvicePart LogSeldom() {
  return If(MostlyReads, {{"log every n steps", "每 n 个 step 记录一次"},
                          Change("logging of tensors", "every n steps")});
}
// What the profiler keeps beside the work is switched off, one part for each switch.
AdvicePart CaptureWithout(Fits fits, Wording text, std::string_view option, Action::Value value) {
  return If(fits, {text, Capture({{option, std::move(value)}})});
}
AdvicePart CaptureThatRank(Fits fits, Wording text,
                           std::vector<std::pair<std::string_view, Action::Value>> options) {
  return If(fits, {text, Capture(std::move(options), true)});
}
AdvicePart CaptureSkipped() {
  return {{"capture what --json lists as skipped", "采集 --json 中 skipped 所列的数据"},
          Capture({{"what", std::string("skipped")}})};
}
AdvicePart OldFormats(Wording text) {
  return {text, SetOption("torch.npu.config.allow_internal_format", false)};
}

constexpr Wording kThatRank{"capture that rank and its node", "采集该卡及其节点"},
    kThatRankAndSteps{"capture that rank and its node, 3 steps or more (warmup=1, active=3)",
                      "采集该卡及其节点，至少 3 个 step（warmup=1, active=3）"};

const std::map<std::string_view, Advice>& Advices() {
  static const std::map<std::string_view, Advice> advices = {
      {"rank.late_compute",
       {{{{"check clock, power and temperature of the device (npu-smi)",
           "用 npu-smi 检查该卡频率、功耗和温度"},
          Check("clock, power and temperature of the device", "npu-smi")},
         SwapCard()},
        {{{"check clock, power and temperature of the device (nvidia-smi)",
           "用 nvidia-smi 检查该卡频率、功耗和温度"},
          Check("clock, power and temperature of the device", "nvidia-smi")},
         SwapCard()}}},
      {"rank.late_host",
       {{CheckLoad(),
         Setting({"CPU_AFFINITY_CONF=2 on all ranks", "所有卡设置 CPU_AFFINITY_CONF=2"},
                 "CPU_AFFINITY_CONF", "2"),
         KeepOthersOff()},
        {CheckLoad(), BindProcesses()}}},
      {"rank.late_input",
       {{{{"check the storage of that node and the sizes of its shards",
           "检查该节点存储和数据分片大小"},
          Check("storage of the node and sizes of its shards")},
         {{"use more workers", "增加 worker"}, MoreOf("DataLoader.num_workers")}}}},
      {"rank.late",
       {{CaptureThatRank(
             LacksSteps, kThatRankAndSteps,
             {{"level", std::string("Level1")}, {"warmup_steps", 1}, {"active_steps", 3}}),
         CaptureThatRank(HasSteps, kThatRank, {{"level", std::string("Level1")}})},
        {CaptureThatRank(LacksSteps, kThatRankAndSteps, {{"warmup_steps", 1}, {"active_steps", 3}}),
         CaptureThatRank(HasSteps, kThatRank, {})}}},
      {"rank.jitter",
       {{{{"collect garbage on all ranks together (gc.freeze)", "所有卡同时垃圾回收（gc.freeze）"},
          Change("garbage collection", "every n steps on all ranks together")},
         {{"check CPU load and storage", "检查 CPU 负载和共享存储"},
          Check("CPU load and shared storage")}}}},
      {"data.imbalance",
       {{{{"sort or pack samples by length", "按长度排序或打包样本"},
          Change("samples", "sorted or packed by length")},
         {{"balance the tokens of the ranks", "均衡各卡的 token 数"},
          Change("tokens of the ranks", "even")}}}},
      {"link.slow",
       {{{{"check the state of the link (hccn_tool)", "用 hccn_tool 检查链路状态"},
          Check("state of the link", "hccn_tool")},
         CheckCabling()},
        {{{"check the state of the link (nvidia-smi nvlink, ibstat)",
           "检查链路状态（nvidia-smi nvlink、ibstat）"},
          Check("state of the link", "nvidia-smi nvlink")},
         CheckCabling()}}},
      {"pp.stage_imbalance",
       {{{{"move layers to other stages", "把部分层移到其他 stage"},
          Change("layers of the pipeline stages", "even")},
         {{"give the stages of embedding and logits fewer layers",
           "embedding/logits 所在 stage 少放层"},
          Change("layers beside embedding and logits", "fewer")}}}},
      {"ep.imbalance",
       {{{{"balance the experts: auxiliary loss, capacity, placement or replicas",
           "均衡专家负载：辅助损失、容量上限、专家放置或副本"},
          Change("tokens of the experts", "auxiliary loss, capacity, placement or replicas")}}}},
      {"host.dataloader",
       {{{{"use more workers (num_workers)", "增加 num_workers"}, MoreOf("DataLoader.num_workers")},
         {{"persistent_workers=True", "persistent_workers=True"},
          SetOption("DataLoader.persistent_workers", true)}}}},
      {"host.h2d",
       {{If(MostlyCopiesIn,
            {{"pin_memory=True", "pin_memory=True"}, SetOption("DataLoader.pin_memory", true)}),
         If(MostlyCopiesIn,
            {{".to(device, non_blocking=True)", "使用 .to(device, non_blocking=True)"},
             SetOption("Tensor.to.non_blocking", true)}),
         If(MostlyCopiesOut, {{"copy to the host every n steps", "每 n 个 step 拷回一次"},
                              Change("copies to the host", "every n steps")}),
         If(MostlyCopiesOut,
            {{"copy without blocking into pinned tensors, and wait before they are read",
              "非阻塞拷贝到锁页张量，读取前再同步"},
             Change("copies to the host", "non_blocking=True into pinned tensors")})}}},
      {"host.sync",
       {{NoSynchronisation({"no torch.npu.synchronize() or the like in the loop",
                            "循环内避免 torch.npu.synchronize() 等同步"}),
         TimeWithEvents(), LogSeldom(), NoReads()},
        {NoSynchronisation({"no torch.cuda.synchronize() or the like in the loop",
                            "循环内避免 torch.cuda.synchronize() 等同步"}),
         TimeWithEvents(), LogSeldom(), NoReads()}}},
      {"host.compile",
       {{{{"set_compile_mode(jit_compile=False)", "set_compile_mode(jit_compile=False)"},
          SetOption("torch_npu.npu.set_compile_mode.jit_compile", false)},
         FixedShapes()},
        {FixedShapes(),
         {{"warm up before the steps", "step 之前先预热"},
          Change("compilation", "before the steps")}}}},
      {"host.aclop",
       {{OldFormats({"allow_internal_format=False", "allow_internal_format=False"}),
         {{"use a newer torch_npu and CANN (aclnn)", "升级 torch_npu 和 CANN（aclnn）"},
          Change("torch_npu and CANN", "newer")}}}},
      {"host.gc",
       {{{{"gc.freeze() after the start", "启动后 gc.freeze()"},
          Change("garbage collection", "gc.freeze() after the start")},
         {{"collect every n steps on all ranks together",
           "gc.disable() 并在所有卡上每 n 个 step 回收一次"},
          Change("garbage collection", "every n steps on all ranks together")}}}},
      {"host.memory",
       {{ExpandSegments({"PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
                         "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"},
                        "PYTORCH_NPU_ALLOC_CONF"),
         NoEmptyCache(), Recompute()},
        {ExpandSegments({"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                         "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
                        "PYTORCH_CUDA_ALLOC_CONF"),
         NoEmptyCache(), Recompute()}}},
      {"host.checkpoint",
       {{{{"save less often", "降低保存频率"}, Change("checkpoint interval", "longer")},
         {{"save asynchronously", "异步保存"}, Change("checkpoint", "asynchronous")}}}},
      {"host.launch_blocking",
       {{Setting({"unset ASCEND_LAUNCH_BLOCKING", "取消 ASCEND_LAUNCH_BLOCKING"},
                 "ASCEND_LAUNCH_BLOCKING", "0"),
         {{"do not synchronise behind every operator", "不要在每个算子后同步"},
          Change("synchronisations behind operators", "none")}},
        {Setting({"unset CUDA_LAUNCH_BLOCKING", "取消 CUDA_LAUNCH_BLOCKING"},
                 "CUDA_LAUNCH_BLOCKING", "0"),
         {{"do not synchronise behind every operator", "不要在每个算子后同步"},
          Change("synchronisations behind operators", "none")}}}},
      {"host.cpu_contention", {{BindCores(), KeepOthersOff()}, {BindProcesses(), KeepOthersOff()}}},
      {"host.python",
       {{{{"move logging, metrics and locks out of the step", "把日志、指标统计和锁移出 step"},
          Change("logging, metrics and locks", "out of the step")}}}},
      {"host.launch_bound",
       {{Setting(kTaskQueueAdvice, "TASK_QUEUE_ENABLE", "2"), BindCores(),
         If(IsNotCompiled, {{"use fused operators or graphs", "使用融合算子或图模式"},
                            Change("operators", "fused, or captured as a graph")}),
         MendBreaks()},
        {BindProcesses(),
         If(IsNotCompiled,
            {{"use CUDA graphs or torch.compile", "使用 CUDA graph 或 torch.compile"},
             Change("operators", "CUDA graphs or torch.compile")}),
         MendBreaks()}}},
      {kStallsKey,
       {{If([](const AdviceFacts& facts) { return !facts.has_stacks; },
            {{"capture with stacks (with_stack=True), which show what the calls do",
              "用 with_stack=True 采集，查看这些调用在做什么"},
             Capture({{"with_stack", true}})}),
         If([](const AdviceFacts& facts) { return facts.has_stacks; },
            {{"see in their stacks what the calls do", "查看调用栈，了解这些调用在做什么"},
             Check("stacks of the calls")}),
         {{"capture later steps", "采集更靠后的 step"},
          Capture({{"skip_first", std::string("more")}})}}}},
      {"op.aicpu",
       {{{{"avoid int64 and double tensors", "避免 int64 和 double 张量"},
          Change("int64 and double tensors", "int32 and float")},
         {{"replace nonzero, index and sort", "替换 nonzero、index、sort"},
          Change("nonzero, index, sort", "operators of the cores")}}}},
      {"op.format",
       {{OldFormats({"torch.npu.config.allow_internal_format=False",
                     "torch.npu.config.allow_internal_format=False"}),
         ContiguousTensors()},
        {ContiguousTensors(),
         {{"use one memory format for the whole model", "整个模型统一内存格式"},
          Change("memory formats", "one for the whole model")}}}},
      {"op.attention",
       {{{{"use torch_npu.npu_fusion_attention or scaled_dot_product_attention",
           "使用 torch_npu.npu_fusion_attention 或 scaled_dot_product_attention"},
          Change("attention", "torch_npu.npu_fusion_attention")}},
        {{{"use scaled_dot_product_attention", "使用 scaled_dot_product_attention"},
          Change("attention", "scaled_dot_product_attention")}}}},
      {"op.slow",
       {{FittingShapes(),
         {{"tune the tiling (AOE)", "AOE 调优 tiling"}, Check("tiling of the operator", "AOE")}},
        {FittingShapes()}}},
      {"op.variance",
       {{{{"compare the slow ones in the timeline: contention, cache, clock",
           "在时间线上对比慢的算子：资源竞争、缓存、频率"},
          Check("contention, cache and clock while the slow ones run")}}}},
      {"op.fp32",
       {{LowPrecision(),
         {{"else allow HF32 (torch.npu.matmul.allow_hf32)",
           "或开启 HF32（torch.npu.matmul.allow_hf32）"},
          SetOption("torch.npu.matmul.allow_hf32", true)}},
        {LowPrecision(),
         {{"else allow TF32", "或开启 TF32"},
          SetOption("torch.backends.cuda.matmul.allow_tf32", true)}}}},
      {"op.optimizer",
       {{{{"use torch_npu.optim.NpuFusedAdamW or the like",
           "使用 torch_npu.optim.NpuFusedAdamW 等融合优化器"},
          Change("optimizer", "torch_npu.optim.NpuFused*")},
         {{"clip with its clip_grad_norm_fused_", "用其 clip_grad_norm_fused_ 裁剪梯度"},
          Change("clipping of gradients", "clip_grad_norm_fused_")}},
        {{{"fused=True in the optimizer", "优化器设置 fused=True"},
          SetOption("optimizer.fused", true)}}}},
      {"step.long",
       {{{{"look what runs on the node then (logs, other processes)",
           "查看此时该节点上运行的任务（日志、其他进程）"},
          Check("what else runs in that step")}}}},
      {"op.zero_grad",
       {{{{"zero_grad(set_to_none=True)", "zero_grad(set_to_none=True)"},
          SetOption("zero_grad.set_to_none", true)}}}},
      {"op.unfused",
       {{{{"use npu_rms_norm, npu_swiglu or the like (check the precision)",
           "使用 npu_rms_norm、npu_swiglu 等融合算子（注意验证精度）"},
          Change("operators in pieces", "fused operators of torch_npu")},
         If(IsNotCompiled, {{"else torch.compile", "否则使用 torch.compile"},
                            Change("other operators in pieces", "torch.compile")})},
        {If(IsNotCompiled, {{"use torch.compile or fused operators (check the precision)",
                             "使用 torch.compile 或融合算子（注意验证精度）"},
                            Change("operators in pieces", "torch.compile or fused operators")}),
         If(IsCompiled,
            {{"use fused operators (check the precision)", "使用融合算子（注意验证精度）"},
             Change("operators in pieces", "fused operators")})}}},
      {"dev.clock",
       {{{{"check power cap, temperature and cooling (npu-smi)",
           "检查功耗上限、温度和散热（npu-smi）"},
          Check("power cap, temperature and cooling", "npu-smi")}},
        {{{"check power cap, temperature and cooling (nvidia-smi)",
           "检查功耗上限、温度和散热（nvidia-smi）"},
          Check("power cap, temperature and cooling", "nvidia-smi")}}}},
      {"comm.not_overlapped",
       {{{{"overlap gradient reduction with the backward pass", "梯度规约与反向计算重叠"},
          Change("gradient reduction", "during the backward pass")},
         {{"tune bucket sizes", "调整 bucket 大小"}, Change("bucket size", "tuned")}}}},
      {"comm.small",
       {{{{"use larger buckets", "增大 bucket"}, Change("bucket size", "larger")},
         {{"accumulate gradients", "梯度累积"}, Change("gradients", "accumulated")}}}},
      {kSmallOnTheWay,
       {{Setting({"HCCL_OP_EXPANSION_MODE=AIV (the vector cores start them sooner)",
                  "HCCL_OP_EXPANSION_MODE=AIV（由 Vector 核启动，时延更低）"},
                 "HCCL_OP_EXPANSION_MODE", "AIV")},
        {CompareNccl()}}},
      {"comm.exposed",
       {{{{"capture all ranks, which shows whether they wait or transfer",
           "采集所有卡，以区分等待与传输"},
          Capture({{"ranks", std::string("all")}})},
         {{"reduce less often (accumulate gradients) or less data",
           "减少通信次数（梯度累积）或数据量"},
          Change("gradients", "accumulated")}}}},
      {"comm.broadcast",
       {{{{"DistributedDataParallel(broadcast_buffers=False) if ranks may differ in them",
           "若各卡缓冲区可以不同，设置 DistributedDataParallel(broadcast_buffers=False)"},
          SetOption("DistributedDataParallel.broadcast_buffers", false)}}}},
      {"comm.unaligned",
       {{{{"pad the buckets to multiples of 512 bytes", "将 bucket 补齐到 512 字节的整数倍"},
          Change("buckets", "multiples of 512 bytes")}}}},
      {"comm.contention",
       {{{{"compare the step with and without the overlap, and keep the faster one",
           "对比开启和关闭重叠时的 step 耗时，取更短者"},
          Check("the step with and without the overlap")}}}},
      {"comm.retransmit",
       {{{{"check optics and PFC/ECN of the network", "检查光模块和网络 PFC/ECN"},
          Check("optics and PFC/ECN of the network", "hccn_tool")},
         {{"check HCCL_RDMA_TIMEOUT", "检查 HCCL_RDMA_TIMEOUT"}, Check("HCCL_RDMA_TIMEOUT")}},
        {{{"check optics and PFC/ECN of the network", "检查光模块和网络 PFC/ECN"},
          Check("optics and PFC/ECN of the network", "ibstat")}}}},
      {"comm.inner",
       {{AnyOrder(),
         {{"compare the modes of HCCL_OP_EXPANSION_MODE", "对比 HCCL_OP_EXPANSION_MODE 的各种模式"},
          Check("HCCL_OP_EXPANSION_MODE")},
         {{"HCCL_BUFFSIZE above the message", "HCCL_BUFFSIZE 大于消息"}, Check("HCCL_BUFFSIZE")}},
        {CompareNccl()}}},
      {"comm.buffer",
       {{{{"raise HCCL_BUFFSIZE (each group takes twice its size of device memory)",
           "增大 HCCL_BUFFSIZE（每个通信域占用两倍显存）"},
          Change("HCCL_BUFFSIZE", "above the message")}}}},
      {"pp.bubble",
       {{{{"use more micro-batches", "增加 micro-batch"}, Change("micro-batches", "more")},
         {{"use an interleaved schedule", "使用交织流水"}, Change("schedule", "interleaved")}}}},
      {"env.check", {}},  // the variable has its own
      {"mem.pressure",
       {{ExpandSegments({"PYTORCH_NPU_ALLOC_CONF=expandable_segments:True",
                         "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"},
                        "PYTORCH_NPU_ALLOC_CONF"),
         Recompute(), ShardOptimizer()},
        {ExpandSegments({"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                         "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
                        "PYTORCH_CUDA_ALLOC_CONF"),
         Recompute(), ShardOptimizer()}}},
      {"capture.overhead",
       {{CaptureWithout([](const AdviceFacts& facts) { return facts.has_stacks; },
                        {"set with_stack=False before changing host code",
                         "修改 host 代码前先设置 with_stack=False"},
                        "with_stack", false),
         CaptureWithout([](const AdviceFacts& facts) { return facts.has_modules; },
                        {"set with_modules=False before changing host code",
                         "修改 host 代码前先设置 with_modules=False"},
                        "with_modules", false),
         CaptureWithout([](const AdviceFacts& facts) { return facts.has_memory; },
                        {"set profile_memory=False", "设置 profile_memory=False"}, "profile_memory",
                        false),
         CaptureWithout([](const AdviceFacts& facts) { return facts.has_level2; },
                        {"set profiler_level=Level1", "设置 profiler_level=Level1"}, "level",
                        std::string("Level1"))}}},
      {"capture.warmup",
       {{{{"capture 3 steps or more (warmup=1, active=3)",
           "至少采集 3 个 step（warmup=1, active=3）"},
          Capture({{"warmup_steps", 1}, {"active_steps", 3}})}}}},
      {"capture.missing",
       {{If([](const AdviceFacts& facts) { return !facts.has_level1; },
            {{"profiler_level=Level1 on all ranks", "所有卡用 profiler_level=Level1 采集"},
             Capture({{"level", std::string("Level1")}}),
             kProfilerLevel}),
         CaptureSkipped()},
        {CaptureSkipped()}}},
  };
  return advices;
}

}  // namespace

const Advice& AdviceOn(std::string_view id) { return Advices().at(id); }

}  // namespace mpa
