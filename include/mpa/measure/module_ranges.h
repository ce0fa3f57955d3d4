// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/text.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/queue_index.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Python calls of modules are named "nn.Module: <class>_<number>".
inline constexpr std::string_view kModulePrefix = "nn.Module:";

/// True for the name of a module's call, in whatever case. This and the ranges of the mstx domain
/// "Module" are what tells modules in every command.
inline bool IsModuleCall(std::string_view name) {
  return StartsWithIgnoringCase(name, "nn.module:");
}

/// "Linear" of "Linear_0" and of "nn.Module: Linear_0": the number tells apart modules of one
/// class.
inline std::string_view ModuleClass(std::string_view name) {
  if (IsModuleCall(name)) name.remove_prefix(kModulePrefix.size());
  return Trim(WithoutNumber(name));
}

/// How deep modules may lie in each other, and how long the path of one may be, in bytes. Models
/// stay far below; the paths of a broken or hostile capture, which grow with each level, would fill
/// the memory.
inline constexpr std::size_t kMaxModuleLevels = 256;
inline constexpr std::size_t kMaxModulePath = 16 << 10;
inline constexpr std::string_view kModulesTooDeep =
    "modules lie more than 256 levels deep or have paths of more than 16 KiB, unlike those of any"
    " model";

/// Where an item belongs.
struct NestPlace {
  static constexpr std::int64_t kNone = Nesting::kNone;
  std::int64_t module = kNone;  ///< position in the modules
  bool straddles = false;       ///< begins within a module that ends before the item does
};

/// Modules within modules, and items within them, for each group of threads by itself.
struct ModuleNest {
  std::vector<std::int64_t> parent;    ///< of each module, kNone for the outermost
  std::vector<std::uint32_t> modules;  ///< in order of start, outer ones first
  std::vector<NestPlace> places;       ///< of each item
  std::vector<std::uint32_t> items;    ///< in order of start, the longest first
};

/// Nests the spans as Nesting does. An item that no module holds belongs to the innermost module in
/// which it begins. Items never change where others belong. Modules on
/// kAnyThread hold the items that no module of their own threads holds.
ModuleNest Nest(const std::vector<NestSpan>& modules, const std::vector<NestSpan>& items);

/// When and on which thread the program set a mark or range.
struct MstxPlace {
  TimeNs start = 0, end = 0;
  std::int32_t track = -1;
};

/// Finds the places of mstx events. Refers to the trace. Needs mstx events and queued work.
class MstxPlaces {
 public:
  explicit MstxPlaces(const RankTrace& trace) : trace_(trace), queue_(trace.queued_work) {}

  /// An event on a stream is recorded when the task queue gets to it; its place on the host is
  /// where it was queued.
  MstxPlace Of(std::size_t row) const;

 private:
  const RankTrace& trace_;
  QueueIndex queue_;
};

/// An operator of the forward pass and the one of the backward pass that belongs to it: rows of the
/// host operators.
struct BackwardPair {
  std::size_t forward = 0, backward = 0;
};

/// The pairs that the capture tells, in its order; those of which an operator is missing are left
/// out. Needs host operators and backward links.
std::vector<BackwardPair> FindBackwardPairs(const RankTrace& trace);

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
