// SPDX-License-Identifier: Apache-2.0
#include "source_lines.h"

#include <algorithm>
#include <map>
#include <string>

namespace mpa {
namespace {

using TimeOfLines = std::map<std::string, TimeNs>;

// The line that has at least four fifths of the time; empty: there is none.
std::string LineOfNearlyAll(const TimeOfLines& lines) {
  TimeNs whole = 0;
  for (const auto& [line, time] : lines) whole += time;
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const auto& line) { return line.second * 5 >= whole * 4; });
  return found == lines.end() ? "" : found->first;
}

}  // namespace

void AddLinesOfNotCauses(const Job& job, Diagnosis& diagnosis) {
  std::map<std::string, TimeOfLines> lines;  // by operator, else by call
  for (const DiagnosedRank& rank : job.ranks) {
    const auto& names = rank.part->names;
    for (const BlockedPart& call : rank.part->blocked) {
      const std::string& place = names[call.place];
      lines[place.empty() ? names[call.name] : place][names[call.line]] += call.dur;
    }
  }
  for (NotACause& innocent : diagnosis.not_causes)
    innocent.line = LineOfNearlyAll(lines[innocent.name]);
}

}  // namespace mpa
