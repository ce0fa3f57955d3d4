// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/collectives/instances.h"
#include "mpa/diagnosis/part/analyzer_rows.h"
#include "mpa/diagnosis/part/counter_facts.h"
#include "mpa/diagnosis/part/rank_graph.h"
#include "mpa/measure/earlier_time.h"
#include "mpa/measure/host_alone.h"
#include "mpa/measure/thread_time.h"
#include "mpa/measure/time_category.h"
#include "mpa/measure/transfer_times.h"
#include "mpa/mfu/roofline.h"
#include "mpa/model/serving_batch.h"
#include "mpa/recipe/packed_rows.h"

namespace mpa {

/// RankDiagnosis::source of a GPU trace.
inline constexpr const char* kGpuSource = "kineto";

/// The transport between cards of one host.
inline constexpr std::string_view kCardTransport = "SDMA";

/// LongTask: of at least so many times what is usual. No rule can ask for shorter ones.
inline constexpr TimeNs kLongTaskRatio = 5;

/// Texts of a part by number.
using NameId = std::uint32_t;

/// Exposed time of an operation of which the capture does not tell what it was.
struct UnsplitPiece {
  static constexpr bool kInColumns = true;
  std::uint32_t collective = 0;  ///< position in the graph's
  TimeNs begin = 0, end = 0;     ///< on the clock of the device
};

/// Kernels of a type, or work of the host of a class, in a step.
struct WorkSum {
  static constexpr bool kInColumns = true;
  NameId name = 0;  ///< of the type or class
  bool on_host = false;
  TimeNs time = 0;
};

/// Of the device, in bytes, as the allocators report it, but for the last; -1: not recorded.
struct StepMemory {
  std::int64_t allocated = -1;       ///< what tensors take at the end of the step
  std::int64_t most_allocated = -1;  ///< in the step
  std::int64_t reserved = -1;        ///< at its end
  std::int64_t process = -1;         ///< of the whole process at its end, as the device tells it

  bool Known() const { return allocated >= 0 && reserved >= 0; }
};

/// One step of a rank: how its time was spent.
struct StepPart {
  std::int32_t id = -1;
  TimeNs begin = 0, end = 0;       ///< on the clock of the device
  std::vector<TimeNs> categories;  ///< by TimeCategory
  std::int64_t mhz = 0;            ///< mean clock while kernels ran; 0: not recorded
  /// Calls that launched kernels, how long they took by their median and upper decile, and
  /// together.
  std::int64_t launches = 0;
  TimeNs launch_median = 0, launch_decile = 0, launch_time = 0;
  std::vector<UnsplitPiece> unsplit;
  ServingBatch batch = {};  ///< of a server
  std::int64_t graphs = 0;  ///< captured or compiled graphs that the host launched
  std::vector<WorkSum> work{};
  StepMemory memory = {};
};

/// Work of the host on an edge of the graph, by class.
struct HostShare {
  static constexpr bool kInColumns = true;
  std::uint32_t edge = 0;
  TimeCategory category{};
  bool in_optimizer = false;  ///< within Optimizer.step
  /// Of a capture without steps: up to the first launch of all, or to the first of a kind of
  /// kernel, when the program loads libraries and code.
  bool starts_up = false;
  TimeNs time = 0;
};

/// Where the host spent the time of a share: all pieces of one operator, frame or call.
struct HostPlace {
  static constexpr bool kInColumns = true;
  std::uint32_t share = 0;  ///< position in the shares
  NameId name = 0;
  NameId line = 0;          ///< of the program, around the longest piece; see CallSites
  std::uint32_t count = 0;  ///< of its events
  TimeNs time = 0;
  TimeNs longest = 0, start = 0;  ///< the longest piece, and when its event began
};

/// A part has more of them than of anything else.
using HostPlaces = PackedRows<HostPlace, &HostPlace::share>;

/// A call that waited for the device, as the what-ifs need it.
struct BlockedPart {
  static constexpr bool kInColumns = true;
  std::uint32_t edge = 0;
  TimeCategory category{};  ///< class of everything that was open then
  NameId name = 0;          ///< of the call
  NameId place = 0;         ///< of the operator around it
  std::int32_t step = -1;
  TimeNs start = 0, dur = 0;
  bool behind_launch = false;  ///< nothing lies between it and the launch of a kernel
  NameId line = 0;             ///< of the program, around the call; see CallSites
  std::uint32_t own_edge = 0;  ///< see BlockedCall
  TimeNs own = 0;
};

/// A kind of kernel: what equal work is called, and what is known of it.
struct KernelKind {
  static constexpr bool kInColumns = true;
  NameId type = 0, shapes = 0;
  NameId types = 0;          ///< of its inputs
  NameId outputs = 0;        ///< shapes of what it makes; empty: not recorded, or they differ
  NameId name = 0;           ///< of the first of them
  TimeNs least = 0;          ///< what its multiplications take at the chip's peak; 0: not known
  std::int64_t bytes = 0;    ///< of its tensors, each read or written once; 0: not known
  std::int64_t written = 0;  ///< bytes of what it makes; 0: not known
  bool streams = false;      ///< works element by element, so that memory holds it up
  bool converts = true;      ///< false: layout and type are recorded and are the same on both sides
  bool multiplies_fp32 = false;
  bool on_vector_cores = false;  ///< on these alone
  /// Of the kernels whose use of the L2 cache was recorded: their time, and the same times the part
  /// of their requests that hit.
  TimeNs cache_time = 0;
  double cache_hits = 0;
};

/// The operator or call that asked for a kernel.
struct KernelOrigin {
  static constexpr bool kInColumns = true;
  std::uint32_t node = 0;
  NameId op = 0;    ///< the innermost operator
  NameId line = 0;  ///< of the program, around it; see CallSites
};

/// The operators of the host that asked for kernels, where nothing else tells what kernels do: the
/// outermost ones.
struct KernelOperators {
  struct Row {
    static constexpr bool kInColumns = true;
    NameId name = 0, shapes = 0;  ///< "aten::relu_", and of its inputs
  };
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<Row> rows;
  std::vector<std::uint32_t> of_node;  ///< by node of the graph; empty: not looked for
};

/// Time within work of the host in which none of its threads recorded anything.
struct SilentGap {
  static constexpr bool kInColumns = true;
  std::uint32_t edge = 0;
  TimeNs start = 0, dur = 0;  ///< in host time
};

/// Within work of the host: time in which a thread that issues work could run and did not, as the
/// scheduler of the operating system recorded it; all of one cause. `doing` kRunning: the time that
/// it took longer because it ran on another NUMA node.
struct ThreadWait {
  static constexpr bool kInColumns = true;
  std::uint32_t edge = 0;
  ThreadDoing doing{};
  bool by_own = false;  ///< a thread of the process itself had the core
  /// "CSD -> acl_thread": who had the core, or which interrupt, and the thread that waited.
  NameId name = 0;
  std::int32_t core = -1;  ///< of the longest piece
  std::uint32_t count = 0;
  TimeNs time = 0;
  TimeNs longest = 0, start = 0;  ///< the longest piece, in host time
};

/// What the scheduler of the operating system says of the threads that issue work.
struct SchedulerFacts {
  bool recorded = false;
  /// How often they gave their core away and had it taken, went on at another core, and of these at
  /// one of another NUMA node; `far_moves` is -1 where nodes are not known.
  std::int64_t given = 0, taken = 0, moves = 0, far_moves = -1;
  double far_ratio = 0;  ///< how many times as long operators take on another node; 0: they do not
  std::vector<ThreadWait> waits;  ///< in order of their edges
};

/// A call of a function of the program on a thread that issues work, with the counters of the
/// processor; -1: not counted.
struct CountedCall {
  static constexpr bool kInColumns = true;
  NameId name = 0;
  std::int64_t cycles = -1, instructions = -1, misses = -1;
  TimeNs start = 0, dur = 0;  ///< in host time
};
/// How much of the work of the host on an edge lies in such a call.
struct CountedTime {
  static constexpr bool kInColumns = true;
  std::uint32_t edge = 0, call = 0;
  TimeNs time = 0;
};
struct FunctionFacts {
  bool recorded = false;  ///< misses of caches were counted
  std::vector<CountedCall> calls;
  std::vector<CountedTime> times;
};

struct OperationPart {
  static constexpr bool kInColumns = true;
  NameId group = 0, name = 0, kind = 0;
  std::int32_t own = -1, peer = -1;  ///< within the group; `peer` of operations between two ranks
  std::int32_t step = -1;
  TimeNs start = 0, dur = 0;
  std::int64_t bytes = 0;  ///< of its message; 0: not recorded
  /// From the last arrival on, as far as tasks are recorded: while data moved, while nothing did
  /// because a peer was slow, and the rest.
  TimeNs moved = 0, held_up = 0, idle = 0;
  TimeNs copied = 0;  ///< copies within the rank, before it has to do with another one
  /// What its tasks sent to other hosts, and while any of them did.
  std::int64_t port_bytes = 0;
  TimeNs port_time = 0;
};

/// What the tasks of an operation moved to or from another member.
struct PeerTransfer {
  static constexpr bool kInColumns = true;
  std::uint32_t operation = 0;
  std::int32_t peer = -1;  ///< within the group
  NameId transport = 0;
  Traffic all{};     ///< the time without what a port served before it
  Traffic odd{};     ///< of sizes that are not a multiple of 512 bytes
  Traffic beside{};  ///< while cube cores computed
};

/// A task that took many times what others of its transport and size take, without what a port
/// served before it.
struct LongTask {
  static constexpr bool kInColumns = true;
  std::uint32_t operation = 0;
  std::int32_t peer = -1;
  NameId transport = 0, name = 0;
  TimeNs start = 0, dur = 0, usual = 0;
};

/// Of the device, in bytes; 0: not recorded.
struct ReservedMemory {
  std::int64_t peak = 0;  ///< that the allocators held at most
  /// Of the allocator whose tensors are recorded: what it held at most, and what its tensors took
  /// then.
  std::int64_t pool = 0, allocated = 0;
  std::int64_t outside = 0;  ///< the most that the process held beside its allocators
  std::int64_t others = 0;   ///< the most that other processes and the system held
  std::vector<ComponentMemory> components = {};  ///< of CANN
};

/// What one rank comes to. Operations are numbered as the collectives of the graph.
struct RankDiagnosis {
  std::string source, level, capture;
  bool has_calls = true;      ///< of the runtime
  bool breaks_off = false;    ///< the end of the run is missing
  bool knows_garbage = true;  ///< collections are recorded, if there are any
  /// Calls into the operating system, and the lock of Python's interpreter, were recorded.
  bool knows_system_calls = false, knows_locks = false;
  bool has_stacks = true;    ///< of Python
  bool has_shapes = false;   ///< operators of a GPU, whether or not one launched a kernel
  bool has_host_ops = true;  ///< operators of the framework, or Python
  bool is_compiled = false;  ///< it runs compiled functions or captured graphs
  bool trains = true;        ///< a backward pass was captured; false: none, and operators were
  bool is_outline = false;   ///< see OutlineOf()
  std::vector<std::string> names;
  std::vector<StepPart> steps;
  EarlierTime earlier = {};  ///< before the first of them
  HostAlone host_alone;      ///< where no device work was recorded, so that there are no steps
  RankGraph graph;           ///< nodes of kernels have the number of their kind as `row`
  std::vector<KernelKind> kinds;
  std::vector<KernelOrigin> origins;  ///< by node; only where a finding is to be explained
  KernelOperators operators;          ///< of a GPU
  std::vector<HostShare> shares;
  /// By share: its time in steps of a server, but before or after the model runs, which gives these
  /// steps their names. Empty where no share has such time.
  std::vector<TimeNs> between;
  HostPlaces places;
  std::vector<SilentGap> gaps;  ///< of 1 ms or more
  SchedulerFacts scheduler;
  FunctionFacts functions;
  std::vector<BlockedPart> blocked;
  std::vector<OperationPart> operations;
  std::vector<PeerTransfer> transfers;
  std::vector<LongTask> long_tasks;
  RankCollectives collectives;
  AnalyzerRows analyzers;
  std::optional<Roofline> roofline;
  std::map<std::string, std::string> settings;  ///< see JobInfo
  std::string host;                             ///< the machine; empty: not recorded
  std::string chip;                             ///< "Ascend910B"; empty: not recorded
  std::int64_t rated_mhz = 0;                   ///< of the cube cores; 0: not recorded
  ReservedMemory memory;
  std::vector<FullLink> full_links;  ///< by name
  bool counts_links = false;         ///< counters of links were recorded
  std::int64_t whole_bytes = 0;      ///< of memory for a replay, beside the outline; about

  /// True where the steps are those of a server.
  bool Serves() const {
    return std::ranges::any_of(
        steps, [](const StepPart& step) { return step.batch.phase != ServingPhase::kUnknown; });
  }

  /// The group of the stages of a pipeline; null: none.
  const JobGroup* Pipeline() const {
    const auto& groups = collectives.groups;
    const auto found = std::ranges::find(groups, "pp", &JobGroup::name);
    return found == groups.end() ? nullptr : &*found;
  }

  /// Of a node of the graph that is a kernel.
  const KernelKind& KindOf(const GraphNode& node) const {
    return kinds[static_cast<std::size_t>(node.row)];
  }
  const std::string& TypeOf(const GraphNode& node) const { return names[KindOf(node).type]; }

  /// The number that the job gives the step at this position; -1: none, or not recorded.
  std::int32_t IdOfStep(std::int32_t position) const {
    const auto at = static_cast<std::size_t>(position);
    return position >= 0 && at < steps.size() ? steps[at].id : -1;
  }
};

/// `explains`: a finding will be explained, which takes more of the trace.
RankDiagnosis MakeRankDiagnosis(const RankTrace& trace, bool explains = false);

/// Sums up the work of each step and what an outline leaves out, of a part that is otherwise made.
void SumUp(RankDiagnosis& part);

/// What a job of many ranks keeps of those that are like others: steps, work in sums, operations
/// and what it saw of others. The graph, and all that belongs to it, is left out.
RankDiagnosis OutlineOf(const RankDiagnosis& part);

/// Throws Error (kCorrupt) when a number of the part names a row that is not there. Parts that were
/// read from files may hold anything.
void CheckPart(const RankDiagnosis& part);

}  // namespace mpa
