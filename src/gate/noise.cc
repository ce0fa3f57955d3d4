// SPDX-License-Identifier: Apache-2.0
// Noise that is known before the runs are judged.
#include "mpa/gate/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "json_values.h"
#include "mpa/measure/quantiles.h"
#include "statistics.h"

namespace mpa::gate {
namespace {

constexpr const char* kKind = "msprof-analyze-noise";
constexpr int kNoiseVersion = 1;

}  // namespace

NoiseFloors LearnNoise(const std::vector<RunSummary>& runs) {
  NoiseFloors floors;
  for (const auto& [metric, first] : runs.front().samples) {
    std::vector<std::int64_t> medians;
    for (const RunSummary& run : runs) {
      const auto found = run.samples.find(metric);
      if (found != run.samples.end() && !found->second.empty()) {
        medians.push_back(Median(found->second));
      }
    }
    const std::int64_t middle = std::abs(Median(medians));
    if (medians.size() != runs.size() || middle == 0) continue;
    const double spread =
        std::sqrt(SquaredDistances(medians) / static_cast<double>(medians.size() - 1));
    floors[NameOf(metric)] = spread / static_cast<double>(middle);
  }
  return floors;
}

double UsualNoise(const Metric& metric, double share) {
  constexpr double kSmallShare = 0.01;
  switch (metric.kind) {
    case MetricKind::kStepTime:
    case MetricKind::kE2e:
      return 0.003;
    case MetricKind::kComputing:
      return 0.002;
    case MetricKind::kFree:
      return 2.19;
    case MetricKind::kOp:
    case MetricKind::kKernel:
    case MetricKind::kModule:
    case MetricKind::kApi:
      return share < kSmallShare ? 0.11 : 0;
    case MetricKind::kCommExposed:
    case MetricKind::kCommTotal:
    case MetricKind::kLccl:
    case MetricKind::kCopies:
    case MetricKind::kPeakMemory:
      break;
  }
  return 0;
}

nlohmann::json NoiseToJson(const NoiseFloors& floors, const std::string& tool_version,
                           std::size_t runs) {
  return {{"kind", kKind},
          {"schema_version", kNoiseVersion},
          {"tool_version", tool_version},
          {"runs", runs},
          {"relative_noise", floors}};
}

NoiseFloors NoiseFromJson(const nlohmann::json& document) {
  CheckDocument(document, kKind, kNoiseVersion);
  NoiseFloors floors;
  const char* key = "relative_noise";
  for (const auto& [name, value] : AsObject(RequiredMember(document, key), key).items()) {
    const double noise = AsNumber(value, name.c_str());
    if (!std::isfinite(noise) || noise < 0) {
      Fail(ErrorKind::kCorrupt, "{}: noise is a number of at least 0", name);
    }
    floors[name] = noise;
  }
  return floors;
}

}  // namespace mpa::gate
