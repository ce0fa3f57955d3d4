// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/mstx_places.h"

namespace mpa {

MstxPlace MstxPlaces::Of(std::size_t row) const {
  const MstxEvents& events = trace_.mstx;
  const QueuedWork& work = trace_.queued_work;
  const MstxPlace recorded{events.start[row], events.start[row] + events.dur[row],
                           events.track[row]};
  const auto begun = queue_.Find(recorded.track, recorded.start);
  const auto ended = queue_.Find(recorded.track, recorded.end);
  if (!begun || !ended || work.queued[*begun] > work.queued[*ended]) return recorded;
  return {work.queued[*begun], work.queued[*ended], work.queued_track[*begun]};
}

}  // namespace mpa
