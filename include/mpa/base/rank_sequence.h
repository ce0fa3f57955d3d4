// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/rank.h"

namespace mpa {

/// Ranks `first`, first + step, ...
struct StridedRanks {
  std::int64_t first = 0, step = 1, count = 0;

  /// True if all of them are numbers of ranks, at least one.
  bool HoldsNumbers() const;
  /// Within the run.
  RankId At(std::int64_t i) const { return first + i * step; }
};

/// Ranks in an order of their own, as the members of a group are. Every rank of a job lists them,
/// and most lists are one run, however many ranks the job has: kept as runs, 10,000 ranks with
/// groups of 10,000 need no room for 100 million numbers.
class RankSequence {
 public:
  /// Forward, and with the distance of two.
  class Iterator {
   public:
    using value_type = RankId;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    RankId operator*() const { return run_->At(in_run_); }
    Iterator& operator++() {
      ++at_;
      if (++in_run_ == run_->count) {
        ++run_;
        in_run_ = 0;
      }
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    difference_type operator-(const Iterator& other) const { return at_ - other.at_; }

   private:
    friend RankSequence;
    Iterator(const StridedRanks* run, difference_type at) : run_(run), at_(at) {}

    const StridedRanks* run_ = nullptr;
    std::int64_t in_run_ = 0;
    difference_type at_ = 0;
  };

  RankSequence() = default;
  RankSequence(std::initializer_list<RankId> ranks) : RankSequence(std::vector<RankId>(ranks)) {}
  RankSequence(const std::vector<RankId>& ranks) {  // NOLINT: the same, written otherwise
    for (const RankId rank : ranks) push_back(rank);
  }
  operator std::vector<RankId>() const { return {begin(), end()}; }  // NOLINT

  // As of a container, whose place it takes.
  void push_back(RankId rank);
  void clear() { *this = {}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return {runs_.data(), 0}; }
  Iterator end() const { return {runs_.data() + runs_.size(), static_cast<std::ptrdiff_t>(size_)}; }
  RankId operator[](std::size_t place) const;

  const std::vector<StridedRanks>& Runs() const { return runs_; }
  /// An unknown rank if the sequence is empty.
  RankId Largest() const;

  /// See PartReader.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(runs_);
    CountThem();
  }

 private:
  // Throws Error (kCorrupt) for more than a job has, and for numbers that none has.
  void CountThem();

  std::vector<StridedRanks> runs_;
  std::size_t size_ = 0;
};

}  // namespace mpa
