// SPDX-License-Identifier: Apache-2.0
// What keeps batches from following each other: the scheduler, the sampler, prompts in between.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "findings.h"
#include "mpa/base/language.h"
#include "mpa/base/time.h"
#include "mpa/measure/quantiles.h"

namespace mpa::recipes::serving_requests {
namespace {

// Lanes of which the same holds, added up.
struct Together {
  std::vector<const Lane*> lanes{};
  LaneTimes times{};

  // The only one of several.
  std::string Where(const Scene& scene) const {
    return lanes.size() == 1 && scene.lanes.size() > 1 ? scene.WhereOf(*lanes.front())
                                                       : std::string();
  }
};

template <typename Holds>
Together LanesThat(const Scene& scene, Holds holds) {
  Together together;
  for (const Lane& lane : scene.lanes) {
    if (lane.steps.size() < kLeastSteps || !holds(lane.times)) continue;
    together.lanes.push_back(&lane);
    together.times += lane.times;
  }
  return together;
}

std::string MeanText(TimeNs sum, std::size_t count) {
  return TimeText(sum / static_cast<TimeNs>(std::max<std::size_t>(count, 1)));
}

void FindScheduler(const Scene& scene, std::vector<Finding>& found) {
  constexpr double kExposed = 0.15, kOfSteps = 0.3;
  const Together slow = LanesThat(scene, [](const LaneTimes& times) {
    return Ratio(times.scheduled, times.active) >= kExposed &&
           Ratio(times.all_schedules, times.all_steps) >= kOfSteps;
  });
  if (slow.lanes.empty()) return;
  const LaneTimes& times = slow.times;
  found.push_back(
      {.cause = Cause::kSchedulerSlow,
       .where = slow.Where(scene),
       .share = ShareBehindQueue(scene, times.scheduled, times.active),
       .title = Say("the scheduler is slow"),
       .evidence = Say("it puts a batch together in {}, which runs for {} (means); no batch runs"
                       " meanwhile for {} of the time",
                       MeanText(times.all_schedules, times.schedules),
                       MeanText(times.all_steps, times.steps),
                       ShareText(Ratio(times.scheduled, times.active))),
       .mend = Say("schedule while a batch runs (asynchronous scheduling), give the scheduler's"
                   " thread a core of its own, and fewer waiting requests to look through"),
       .refuted_by = Say("batches run while the scheduler works")});
}

void FindSampler(const Scene& scene, std::vector<Finding>& found) {
  constexpr double kOfSteps = 0.25;
  const Together slow = LanesThat(scene, [](const LaneTimes& times) {
    return Ratio(times.all_samples, times.all_steps) >= kOfSteps;
  });
  if (slow.lanes.empty()) return;
  const LaneTimes& times = slow.times;
  found.push_back(
      {.cause = Cause::kSamplerSlow,
       .where = slow.Where(scene),
       .share = ShareBehindQueue(scene, times.all_samples, times.active),
       .title = Say("the sampler is slow"),
       .evidence =
           Say("choosing the next tokens takes {} of {} in a step (means)",
               MeanText(times.all_samples, times.steps), MeanText(times.all_steps, times.steps)),
       .mend = Say("sample on the device without a wait for the host; leave out penalties and"
                   " logprobs that nobody asks for"),
       .refuted_by = Say("the time behind the forward pass is that of something else")});
}

// Decode steps with and without a prompt in the same batch.
void FindPrefillInDecode(const Scene& scene, std::vector<Finding>& found) {
  std::vector<TimeNs> alone, mixed;
  std::vector<std::int64_t> tokens;
  for (const Lane& lane : scene.lanes) {
    for (const Span* step : lane.steps) {
      if (step->decode_requests <= 0 || step->prefill_requests < 0) continue;
      (step->prefill_requests == 0 ? alone : mixed).push_back(step->dur);
      if (step->prefill_requests > 0 && step->prefill_tokens >= 0)
        tokens.push_back(step->prefill_tokens);
    }
  }
  constexpr std::size_t kFew = 5;
  if (alone.size() < kLeastSteps || mixed.size() < kFew) return;
  const TimeNs usual = Median(alone), longer = Median(mixed);
  TimeNs extra = 0;
  for (const TimeNs time : mixed) extra += std::max<TimeNs>(0, time - usual);
  constexpr double kLonger = 2, kExtra = 0.15;
  const double share = Ratio(extra, SumOf(alone) + SumOf(mixed));
  if (static_cast<double>(longer) < kLonger * static_cast<double>(usual) || share < kExtra) return;
  std::string evidence = Say(
      "decode steps take {} alone and {} with a prompt among them (medians), which {} of {} have",
      TimeText(usual), TimeText(longer), mixed.size(), mixed.size() + alone.size());
  if (!tokens.empty()) evidence += Say("; {} tokens of prompts each", Median(tokens));
  const Group& all = scene.All();
  const TimeNs decoding = all.Sum(RequestTime::kEndToEnd) - all.Sum(RequestTime::kFirstToken);
  found.push_back(
      {.cause = Cause::kPrefillRidesAlong,
       .share = share * std::clamp(Ratio(decoding, all.Sum(RequestTime::kEndToEnd)), 0.0, 1.0),
       .title = Say("long prompts ride along with decoding"),
       .evidence = std::move(evidence),
       .mend = Say("read prompts in smaller pieces (chunked prefill, max_num_batched_tokens), batch"
                   " requests of like length, or prefill on other instances"),
       .refuted_by = Say("steps without a prompt are as long")});
}

}  // namespace

void FindStepCauses(const Scene& scene, std::vector<Finding>& found) {
  FindScheduler(scene, found);
  FindSampler(scene, found);
  FindPrefillInDecode(scene, found);
}

namespace {

// How long devices had work while the lanes were active.
TimeNs BusyTime(const Scene& scene, const std::vector<const Lane*>& lanes) {
  TimeNs busy = 0;
  for (const Lane* lane : lanes) {
    for (const Interval& one : lane->active) busy += LengthWithin(scene.device_busy, one);
  }
  return busy;
}

}  // namespace

void FindGaps(const Scene& scene, std::vector<Finding>& found) {
  constexpr double kIdle = 0.25, kExposed = 0.06, kHidden = 0.05;
  const Together idle = LanesThat(
      scene, [](const LaneTimes& times) { return Ratio(times.idle, times.active) >= kIdle; });
  if (!idle.lanes.empty()) {
    std::string evidence =
        Say("while requests are there no batch runs for {} of the time, and neither scheduler nor"
            " sampler works",
            ShareText(Ratio(idle.times.idle, idle.times.active)));
    if (const TimeNs busy = BusyTime(scene, idle.lanes); busy > 0)
      evidence +=
          Say("; the device is idle for {} of it", ShareText(1 - Ratio(busy, idle.times.active)));
    found.push_back(
        {.cause = Cause::kGapsBetweenSteps,
         .where = idle.Where(scene),
         .share = ShareBehindQueue(scene, idle.times.idle, idle.times.active),
         .title = Say("the server is far slower than its model"),
         .evidence = std::move(evidence),
         .mend = Say("find what the server does between two batches (record more spans, or profile"
                     " its host); compare with the model run alone"),
         .refuted_by = Say("no request was there in these times")});
    return;
  }
  const Together turns = LanesThat(scene, [](const LaneTimes& times) {
    return times.schedules >= kLeastSteps && Ratio(times.scheduled, times.active) >= kExposed &&
           Ratio(times.hidden_schedules, times.schedules) < kHidden;
  });
  if (turns.lanes.empty()) return;
  const LaneTimes& times = turns.times;
  found.push_back(
      {.cause = Cause::kTakeTurns,
       .where = turns.Where(scene),
       .share = ShareBehindQueue(scene, times.scheduled, times.active),
       .title = Say("scheduling and execution take turns"),
       .evidence = Say("{} of {} batches were put together while another one ran; no batch runs for"
                       " {} of the time because of that",
                       times.hidden_schedules, times.schedules,
                       ShareText(Ratio(times.scheduled, times.active))),
       .mend = Say("switch asynchronous scheduling on; if it is, look at why it has no effect"
                   " (TASK_QUEUE_ENABLE=2, --async-scheduling, versions)"),
       .refuted_by = Say("batches are put together while others run")});
}

}  // namespace mpa::recipes::serving_requests
