// SPDX-License-Identifier: Apache-2.0
#include "mpa/raw/labels.h"

#include "mpa/base/text.h"

namespace mpa::raw {
namespace {

// The type in the host record, unless it only says that there is more to tell.
StringId PlainType(const Session& session, std::size_t task) {
  const StringId host = session.tasks.host_type[task];
  const StringId device = session.tasks.device_type[task];
  const bool says_nothing = IsOneOf(session.strings.View(host), {"", "FFTS_PLUS", "UNKNOWN"});
  return says_nothing && device != StringId::kEmpty ? device : host;
}

bool IsCopy(const Session& session, std::size_t task) {
  return session.strings.View(session.tasks.host_type[task]) == "MEMCPY_ASYNC";
}

}  // namespace

StringId TaskName(const Session& session, std::size_t task) {
  if (session.tasks.kind[task] == TaskKind::kKernel && !IsCopy(session, task)) {
    return session.kernels.name[static_cast<std::size_t>(session.tasks.detail[task])];
  }
  return PlainType(session, task);
}

StringId TaskType(const Session& session, std::size_t task) {
  const StringId device = session.tasks.device_type[task];
  if (IsCopy(session, task) && device != StringId::kEmpty) return device;
  if (session.tasks.kind[task] == TaskKind::kKernel) {
    const auto kernel = static_cast<std::size_t>(session.tasks.detail[task]);
    const StringId core = session.kernels.core[kernel];
    if (!IsOneOf(session.strings.View(core), {"", "N/A"})) return core;
  }
  return PlainType(session, task);
}

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kAcl:
      return "AscendCL";
    case Level::kModel:
      return "Model";
    case Level::kNode:
      return "Node";
    case Level::kCommunication:
      return "Communication";
    case Level::kRuntime:
      return "Runtime";
    case Level::kProfiling:
      return "Profiling";
    case Level::kPta:
      return "Pta";
    case Level::kPytorch:
      return "PyTorch";
    case Level::kTx:
      return "MsTx";
    case Level::kDpu:
      return "Dpu";
  }
  return "";
}

bool IsListed(const Session& session, std::size_t kernel) {
  const std::string_view core = session.strings.View(session.kernels.core[kernel]);
  if (IsOneOf(core, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU"})) return false;
  return core != "COMMUNICATION" ||
         session.strings.View(session.kernels.name[kernel]).ends_with("AivKernel");
}

}  // namespace mpa::raw
