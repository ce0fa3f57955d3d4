// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/diagnosis/findings/advice.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/measure/time_category.h"

/// What a finding is: all that is said of it on whichever job it is found. The declaration stands
/// in the file that looks for it; catalogue.h lists all.
namespace mpa {

/// A deviation from what is normal for the job, or work that is as it was written and could be
/// faster.
enum class FindingKind : std::uint8_t { kFault, kOpportunity };

/// Where findings show. Those of one area are looked for one after the other, in the order of the
/// catalogue.
enum class Area : std::uint8_t {
  kRanks,    ///< what a rank does more than its peers
  kBalance,  ///< work that is divided unevenly
  kCommunication,
  kHosts,
  kDevices,
  kLatency,   ///< how long requests of a server wait; wins no time of a step
  kSettings,  ///< of the job and its memory
  kCapture,   ///< what the captures can tell
};

/// The commands of the Python tool that tell only some findings.
enum class Dimension : std::uint8_t { kOfArea, kNone, kComputation, kSchedule };

/// What captures may lack, in the order in which it is told.
enum class Record : std::uint8_t {
  kCalls,    ///< of the runtime
  kGarbage,  ///< collections of garbage
  kStacks,
  kLinkLimits,  ///< what links and ports move at most
  kTransfers,
  kSizes,  ///< of transfers, where nothing else tells small operations
  kShapes,
  kGraphShapes,    ///< of kernels of captured graphs
  kShapesOfRanks,  ///< by which work of ranks is compared
  kTensors,
  kMemoryLimits,  ///< what the memory of the device moves at most
  kClock,
  kRatedClock,
  kStages,  ///< a rank of every stage of the pipeline
  kPeers,   ///< ranks to compare with
};

/// "shapes of kernels": what a record is.
std::string_view WordsOf(Record record, bool on_gpu);

/// What the captures of a job hold, by which a finding can be looked for.
struct Coverage {
  const Thresholds& thresholds;
  bool on_gpu = false, operations = false, transfers = false, calls = false;
  bool threads = false;   ///< the scheduler of the operating system was recorded
  bool nodes = false;     ///< and which NUMA node each core is of
  bool compares = false;  ///< enough ranks have a role in common
  double steps = 0;       ///< that count
  std::size_t ranks = 0;
  std::int64_t stages = 1;
  bool serves = false;            ///< the steps are those of a server
  bool decodes_by_graph = false;  ///< some of them decode, and run captured graphs
  bool counts_packets = false;    ///< that network ports lose
  bool counts_links = false;      ///< what links move
  bool tells_process = false;     ///< the memory of the process beside that of its allocators
  bool runs_graphs = false;       ///< captured or compiled graphs that were launched as a whole
  bool system_calls = false, locks = false;  ///< of threads of the host
  bool cache_misses = false;                 ///< of functions of the program
  bool memory = false;  ///< what the allocators hold at the end of each step that counts
};
inline bool HasOperations(const Coverage& job) { return job.operations; }
inline bool HasTransfers(const Coverage& job) { return job.operations && job.transfers; }
inline bool KnowsThreads(const Coverage& job) { return job.threads; }
inline bool ComparesRanks(const Coverage& job) { return job.compares; }
inline bool HasStages(const Coverage& job) { return job.stages > 1; }

struct FindingSearch;
struct Conclusions;

/// An entry of the catalogue: all that is known of a kind of finding before any capture.
struct FindingType {
  Area area = Area::kHosts;
  std::string_view id = {};  ///< "rank.late_host"
  FindingKind kind = FindingKind::kFault;
  /// Who can fix it: "model", "data", "framework", "operator", ...
  std::vector<std::string_view> owners = {};
  std::string_view title = {};  ///< with "{}" for the ranks or the link, where it has any

  std::string_view looked_at = {};  ///< what of the capture speaks for it
  std::string_view refuted_by =
      {};  ///< what is seen where the symptom has no or another cause: nothing is said
  Dimension dimension = Dimension::kOfArea;
  std::string_view problem = {};              ///< in the words of the Python tool; empty: its title
  std::vector<TimeCategory> categories = {};  ///< of the accounting that it is about
  std::vector<Record> needs = {};             ///< without them it cannot be judged
  bool npu_alone = false;                     ///< GPUs cannot have it
  /// True for jobs that can have it, and in which it is looked for; null: as its area has it.
  bool (*applies)(const Coverage& job) = nullptr;
  /// Adds it, and others that show in the same work; null: one of these looks for it.
  void (*find)(FindingSearch& search) = nullptr;
  /// Adds it in the place of `find`, by what the findings that cost the step leave.
  void (*conclude)(Conclusions& conclusions) = nullptr;
  Advice advice = {};
  /// Of a rank that is late by work that one of these is about, that one's advice is given.
  std::vector<const FindingType*> take_advice_from = {};
  std::vector<const Threshold*> thresholds = {};
};

using Owners = std::vector<std::string_view>;
/// What every entry has, then the rest by name.
inline FindingType Fault(Area area, std::string_view id, Owners owners, std::string_view title,
                         FindingType rest) {
  rest.area = area;
  rest.id = id;
  rest.owners = std::move(owners);
  rest.title = title;
  return rest;
}
inline FindingType Opportunity(Area area, std::string_view id, Owners owners,
                               std::string_view title, FindingType rest) {
  rest.kind = FindingKind::kOpportunity;
  return Fault(area, id, std::move(owners), title, std::move(rest));
}

/// What is said of some cases of a finding instead.
struct FindingVariant {
  std::string_view title = {};  ///< empty: as the finding
  Advice advice;
};

/// All categories of kernels.
std::vector<TimeCategory> ComputeCategories();

}  // namespace mpa
