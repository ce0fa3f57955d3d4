// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank_sequence.h"

#include <algorithm>

namespace mpa {

bool StridedRanks::HoldsNumbers() const {
  return RankId(first).IsNumber() && count >= 1 && count <= kMaxRanks && step > -kMaxRanks &&
         step < kMaxRanks && At(count - 1).IsNumber();
}

void RankSequence::push_back(RankId rank) {
  ++size_;
  if (!runs_.empty() && rank.IsNumber() && RankId(runs_.back().first).IsNumber()) {
    StridedRanks& last = runs_.back();
    if (last.count == 1) last.step = rank.Number() - last.first;
    if (last.At(last.count) == rank) {
      ++last.count;
      return;
    }
  }
  runs_.push_back({.first = rank.Number(), .step = 1, .count = 1});
}

RankId RankSequence::operator[](std::size_t place) const {
  auto left = static_cast<std::int64_t>(place);
  for (const StridedRanks& run : runs_) {
    if (left < run.count) return run.At(left);
    left -= run.count;
  }
  return {};
}

RankId RankSequence::Largest() const {
  RankId largest;
  for (const StridedRanks& run : runs_)
    largest = std::max({largest, run.At(0), run.At(run.count - 1)});
  return largest;
}

void RankSequence::CountThem() {
  size_ = 0;
  for (const StridedRanks& run : runs_) {
    if (run.count != 1 && !run.HoldsNumbers())
      Fail(ErrorKind::kCorrupt, "the part lists ranks that are out of range");
    size_ += static_cast<std::size_t>(run.count);
    if (size_ > static_cast<std::size_t>(kMaxRanks))
      Fail(ErrorKind::kCorrupt, "the part lists more ranks than a job has");
  }
}

}  // namespace mpa
