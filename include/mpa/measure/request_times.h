// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mpa/base/time.h"

namespace mpa {

/// What its user feels of a request to a server. -1: not recorded.
enum class RequestTime : std::uint8_t { kFirstToken, kPerToken, kEndToEnd, kQueue };
inline constexpr std::size_t kRequestTimes = 4;
constexpr RequestTime LastOf(RequestTime) { return RequestTime::kQueue; }

using TimesOfRequest = std::array<TimeNs, kRequestTimes>;

/// Of what is recorded of a request; -1: it is not. The time per token is that of the tokens behind
/// the first one, which only a reply of two has.
TimesOfRequest TimesOf(TimeNs first_token, TimeNs end_to_end, TimeNs queued,
                       std::int64_t reply_tokens);

/// "ttft", "tpot", "e2e", "queue": as metrics and columns call them.
std::string_view NameOf(RequestTime time);
/// "time to first token".
std::string_view TitleOf(RequestTime time);

}  // namespace mpa
