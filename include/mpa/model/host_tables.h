// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// What happened on the host: operators, Python, calls of CANN, and how they launched device work.
namespace mpa {

/// Threads, device streams and communication planes: where something ran. Row number = track.
struct Tracks : TableBase<Tracks> {
  struct Row {
    std::int64_t pid = -1, tid = -1;
  };
  std::vector<std::int64_t> pid, tid;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.pid, t.tid);
  }
};

/// Framework operators on the host (aten::add, autograd nodes, ProfilerStep#n).
struct HostOps : TableBase<HostOps> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};
    std::int32_t track = -1;
    // Details; "N/A" where the capture has none.
    StringId shapes{};  ///< "32,3,224,224;\r\n;\r\n", on GPUs "[[32, 3, 224, 224], [], []]"
    StringId types{};   ///< of the inputs, "float;\r\nScalar;\r\nScalar"
    StringId stack{};   ///< Python call stack, innermost first: "train.py(90): step;\r\n..."
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int32_t> track;
  std::vector<StringId> shapes, types, stack;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.track, t.shapes, t.types, t.stack);
  }
};

/// Python functions on the host, nn.Module calls among them ("nn.Module: Linear_0").
struct PythonCalls : TableBase<PythonCalls> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};
    std::int32_t track = -1;
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int32_t> track;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.track);
  }
};

/// The kind of an mstx event. A start/end range may end on another thread.
enum class MstxKind : std::uint8_t { kMark, kPushPop, kStartEnd };

/// Marks and ranges that the profiled program set itself (mstx).
struct MstxEvents : TableBase<MstxEvents> {
  struct Row {
    TimeNs start = 0, dur = 0;
    MstxKind kind{};
    StringId message{}, domain{};
    std::int32_t track = -1;  ///< thread on which it began; with a stream that of the task queue
    std::int64_t link = -1;   ///< see Launches; -1: nothing on the host or device refers to it
    // Its side on the device; -1: it has none.
    TimeNs device_start = -1, device_dur = -1;
  };
  std::vector<TimeNs> start, dur;
  std::vector<MstxKind> kind;
  std::vector<StringId> message, domain;
  std::vector<std::int32_t> track;
  std::vector<std::int64_t> link;
  std::vector<TimeNs> device_start, device_dur;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.kind, t.message, t.domain, t.track, t.link, t.device_start,
                    t.device_dur);
  }
};

/// Which operator of the backward pass belongs to which of the forward pass; the times are their
/// starts.
struct BackwardLinks : TableBase<BackwardLinks> {
  struct Row {
    TimeNs forward_time = 0;
    std::int32_t forward_track = -1;
    TimeNs backward_time = 0;
    std::int32_t backward_track = -1;
  };
  std::vector<TimeNs> forward_time;
  std::vector<std::int32_t> forward_track;
  std::vector<TimeNs> backward_time;
  std::vector<std::int32_t> backward_track;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.forward_time, t.forward_track, t.backward_time, t.backward_track);
  }
};

/// Work that one host thread handed to another (the task queue): put in the queue from `queued` to
/// `queued + queued_dur`, done from `start` to `start + dur`.
struct QueuedWork : TableBase<QueuedWork> {
  struct Row {
    TimeNs queued = 0;
    std::int32_t queued_track = -1;  ///< thread that asked for the work
    TimeNs start = 0, dur = 0;
    std::int32_t track = -1;  ///< thread that did it
    StringId name{};          ///< of the work, "Dequeue@aclnnAdd"
    TimeNs queued_dur = 0;
  };
  std::vector<TimeNs> queued;
  std::vector<std::int32_t> queued_track;
  std::vector<TimeNs> start, dur;
  std::vector<std::int32_t> track;
  std::vector<StringId> name;
  std::vector<TimeNs> queued_dur;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.queued, t.queued_track, t.start, t.dur, t.track, t.name, t.queued_dur);
  }
};

/// Calls of the runtime below the framework (CANN) on the host.
struct HostCalls : TableBase<HostCalls> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};            ///< "<Level>@<name>": Node@launch, Model@ModelExecute
    std::int32_t track = -1;    ///< the thread, the same as that of its framework operators
    StringId item{};            ///< of a launch the operator; not in databases
    std::int64_t model = -1;    ///< of Model@ModelExecute the model; not in databases
    std::int64_t request = -1;  ///< of Model@ModelExecute the iteration of the model, likewise
    std::int64_t connection =
        -1;  ///< device work that it launched carries the same, see DeviceRuns
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int32_t> track;
  std::vector<StringId> item;
  std::vector<std::int64_t> model, request, connection;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.track, t.item, t.model, t.request, t.connection);
  }
};

/// Moments within runtime calls that launched device work, for captures that contain no more about
/// the calls (text captures of Level0).
struct CallStamps : TableBase<CallStamps> {
  struct Row {
    TimeNs time = 0;
    std::int32_t track = -1;       ///< the thread
    std::int64_t connection = -1;  ///< see HostCalls
  };
  std::vector<TimeNs> time;
  std::vector<std::int32_t> track;
  std::vector<std::int64_t> connection;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.track, t.connection);
  }
};

/// Times in which the rank's Python process collected garbage.
struct GarbageCollections : TableBase<GarbageCollections> {
  struct Row {
    TimeNs start = 0, dur = 0;
  };
  std::vector<TimeNs> start, dur;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur);
  }
};

/// Host launch -> device work. `link` names the connection; a kernel carries the same number.
struct Launches : TableBase<Launches> {
  struct Row {
    std::int64_t link = -1;
    TimeNs host_time = 0;          ///< start of the launching host operator
    std::int32_t host_track = -1;  ///< thread that launched
    TimeNs device_time = -1;       ///< start of the device work; -1: only `link` identifies it
    std::int64_t stream = -1;      ///< stream of the device work, when device_time is known
  };
  std::vector<std::int64_t> link;
  std::vector<TimeNs> host_time;
  std::vector<std::int32_t> host_track;
  std::vector<TimeNs> device_time;
  std::vector<std::int64_t> stream;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.link, t.host_time, t.host_track, t.device_time, t.stream);
  }
};

}  // namespace mpa
