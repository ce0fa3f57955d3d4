// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "call_children.h"
#include "summary.h"

namespace mpa::head {

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
