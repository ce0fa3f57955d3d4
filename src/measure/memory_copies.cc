// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/memory_copies.h"

#include <algorithm>
#include <array>

#include "mpa/base/text.h"
#include "mpa/model/device_tasks.h"

namespace mpa {
namespace {

// Databases name only the copies that no operation of communication makes.
bool IsNamedCopy(const RankTrace& trace, std::size_t task) {
  const std::string_view name = trace.strings.View(trace.device_tasks.name[task]);
  return IsCopy(name) ||
         (!name.empty() && IsCopy(trace.strings.View(trace.device_tasks.type[task])));
}

}  // namespace

TasksOfOperations::TasksOfOperations(const RankTrace& trace) : tasks_(trace.device_tasks) {
  for (const std::int64_t connection : trace.communications.connection) {
    if (connection >= 0) connections_.insert(connection);
  }
  for (const std::int64_t stream : trace.comm_tasks.stream) {
    if (stream >= 0) streams_.insert(stream);
  }
  const CommTasks& listed = trace.comm_tasks;
  times_.reserve(listed.Size());
  for (std::size_t i = 0; i < listed.Size(); ++i) {
    times_.emplace_back(listed.start[i], listed.dur[i]);
  }
  std::ranges::sort(times_);
}

bool TasksOfOperations::Contains(std::size_t task) const {
  return connections_.contains(tasks_.connection[task]) || streams_.contains(tasks_.stream[task]) ||
         std::ranges::binary_search(times_, std::pair(tasks_.start[task], tasks_.dur[task]));
}

std::vector<std::size_t> MemoryCopies(const RankTrace& trace) {
  const TasksOfOperations of_operations(trace);
  std::vector<std::size_t> copies;
  for (std::size_t i = 0; i < trace.device_tasks.Size(); ++i) {
    if (IsNamedCopy(trace, i) && !of_operations.Contains(i)) copies.push_back(i);
  }
  return copies;
}

std::string_view TaskKind(const RankTrace& trace, std::size_t task) {
  constexpr std::string_view kCopy = "MEMCPY_ASYNC";
  if (trace.strings.View(trace.device_tasks.name[task]) == kCopy) return kCopy;
  const std::string_view type =
      WithoutQueueEntry(trace.strings.View(trace.device_tasks.type[task]));
  return type == "AI_CPU" ? "KERNEL_AICPU" : type;  // so it is called in databases
}

namespace {

constexpr std::int64_t kLargestSignal = 64;  // bytes

}  // namespace

bool SendsPayload(const RankTrace& trace, std::size_t task) {
  const std::string_view type = trace.strings.View(trace.comm_tasks.rdma_type[task]);
  if (!type.empty()) return type == "RDMA_SEND_PAYLOAD";
  return trace.comm_tasks.bytes[task] > kLargestSignal;
}

bool MovesData(const RankTrace& trace, std::size_t task) {
  const CommTasks& tasks = trace.comm_tasks;
  if (tasks.bytes[task] <= kLargestSignal) return false;
  const std::string_view name = trace.strings.View(tasks.name[task]);
  if (name == "RDMASend") return SendsPayload(trace, task);
  return IsOneOf(name, {"Memcpy", "Reduce_Inline"}) &&
         trace.strings.View(tasks.link_type[task]) != "ON_CHIP";
}

bool IsOddSize(std::int64_t bytes) {
  constexpr std::int64_t kLine = 512;
  return bytes > kLine && bytes % kLine != 0;
}

std::int64_t BytesOfElement(std::string_view data_type) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 22> kBytes = {
      {{"INT8", 1},    {"UINT8", 1},  {"BOOL", 1},    {"INT16", 2},  {"UINT16", 2},
       {"FP16", 2},    {"BFP16", 2},  {"FLOAT16", 2}, {"BF16", 2},   {"BFLOAT16", 2},
       {"INT32", 4},   {"UINT32", 4}, {"FP32", 4},    {"FLOAT", 4},  {"FLOAT32", 4},
       {"INT64", 8},   {"UINT64", 8}, {"FP64", 8},    {"DOUBLE", 8}, {"COMPLEX64", 8},
       {"INT128", 16}, {"FP8", 1}}};
  for (const auto& [name, bytes] : kBytes) {
    if (name == data_type) return bytes;
  }
  return 0;
}

std::optional<std::int64_t> BytesOfElements(std::int64_t count, std::string_view data_type) {
  const std::int64_t element = BytesOfElement(data_type);
  std::int64_t bytes = 0;
  if (element == 0 || __builtin_mul_overflow(count, element, &bytes) || !IsSize(bytes))
    return std::nullopt;
  return bytes;
}

}  // namespace mpa
