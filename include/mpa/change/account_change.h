// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/report/change_tree.h"

namespace mpa {

/// Times, and the calls that they are of.
using TimesByName = std::map<std::string, TimeAndCount, std::less<>>;

/// What the account of one side says.
struct AccountTimes {
  TimesByName parts = {};    ///< by keys of account_names.h; they add up to the step
  TimesByName places = {};   ///< free time by its category and what the host did
  TimesByName kernels = {};  ///< their calls, by what the parts of kernels are named by
};

/// How the step changed: computing by kernels, exposed communication by what it does and for which
/// operation, copies, and free time by its category, each with what the host did longer by more
/// than `noise` (ns) as its cause.
ChangeNode AccountChange(std::string name, const AccountTimes& base, const AccountTimes& comparison,
                         double noise = 0);

/// A row for each name of either side, without a parent.
std::vector<ChangeNode> JoinTimes(const TimesByName& base, const TimesByName& comparison,
                                  const char* kind);

/// Those that grew by more than `noise` (ns), the largest growth first.
std::vector<ChangeNode> Grown(std::vector<ChangeNode> nodes, double noise);

/// What the host did longer while the device had nothing to do, by more than `noise` (ns), the
/// largest growth first. With the category in which it did.
std::vector<ChangeNode> PlacesThatGrew(const AccountTimes& base, const AccountTimes& comparison,
                                       double noise);

/// "aten::item at train.py:90 +4.000 ms": what grew most, of the category if it is given.
std::string CallsText(const std::vector<ChangeNode>& calls, std::string_view category = "");

}  // namespace mpa
