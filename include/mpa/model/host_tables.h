// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What happened on the host: operators, Python, calls of CANN, and how they launched device work.
namespace mpa {

/// Threads, device streams and communication planes: where something ran. Row number = track.
template <template <typename> class Of>
struct TrackFields {
  Of<std::int64_t> pid = Initially{-1}, tid = Initially{-1};
};
struct Tracks : Table<TrackFields> {};

/// Framework operators on the host (aten::add, autograd nodes, ProfilerStep#n).
template <template <typename> class Of>
struct HostOpFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};
  Of<std::int32_t> track = Initially{-1};
  // Details; "N/A" where the capture has none.
  Of<Rare<StringId>> shapes{};  ///< "32,3,224,224;\r\n;\r\n", on GPUs "[[32, 3, 224, 224], [], []]"
  Of<Rare<StringId>> types{};   ///< of the inputs, "float;\r\nScalar;\r\nScalar"
  Of<Rare<StringId>> stack{};  ///< Python call stack, innermost first: "train.py(90): step;\r\n..."
  /// It ran when the graph was captured that a call of this capture replays: its times say its
  /// place within that call, and nothing about the host. See GraphReplays.
  Of<Rare<bool>> replayed{};
};
struct HostOps : Table<HostOpFields> {};

/// Python functions on the host, nn.Module calls among them ("nn.Module: Linear_0").
template <template <typename> class Of>
struct PythonCallFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};
  Of<std::int32_t> track = Initially{-1};
};
struct PythonCalls : Table<PythonCallFields> {};

/// The kind of an mstx event. A start/end range may end on another thread.
enum class MstxKind : std::uint8_t { kMark, kPushPop, kStartEnd };

/// Marks and ranges that the profiled program set itself (mstx).
template <template <typename> class Of>
struct MstxEventFields {
  Of<TimeNs> start{}, dur{};
  Of<MstxKind> kind{};
  Of<StringId> message{}, domain{};
  Of<std::int32_t> track =
      Initially{-1};  ///< thread on which it began; with a stream that of the task queue
  Of<std::int64_t> link =
      Initially{-1};  ///< see Launches; -1: nothing on the host or device refers to it
  // Its side on the device; -1: it has none.
  Of<TimeNs> device_start = Initially{-1}, device_dur = Initially{-1};
};
struct MstxEvents : Table<MstxEventFields> {};

/// Which operator of the backward pass belongs to which of the forward pass; the times are their
/// starts.
template <template <typename> class Of>
struct BackwardLinkFields {
  Of<TimeNs> forward_time{};
  Of<std::int32_t> forward_track = Initially{-1};
  Of<TimeNs> backward_time{};
  Of<std::int32_t> backward_track = Initially{-1};
};
struct BackwardLinks : Table<BackwardLinkFields> {};

/// Work that one host thread handed to another (the task queue): put in the queue from `queued` to
/// `queued + queued_dur`, done from `start` to `start + dur`.
template <template <typename> class Of>
struct QueuedWorkFields {
  Of<TimeNs> queued{};
  Of<std::int32_t> queued_track = Initially{-1};  ///< thread that asked for the work
  Of<TimeNs> start{}, dur{};
  Of<std::int32_t> track = Initially{-1};  ///< thread that did it
  Of<StringId> name{};                     ///< of the work, "Dequeue@aclnnAdd"
  Of<TimeNs> queued_dur{};
};
struct QueuedWork : Table<QueuedWorkFields> {};

/// Calls of the runtime below the framework (CANN) on the host.
template <template <typename> class Of>
struct HostCallFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};  ///< "<Level>@<name>": Node@launch, Model@ModelExecute
  Of<std::int32_t> track =
      Initially{-1};          ///< the thread, the same as that of its framework operators
  Of<Rare<StringId>> item{};  ///< of a launch the operator; not in databases
  Of<Rare<std::int64_t>> model =
      Initially{-1};  ///< of Model@ModelExecute the model; not in databases
  Of<Rare<std::int64_t>> request =
      Initially{-1};  ///< of Model@ModelExecute the iteration of the model, likewise
  Of<std::int64_t> connection =
      Initially{-1};  ///< device work that it launched carries the same, see DeviceRuns
};
struct HostCalls : Table<HostCallFields> {};

/// Moments within runtime calls that launched device work, for captures that contain no more about
/// the calls (text captures of Level0).
template <template <typename> class Of>
struct CallStampFields {
  Of<TimeNs> time{};
  Of<std::int32_t> track = Initially{-1};       ///< the thread
  Of<std::int64_t> connection = Initially{-1};  ///< see HostCalls
};
struct CallStamps : Table<CallStampFields> {};

/// Times in which the rank's Python process collected garbage.
template <template <typename> class Of>
struct GarbageCollectionFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> process = Initially{-1};  ///< of raw captures
};
struct GarbageCollections : Table<GarbageCollectionFields> {};

/// Host launch -> device work. `link` names the connection; a kernel carries the same number.
template <template <typename> class Of>
struct LauncheFields {
  Of<std::int64_t> link = Initially{-1};
  Of<TimeNs> host_time{};                       ///< start of the launching host operator
  Of<std::int32_t> host_track = Initially{-1};  ///< thread that launched
  Of<Rare<TimeNs>> device_time =
      Initially{-1};  ///< start of the device work; -1: only `link` identifies it
  Of<Rare<std::int64_t>> stream =
      Initially{-1};  ///< stream of the device work, when device_time is known
  Of<Rare<std::int32_t>> replay = Initially{-1};  ///< row of GraphReplays of which the work is part
};
struct Launches : Table<LauncheFields> {};

/// Calls that launched a kernel or a copy of which the device has no work: it was lost. Calls while
/// a graph is captured launch nothing and are not among them.
template <template <typename> class Of>
struct UnansweredLaunchFields {
  Of<TimeNs> time{};  ///< start of the call
  Of<std::int32_t> track = Initially{-1};
};
struct UnansweredLaunches : Table<UnansweredLaunchFields> {};

/// Calls of the runtime that name the kernel they launch.
template <template <typename> class Of>
struct NamedLaunchFields {
  Of<TimeNs> time{};  ///< start of the call
  Of<std::int32_t> track = Initially{-1};
  Of<StringId> kernel{};
};
struct NamedLaunches : Table<NamedLaunchFields> {};

/// Calls that launched a captured graph. Work of a graph that is explained has launches of its own,
/// within the call (see HostOps::replayed).
template <template <typename> class Of>
struct GraphReplayFields {
  Of<TimeNs> start{}, dur{};  ///< of the call
  Of<std::int32_t> track = Initially{-1};
  Of<StringId> graph{};        ///< name of the captured graph; empty: unknown
  Of<StringId> source{};       ///< name of the file that tells it; empty: it is not explained
  Of<std::int64_t> kernels{};  ///< kernels and collectives that the call launched
  Of<std::int64_t> matched{};  ///< of those, the ones that the captured graph has in their place
  Of<bool> by_count{};         ///< the captured graph does not name its kernels
};
struct GraphReplays : Table<GraphReplayFields> {};

}  // namespace mpa
