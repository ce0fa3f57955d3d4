// SPDX-License-Identifier: Apache-2.0
// Every finding with its texts. The settings are those of torch_npu and CANN as their environment
// references describe them.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "mpa/diagnosis/diagnosis.h"

namespace mpa {

const std::vector<CatalogueEntry>& Catalogue() {
  constexpr FindingKind kFault = FindingKind::kFault;
  constexpr FindingKind kOpportunity = FindingKind::kOpportunity;
  static const std::vector<CatalogueEntry> entries = {
      {"rank.late_compute", kFault, "hardware",
       {"kernels run slowly on {}", "{} 计算慢"},
       {"check clock, power and temperature of the device (npu-smi); swap the card",
        "用 npu-smi 检查该卡频率、功耗和温度；必要时换卡"},
       {"check clock, power and temperature of the device (nvidia-smi); swap the card",
        "用 nvidia-smi 检查该卡频率、功耗和温度；必要时换卡"}},
      {"rank.late_host", kFault, "platform",
       {"the host launches late on {}", "{} 的 host 下发慢"},
       {"check the CPU load of the node; CPU_AFFINITY_CONF=2 on all ranks",
        "检查该节点 CPU 负载；所有卡设置 CPU_AFFINITY_CONF=2"},
       {"check the CPU load of the node; bind the processes to cores",
        "检查该节点 CPU 负载；进程绑核"}},
      {"rank.late_input", kFault, "data",
       {"input comes late on {}", "{} 等待输入数据"},
       {"check the storage of that node and the sizes of its shards; more workers",
        "检查该节点存储和数据分片大小；增加 worker"}},
      {"rank.late", kFault, "platform",
       {"collectives wait for {}", "集合通信等待 {}"},
       {"capture that rank and its node, 3 steps or more (warmup=1, active=3)",
        "采集该卡及其节点，至少 3 个 step（warmup=1, active=3）"}},
      {"link.slow", kFault, "hardware",
       {"a link of {} is slow", "{} 的链路慢"},
       {"check the state of the link (hccn_tool), cabling and its switch ports",
        "用 hccn_tool 检查链路状态，再查线缆和交换机端口"},
       {"check the state of the link (nvidia-smi nvlink, ibstat), cabling, switch ports",
        "检查链路状态（nvidia-smi nvlink、ibstat）、线缆和交换机端口"}},
      {"pp.stage_imbalance", kFault, "model",
       {"more work in the pipeline stage of {}", "{} 所在的流水线 stage 负载过重"},
       {"move layers to other stages; place embedding and logits with fewer layers",
        "把部分层移到其他 stage；embedding/logits 所在 stage 少放层"}},
      {"ep.imbalance", kFault, "model",
       {"more tokens for the experts of {}", "{} 的专家分到的 token 过多"},
       {"balance the experts: auxiliary loss, capacity, placement or replicas",
        "均衡专家负载：辅助损失、容量上限、专家放置或副本"}},
      {"host.dataloader", kFault, "data",
       {"the device waits for the data loader", "设备等待数据加载"},
       {"more workers, persistent_workers=True, prefetch_factor; faster storage",
        "增加 num_workers 和 prefetch_factor，persistent_workers=True；更快的存储"}},
      {"host.h2d", kFault, "data",
       {"blocking copies stop the host", "阻塞式拷贝使 host 停顿"},
       {"pin_memory=True and .to(device, non_blocking=True)",
        "pin_memory=True 并使用 .to(device, non_blocking=True)"}},
      {"host.sync", kFault, "model",
       {"synchronisations drain the device", "同步操作使设备空转"},
       {"no .item(), nonzero or printing of tensors in the loop; log every n steps",
        "循环内避免 .item()、nonzero 和打印张量；每 n 个 step 记录一次"}},
      {"host.compile", kFault, "framework",
       {"operators are compiled in the step", "step 内编译算子"},
       {"set_compile_mode(jit_compile=False); fixed or bucketed shapes",
        "set_compile_mode(jit_compile=False)；使用固定或分桶的 shape"},
       {"fixed or bucketed shapes; warm up before the steps",
        "使用固定或分桶的 shape；step 之前先预热"}},
      {"host.aclop", kFault, "framework",
       {"operators take the slow legacy path", "算子走旧的下发路径（aclop）"},
       {"newer torch_npu and CANN (aclnn); allow_internal_format=False",
        "升级 torch_npu 和 CANN（aclnn）；allow_internal_format=False"}},
      {"host.gc", kFault, "model",
       {"Python collects garbage in the step", "step 内 Python 垃圾回收"},
       {"gc.freeze() after the start; collect every n steps on all ranks together",
        "启动后 gc.freeze()；gc.disable() 并在所有卡上每 n 个 step 回收一次"}},
      {"host.memory", kFault, "framework",
       {"memory allocations stall the host", "内存分配使 host 停顿"},
       {"PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; no empty_cache",
        "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True；不要 empty_cache"},
       {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; no empty_cache",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True；不要 empty_cache"}},
      {"host.checkpoint", kFault, "model",
       {"saving a checkpoint stops the step", "保存 checkpoint 使 step 停顿"},
       {"save asynchronously, on all ranks together, or less often",
        "异步保存、所有卡同时保存，或降低保存频率"}},
      {"host.launch_bound", kOpportunity, "framework",
       {"the host feeds the device too slowly", "host 下发跟不上设备计算"},
       {"TASK_QUEUE_ENABLE=2 and CPU_AFFINITY_CONF=2; fused operators or graphs",
        "TASK_QUEUE_ENABLE=2 和 CPU_AFFINITY_CONF=2；使用融合算子或图模式"},
       {"CUDA graphs or torch.compile; fused operators; bind processes to cores",
        "使用 CUDA graph 或 torch.compile；融合算子；进程绑核"}},
      {"op.aicpu", kOpportunity, "model",
       {"operators run on the AI CPU", "算子运行在 AI CPU 上"},
       {"avoid int64 and double; replace nonzero, index and sort; newer operators",
        "避免 int64 和 double；替换 nonzero、index、sort；使用新版算子"}},
      {"op.format", kOpportunity, "model",
       {"layouts and types are converted", "存在格式和类型转换"},
       {"torch.npu.config.allow_internal_format=False; contiguous tensors",
        "torch.npu.config.allow_internal_format=False；使用连续张量"},
       {"contiguous tensors; one memory format for the whole model",
        "使用连续张量；整个模型统一内存格式"}},
      {"op.attention", kOpportunity, "model",
       {"attention is not fused", "attention 未融合"},
       {"torch_npu.npu_fusion_attention or scaled_dot_product_attention",
        "使用 torch_npu.npu_fusion_attention 或 scaled_dot_product_attention"},
       {"scaled_dot_product_attention",
        "使用 scaled_dot_product_attention"}},
      {"comm.not_overlapped", kOpportunity, "framework",
       {"transfers could overlap computing", "通信可以与计算重叠"},
       {"overlap gradient reduction with the backward pass; tune bucket sizes",
        "梯度规约与反向计算重叠；调整 bucket 大小"}},
      {"comm.small", kOpportunity, "framework",
       {"many small collectives", "小包集合通信过多"},
       {"larger buckets; gradient accumulation", "增大 bucket；梯度累积"}},
      {"pp.bubble", kOpportunity, "model",
       {"pipeline bubble of few micro-batches", "micro-batch 过少导致流水线气泡"},
       {"more micro-batches; an interleaved schedule", "增加 micro-batch；使用交织流水"}},
  };
  return entries;
}

const CatalogueEntry& EntryOf(std::string_view id) {
  const auto found = std::find_if(Catalogue().begin(), Catalogue().end(),
                                  [&](const CatalogueEntry& entry) { return entry.id == id; });
  if (found == Catalogue().end()) throw std::out_of_range(std::string(id));
  return *found;
}

}  // namespace mpa
