// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/serving_batch.h"

/// Steps of servers that answer requests. Every command that tells prefill from decode takes it
/// from here.
namespace mpa {

/// A step of a server on the host: from its mark to the next one, so that sampling, and whatever
/// the host does before the next step, belong to it.
struct ServingStep {
  TimeNs start = 0, end = 0;
  ServingBatch batch = {};
};

/// The steps of a rank in order of time; of marks within others the outermost counts, with what the
/// inner ones add to it. Nothing follows the last: it lasts as long behind its mark as the others
/// do at the median, alone to the end of the last launch.
std::vector<ServingStep> FindServingSteps(const RankTrace& trace);

/// What the rank's own steps work on, in order of their starts; of each nothing is known where
/// these are not the steps of a server.
std::vector<ServingBatch> BatchesOfSteps(const RankTrace& trace);

/// These as the steps of a rank, numbered from 0.
Steps StepsOf(const std::vector<ServingStep>& serving);

/// Adds the marks among the operators and ranges of the host to those that the reader found; where
/// there are none, those of InferServingMarks(). The steps of a rank without steps are those of its
/// server.
void UseServingSteps(RankTrace& trace);

/// What the time of a step of a server was spent on. All of it is in one of them.
enum class ServingPart : std::uint8_t {
  kAttention,
  kMatrix,    ///< other matrix products, convolutions
  kSampling,  ///< kernels that choose tokens; see FindSampling()
  kOtherKernel,
  kCommunication,  ///< exposed, without waiting
  kWaiting,        ///< for other ranks or engines, within exposed communication
  kCopiesAlone,
  kHost,  ///< the device has nothing to do
};
inline constexpr std::size_t kServingParts = static_cast<std::size_t>(ServingPart::kHost) + 1;
/// "other matrix work"
std::string_view TitleOf(ServingPart part);

using ServingTimes = std::array<TimeNs, kServingParts>;

/// A step of a server with its account.
struct ServingAccount {
  ServingBatch batch;
  Interval window = {};  ///< on the device
  ServingTimes times = {};
  bool is_warm_up = false;
  /// The work of its last launches was lost, and nothing follows: when it ended is unknown.
  bool is_cut = false;

  TimeNs Length() const { return window.end - window.begin; }
  /// Of a phase that decodes how long each request waits for a token; of prefill the time by token
  /// of the prompts. -1: unknown, as of a step that is cut.
  TimeNs TimePerToken() const;
};
/// What TimePerToken() of a phase is: "a prompt token", "to the next token".
std::string_view NameOfTokenTime(ServingPhase phase);

/// The steps of a server and where their time went, in order of time; empty where the capture names
/// none. The first steps of a phase and size are warm-up that take a fifth longer than the median
/// of them, if there are three at least; no more than a quarter of them are.
std::vector<ServingAccount> AccountServing(const RankTrace& trace);
/// The same for who has AccountServingSteps() already.
std::vector<ServingAccount> AccountServing(const RankTrace& trace, const RankAccount& account);

/// Steps that are alike: their phase, and SizeOf() of their batch.
using PhaseAndSize = std::pair<ServingPhase, std::int64_t>;
inline PhaseAndSize PhaseAndSizeOf(const ServingBatch& batch) {
  return {batch.phase, SizeOf(batch)};
}
/// Positions of the steps by what they have in common, without those of warm-up.
std::map<PhaseAndSize, std::vector<std::size_t>> StepsByPhase(
    const std::vector<ServingAccount>& steps);

/// The account of a rank by the steps of its server; no steps where the capture names none.
RankAccount AccountServingSteps(const RankTrace& trace);

}  // namespace mpa
