// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <mutex>
#include <utility>
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

RankList::RankList(std::vector<RankId> ranks) : ranks_(std::move(ranks)) {
  std::ranges::sort(ranks_);
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
}

std::string RankList::Names(std::size_t limit) const {
  std::string text;
  std::size_t runs = 0, next = 0;
  while (next < ranks_.size() && runs++ < limit) {
    std::size_t last = next;
    while (last + 1 < ranks_.size() && ranks_[last + 1].IsNumber() &&
           ranks_[last + 1].Number() == ranks_[last].Number() + 1) {
      ++last;
    }
    if (!text.empty()) text += ", ";
    text += RankName(ranks_[next]);
    if (last > next) text += (last == next + 1 ? ", " : "-") + RankName(ranks_[last]);
    next = last + 1;
  }
  if (next == ranks_.size()) return text;
  return Say("{} and {} more", text, ranks_.size() - next);
}

std::string RankList::Text(std::size_t limit) const {
  if (!ranks_.empty() && !ranks_.front().IsKnown()) return Say("rank unknown");
  return ranks_.size() == 1 ? Say("rank {}", Names(limit)) : Say("ranks {}", Names(limit));
}

}  // namespace mpa
