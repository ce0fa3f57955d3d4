// SPDX-License-Identifier: Apache-2.0
// Why the device was idle, for people: tables have it in the words of the Python tool.
#include "gaps.h"
#include "mpa/base/language.h"
#include "mpa/base/reword.h"

namespace mpa::recipes::free_analysis {

std::string ReasonInWords(const std::string& reason) {
  // As ReasonOf() writes them.
  static constexpr const char* kForms[] = {
      ToTranslate("Perhaps not idle: the first recorded work of a stream began long after its"
                  " launch; earlier work was not recorded."),
      ToTranslate("Skip free analysis due to no prev or next task."),
      ToTranslate("Skip free analysis due to no {} dispatch time."),
      ToTranslate("Host, no pytorch dispatch time: {}"),
      ToTranslate("Idle Pytorch layer: no task dispatched in {} us"),
      ToTranslate("Abnormal {} layer: {}"),
      ToTranslate("long time between two node@launch {} us"),
      ToTranslate("long node@launch {} us"),
      ToTranslate("Device task running: {}, max remaining free {} us"),
      ToTranslate("Device task running: {}."),
      ToTranslate("{} {} tasks, {}"),
      ToTranslate("{} {} tasks")};
  return Reworded(reason, kForms);
}

}  // namespace mpa::recipes::free_analysis
