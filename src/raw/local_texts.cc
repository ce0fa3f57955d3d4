// SPDX-License-Identifier: Apache-2.0
// A small hash table of texts stored elsewhere.
#include "local_texts.h"

#include <functional>

namespace mpa::raw {

StringId LocalTexts::Number(std::string_view text) {
  if (text.empty()) return StringId::kEmpty;
  if (texts_.size() * 2 > slots_.size()) Grow();
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].number != 0; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && texts_[slot.number] == text) return static_cast<StringId>(slot.number);
  }
  slots_[at] = {.hash = hash, .number = static_cast<std::uint32_t>(texts_.size())};
  texts_.push_back(text);
  return static_cast<StringId>(slots_[at].number);
}

void LocalTexts::Grow() {
  constexpr std::size_t kFewest = 256;
  std::vector<Slot> slots(slots_.empty() ? kFewest : slots_.size() * 2);
  for (const Slot& slot : slots_) {
    if (slot.number == 0) continue;
    std::size_t at = slot.hash & (slots.size() - 1);
    while (slots[at].number != 0) at = (at + 1) & (slots.size() - 1);
    slots[at] = slot;
  }
  slots_ = std::move(slots);
}

}  // namespace mpa::raw
