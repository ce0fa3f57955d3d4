// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/moved_data.h"

#include <string_view>

#include "mpa/base/text.h"

namespace mpa {
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

}  // namespace mpa
