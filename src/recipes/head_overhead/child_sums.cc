// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "call_children.h"

namespace mpa::head {
namespace {

// The time of a segment that the shares are of.
TimeNs TimeOf(ChildSegment segment, const Call& call) {
  switch (segment) {
    case ChildSegment::kPlatform:
      return call.Of(Segment::kPlatform).value_or(0);
    case ChildSegment::kTorchairPy:
      return call.Of(Segment::kTorchairPy).value_or(0);
    case ChildSegment::kTorchairCpp:
      return call.Of(Segment::kTorchairCpp).value_or(0);
    case ChildSegment::kGe:
      if (call.Replays()) return 0;
      return call.ge_exec ? *call.ge_exec : call.Of(Segment::kGe).value_or(0);
    case ChildSegment::kReplay:
      return call.Replays() ? call.Of(Segment::kGe).value_or(0) : 0;
    case ChildSegment::kEpilogue:
      return call.epilogue_cpp.value_or(0) + call.epilogue_py.value_or(0);
  }
  return 0;
}

}  // namespace

ChildSums::ChildSums(const std::vector<Call>& calls, const std::vector<Scope>& scopes, Phase phase)
    : calls_(calls),
      scopes_(scopes),
      phase_(phase),
      scope_of_call_(calls.size(), 0),
      sums_(scopes.size()) {
  for (std::size_t scope = 1; scope < scopes.size(); ++scope) {
    for (const std::size_t call : scopes[scope].calls) scope_of_call_[call] = scope;
  }
}

void ChildSums::Sum::Add(const Sum& other) {
  count += other.count;
  total += other.total;
  max = std::max(max, other.max);
  if (other.exposed) exposed = exposed.value_or(0) + *other.exposed;
}

void ChildSums::Add(std::size_t call, const std::vector<Child>& children) {
  const std::size_t scope = scope_of_call_[call];
  if (scope == 0 || calls_[call].phase != phase_) return;
  ScopeSums& sums = sums_[scope];
  ++sums.calls;
  for (std::size_t segment = 0; segment < kChildSegments; ++segment) {
    sums.times[segment] += TimeOf(static_cast<ChildSegment>(segment), calls_[call]);
  }
  for (const Child& child : children) {
    sums.of_key[child.Key()].Add({child.count, child.total, child.total, child.exposed});
  }
}

std::vector<ChildRow> ChildSums::Rows() const {
  ScopeSums all;
  for (const ScopeSums& sums : sums_) {
    all.calls += sums.calls;
    for (std::size_t i = 0; i < kChildSegments; ++i) all.times[i] += sums.times[i];
    for (const auto& [key, part] : sums.of_key) {
      all.of_key[key].Add(part);
    }
  }
  std::vector<ChildRow> rows;
  for (std::size_t scope = 0; scope < scopes_.size(); ++scope) {
    const ScopeSums& sums = scope == 0 ? all : sums_[scope];
    const auto first = static_cast<std::ptrdiff_t>(rows.size());
    for (const auto& [key, sum] : sums.of_key) {
      const auto& [segment, kind, name] = key;
      const TimeNs time = sums.times[static_cast<std::size_t>(segment)];
      std::optional<double> share;
      if (time > 0) share = static_cast<double>(sum.total) / static_cast<double>(time);
      rows.push_back({scopes_[scope].name, segment, std::string(kind), std::string(name), sum.count,
                      sums.calls, sum.total, sum.max, sum.exposed, share});
    }
    std::stable_sort(rows.begin() + first, rows.end(), [](const ChildRow& a, const ChildRow& b) {
      return std::pair{a.segment, -a.total} < std::pair{b.segment, -b.total};
    });
  }
  return rows;
}

}  // namespace mpa::head
