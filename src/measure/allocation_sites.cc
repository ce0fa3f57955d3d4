// SPDX-License-Identifier: Apache-2.0
// Which line of the program is behind a call stack of a memory snapshot, and which operator. Stacks
// may have frames of Python, or of C++ and Python.
#include <fmt/format.h>

#include <string_view>

#include "mpa/base/text.h"
#include "mpa/measure/allocator_replay.h"
#include "mpa/measure/host_places.h"

namespace mpa {
namespace {

// "zeros" of "at::_ops::zeros::call(...)", the next name behind a prefix; empty for another text.
std::string_view NameBehind(std::string_view prefix, std::string_view function) {
  if (!function.starts_with(prefix)) return {};
  function.remove_prefix(prefix.size());
  const std::size_t end = function.find("::");
  return end == std::string_view::npos ? std::string_view() : function.substr(0, end);
}

// What records the stack, and the allocator itself.
bool IsOfAllocator(std::string_view function) {
  return ContainsAny(function,
                     {"unwind::unwind", "CapturedTraceback", "gather", "CachingAllocator"});
}

// Goes through the frames of a stack from the innermost one.
class SiteSearch {
 public:
  // True once the line of the program itself is found.
  bool Add(std::string_view path, std::string_view function, std::int32_t line) {
    const std::string_view file = path.substr(path.find_last_of("/\\") + 1);
    if (!file.ends_with(".py") && !path.starts_with("<")) {
      AddNative(function);
      return false;
    }
    if (python_.empty()) python_ = function;
    const bool is_own = !IsOfLibrary(fmt::format("{}({})", path, line));
    if (is_own || line_.empty())
      line_ = line > 0 ? fmt::format("{}:{}", file, line) : std::string(file);
    if (is_own) own_ = function;
    return is_own;
  }

  AllocationSite Found() const {
    AllocationSite site{.line = line_};
    site.function = !op_.empty() ? fmt::format("aten::{}", op_)
                                 : std::string(python_.empty() ? native_ : python_);
    const std::string_view within = own_.empty() ? node_ : own_;
    if (within != site.function) site.within = within;
    return site;
  }

 private:
  // Within Python the operators have been found.
  void AddNative(std::string_view function) {
    if (!python_.empty()) return;
    if (const auto op = NameBehind("at::_ops::", function); !op.empty()) op_ = op;
    if (const auto node = NameBehind("torch::autograd::generated::", function);
        node.find("Backward") != std::string_view::npos)
      node_ = node;
    if (native_.empty() && !IsOfAllocator(function)) native_ = function;
  }

  std::string line_;
  std::string_view op_, node_, native_, python_, own_;
};

AllocationSite SiteOf(const RankTrace& trace, std::int32_t stack) {
  const MemoryCalls& calls = trace.memory_calls;
  SiteSearch search;
  for (std::int32_t row = stack; row >= 0; row = calls.caller[static_cast<std::size_t>(row)]) {
    const auto at = static_cast<std::size_t>(row);
    if (search.Add(trace.strings.View(calls.file[at]), trace.strings.View(calls.function[at]),
                   calls.line[at]))
      break;
  }
  return search.Found();
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
