// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <mutex>
#include <vector>

namespace mpa {
namespace {

constexpr const char* kUnknownRank = "unknown";

// The labels of the process. They are few, and live as long as it does, as names of ranks do.
class Labels {
 public:
  RankId Find(std::string_view label) {
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find(labels_, label);
    if (found == labels_.end()) found = labels_.insert(found, std::string(label));
    return kMaxRanks + (found - labels_.begin());
  }
  bool Set(RankId rank, std::string_view label) {
    const std::lock_guard lock(mutex_);
    const auto at = static_cast<std::size_t>(rank.Number() - kMaxRanks);
    if (at >= kMost) return false;
    const auto found = std::ranges::find(labels_, label);
    if (found != labels_.end()) return static_cast<std::size_t>(found - labels_.begin()) == at;
    if (at >= labels_.size()) labels_.resize(at + 1);
    if (!labels_[at].empty()) return false;
    labels_[at] = label;
    return true;
  }
  std::string Get(RankId rank) {
    const std::lock_guard lock(mutex_);
    const auto at = static_cast<std::size_t>(rank.Number() - kMaxRanks);
    return at < labels_.size() && !labels_[at].empty() ? labels_[at] : kUnknownRank;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 24;  // more are damaged

  std::mutex mutex_;
  std::vector<std::string> labels_;
};

Labels& AllLabels() {
  static Labels labels;
  return labels;
}

}  // namespace

RankId RankOfLabel(std::string_view label) { return AllLabels().Find(label); }

bool SetRankLabel(RankId rank, std::string_view label) {
  return rank.IsLabel() && AllLabels().Set(rank, label);
}

std::string RankName(RankId rank) {
  if (rank.IsNumber()) return std::to_string(rank.Number());
  return rank.IsLabel() ? AllLabels().Get(rank) : kUnknownRank;
}

std::string RankText(RankId rank) { return "rank " + RankName(rank); }

std::string RankFileName(RankId rank) {
  std::string name = RankName(rank);
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
  };
  std::ranges::replace_if(name, std::not_fn(is_plain), '_');
  return name;
}

}  // namespace mpa
