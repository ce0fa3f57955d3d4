// SPDX-License-Identifier: Apache-2.0
// Which modules of two captures belong together.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>

#include "mpa/compare/sequence_matching.h"
#include "op_groups.h"

namespace mpa {
namespace {

class ModuleMatcher {
 public:
  ModuleMatcher(const ModuleTree& base, const ModuleTree& comparison, bool align)
      : base_(base), comparison_(comparison), align_(align) {}

  void Run(std::vector<ModulePair>& pairs) {
    std::deque<ModulePair> open;
    const auto add = [&](const std::vector<std::uint32_t>& base,
                         const std::vector<std::uint32_t>& comparison) {
      for (const ModulePair& pair : Match(base, comparison)) {
        pairs.push_back(pair);
        open.push_back(pair);
      }
    };
    add(base_.roots, comparison_.roots);
    const std::vector<std::uint32_t> none;
    while (!open.empty()) {  // breadth first
      const ModulePair pair = open.front();
      open.pop_front();
      add(pair.base != nullptr ? pair.base->children : none,
          pair.comparison != nullptr ? pair.comparison->children : none);
    }
  }

 private:
  std::vector<ModulePair> Match(const std::vector<std::uint32_t>& base,
                                const std::vector<std::uint32_t>& comparison) {
    std::vector<ModulePair> pairs;
    if (!align_) {
      for (const std::uint32_t module : base) pairs.push_back({&base_.modules[module], nullptr});
      for (const std::uint32_t module : comparison) {
        pairs.push_back({nullptr, &comparison_.modules[module]});
      }
      return pairs;
    }
    for (const AlignedPair& aligned :
         AlignSequences(Keys(base_, base), Keys(comparison_, comparison))) {
      ModulePair pair;
      if (aligned.base) pair.base = &base_.modules[base[*aligned.base]];
      if (aligned.comparison)
        pair.comparison = &comparison_.modules[comparison[*aligned.comparison]];
      pairs.push_back(pair);
    }
    return pairs;
  }

  // Numbers for full names, the same on both sides.
  std::vector<std::uint32_t> Keys(const ModuleTree& tree,
                                  const std::vector<std::uint32_t>& modules) {
    std::vector<std::uint32_t> keys;
    keys.reserve(modules.size());
    for (const std::uint32_t module : modules) {
      keys.push_back(numbers_
                         .try_emplace(tree.modules[module].full_name,
                                      static_cast<std::uint32_t>(numbers_.size()))
                         .first->second);
    }
    return keys;
  }

  const ModuleTree& base_;
  const ModuleTree& comparison_;
  bool align_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace

std::vector<ModulePair> MatchModules(const ModuleTrees& base, const ModuleTrees& comparison,
                                     bool align) {
  std::vector<ModulePair> pairs;
  ModuleMatcher(base.forward, comparison.forward, align).Run(pairs);
  ModuleMatcher(base.backward, comparison.backward, align).Run(pairs);
  return pairs;
}

std::vector<ModulePair> InSheetOrder(std::vector<ModulePair> pairs) {
  const auto alone = std::stable_partition(
      pairs.begin(), pairs.end(), [](const ModulePair& pair) { return pair.base != nullptr; });
  std::stable_sort(pairs.begin(), alone, [](const ModulePair& a, const ModulePair& b) {
    return a.base->start < b.base->start;
  });
  std::stable_sort(alone, pairs.end(), [](const ModulePair& a, const ModulePair& b) {
    return a.comparison->start < b.comparison->start;
  });
  std::vector<ModulePair> ordered;
  auto next = alone;
  for (auto pair = pairs.begin(); pair != alone; ++pair) {
    while (pair->comparison != nullptr && next != pairs.end() &&
           next->comparison->start < pair->comparison->start) {
      ordered.push_back(*next++);
    }
    ordered.push_back(*pair);
  }
  ordered.insert(ordered.end(), next, pairs.end());
  return ordered;
}

}  // namespace mpa
