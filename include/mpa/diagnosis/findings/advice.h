// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/rank_state.h"
#include "mpa/base/time.h"

/// What to do about findings. The settings are those of torch_npu and CANN as their environment
/// references describe them.
namespace mpa {

/// What advice on a finding has to fit: how its ranks ran and were captured, and what its calls
/// did.
struct AdviceFacts {
  bool on_gpu = false;       ///< settings of an NPU do not apply
  bool serves = false;       ///< their steps are those of a server
  bool is_compiled = false;  ///< compiled functions or captured graphs run
  /// What the profiler recorded.
  bool has_stacks = false, has_shapes = false, has_memory = false, has_modules = false;
  bool has_level1 = false;  ///< Level1 or more
  bool has_level2 = false;
  bool has_steps = false;  ///< enough of them to tell a habit from an accident
  /// How long calls waited, by what they did: copies in either direction; synchronisations that the
  /// program asks for, and operators that read numbers or sizes from the device.
  TimeNs copying_out = 0, copying_in = 0, synchronising = 0, reading = 0;
  TimeNs copying_pinned = 0;  ///< of the copies, those from and to memory that is pinned
  /// How long iterators of data took, by what they did: those that load the batch themselves, and
  /// those that wait for their workers.
  TimeNs loading = 0, waiting_for_workers = 0;
  bool casts_inputs = false;  ///< of FP32 to half precision, right after they were copied
  /// Operators that work element by element write many bytes beside the tensor that they read.
  bool writes_beside = false;
  /// Most of the time of calls into the operating system is that of calls that manage memory, read
  /// and write files, or talk to a driver.
  bool manages_memory = false, uses_files = false, calls_driver = false;
  bool memory_is_free = false;  ///< half of the device's memory or more is never reserved
  bool logs = false;            ///< functions of Python that take most of it write logs or metrics
  bool trains = true;  ///< a backward pass was captured, or nothing says that there is none
  std::set<RankState> absent{};  ///< of ranks that are not analysed
};

/// Something to do about a finding, for programs.
struct Action {
  using Value = std::variant<std::string, int, bool>;
  std::string_view
      what;  ///< "capture", "analyse", "check", "merge", "set_env", "set_option", "change"
  std::vector<std::pair<std::string_view, Value>> args;
  bool of_ranks = false;  ///< the ranks of the finding are an argument, too
};

/// The setting of the profiler that captures more.
inline constexpr std::string_view kProfilerLevel = "profiler_level";

using Fits = bool (*)(const AdviceFacts& facts);

/// The same for people and for programs.
struct AdvicePart {
  std::string_view text;
  Action action;
  std::string_view setting = {};  ///< what it sets; empty: nothing that captures record
  bool against_poor =
      false;  ///< only where a rank has a value that costs time; else the default is as good
  Fits fits = nullptr;  ///< null: always
};

/// What to do about a finding, the cheapest first.
struct Advice {
  std::vector<AdvicePart> parts;
  std::vector<AdvicePart> of_gpu = {};  ///< the same for a GPU; empty: no other
};

// Actions by name.

inline Action Check(std::string_view subject, std::string_view tool = "") {
  Action action{"check", {{"subject", std::string(subject)}}, true};
  if (!tool.empty()) action.args.emplace_back("tool", std::string(tool));
  return action;
}
inline Action Change(std::string_view subject, std::string_view to) {
  return {"change", {{"subject", std::string(subject)}, {"to", std::string(to)}}};
}
inline Action SetOption(std::string_view option, Action::Value value) {
  return {"set_option", {{"option", std::string(option)}, {"value", std::move(value)}}};
}
inline Action MoreOf(std::string_view option) { return SetOption(option, std::string("more")); }
inline Action Capture(std::vector<std::pair<std::string_view, Action::Value>> options,
                      bool of_ranks = false) {
  return {"capture", std::move(options), of_ranks};
}

// Parts that several findings have.

inline AdvicePart If(Fits fits, AdvicePart part) {
  part.fits = fits;
  return part;
}
inline bool IsCompiled(const AdviceFacts& facts) { return facts.is_compiled; }
inline bool IsNotCompiled(const AdviceFacts& facts) { return !facts.is_compiled; }
inline bool Trains(const AdviceFacts& facts) { return facts.trains; }
inline bool DoesNotTrain(const AdviceFacts& facts) { return !facts.trains; }

/// Of an environment variable.
inline AdvicePart Setting(std::string_view text, std::string_view variable,
                          std::string_view value) {
  return {text,
          {"set_env", {{"variable", std::string(variable)}, {"value", std::string(value)}}},
          variable};
}
/// "VARIABLE=value", which says it in any language.
inline AdvicePart Setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  return Setting({text}, text.substr(0, equals), text.substr(equals + 1));
}
inline AdvicePart BindCores() { return Setting("CPU_AFFINITY_CONF=2"); }
inline AdvicePart BindThreads() {
  return {"bind the threads that launch to cores of their own (taskset -cp CORES THREAD)",
          Change("threads that launch", "cores of their own")};
}
inline AdvicePart BindProcesses() {
  return {"bind the processes to cores", Change("processes", "bound to cores")};
}
inline AdvicePart KeepOthersOff() {
  return {"keep other processes and data workers off these cores",
          Change("other processes and data workers", "other cores")};
}
inline AdvicePart Recompute() {
  return If(Trains, {"recompute activations", Change("activations", "recomputed")});
}
inline AdvicePart CompareNccl() {
  return {"compare the algorithms and protocols of NCCL (NCCL_ALGO, NCCL_PROTO)",
          Check("NCCL_ALGO and NCCL_PROTO")};
}

}  // namespace mpa
