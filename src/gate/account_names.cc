// SPDX-License-Identifier: Apache-2.0
#include "account_names.h"

#include <fmt/format.h>

#include <optional>

#include "mpa/gate/run_summary.h"

namespace mpa::gate {
namespace {

constexpr std::string_view kBetween = ": ";

// "rank 5 in allreduce" of "allreduce, rank 5".
std::string Awaited(std::string_view what) {
  const std::size_t comma = what.find(", ");
  if (comma == std::string_view::npos) return fmt::format("other ranks in {}", what);
  return fmt::format("{} in {}", what.substr(comma + 2), what.substr(0, comma));
}

}  // namespace

std::string AccountKey(std::string_view leaf, std::string_view what) {
  return what.empty() ? std::string(leaf) : fmt::format("{}{}{}", leaf, kBetween, what);
}

AccountName ReadAccountKey(std::string_view key) {
  const std::size_t between = key.find(kBetween);
  if (between == std::string_view::npos) return {std::string(key), ""};
  return {std::string(key.substr(0, between)), std::string(key.substr(between + kBetween.size()))};
}

const char* AccountName::Kind() const {
  if (IsCompute()) return "kernel";
  return IsCommunication() ? "collective" : "component";
}

std::string AccountName::Title() const {
  const std::optional<Leaf> known = LeafNamed(leaf);
  if (!known) return what.empty() ? leaf : what;
  const std::string_view title = TitleOf(*known);
  switch (*known) {
    case Leaf::kUnsplit:
      return fmt::format("exposed {}", what);
    case Leaf::kWaitPeer:
      return fmt::format("waiting for {}", Awaited(what));
    case Leaf::kBubble:
      return fmt::format("{} while waiting for {}", title, Awaited(what));
    case Leaf::kTransfer:
    case Leaf::kSlow:
      return fmt::format("{} in {}", title, what);
    case Leaf::kInnerWait:
    case Leaf::kInnerIdle:
      return fmt::format("{} {}", title, what);
    default:
      return mpa::IsFree(*known) ? fmt::format("{} ({})", kFreeTime, title) : std::string(title);
  }
}

}  // namespace mpa::gate
