// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace mpa {

/// What a server did in a span of ServerBatches, by its name.
enum class ServerSpan : std::uint8_t {
  kSchedule,    ///< it puts a batch together
  kExecute,     ///< it runs the batch: prepares it, computes it, samples
  kRunner,      ///< the same as kExecute, in the process that drives the device
  kForward,     ///< it computes the model
  kSample,      ///< it chooses the next tokens
  kPrepare,     ///< inputs of the model
  kGuess,       ///< tokens guessed ahead
  kTokenize,    ///< texts to tokens
  kDetokenize,  ///< tokens to texts
  kOther,
};
constexpr ServerSpan LastOf(ServerSpan) { return ServerSpan::kOther; }

ServerSpan KindOfSpan(std::string_view name);

}  // namespace mpa
