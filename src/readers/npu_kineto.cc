// SPDX-License-Identifier: Apache-2.0
// What traces of torch.profiler hold of NPUs, as torch_npu's plug-in writes it.
#include "npu_kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "gpu_launches.h"
#include "mpa/base/language.h"

namespace mpa::readers {
namespace {

// Where a hash begins that compilers put behind the type: an underscore and 16 hexadecimal digits
// or more, up to the next underscore. The end of the name if there is none.
std::size_t HashIn(std::string_view name) {
  constexpr std::size_t kDigits = 16;
  for (std::size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
    const std::string_view rest = name.substr(at + 1);
    const std::string_view field = rest.substr(0, rest.find('_'));
    if (field.size() >= kDigits &&
        field.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
      return at;
    }
  }
  return name.size();
}

template <typename Table>
void CountUnlinked(const Table& work, std::string_view file_name, RankTrace& trace) {
  for (std::size_t i = 0; i < work.Size(); ++i) {
    if (work.link[i] >= 0) continue;
    trace.issues.Count(
        Promise::kWorkHasLaunch,
        "work of the device whose operator the trace does not name, operators lack its time",
        Say("{}: \"{}\" at {} us", file_name, trace.strings.View(work.name[i]),
            work.start[i] / 1000));
  }
}

}  // namespace

std::vector<FlowPoint> ArrowsFromOperators(const std::vector<FlowPoint>& arrows,
                                           const std::vector<NumberedOperator>& operators) {
  std::vector<FlowPoint> made;
  std::set<std::int64_t> wanted;
  for (const FlowPoint& point : arrows) {
    if (!point.is_end) continue;
    made.push_back(point);
    wanted.insert(point.id);
  }
  const bool has_records =
      std::ranges::any_of(operators, [](const auto& op) { return op.record >= 0; });
  for (const NumberedOperator& op : operators) {
    const std::int64_t number = has_records ? op.record : op.external;
    if (number < 0 || !wanted.contains(number)) continue;
    made.push_back({number, false, op.place.start, op.place.pid, op.place.tid});
  }
  return made;
}

std::string_view OperatorTypeIn(std::string_view kernel) {
  if (kernel.starts_with("aclnn")) return kernel.substr(kernel.rfind('_') + 1);
  return kernel.substr(0, HashIn(kernel));
}

void FinishNpuTrace(std::string_view file_name, bool links_wanted, RankTrace& trace) {
  Kernels& kernels = trace.kernels;
  std::unordered_map<StringId, StringId> types;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto [found, is_new] = types.try_emplace(kernels.name[i]);
    if (is_new)
      found->second =
          trace.strings.Intern(std::string(OperatorTypeIn(trace.strings.View(kernels.name[i]))));
    kernels.op_type[i] = found->second;
  }
  if (links_wanted) {
    CountUnlinked(kernels, file_name, trace);
    CountUnlinked(trace.communications, file_name, trace);
  }
  CountLackOfCollectives(file_name, trace);
}

}  // namespace mpa::readers
