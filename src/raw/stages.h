// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "clock.h"
#include "control_files.h"
#include "dictionary.h"
#include "host_records.h"
#include "host_side.h"
#include "join_tasks.h"
#include "mpa/raw/session.h"
#include "slices.h"

/// The steps in which ReadSession() fills a session.
namespace mpa::raw {

/// Fills the framework tables (ops, queue, python, garbage_collections, allocations,
/// listed_tensors, backward, and of the steps the host side) from the files in `directory`. It
/// touches nothing else of `part` but strings and issues, so it may run beside the reading of CANN
/// into another session.
void ReadFramework(const std::filesystem::path& directory, const FrameworkClock& clock,
                   Parts wanted, Session& part);

/// Finds the device work of the operators, and with it the device side of the steps. Needs the
/// framework tables, calls, tasks and collectives.
void LinkDeviceWork(Session& session);

/// Fills overlaps from tasks, kernels and collectives.
void FindActivities(Session& session);

/// Fills the tables of what the driver and CANN recorded: calls, tasks, kernels, copies,
/// collectives, counters, samples and marks, as far as they are wanted.
void ReadCann(const ControlFiles& files, Parts wanted, Session& session);

/// Fills python from torch.python_tracer_func and torch.python_tracer_hash. Calls that have not
/// returned end with the last event of their thread.
void ReadPythonCalls(const std::filesystem::path& directory, const FrameworkClock& clock,
                     Session& part);

/// Fills listed_tensors from torch.param_tensor_info, in order of their addresses.
void ReadListedTensors(const std::filesystem::path& file, Session& part);

/// Fills queue from torch.op_mark. In order of start.
void ReadTaskQueue(const std::filesystem::path& file, const FrameworkClock& clock, Session& part);

/// Finds the operators that handed the work over.
void FindEnqueuingOps(const TorchOps& ops, QueueRanges& queue);

/// Fills ops from torch.op_range; shapes, types and stacks only if wanted.
void ReadOperators(const std::filesystem::path& file, const FrameworkClock& clock, Parts wanted,
                   Session& part);

/// The host side of the steps, from the operators.
void FindSteps(const TorchOps& ops, const StringPool& strings, Steps& steps);

/// Of several operators of one pass with one sequence number the one that starts last counts.
void FindBackwardPairs(const TorchOps& ops, BackwardPairs& pairs);

// The steps of ReadCann().

/// Adds the AI CPU records of one device to the session: its kernels (aicpu.data,
/// DATA_PREPROCESS.AICPU) to session.ai_cpu, and its input data (aicpu.data, DATA_PREPROCESS.DP) to
/// session.input_queue. Called once for each device, after the kernels were found. `wide_streams`
/// as in AddressOf().
void ReadAiCpu(const DataFiles& files, const Side& side, const Device& device, bool wide_streams,
               Session& session);

/// Adds what the counters of one device say of its kernels to session.counters, and points
/// session.kernels there. ReadSession() calls it once for each device, in their order, for
/// Parts::kCounters, when kernels and frequencies are complete. `wide_streams`: ids of streams use
/// 15 bits.
void ReadCounters(const DataFiles& files, const Side& side, const Device& device, bool wide_streams,
                  Session& session);

/// Adds the changes of the cube cores' clock that `device` recorded (lpmFreqConv.data) to
/// session.core_clocks, in order of time; first the value that holds when the collection begins.
/// ReadSession() calls it once for each device, in their order, for Parts::kFrequency and, since
/// counters need it, for Parts::kCounters.
void ReadFrequencies(const DataFiles& files, const Side& side, const Device& device,
                     Session& session);

// ReadSession() calls these for Parts::kMemory.

/// Adds the samples of device and module memory of one device; once for each, in their order.
void ReadMemorySamples(const DataFiles& files, const Side& side, const Device& device,
                       Session& session);

/// Fills session.op_memory from task_memory_info in order of time. `begin`: of the collection on
/// the host; what was recorded before it is left out.
void ReadOpMemory(const HostInput& input, TimeNs begin, Session& session);

/// Fills session.marks from the host records and finds their sides on the devices (`logs` has one
/// entry for each of session.info.devices).
void ReadMarks(const HostInput& input, const ControlFiles& files,
               const std::vector<DeviceLog>& logs, Session& session);

/// Fills session.model_iterations from the marks of the devices.
void FindModelIterations(const ControlFiles& files, const std::vector<DeviceLog>& logs,
                         Session& session);

/// Fills session.kernels from the tasks that compute, and sets kind and detail of these tasks.
/// Tasks within a communication range are left to the collectives. If they compute, they are
/// kernels, too, but their kind is not set.
void FindKernels(const HostSide& host, const TaskOrigins& origins, TensorSets& tensors,
                 Dictionary& dictionary, Session& session);

/// Fills what session.tasks says of asynchronous copies.
void FindCopies(const HostInput& input, const HostSide& host, const TaskOrigins& origins,
                Session& session);

/// Fills session.collectives and session.parts from the tasks that were launched within a
/// communication range, and sets kind and detail of these tasks. ReadSession() calls it for
/// Parts::kCann when session.calls, tasks and kernels are complete.
void BuildCollectives(const HostInput& input, const HostSide& host, const TaskOrigins& origins,
                      Session& session);

// What devices count of their traffic.

// ReadSession() calls these for Parts::kTraffic, once for each device, in their order. They add
// rows to session.traffic, without those from before the collection.

/// hccs.data, pcie.data, nic.data and roce.data.
void ReadLinkTraffic(const DataFiles& files, const Side& side, const Device& device,
                     Session& session);

/// hbm.data, ddr.data and llc.data.
void ReadMemoryTraffic(const DataFiles& files, const Side& side, const Device& device,
                       Session& session);

/// qos.data and stars_soc_profile.data.
void ReadSocTraffic(const DataFiles& files, const Side& side, const Device& device,
                    Session& session);

/// Fills session.traffic.host from host_cpu.data, host_mem.data, host_disk.data and
/// host_network.data; once for a collection.
void ReadHostUse(const DataFiles& files, const Side& host, const HostSetup& setup,
                 Session& session);

/// Fills session.l2_cache from l2_cache.data. Needs the kernels, for their names.
void ReadL2Cache(const DataFiles& files, const Device& device, Session& session);

/// `amount` in `duration` (positive) as a rate per second, rounded down.
inline std::int64_t PerSecond(std::int64_t amount, TimeNs duration) {
  constexpr Int128 kSecond = 1'000'000'000, kMax = std::int64_t{1} << 62;
  const Int128 rate = amount * kSecond / duration;
  return static_cast<std::int64_t>(rate < kMax ? rate : kMax);
}

}  // namespace mpa::raw
