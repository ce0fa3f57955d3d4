// SPDX-License-Identifier: Apache-2.0
// Which tasks are kernels, the host's records of their operators, and which are copies.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "mpa/base/fields.h"
#include "mpa/base/language.h"
#include "mpa/raw/labels.h"
#include "stages.h"
#include "tensors.h"

namespace mpa::raw {
namespace {

constexpr std::uint32_t kAiCpu = 1, kCommunication = 9, kCommunicationOnAiCpu = 256;

// The core of a kernel if only the kind of task is known; empty: not a kernel.
std::string_view CoreOfTaskType(std::string_view type) {
  if (type == "KERNEL_AICORE") return "AI_CORE";
  if (type == "KERNEL_AICPU") return "AI_CPU";
  if (type == "KERNEL_AIVEC" || type == "KERNEL_SIMT") return "AI_VECTOR_CORE";
  if (type == "KERNEL_MIX_AIC") return "MIX_AIC";
  if (type == "KERNEL_MIX_AIV") return "MIX_AIV";
  return {};
}

bool UsesContexts(std::string_view type) {
  return type == "FFTS_PLUS" || (type != "KERNEL_AICPU" && !CoreOfTaskType(type).empty());
}

class KernelFinder {
 public:
  KernelFinder(const HostSide& host, TensorSets& tensors, Dictionary& dictionary, Session& session)
      : host_(host),
        tensors_(tensors),
        dictionary_(dictionary),
        session_(session),
        none_(session.strings.Intern("N/A")),
        yes_(session.strings.Intern("YES")),
        no_(session.strings.Intern("NO")),
        dynamic_(session.strings.Intern("dynamic")),
        static_(session.strings.Intern("static")) {}

  // Of a level at which operators are recorded.
  void CountMissingNodes() {
    if (session_.info.level < 1 || !host_.nodes.empty() || nameless_ == 0) return;
    session_.issues.Count(
        Say("host/node_basic_info is missing: {} kernels have no operator type and no"
            " shapes; copy the capture again",
            nameless_),
        "no record of it");
  }

  void Visit(std::size_t row, std::int32_t host_row) {
    const HostTask& record = host_.tasks[static_cast<std::size_t>(host_row)];
    const std::int32_t call = host_.call_of_task[static_cast<std::size_t>(host_row)];
    const std::int32_t node = At(host_.tree.node, call);
    const bool in_collective = At(host_.tree.communication, call) >= 0;
    const std::string_view type = session_.strings.View(session_.tasks.host_type[row]);
    if (Computes(type, node, in_collective)) {
      if (IsGroupOfNamedContexts(row, type, At(host_.tree.outer_node, call))) return;
      AddOfNode(row, record, call, type);
    } else if (!in_collective && !CoreOfTaskType(type).empty()) {
      if (session_.tasks.group[row] != 0 && UsesContexts(type)) return;
      if (const CapturedOp* op = host_.capture.OpOf(record)) {
        AddOfCapture(row, record, *op);
      } else if (record.function != 0) {
        AddOfFunction(row, record, type);
      }
    }
  }

 private:
  static std::int32_t At(const std::vector<std::int32_t>& column, std::int32_t row) {
    return row < 0 ? -1 : column[static_cast<std::size_t>(row)];
  }

  bool Computes(std::string_view type, std::int32_t node, bool in_collective) const {
    if (node < 0) return false;
    const auto at = static_cast<std::size_t>(node);
    // Step notes of a graph, and collectives of another library.
    if (session_.strings.View(session_.calls.name[at]) == "step_info") return false;
    if (session_.strings.View(session_.calls.item[at]).starts_with("Lccl")) return false;
    if (type == "FFTS_PLUS") return !in_collective;
    return type.starts_with("KERNEL") || type == "STARS_COMMON";
  }

  // In this case the kernels are the contexts, not the task around them.
  bool IsGroupOfNamedContexts(std::size_t row, std::string_view type, std::int32_t node) const {
    return session_.tasks.group[row] != 0 && UsesContexts(type) &&
           host_.contexts_by_id.HasCall(node);
  }

  // The operator of a task: named by its context, else the first that was recorded after it.
  const NodeInfo* FindNode(std::size_t row, const HostTask& record, std::int32_t node,
                           std::int32_t outer_node) const {
    const auto context = static_cast<std::uint64_t>(session_.tasks.context[row]);
    if (context != kWholeTask) {
      const auto named = host_.contexts_by_id.Of(outer_node, context);
      if (!named.empty()) {
        const std::uint64_t name = host_.contexts[named.front().record].name;
        const auto nodes = host_.nodes_by_name.Of(node, name);
        if (!nodes.empty()) return &host_.nodes[nodes.front().record];
      }
    }
    const auto nodes = host_.nodes_of.Of(node);
    if (nodes.empty()) return nullptr;
    const auto after = std::partition_point(nodes.begin(), nodes.end(), [&](std::uint32_t i) {
      return host_.nodes[i].time < record.time;
    });
    return &host_.nodes[after == nodes.end() ? nodes.back() : *after];
  }

  // The last tensors recorded under the name, all at one instant.
  TensorTexts TensorsOf(std::int32_t outer_node, std::uint64_t name) {
    const auto records = host_.tensors_by_name.Of(outer_node, name);
    std::vector<std::uint32_t>& sets = sets_;
    sets.clear();
    constexpr std::size_t kMaxRecords = 256;  // of 5 tensors each
    for (auto it = records.rbegin(); it != records.rend() && sets.size() < kMaxRecords; ++it) {
      const TensorRecord& record = host_.tensors[it->record];
      if (record.time != host_.tensors[records.back().record].time) break;
      sets.push_back(record.set);
    }
    std::ranges::reverse(sets);
    return tensors_.Texts(sets);
  }

  StringId CoreName(std::uint32_t core) {
    const std::string_view name = NameOf(CoreTypes(), core);
    return session_.strings.Intern(name.empty() ? std::to_string(core) : std::string(name));
  }

  // A kernel of which only the task is known.
  Kernels::Row Unknown(std::size_t row, const HostTask& record) const {
    return {{.op_type = none_,
             .core = none_,
             .state = none_,
             .input_shapes = none_,
             .input_types = none_,
             .input_formats = none_,
             .output_shapes = none_,
             .output_types = none_,
             .output_formats = none_,
             .hf32 = none_,
             .blocks = record.has_blocks ? record.blocks : 0,
             .mix_blocks = record.has_blocks ? record.mix_blocks : 0},
            {.task = static_cast<std::int32_t>(row), .attributes = none_}};
  }

  bool level0() const { return session_.info.level == 0; }

  void AddOfNode(std::size_t row, const HostTask& record, std::int32_t call,
                 std::string_view type) {
    const std::int32_t node = At(host_.tree.node, call);
    const std::int32_t outer_node = At(host_.tree.outer_node, call);
    const std::int32_t part = At(host_.tree.communication, call);
    const NodeInfo* info = FindNode(row, record, node, outer_node);
    Kernels::Row kernel = Unknown(row, record);
    if (part >= 0) {
      kernel.name = session_.calls.item[static_cast<std::size_t>(part)];
    } else if (info != nullptr) {
      kernel.name = dictionary_.Text(info->name);
    } else {
      kernel.name = session_.calls.item[static_cast<std::size_t>(node)];
    }
    if (info == nullptr && part < 0) ++nameless_;
    if (!level0()) {
      if (info != nullptr) {
        Describe(*info, record, part >= 0, type, outer_node, kernel);
      } else if (const std::string_view core = CoreOfTaskType(type); !core.empty()) {
        kernel.core = session_.strings.Intern(core);
      }
    }
    Append(row, kernel, part < 0);
  }

  void Describe(const NodeInfo& info, const HostTask& record, bool in_collective,
                std::string_view type, std::int32_t outer_node, Kernels::Row& kernel) {
    std::uint32_t core = info.core;
    if (in_collective && type == "KERNEL_AICPU") core = kCommunicationOnAiCpu;
    if (in_collective && type == "KERNEL_AICORE") core = kCommunication;
    if (!in_collective && type == "KERNEL_AICPU" && core == kCommunication) core = kAiCpu;
    kernel.op_type = dictionary_.Text(info.op_type);
    kernel.core = CoreName(core);
    kernel.state = info.dynamic ? dynamic_ : static_;
    kernel.hf32 = info.hf32 ? yes_ : no_;
    if (!record.has_blocks) SetBlocks(info.blocks, kernel);
    const auto attributes = host_.attributes_by_name.Of(outer_node, info.name);
    if (!attributes.empty()) {
      kernel.attributes = dictionary_.Text(host_.attributes[attributes.back().record].text);
    }
    SetTensors(TensorsOf(outer_node, info.name), kernel);
  }

  static void SetBlocks(std::uint32_t blocks, Kernels::Row& kernel) {
    kernel.blocks = blocks & 0xFFFF;
    kernel.mix_blocks = kernel.blocks * (blocks >> 16);
  }

  static void SetTensors(const TensorTexts& texts, Kernels::Row& kernel) {
    std::tie(kernel.input_shapes, kernel.input_types, kernel.input_formats, kernel.output_shapes,
             kernel.output_types, kernel.output_formats) = FieldsOf(texts);
  }

  // Of a captured graph, whose operators were recorded by their tasks.
  void AddOfCapture(std::size_t row, const HostTask& record, const CapturedOp& op) {
    Kernels::Row kernel = Unknown(row, record);
    kernel.name = dictionary_.Text(op.name);
    if (!level0()) {
      kernel.op_type = dictionary_.Text(op.op_type);
      kernel.core = CoreName(op.core);
      kernel.state = op.dynamic ? dynamic_ : static_;
      kernel.hf32 = op.hf32 ? yes_ : no_;
      if (op.attributes != 0) kernel.attributes = dictionary_.Text(op.attributes);
      if (!record.has_blocks) SetBlocks(op.blocks, kernel);
      SetTensors(tensors_.Texts(std::array{op.tensors}), kernel);
    }
    Append(row, kernel, true);
  }

  // Launched without an operator around it.
  void AddOfFunction(std::size_t row, const HostTask& record, std::string_view type) {
    Kernels::Row kernel = Unknown(row, record);
    kernel.name = dictionary_.Text(record.function);
    if (!level0()) {
      kernel.op_type = kernel.name;
      kernel.core = session_.strings.Intern(CoreOfTaskType(type));
    }
    Append(row, kernel, true);
  }

  void Append(std::size_t row, const Kernels::Row& kernel, bool is_kernel_only) {
    if (is_kernel_only) {
      session_.tasks.kind[row] = TaskKind::kKernel;
      session_.tasks.detail[row] = static_cast<std::int32_t>(session_.kernels.Size());
    }
    session_.kernels.Append(kernel);
  }

  const HostSide& host_;
  TensorSets& tensors_;
  Dictionary& dictionary_;
  Session& session_;
  StringId none_, yes_, no_, dynamic_, static_;
  std::vector<std::uint32_t> sets_;
  std::size_t nameless_ = 0;
};

}  // namespace

void FindKernels(const HostSide& host, const TaskOrigins& origins, TensorSets& tensors,
                 Dictionary& dictionary, Session& session) {
  KernelFinder finder(host, tensors, dictionary, session);
  for (std::size_t row = 0; row < origins.host_task.size(); ++row) {
    if (origins.host_task[row] >= 0) finder.Visit(row, origins.host_task[row]);
  }
  finder.CountMissingNodes();
}

// Sizes and directions of copies. A large copy is cut into several tasks.

namespace {

constexpr std::int64_t kOtherDirection = 65535;

// The records of copies and the bytes that remain in each for further tasks.
class CopyRecords {
 public:
  CopyRecords(const HostCalls& calls, const HostSide& host, std::vector<CopyInfo> copies)
      : copies_(std::move(copies)) {
    std::ranges::sort(copies_, [](const CopyInfo& a, const CopyInfo& b) {
      return std::tie(a.thread, a.time) < std::tie(b.thread, b.time);
    });
    left_.reserve(copies_.size());
    for (const CopyInfo& copy : copies_) left_.push_back(copy.bytes);
    of_calls_ = RecordsOfCalls(calls.Size(), CallsAroundRecords(calls, host.tree, copies_));
  }

  // Sets size and direction of the next task of the record with the time stamp of the task; writers
  // that stamp it later have it in the same call.
  void Take(const HostTask& task, std::int32_t call, std::int64_t& size, std::int64_t& direction) {
    direction = kOtherDirection;
    const std::size_t record = Find(task, call);
    if (record == copies_.size() || left_[record] == 0) return;
    const CopyInfo& copy = copies_[record];
    const std::uint64_t bytes =
        copy.bytes_per_task == 0 ? left_[record] : std::min(left_[record], copy.bytes_per_task);
    left_[record] -= bytes;
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    size = static_cast<std::int64_t>(std::min(bytes, kMax));
    constexpr std::uint16_t kLastDirection = 7;
    if (copy.direction <= kLastDirection) direction = copy.direction;
  }

 private:
  std::size_t Find(const HostTask& task, std::int32_t call) const {
    const auto exact = std::lower_bound(
        copies_.begin(), copies_.end(), task, [](const CopyInfo& a, const HostTask& b) {
          return std::tie(a.thread, a.time) < std::tie(b.thread, b.time);
        });
    if (exact != copies_.end() && exact->thread == task.thread && exact->time == task.time) {
      return static_cast<std::size_t>(exact - copies_.begin());
    }
    const auto in_call = of_calls_.Of(call);
    const auto after = std::partition_point(in_call.begin(), in_call.end(), [&](std::uint32_t i) {
      return copies_[i].time < task.time;
    });
    return after == in_call.end() ? copies_.size() : *after;
  }

  std::vector<CopyInfo> copies_;
  std::vector<std::uint64_t> left_;
  RecordsOfCalls of_calls_;
};

}  // namespace

void FindCopies(const HostInput& input, const HostSide& host, const TaskOrigins& origins,
                Session& session) {
  CopyRecords records(session.calls, host, ReadCopyInfos(input));
  for (std::size_t row = 0; row < origins.host_task.size(); ++row) {
    if (!IsCopy(session, row)) continue;
    const auto host_row = static_cast<std::size_t>(origins.host_task[row]);
    records.Take(host.tasks[host_row], host.call_of_task[host_row], session.tasks.copy_bytes[row],
                 session.tasks.copy_direction[row]);
  }
}

}  // namespace mpa::raw
