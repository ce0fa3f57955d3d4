// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

/// What whole captures keep, and what is said of those that do not. Readers count what they alone
/// see (Issues::Count with the promise); everything else looks at the tables, so that one rule
/// holds for all formats.
namespace mpa {

/// What becomes of the numbers where a promise is broken. Each is a warning and exit code 5, so
/// that a gate is INCONCLUSIVE; what refuses a capture as a whole is an Error of the reader.
enum class Consequence : std::uint8_t {
  kLeftOut,  ///< the records are left out, the rest is reported
  kUnknown,  ///< the numbers that need them are unknown
  kTold,     ///< the numbers are reported as the records are
};

/// The formats of captures that a promise is about.
enum class Formats : std::uint8_t {
  kNpuText = 1 << 0,
  kDatabase = 1 << 1,
  kRaw = 1 << 2,
  kKineto = 1 << 3,  ///< traces of torch.profiler, of GPUs and NPUs
  kAll = 0xf,
};
constexpr Formats operator|(Formats a, Formats b) {
  return static_cast<Formats>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// A way in which a promise is broken. The message is "<says> (<place>)".
struct Breach {
  std::string_view problem;  ///< what happened: "a row that ends early"
  std::string_view says;
  std::string_view place;  ///< an example
  std::string_view mend;   ///< "parse again"
};

/// One promise. The list is src/promises/promises.cc.
struct PromiseRule {
  Promise promise;
  std::string_view name;  ///< in documents: "one_record_once"
  std::string_view says;  ///< "Each record is there once."
  Formats formats;        ///< those that are held to it
  Tables reads;           ///< what `leave_out` and `check` look at; kNone: the readers see it
  std::span<const Breach> breaches;
  Consequence consequence;
  void (*leave_out)(RankTrace&) = nullptr;  ///< drops rows, before launches are linked
  void (*check)(RankTrace&) = nullptr;      ///< looks, after they are
  /// Whether a capture has what it is about; none: each that is read.
  bool (*applies)(const RankTrace&) = nullptr;
};

/// All promises, each once, in the order of the enum.
std::span<const PromiseRule> AllPromises();

/// What mends a broken promise, given the line that was counted.
std::string_view MendOf(const PromiseRule& rule, std::string_view line);

/// Leaves out rows that cannot be, and counts them in trace.issues. Before launches are linked.
void LeaveOutBroken(RankTrace& trace);

/// Counts the promises that the tables break in trace.issues. `read` are the tables that were asked
/// for.
void CheckPromises(Tables read, RankTrace& trace);

/// Whether a capture keeps a promise.
enum class Kept : std::uint8_t { kKept, kBroken, kNotChecked };
struct KeptPromise {
  const PromiseRule* rule;
  Kept kept;
  std::vector<std::string> lines;  ///< of a broken one
};
/// Of a trace that was read with all tables. Promises of other formats are left out.
std::vector<KeptPromise> JudgePromises(const RankTrace& trace);

/// What other files say about the kernels of kernel_details.csv; -1: unknown.
struct KernelClaims {
  std::int64_t kernels = -1;  ///< of op_statistic.csv
  TimeNs computing = -1;      ///< of step_trace_time.csv
  bool with_trace = false;    ///< the trace was read, too
};
/// Counts in trace.issues what kernel_details.csv lacks according to them and to the trace.
void CheckKernelTable(const KernelClaims& claims, RankTrace& trace);

/// Counts in trace.issues how the rows of step_trace_time.csv contradict the trace beside it.
void CheckStepTable(const StepTimes& told, RankTrace& trace);

/// What there are files of beside a trace, and was read.
struct FilesRead {
  bool communication = false;  ///< communication.json
  bool allocations = false, memory = false;
};
/// Counts in trace.issues how communication.json and the tables of memory contradict the trace.
void CheckSideTables(const FilesRead& files, RankTrace& trace);

/// Empties groups that a job of `world` ranks does not have, and counts them in trace.issues.
void CheckGroups(std::int64_t world, RankTrace& trace);

/// Drops rows of `times` that are there twice; how many they were.
std::size_t DropRepeatedTimes(StepTimes& times);

}  // namespace mpa
