// SPDX-License-Identifier: Apache-2.0
#include "graph_names.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <utility>

namespace mpa::head {
namespace {

class Names {
 public:
  std::size_t Of(const std::string& name) {
    const auto [found, is_new] = positions_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }
  std::vector<std::string> Take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> positions_;
};

bool IsNested(const HostForest& forest, std::int64_t region) {
  std::int64_t at = forest.At(region).parent;
  while (at != HostNode::kNone && forest.At(at).event != HostEvent::kRegion) {
    at = forest.At(at).parent;
  }
  return at != HostNode::kNone;
}

}  // namespace

std::vector<std::string> NameGraphs(const RankTrace& trace, const HostForest& forest,
                                    const RuntimeCalls& runtime,
                                    const std::vector<CallParts>& parts, std::vector<Call>& calls) {
  std::unordered_map<std::int64_t, std::int64_t> calls_of_region;
  for (const CallParts& part : parts) {
    if (part.bounds.region != HostNode::kNone) ++calls_of_region[part.bounds.region];
  }
  Names names;
  std::unordered_map<std::int64_t, std::int64_t> place_in_region;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> place_in_step;  // by thread too
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Call& call = calls[i];
    const CallParts& part = parts[i];
    const std::int64_t ordinal =
        call.step >= 0 && call.parent < 0 ? ++place_in_step[{call.track, call.step}] : 0;
    const std::int64_t region = part.bounds.region;
    const auto id = region != HostNode::kNone
                        ? RegionIdOf(trace.strings.View(forest.At(region).name))
                        : std::nullopt;
    if (region != HostNode::kNone) {
      call.calls_of_region = static_cast<std::int32_t>(calls_of_region[region]);
      call.in_nested_region = IsNested(forest, region);
    }
    const std::int64_t model = part.execute ? runtime.Table().model[*part.execute] : -1;
    if (id) {
      call.frame = id->frame;
      call.variant = id->variant;
      std::string name = fmt::format("region {}/{}", id->frame, id->variant);
      if (calls_of_region[region] > 1) name += fmt::format(" #{}", ++place_in_region[region]);
      call.graph = names.Of(name);
    } else if (model >= 0) {
      call.graph = names.Of(fmt::format("model {}", model));
    } else if (ordinal > 0) {
      call.graph = names.Of(fmt::format("call {} of the step", ordinal));
    } else {
      call.graph = names.Of("unnamed");
    }
  }
  return names.Take();
}

}  // namespace mpa::head
