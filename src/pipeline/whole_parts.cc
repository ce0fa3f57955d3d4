// SPDX-License-Identifier: Apache-2.0
#include "whole_parts.h"

#include <utility>

#include "mpa/base/parallel.h"

namespace mpa {

void WholeParts::LeaveOutline(RankPart part, MappedRank& mapped) const {
  mapped.part = recipe_.decode(recipe_.outlines->encode(part));
}

void WholeParts::Keep(std::size_t i, RankPart part, MappedRank& mapped) {
  is_whole_[i] = 1;
  if (recipe_.outlines == nullptr || bytes_ == 0 || mapped.failed) return;
  const std::int64_t taken = taken_ += recipe_.outlines->memory(part);
  if (taken <= bytes_) return;
  is_whole_[i] = 0;
  LeaveOutline(std::move(part), mapped);
}

void WholeParts::Choose(const RecipeArguments& arguments, const std::vector<RankId>& ranks,
                        std::vector<MappedRank>& mapped,
                        const std::function<void(const std::vector<std::size_t>&)>& read) {
  if (recipe_.outlines == nullptr) return;
  std::vector<RankPart> parts;
  std::vector<std::size_t> of_part;
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    if (mapped[i].failed) continue;
    parts.push_back({ranks[i], mapped[i].part});
    of_part.push_back(i);
  }
  std::vector<char> is_chosen(mapped.size(), 0);
  std::vector<std::size_t> missing;
  for (const std::size_t part : recipe_.outlines->choose(parts, arguments, bytes_)) {
    const std::size_t i = of_part[part];
    is_chosen[i] = 1;
    if (is_whole_[i] == 0) missing.push_back(i);
  }
  parts.clear();
  ParallelFor(mapped.size(), [&](std::size_t i) {
    if (is_whole_[i] != 0 && is_chosen[i] == 0 && !mapped[i].failed)
      LeaveOutline({ranks[i], mapped[i].part}, mapped[i]);
  });
  read(missing);
}

}  // namespace mpa
