// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/diagnosis/part/part.h"
#include "mpa/diagnosis/part/rank_graph.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/host_timeline.h"
#include "mpa/mfu/shapes.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/step_bounds.h"

namespace mpa {

/// Numbers texts in the order in which they are asked for.
class PartNames {
 public:
  explicit PartNames(std::vector<std::string>& names) : names_(names) {
    for (NameId number = 0; number < names.size(); ++number)
      numbers_.try_emplace(names[number], number);
  }
  NameId Of(std::string_view text) {
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    const auto number = static_cast<NameId>(names_.size());
    numbers_.emplace(names_.emplace_back(text), number);
    return number;
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::string>& names_;
  std::unordered_map<std::string, NameId, Hash, std::equal_to<>> numbers_;
};

/// Shapes as operators have them, "[[32, 3], [], 8]", as captures of NPUs write them: "32,3;;8".
std::string ListedShapes(std::string_view text);

/// The kinds of the kernels of the part's graph, and the clock while they ran.
void NameKernels(const RankTrace& trace, PartNames& names, RankDiagnosis& part);

/// What a place of the host is called where garbage is collected.
inline constexpr std::string_view kCollection = "garbage collection";

/// The work of the stretches by class, and the operators, frames and calls that it consists of.
void AddShares(const RankTrace& trace, const HostTimeline& timeline, const CallSites& sites,
               const std::vector<HostStretch>& stretches, PartNames& names, RankDiagnosis& part);

/// What kept the threads from running within the stretches.
void AddThreadWaits(const RankTrace& trace, const std::vector<HostStretch>& stretches,
                    PartNames& names, RankDiagnosis& part);

/// The calls of functions with the counters of the processor, and what of the stretches lies in
/// them.
void AddCountedCalls(const RankTrace& trace, const std::vector<HostStretch>& stretches,
                     PartNames& names, RankDiagnosis& part);

/// Which operators asked for the kernels of the part's graph, whose rows are still those of the
/// trace.
void FindOrigins(const RankTrace& trace, TimeNs host_offset, const CallSites& sites,
                 PartNames& names, RankDiagnosis& part);

/// The operators that asked for the kernels of a GPU; the rows of the part's graph are still those
/// of the trace.
void FindKernelOperators(const RankTrace& trace, PartNames& names, RankDiagnosis& part);

/// Finds the host's work of the part that starts the program up, see HostShare.
void MarkStartUp(RankDiagnosis& part);

/// What the operations of the part moved. `number`: the operation by row of the communications.
void AddTransfers(const RankTrace& trace,
                  const std::unordered_map<std::int32_t, std::uint32_t>& number, PartNames& names,
                  RankDiagnosis& part);

/// How long launches take, and which of the part's blocked calls stand directly behind one.
void AddLaunches(const RankTrace& trace, const HostSteps& steps, RankDiagnosis& part);

/// Gaps of 1 ms or more in which the host had work to issue, but none of its threads recorded
/// anything: something stopped the whole process. Marks of steps do not count as a record.
std::vector<SilentGap> FindSilentGaps(const RankTrace& trace, const HostTimeline& timeline,
                                      const std::vector<HostStretch>& stretches);

}  // namespace mpa
