// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/measure/module_nest.h"
#include "mpa/measure/thread_groups.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// What told which modules ran when.
enum class ModuleSource : std::uint8_t {
  kNone,
  kMstxRanges,   ///< ranges of the mstx domain "Module"
  kPythonCalls,  ///< Python functions "nn.Module: ..."
};

/// The times at which modules ran.
struct ModuleRanges {
  struct Info {
    std::string name;
    bool backward = false;
    /// The module range whose backward pass this is; of a forward range its own number.
    std::uint32_t forward = 0;
  };
  ModuleSource source = ModuleSource::kNone;
  std::vector<NestSpan> spans;
  std::vector<Info> infos;  ///< of each span

  void Add(const NestSpan& span, Info info) {
    spans.push_back(span);
    infos.push_back(std::move(info));
  }
};

/// The names of all modules around this one, joined by '/', without '/' at the ends.
/// Throws Error (kCorrupt) when it lies too deep (see module_names.h).
std::string PathAround(const ModuleRanges& ranges, const ModuleNest& nest, std::uint32_t module);

/// The modules of the forward pass, in order of start.
ModuleRanges FindForwardModules(const RankTrace& trace, const ThreadGroups& groups);

/// Adds the modules of the backward pass: where operators in a row run the backward pass of one
/// forward module, its name lasts from the first to the last of them, within a range named like the
/// path of the forward module.
void AddBackwardModules(const RankTrace& trace, const ThreadGroups& groups, ModuleRanges& ranges);

}  // namespace mpa
