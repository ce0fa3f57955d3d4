// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyse.h"
#include "mpa/measure/intervals.h"
#include "summary.h"

namespace mpa::head {

/// A part of the head that is looked into.
enum class ChildSegment : std::uint8_t {
  kPlatform,
  kTorchairPy,
  kTorchairCpp,
  kGe,
  kReplay,
  kEpilogue
};
inline constexpr std::size_t kChildSegments = 6;
std::string_view NameOf(ChildSegment segment);

/// What filled a part of a segment. Names belong to the rank's texts or live as long as the
/// program.
struct Child {
  ChildSegment segment{};
  std::string_view kind;   ///< "contiguous"; "of_which_..." is counted in another child as well
  std::string_view name;   ///< "aten::contiguous"
  std::int64_t count = 0;  ///< events; 0 for time without an event
  TimeNs total = 0;        ///< covered time
  MaybeNs exposed{};       ///< of it the device is idle, before the call's first kernel

  auto Key() const { return std::tie(segment, kind, name); }
};

inline constexpr std::string_view kUnattributed = "(unattributed)";
inline constexpr std::string_view kQueueDrain = "of_which_queue_drain";
inline constexpr std::string_view kOfWhichSync = "of_which_sync";
inline constexpr std::string_view kLaunch = "launch";
inline constexpr std::string_view kOfWhichLaunch = "of_which_launch";

/// Looks into the calls of a rank. Refers to both, which must outlive it.
class ChildFinder {
 public:
  ChildFinder(const RankTrace& trace, const HeadAnalysis& analysis);

  /// The children of a call: one for each segment, kind and name, in that order.
  std::vector<Child> Of(std::size_t call) const;

 private:
  friend class ChildCollector;
  struct QueueSpan {
    TimeNs start = 0, end = 0;
    StringId name{};
  };

  const RankTrace& trace_;
  const HeadAnalysis& analysis_;
  std::map<std::int64_t, std::vector<QueueSpan>> queue_of_pid_;  // in order of start
  Intervals garbage_;
};

/// Fills the numbers of conversions of a call from its children.
void CountConversions(const std::vector<Child>& children, Call& call);

/// A kind of child of all calls of a scope.
struct ChildRow {
  std::string scope;
  ChildSegment segment{};
  std::string kind, name;
  std::int64_t count = 0;       ///< events; 0 for time without an event
  std::int64_t calls = 0;       ///< of the scope
  TimeNs total = 0, max = 0;    ///< max: in one call
  MaybeNs exposed;              ///< of the total the device is idle
  std::optional<double> share;  ///< of the time of the segment
};

/// Adds up the children of the calls of one phase, for every scope.
class ChildSums {
 public:
  ChildSums(const std::vector<Call>& calls, const std::vector<Scope>& scopes, Phase phase);

  /// Calls of another phase and those that do not count are left out.
  void Add(std::size_t call, const std::vector<Child>& children);
  /// By scope and segment, the longest first.
  std::vector<ChildRow> Rows() const;

 private:
  using Key = std::tuple<ChildSegment, std::string_view, std::string_view>;
  struct Sum {
    std::int64_t count = 0;
    TimeNs total = 0, max = 0;
    MaybeNs exposed;
    void Add(const Sum& other);
  };
  struct ScopeSums {
    std::map<Key, Sum> of_key;
    std::array<TimeNs, kChildSegments> times{};
    std::int64_t calls = 0;
  };

  const std::vector<Call>& calls_;
  const std::vector<Scope>& scopes_;
  Phase phase_;
  std::vector<std::size_t> scope_of_call_;  // that of its graph; 0: none
  std::vector<ScopeSums> sums_;             // of each scope; the first, of all, is made by Rows()
};

}  // namespace mpa::head
