// SPDX-License-Identifier: Apache-2.0
// The accounts of two steps as a tree of changes.
#include "mpa/change/account_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/change/account_names.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

void AddCounts(const std::string& kernel, const AccountTimes& base, const AccountTimes& comparison,
               ChangeNode& node) {
  const auto count = [&](const AccountTimes& side) {
    const auto found = side.kernels.find(kernel);
    return found == side.kernels.end() ? 0 : found->second.count;
  };
  node.base_count = count(base);
  node.comparison_count = count(comparison);
}

const char* ComponentOf(const AccountName& name) {
  if (name.IsCompute()) return kComputing;
  if (name.IsCommunication()) return kExposed;
  return name.IsCopy() ? kCopies : kFreeTime;
}

bool IsWait(std::string_view category) {
  const std::optional<TimeCategory> known = CategoryNamed(category);
  return known == TimeCategory::kWaitPeer || known == TimeCategory::kBubble;
}

}  // namespace

std::vector<ChangeNode> JoinTimes(const TimesByName& base, const TimesByName& comparison,
                                  const char* kind) {
  std::map<std::string, ChangeNode> joined;
  for (const auto& [name, amount] : base) {
    joined[name] = {kind, name, amount.time, 0, amount.count, 0};
  }
  for (const auto& [name, amount] : comparison) {
    ChangeNode& node = joined.try_emplace(name, ChangeNode{kind, name}).first->second;
    node.comparison = amount.time;
    node.comparison_count = amount.count;
  }
  std::vector<ChangeNode> nodes;
  nodes.reserve(joined.size());
  for (auto& [name, node] : joined) nodes.push_back(std::move(node));
  return nodes;
}

ChangeNode AccountChange(std::string name, const AccountTimes& base, const AccountTimes& comparison,
                         double noise) {
  const std::vector<ChangeNode> places = PlacesThatGrew(base, comparison, noise);
  std::map<std::string_view, ChangeNode> components;
  const auto component_of = [&](const char* of) -> ChangeNode& {
    return components.try_emplace(of, ChangeNode{"component", of}).first->second;
  };
  // The waits of a rank are one part, whoever it waits for and in which operation.
  ChangeNode waits{"component", "waiting for other ranks"};
  for (ChangeNode& node : JoinTimes(base.parts, comparison.parts, "")) {
    const AccountName part = ReadAccountKey(node.name);
    node.kind = part.Kind();
    node.name = part.Title();
    node.base_count = node.comparison_count = 0;
    if (part.category == kComputeKey) {
      AddCounts(part.what, base, comparison, node);
    } else {
      node.category = part.category;
      if (node.Change() > 0) node.cause = CallsText(places, part.category);
    }
    AddChild(std::move(node), IsWait(part.category) ? waits : component_of(ComponentOf(part)));
  }
  if (waits.children.size() == 1) waits = ChangeNode(waits.children.front());
  if (waits.base + waits.comparison > 0) AddChild(std::move(waits), component_of(kExposed));
  ChangeNode whole{"component", std::move(name)};
  for (auto& [of, component] : components) AddChild(std::move(component), whole);
  return whole;
}

std::vector<ChangeNode> PlacesThatGrew(const AccountTimes& base, const AccountTimes& comparison,
                                       double noise) {
  std::vector<ChangeNode> calls = JoinTimes(base.places, comparison.places, "host");
  for (ChangeNode& call : calls) {
    AccountName name = ReadAccountKey(call.name);
    call.category = std::move(name.category);
    call.name = std::move(name.what);
    call.base_count = call.comparison_count = 0;
  }
  return Grown(std::move(calls), noise);
}

std::vector<ChangeNode> Grown(std::vector<ChangeNode> nodes, double noise) {
  std::erase_if(nodes, [&](const ChangeNode& node) {
    return node.Change() <= 0 || static_cast<double>(node.Change()) <= noise;
  });
  StableSort(nodes, std::greater(), &ChangeNode::Change);
  return nodes;
}

std::string CallsText(const std::vector<ChangeNode>& calls, std::string_view category) {
  constexpr std::size_t kMaxNamed = 2;
  std::vector<std::string> named;
  for (const ChangeNode& call : calls) {
    if (named.size() == kMaxNamed) break;
    if (!category.empty() && call.category != category) continue;
    named.push_back(fmt::format("{} +{}", call.name, AmountText(Quantity::kTime, call.Change())));
  }
  return fmt::format("{}", fmt::join(named, ", "));
}

}  // namespace mpa
