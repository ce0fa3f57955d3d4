// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/measure/op_tree.h"

namespace mpa {

/// An operator that a module called itself, with the device work of that operator's span.
struct ModuleOp {
  std::uint32_t op = 0;
  std::vector<DeviceWork> work;

  ExactSum Time() const;
};

/// A call of a module. Its texts are of the tree.
struct Module {
  TimeNs start = 0, end = 0;
  std::string_view name;  ///< "nn.Module: Linear_0", "[ BACKWARD ]/nn.Module: Net_0/nn.Module: ..."
  /// With those of all modules around it: "/nn.Module: Net_0/nn.Module: ..."
  std::string_view full_name;
  std::string_view call_stack;          ///< from the outermost function to the innermost; ends
                                        ///< with "..." beyond 1000 levels or 32 KiB
  int depth = 0;                        ///< 2 for modules that no other holds, whose level is 1
  std::vector<std::uint32_t> children;  ///< in order of start
  std::vector<ModuleOp> ops;            ///< in order of start
  ExactSum device_self;                 ///< of work launched in the module and in none within it
  ExactSum device_total;
};

/// The calls of one pass of the model, each thread for itself.
struct ModuleTree {
  StringPool texts;  ///< of all calls: each step has the same
  std::vector<Module> modules;
  std::vector<std::uint32_t> roots;  ///< in order of start
  bool too_deep = false;             ///< see module_names.h; full names and call stacks are missing
};

struct ModuleTrees {
  ModuleTree forward;
  ModuleTree backward;  ///< calls that the backward links tie to a forward module
};

/// True when the capture contains modules.
bool HasModules(const RankTrace& trace);

/// Builds the module calls of a rank. Forward: python calls "nn.Module: ..." and the optimizer's
/// operators. Backward: an operator that a backward link ties to a forward operator stands for the
/// module of that. Needs host operators, launches, device work, python calls and backward links.
ModuleTrees BuildModuleTrees(const OpTree& ops);

}  // namespace mpa
