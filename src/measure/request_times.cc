// SPDX-License-Identifier: Apache-2.0
// What users feel of requests.
#include "mpa/measure/request_times.h"

namespace mpa {

TimesOfRequest TimesOf(TimeNs first_token, TimeNs end_to_end, TimeNs queued,
                       std::int64_t reply_tokens) {
  TimeNs per_token = -1;
  if (reply_tokens > 1 && first_token >= 0 && end_to_end >= first_token) {
    const std::int64_t later = reply_tokens - 1;
    per_token = (end_to_end - first_token + later / 2) / later;
  }
  return {first_token, per_token, end_to_end, queued};
}

std::string_view NameOf(RequestTime time) {
  constexpr std::string_view kNames[kRequestTimes] = {"ttft", "tpot", "e2e", "queue"};
  return kNames[static_cast<std::size_t>(time)];
}

std::string_view TitleOf(RequestTime time) {
  constexpr std::string_view kTitles[kRequestTimes] = {
      "time to first token", "time per output token", "end to end", "waiting in the queue"};
  return kTitles[static_cast<std::size_t>(time)];
}

}  // namespace mpa
