// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/serving_kernels.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/launches.h"

namespace mpa {
namespace {

// Samplers choose tokens; those of images and data have names with the same word.
bool NamesSampling(std::string_view name) {
  const std::string lower = ToLower(name);
  if (!ContainsAny(lower, {"sampler", "sampling", "sample"})) return false;
  return !ContainsAny(lower, {"upsampl", "downsampl", "resampl", "subsampl", "grid_sampl",
                              "gridsampl", "data/sampler", "sampleddotproduct"});
}

bool IsSamplingKernel(std::string_view name) {
  return ContainsAny(ToLower(name), {"argmax", "multinomial"}) || NamesSampling(name);
}

using TimesOfTracks = std::map<std::int32_t, Intervals>;

TimesOfTracks SamplingOnHost(const RankTrace& trace) {
  NamedClasses names(trace.strings, NamesSampling);
  std::map<std::int32_t, std::vector<Interval>> found;
  const auto add = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      if (names.Of(table.name[i]))
        found[table.track[i]].push_back({table.start[i], table.start[i] + table.dur[i] + 1});
    }
  };
  add(trace.python_calls);
  add(trace.host_ops);
  TimesOfTracks times;
  for (auto& [track, intervals] : found) times[track] = Union(std::move(intervals));
  return times;
}

}  // namespace

std::vector<bool> FindSampling(const RankTrace& trace) {
  const Kernels& kernels = trace.kernels;
  std::vector<bool> sampling(kernels.Size(), false);
  NamedClasses names(trace.strings, IsSamplingKernel);
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    sampling[i] = names.Of(kernels.op_type[i]) || names.Of(kernels.name[i]);
  }
  const TimesOfTracks on_host = SamplingOnHost(trace);
  if (on_host.empty()) return sampling;
  const LaunchIndex launches(trace);
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto launch = launches.Find(kernels.link[i]);
    if (!launch) continue;
    const auto times = on_host.find(trace.launches.host_track[*launch]);
    if (times != on_host.end() && Contains(times->second, trace.launches.host_time[*launch]))
      sampling[i] = true;
  }
  return sampling;
}

}  // namespace mpa
