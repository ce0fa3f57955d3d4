// SPDX-License-Identifier: Apache-2.0
// Every finding: its kind, who can fix it, and its title.
#include "mpa/diagnosis/findings/catalogue.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

const std::vector<CatalogueEntry>& Catalogue() {
  constexpr FindingKind kFault = FindingKind::kFault;
  constexpr FindingKind kOpportunity = FindingKind::kOpportunity;
  constexpr std::string_view kModel = "model", kData = "data", kFramework = "framework",
                             kOperator = "operator";
  constexpr std::string_view kCommunication = "communication", kHardware = "hardware",
                             kPlatform = "platform";
  static const std::vector<CatalogueEntry> entries = {
      {"rank.late_compute",
       kFault,
       {kHardware, kOperator, kData},
       {"kernels run slowly on {}", "{} 计算慢"}},
      {"rank.late_host",
       kFault,
       {kPlatform, kFramework},
       {"the host launches late on {}", "{} 的 host 下发慢"}},
      {"rank.late_input", kFault, {kData}, {"input arrives late on {}", "{} 等待输入数据"}},
      {"rank.late", kFault, {kPlatform}, {"collectives wait for {}", "集合通信等待 {}"}},
      {"rank.jitter",
       kFault,
       {kPlatform, kFramework},
       {"a different rank stalls in each step", "每个 step 由不同的卡拖慢"}},
      {"step.long",
       kFault,
       {kPlatform, kFramework},
       {"one step takes much longer than the others", "个别 step 明显更长"}},
      {"data.imbalance", kFault, {kData}, {"the batches of {} are larger", "{} 的数据量更大"}},
      {"link.slow", kFault, {kCommunication, kHardware}, {"a link of {} is slow", "{} 的链路慢"}},
      {"pp.stage_imbalance",
       kFault,
       {kModel},
       {"the pipeline stage of {} has more work", "{} 所在的流水线 stage 负载过重"}},
      {"ep.imbalance",
       kFault,
       {kModel},
       {"the experts of {} get more tokens", "{} 的专家分到的 token 过多"}},
      {"host.dataloader",
       kFault,
       {kData},
       {"the device waits for the data loader", "设备等待数据加载"}},
      {"host.h2d",
       kFault,
       {kData, kModel},
       {"blocking copies stop the host", "阻塞式拷贝使 host 停顿"}},
      {"host.sync", kFault, {kModel}, {"synchronisations drain the device", "同步操作使设备空转"}},
      {"host.compile",
       kFault,
       {kFramework, kModel},
       {"operators are compiled in the step", "step 内编译算子"}},
      {"host.aclop",
       kFault,
       {kFramework},
       {"operators take the slow legacy path", "算子走旧的下发路径（aclop）"}},
      {"host.gc",
       kFault,
       {kModel, kFramework},
       {"Python collects garbage in the step", "step 内 Python 垃圾回收"}},
      {"host.memory",
       kFault,
       {kFramework, kModel},
       {"memory allocations stall the host", "内存分配使 host 停顿"}},
      {"host.checkpoint",
       kFault,
       {kModel, kPlatform},
       {"saving a checkpoint stops the step", "保存 checkpoint 使 step 停顿"}},
      {"host.launch_blocking",
       kFault,
       {kFramework},
       {"every launch waits for the device", "每次下发都同步等待设备"}},
      {"host.cpu_contention",
       kFault,
       {kPlatform},
       {"launches are held up now and then", "算子下发时快时慢"}},
      {"host.python",
       kOpportunity,
       {kModel},
       {"Python delays the next operators", "算子之间的 Python 耗时"}},
      {"host.launch_bound",
       kOpportunity,
       {kFramework, kModel},
       {"the host feeds the device too slowly", "host 下发跟不上设备计算"}},
      {"op.aicpu",
       kFault,
       {kModel, kOperator},
       {"operators run on the AI CPU", "算子运行在 AI CPU 上"}},
      {"op.format",
       kOpportunity,
       {kModel, kFramework},
       {"layouts and types are converted", "存在格式和类型转换"}},
      {"op.attention", kOpportunity, {kModel}, {"attention is not fused", "attention 未融合"}},
      {"op.slow",
       kOpportunity,
       {kOperator, kModel},
       {"kernels run far below the chip's limit", "算子远低于芯片能力"}},
      {"op.variance",
       kFault,
       {kOperator, kHardware},
       {"equal kernels take different times", "相同算子耗时波动大"}},
      {"op.fp32", kOpportunity, {kModel}, {"matrices are multiplied in FP32", "矩阵乘使用 FP32"}},
      {"op.optimizer",
       kOpportunity,
       {kModel},
       {"the optimizer runs in many small kernels", "优化器由大量小算子组成"}},
      {"op.zero_grad",
       kOpportunity,
       {kModel},
       {"gradients are filled with zeros one by one", "逐个张量清零梯度"}},
      {"op.unfused", kOpportunity, {kModel}, {"operators run unfused", "可融合的算子分散执行"}},
      {"dev.clock",
       kFault,
       {kHardware, kPlatform},
       {"the cores run below their rated clock", "AI Core 频率低于额定值"}},
      {"comm.not_overlapped",
       kOpportunity,
       {kFramework, kModel},
       {"transfers could overlap computing", "通信可以与计算重叠"}},
      {"comm.small",
       kOpportunity,
       {kModel, kFramework},
       {"many collectives are small", "小包集合通信过多"}},
      {"comm.exposed",
       kOpportunity,
       {kFramework, kCommunication},
       {"nothing is computed beside the collectives", "集合通信期间没有计算"}},
      {"comm.broadcast",
       kOpportunity,
       {kModel, kFramework},
       {"buffers of the model are broadcast in every step", "每个 step 广播模型缓冲区"}},
      {"comm.unaligned",
       kOpportunity,
       {kFramework},
       {"message sizes are not multiples of 512 bytes", "通信数据未按 512 字节对齐"}},
      {"comm.contention",
       kOpportunity,
       {kFramework},
       {"computing slows concurrent transfers", "计算与通信争用带宽"}},
      {"comm.retransmit",
       kFault,
       {kHardware, kCommunication},
       {"transfers of {} time out", "{} 的传输超时重传"}},
      {"comm.inner",
       kOpportunity,
       {kCommunication},
       {"collectives idle between their transfers", "集合通信内部空闲"}},
      {"comm.buffer",
       kOpportunity,
       {kFramework},
       {"messages exceed the buffer of HCCL", "消息超过 HCCL 缓冲区"}},
      {"pp.bubble",
       kOpportunity,
       {kModel},
       {"too few micro-batches fill the pipeline", "micro-batch 过少导致流水线气泡"}},
      {"env.check", kFault, {kFramework}, {"a setting costs time", "存在影响性能的环境变量"}},
      {"mem.pressure", kFault, {kModel, kFramework}, {"the device memory is full", "设备内存不足"}},
      {"capture.overhead",
       kOpportunity,
       {kPlatform},
       {"the profiler itself may slow the host", "采集本身可能拖慢 host"}},
      {"capture.warmup",
       kOpportunity,
       {kPlatform},
       {"too few steps to tell a habit from an accident", "step 太少，无法区分常态和偶发"}},
      {"capture.missing",
       kOpportunity,
       {kPlatform},
       {"the captures do not show all causes", "采集数据不足以判断全部原因"}},
  };
  return entries;
}

const Wording& TitleWordsOf(const FoundCause& finding) {
  static const Wording stalls = {"single calls of the host stand still", "host 个别调用长时间停顿"};
  return finding.key == kStallsKey ? stalls : EntryOf(finding.id).title;
}

const CatalogueEntry& EntryOf(std::string_view id) {
  const auto found = std::find_if(Catalogue().begin(), Catalogue().end(),
                                  [&](const CatalogueEntry& entry) { return entry.id == id; });
  if (found == Catalogue().end()) throw std::out_of_range(std::string(id));
  return *found;
}

Impact ImpactOf(const Diagnosis& diagnosis, const FoundCause& finding) {
  const auto from = [&](double share) {
    return finding.gain >= ShareOf(diagnosis.step, share) && diagnosis.step > 0;
  };
  const Rules& rules = diagnosis.rules;
  if (from(rules.critical_share)) return Impact::kCritical;
  if (from(rules.high_share)) return Impact::kHigh;
  if (from(rules.medium_share)) return Impact::kMedium;
  return from(rules.low_share) ? Impact::kLow : Impact::kInfo;
}

std::string_view NameOf(Impact impact) {
  switch (impact) {
    case Impact::kCritical:
      return "critical";
    case Impact::kHigh:
      return "high";
    case Impact::kMedium:
      return "medium";
    case Impact::kLow:
      return "low";
    case Impact::kInfo:
      break;
  }
  return "info";
}

}  // namespace mpa
