// SPDX-License-Identifier: Apache-2.0
// What a server does on the host between the runs of its model, while the device waits.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"

namespace mpa {
namespace {

constexpr MetricInfo kScheduling{"scheduling_per_step", "ns", "scheduling {}"},
    kSamplingTime{"sampling_per_step", "ns", "sampling {}"},
    kDetokenising{"detokenising_per_step", "ns", "detokenising {}"},
    kPreparing{"preparing_per_step", "ns", "preparing inputs {}"},
    kTokenising{"tokenising_per_step", "ns", "tokenising {}"},
    kNotRecorded{"not_recorded_per_step", "ns", "not recorded {}"};

struct Activity {
  const MetricInfo& metric;
  std::array<std::string_view, 3> names;  // what functions and ranges have in their names
};

const std::array<Activity, 5> kActivities = {{
    {kDetokenising, {"detok", "output_processor", "decode_stream"}},
    {kScheduling, {"sched", "get_next_batch", "engine/core"}},
    {kSamplingTime, {"sampl", "logits", "argmax"}},
    {kTokenising, {"tokeniz", "chat_template"}},
    {kPreparing, {"prepare", "update_states", "build_attn"}},
}};

class EngineHost : Finder {
 public:
  using Finder::Finder;

  void Find() {
    Finding candidate = NewFinding(job_, kServeHost);
    TimeNs time = 0;
    std::array<TimeNs, kActivities.size() + 1> of_activity{};  // the last: not recorded
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      if (part.between.empty()) continue;
      std::vector<double> between(part.shares.size(), 0);  // the share of it that counts
      for (std::size_t i = 0; i < part.between.size(); ++i) {
        const HostShare& share = part.shares[i];
        const TimeNs of_server = part.between[i];
        const std::int32_t step = job_.StepOfEdge(rank, share.edge);
        if (of_server <= 0 || step < 0 || !IsOf(kServeHost.categories, share.category)) continue;
        candidate.what_if.expect.waits.push_back(
            {job_.graph.first_edge[rank] + share.edge, of_server});
        if (!job_.Counts(step)) continue;
        between[i] = Share(of_server, share.time);
        time += of_server;
        if (share.category == TimeCategory::kHostIdle) of_activity.back() += of_server;
      }
      for (const HostPlace& place : part.places) {
        const std::string& name = part.names[place.name];
        for (std::size_t i = 0; i < kActivities.size(); ++i) {
          const auto is_in_name = [&](std::string_view word) {
            return !word.empty() && name.find(word) != std::string::npos;
          };
          if (std::ranges::none_of(kActivities[i].names, is_in_name)) continue;
          of_activity[i] += ShareOf(place.time, between[place.share]);
          break;
        }
      }
    }
    if (time == 0) return;
    const auto measure = [&](const MetricInfo& metric, TimeNs of) {
      if (of > 0) candidate.Measure(metric, static_cast<double>(of) / RankSteps());
    };
    measure(kTimePerStep, time);
    for (std::size_t i = 0; i < kActivities.size(); ++i)
      measure(kActivities[i].metric, of_activity[i]);
    measure(kNotRecorded, of_activity.back());
    candidates_.push_back(std::move(candidate));
  }
};

}  // namespace

const FindingType kServeHost =
    Fault(Area::kHosts, "serve.host", {"framework"},
          "the device waits for the server between runs of the model",
          {.looked_at = "the host's marks between two runs of the model, while the device is free",
           .refuted_by = "the device has work between the runs",
           .categories = {TimeCategory::kPython, TimeCategory::kHostIdle},
           .applies = [](const Coverage& job) { return job.serves; },
           .find = FindBy<EngineHost>,
           .advice = {
               {{"schedule the next step while the device runs (async scheduling)",
                 Change("scheduling", "while the device runs")},
                {"detokenise in another process", Change("detokenising", "in another process")}}}});

}  // namespace mpa
