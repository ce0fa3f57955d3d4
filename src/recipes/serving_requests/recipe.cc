// SPDX-License-Identifier: Apache-2.0
// Requests of a server: how long they take, what the server did meanwhile, and what holds them up.
#include <string>
#include <utility>
#include <vector>

#include "findings.h"
#include "mpa/base/error.h"
#include "mpa/capture/ability.h"
#include "mpa/recipe/make_recipe.h"
#include "outputs.h"
#include "part.h"

namespace mpa::recipes::serving_requests {
namespace {

using Parts = std::vector<OfRank<ServerPart>>;

Scene SceneOf(const Parts& parts) {
  Scene scene;
  std::vector<Interval> busy;
  for (const auto& [id, part] : parts) {
    if (part.is_server) {
      scene.servers.push_back(&part);
    } else {
      busy.insert(busy.end(), part.busy.begin(), part.busy.end());
    }
  }
  if (scene.servers.empty())
    Fail(ErrorKind::kInput, "serving_requests: there are no records of a server's requests");
  scene.device_busy = Union(std::move(busy));
  scene.groups = GroupsOf(scene.servers);
  scene.lanes = LanesOf(scene.servers);
  return scene;
}

void ReduceServer(const Parts& parts, const RecipeArguments&, OutputSelection wanted,
                  Report& report) {
  const Scene scene = SceneOf(parts);
  const std::vector<Finding> findings = FindCauses(scene);
  if (wanted.sheets) AddSheets(scene, findings, report);
  if (wanted.screen != Detail::kNone)
    AddLines(scene, findings, wanted.screen == Detail::kAll, report);
}

Verdict JudgeServer(const RankFacts& facts) {
  if (facts.kind == CaptureKind::kServer) return {};
  return JudgeReadable(facts).LeaveApart(
      true, "a profile of a device has no requests; msServiceProfiler records them",
      "give the directory that ms_service_profiler.parse wrote");
}

}  // namespace

Recipe ServingRequests() {
  return MakeRecipe<MapServer, ReduceServer, CheckServer>(
      {.name = "serving_requests",
       .folder = "ServingRequests",
       .summary = "requests of a server: latency by percentile, queue, batches, KV cache, causes",
       .needs = Tables::kServer | Tables::kKernels | Tables::kCommunications,
       .can_run = JudgeServer,
       .empty_is_answer = true,
       .joins_groups = true,
       .of_servers = true});
}

}  // namespace mpa::recipes::serving_requests
