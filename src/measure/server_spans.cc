// SPDX-License-Identifier: Apache-2.0
// The names that servers give their spans.
#include "mpa/measure/server_spans.h"

#include <algorithm>
#include <iterator>

namespace mpa {

ServerSpan KindOfSpan(std::string_view name) {
  struct Named {
    std::string_view name;
    ServerSpan kind;
  };
  // Of MindIE, vLLM and SGLang, in this order where they differ.
  constexpr Named kNames[] = {
      {"BatchSchedule", ServerSpan::kSchedule}, {"batchFrameworkProcessing", ServerSpan::kSchedule},
      {"modelExec", ServerSpan::kExecute},      {"Execute", ServerSpan::kExecute},
      {"modelRunnerExec", ServerSpan::kRunner}, {"forward", ServerSpan::kForward},
      {"sample", ServerSpan::kSample},          {"computing_logits", ServerSpan::kSample},
      {"preprocess", ServerSpan::kPrepare},     {"specDecoding", ServerSpan::kGuess},
      {"tokenize", ServerSpan::kTokenize},      {"encode", ServerSpan::kTokenize},
      {"detokenize", ServerSpan::kDetokenize},
  };
  const auto found = std::ranges::find(kNames, name, &Named::name);
  return found == std::end(kNames) ? ServerSpan::kOther : found->kind;
}

}  // namespace mpa
