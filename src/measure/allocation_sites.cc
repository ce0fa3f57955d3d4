// SPDX-License-Identifier: Apache-2.0
// Which line of the program is behind a call stack of a memory snapshot.
#include <fmt/format.h>

#include <string_view>

#include "mpa/measure/allocator_replay.h"
#include "mpa/measure/host_places.h"

namespace mpa {
namespace {

AllocationSite SiteOf(const RankTrace& trace, std::int32_t stack) {
  const MemoryCalls& calls = trace.memory_calls;
  AllocationSite site;
  std::string innermost, of_python;  // lines, where the program itself has none
  for (std::int32_t row = stack; row >= 0; row = calls.caller[static_cast<std::size_t>(row)]) {
    const auto at = static_cast<std::size_t>(row);
    const std::string_view path = trace.strings.View(calls.file[at]);
    const std::string_view function = trace.strings.View(calls.function[at]);
    const std::string_view file = path.substr(path.find_last_of("/\\") + 1);
    const bool is_python = file.ends_with(".py") || path.starts_with("<");
    std::string line =
        calls.line[at] > 0 ? fmt::format("{}:{}", file, calls.line[at]) : std::string(file);
    if (innermost.empty()) innermost = line;
    if (site.function.empty() && is_python) site.function = function;
    if (!is_python) continue;
    if (of_python.empty()) of_python = line;
    if (IsOfLibrary(fmt::format("{}({})", path, calls.line[at]))) continue;
    if (function != site.function) site.within = function;
    site.line = std::move(line);
    return site;
  }
  site.line = of_python.empty() ? innermost : of_python;
  if (site.function.empty() && stack >= 0)
    site.function = trace.strings.View(calls.function[static_cast<std::size_t>(stack)]);
  return site;
}

}  // namespace

const AllocationSite& AllocationSites::Of(std::int32_t stack) {
  if (stack < 0) return none_;
  const auto at = static_cast<std::size_t>(stack);
  if (at >= sites_.size()) sites_.resize(trace_.memory_calls.Size());
  if (!sites_[at]) sites_[at] = SiteOf(trace_, stack);
  return *sites_[at];
}

}  // namespace mpa
