// SPDX-License-Identifier: Apache-2.0
// Every finding: its kind, who can fix it, and its title.
#include "mpa/diagnosis/findings/catalogue.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace mpa {
namespace {

using Owners = std::vector<std::string_view>;

CatalogueEntry Fault(std::string_view id, Owners owners, Wording title) {
  return {id, FindingKind::kFault, std::move(owners), title};
}
CatalogueEntry Opportunity(std::string_view id, Owners owners, Wording title) {
  return {id, FindingKind::kOpportunity, std::move(owners), title};
}

}  // namespace

const std::vector<CatalogueEntry>& Catalogue() {
  constexpr std::string_view kModel = "model", kData = "data", kFramework = "framework",
                             kOperator = "operator";
  constexpr std::string_view kCommunication = "communication", kHardware = "hardware",
                             kPlatform = "platform";
  static const std::vector<CatalogueEntry> entries = {
      Fault("rank.late_compute", {kHardware, kOperator, kData},
            {"kernels run slowly on {}", "{} 计算慢"}),
      Fault("rank.late_host", {kPlatform, kFramework},
            {"the host launches late on {}", "{} 的 host 下发慢"}),
      Fault("rank.late_input", {kData}, {"input arrives late on {}", "{} 等待输入数据"}),
      Fault("rank.late", {kPlatform}, {"collectives wait for {}", "集合通信等待 {}"}),
      Fault("rank.jitter", {kPlatform, kFramework},
            {"a different rank stalls in each step", "每个 step 由不同的卡拖慢"}),
      Fault("step.long", {kPlatform, kFramework},
            {"one step takes much longer than the others", "个别 step 明显更长"}),
      Fault("data.imbalance", {kData}, {"the batches of {} are larger", "{} 的数据量更大"}),
      Fault("link.slow", {kCommunication, kHardware}, {"a link of {} is slow", "{} 的链路慢"}),
      Fault("pp.stage_imbalance", {kModel},
            {"the pipeline stage of {} has more work", "{} 所在的流水线 stage 负载过重"}),
      Fault("ep.imbalance", {kModel},
            {"the experts of {} get more tokens", "{} 的专家分到的 token 过多"}),
      Fault("host.dataloader", {kData},
            {"the device waits for the data loader", "设备等待数据加载"}),
      Fault("host.h2d", {kData, kModel},
            {"blocking copies stop the host", "阻塞式拷贝使 host 停顿"}),
      Fault("host.sync", {kModel}, {"synchronisations drain the device", "同步操作使设备空转"}),
      Fault("host.compile", {kFramework, kModel},
            {"operators are compiled in the step", "step 内编译算子"}),
      Fault("host.aclop", {kFramework},
            {"operators take the slow legacy path", "算子走旧的下发路径（aclop）"}),
      Fault("host.gc", {kModel, kFramework},
            {"Python collects garbage in the step", "step 内 Python 垃圾回收"}),
      Fault("host.memory", {kFramework, kModel},
            {"memory allocations stall the host", "内存分配使 host 停顿"}),
      Fault("host.checkpoint", {kModel, kPlatform},
            {"saving a checkpoint stops the step", "保存 checkpoint 使 step 停顿"}),
      Fault("host.launch_blocking", {kFramework},
            {"every launch waits for the device", "每次下发都同步等待设备"}),
      Fault("host.cpu_contention", {kPlatform},
            {"launches are held up now and then", "算子下发时快时慢"}),
      Opportunity("host.python", {kModel},
                  {"Python delays the next operators", "算子之间的 Python 耗时"}),
      Opportunity("host.launch_bound", {kFramework, kModel},
                  {"the host feeds the device too slowly", "host 下发跟不上设备计算"}),
      Fault("op.aicpu", {kModel, kOperator},
            {"operators run on the AI CPU", "算子运行在 AI CPU 上"}),
      Opportunity("op.format", {kModel, kFramework},
                  {"layouts and types are converted", "存在格式和类型转换"}),
      Opportunity("op.attention", {kModel}, {"attention is not fused", "attention 未融合"}),
      Opportunity("op.slow", {kOperator, kModel},
                  {"kernels run far below the chip's limit", "算子远低于芯片能力"}),
      Fault("op.variance", {kOperator, kHardware},
            {"equal kernels take different times", "相同算子耗时波动大"}),
      Opportunity("op.fp32", {kModel}, {"matrices are multiplied in FP32", "矩阵乘使用 FP32"}),
      Opportunity("op.optimizer", {kModel},
                  {"the optimizer runs in many small kernels", "优化器由大量小算子组成"}),
      Opportunity("op.zero_grad", {kModel},
                  {"gradients are filled with zeros one by one", "逐个张量清零梯度"}),
      Opportunity("op.unfused", {kModel}, {"operators run unfused", "可融合的算子分散执行"}),
      Fault("dev.clock", {kHardware, kPlatform},
            {"the cores run below their rated clock", "AI Core 频率低于额定值"}),
      Opportunity("comm.not_overlapped", {kFramework, kModel},
                  {"transfers could overlap computing", "通信可以与计算重叠"}),
      Opportunity("comm.small", {kModel, kFramework},
                  {"many collectives are small", "小包集合通信过多"}),
      Opportunity("comm.exposed", {kFramework, kCommunication},
                  {"nothing is computed beside the collectives", "集合通信期间没有计算"}),
      Opportunity("comm.broadcast", {kModel, kFramework},
                  {"buffers of the model are broadcast in every step", "每个 step 广播模型缓冲区"}),
      Opportunity("comm.unaligned", {kFramework},
                  {"message sizes are not multiples of 512 bytes", "通信数据未按 512 字节对齐"}),
      Opportunity("comm.contention", {kFramework},
                  {"computing slows concurrent transfers", "计算与通信争用带宽"}),
      Fault("comm.retransmit", {kHardware, kCommunication},
            {"transfers of {} time out", "{} 的传输超时重传"}),
      Opportunity("comm.inner", {kCommunication},
                  {"collectives idle between their transfers", "集合通信内部空闲"}),
      Opportunity("comm.buffer", {kFramework},
                  {"messages exceed the buffer of HCCL", "消息超过 HCCL 缓冲区"}),
      Opportunity("pp.bubble", {kModel},
                  {"too few micro-batches fill the pipeline", "micro-batch 过少导致流水线气泡"}),
      Fault("env.check", {kFramework}, {"a setting costs time", "存在影响性能的环境变量"}),
      Fault("mem.pressure", {kModel, kFramework}, {"the device memory is full", "设备内存不足"}),
      Opportunity("capture.overhead", {kPlatform},
                  {"the profiler itself may slow the host", "采集本身可能拖慢 host"}),
      Opportunity(
          "capture.warmup", {kPlatform},
          {"too few steps to tell a habit from an accident", "step 太少，无法区分常态和偶发"}),
      Opportunity("capture.missing", {kPlatform},
                  {"the captures do not show all causes", "采集数据不足以判断全部原因"}),
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
  static constexpr std::string_view kNames[] = {"info", "low", "medium", "high", "critical"};
  return kNames[static_cast<std::size_t>(impact)];
}

}  // namespace mpa
