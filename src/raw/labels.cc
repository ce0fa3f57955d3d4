// SPDX-License-Identifier: Apache-2.0
#include "mpa/raw/labels.h"

#include "mpa/base/text.h"
#include "mpa/raw/enumerations.h"

namespace mpa::raw {
namespace {

// The type in the host record, unless it is only a placeholder for a more exact type.
StringId PlainType(const Session& session, std::size_t task) {
  const StringId host = session.tasks.host_type[task];
  return IsOneOf(session.strings.View(host), {"", "UNKNOWN", "FFTS_PLUS"})
             ? session.tasks.device_type[task]
             : host;
}

}  // namespace

StringId TaskName(const Session& session, std::size_t task) {
  if (session.tasks.kind[task] == TaskKind::kKernel) {
    return session.kernels.name[static_cast<std::size_t>(session.tasks.detail[task])];
  }
  return PlainType(session, task);
}

StringId TaskType(const Session& session, std::size_t task) {
  if (session.tasks.kind[task] == TaskKind::kKernel) {
    const auto kernel = static_cast<std::size_t>(session.tasks.detail[task]);
    const StringId core = session.kernels.core[kernel];
    if (session.strings.View(core) != "N/A") return core;
  }
  return PlainType(session, task);
}

StringId TimelineTaskType(const Session& session, std::size_t task) {
  const bool hwts =
      !session.info.devices.empty() && session.info.devices.front().generation == Generation::kHwts;
  return IsCopy(session, task) && !hwts ? session.tasks.device_type[task] : TaskType(session, task);
}

bool IsCopy(const Session& session, std::size_t task) {
  return session.strings.View(session.tasks.host_type[task]) == "MEMCPY_ASYNC";
}

std::vector<std::int32_t> FirstCopiesOfCollectives(const Session& session) {
  std::vector<std::int32_t> copies(session.collectives.Size(), -1);
  const CollectiveParts& parts = session.parts;
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    if (parts.collective[i] < 0) continue;
    std::int32_t& copy = copies[static_cast<std::size_t>(parts.collective[i])];
    // Parts are in the order of their tasks, and those in the order of their starts.
    if (copy < 0 && IsCopy(session, static_cast<std::size_t>(parts.task[i]))) copy = parts.task[i];
  }
  return copies;
}

bool IsListedKernel(const Session& session, std::size_t kernel) {
  const std::string_view core = session.strings.View(session.kernels.core[kernel]);
  if (core == "COMMUNICATION") {
    return session.strings.View(session.kernels.name[kernel]).ends_with("AivKernel");
  }
  return !IsOneOf(core, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU"});
}

bool IsListedCounter(std::string_view name) {
  if (name.starts_with("aic_")) {
    return !name.starts_with("aic_vec") && !name.starts_with("aic_ub_") &&
           !IsOneOf(name, {"aic_l0c_read_bw", "aic_l0c_write_bw"});
  }
  if (name.starts_with("aiv_")) {
    return !IsOneOf(
        name.substr(4),
        {"mac_time", "mac_ratio", "mte1_time", "mte1_ratio", "fixpipe_time", "fixpipe_ratio",
         "l1_read_bw", "l1_write_bw", "l0a_read_bw", "l0a_write_bw", "l0b_read_bw", "l0b_write_bw",
         "l0c_read_bw_cube", "l0c_write_bw_cube", "mac_fp16_ratio", "mac_int8_ratio", "cube_fops"});
  }
  return true;
}

StringId CallName(const HostCalls& calls, std::size_t call) {
  const bool is_piece = calls.level[call] == Level::kCommunication;
  return is_piece && calls.item[call] != StringId::kEmpty ? calls.item[call] : calls.name[call];
}

std::string ListLines(std::string_view list) {
  std::string lines;
  lines.reserve(list.size() + list.size() / 4);
  for (const char c : list) {
    lines += c;
    if (c == ';') lines += "\r\n";
  }
  return lines;
}

std::string_view LevelPrefix(Level level) {
  const std::string_view name =
      NameOf(kNumbered<"5000: Runtime, 5500: Communication, 10000: Node, 15000: Model, "
                       "20000: AscendCL">,
             static_cast<std::int64_t>(level));
  return name.empty() ? "Api" : name;
}

}  // namespace mpa::raw
