// SPDX-License-Identifier: Apache-2.0
// The records of torch_npu, and the texts in them.
#include "tlv.h"

#include <fmt/format.h>

#include <functional>

#include "mpa/base/language.h"
#include "mpa/base/log.h"

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
  constexpr std::size_t kMin = 256;
  std::vector<Slot> slots(slots_.empty() ? kMin : slots_.size() * 2);
  for (const Slot& slot : slots_) {
    if (slot.number == 0) continue;
    std::size_t at = slot.hash & (slots.size() - 1);
    while (slots[at].number != 0) at = (at + 1) & (slots.size() - 1);
    slots[at] = slot;
  }
  slots_ = std::move(slots);
}

// Files of records that contain their own length.

namespace {

// Large enough to justify its own table of texts, small enough to keep all cores busy to the end.
constexpr std::size_t kRunBytes = 4 << 20;

}  // namespace

TlvFile::TlvFile(const std::filesystem::path& path, Issues& issues)
    : name_(path.filename().string()), text_(path) {
  LogInfo("{}: its records are read", path.string());
  const std::string_view text = text_.text();
  std::size_t begin = 0;
  std::size_t first = 0;
  std::size_t at = 0;
  const auto end_run = [&] {
    if (at > begin) runs_.push_back({.bytes = text.substr(begin, at - begin), .first = first});
    begin = at;
    first = size_;
  };
  const std::size_t whole = ForEachTlv(text, [&](std::uint16_t, std::string_view value) {
    at = static_cast<std::size_t>(value.data() - text.data()) + value.size();
    ++size_;
    if (at - begin >= kRunBytes) end_run();
  });
  end_run();
  if (whole < text.size()) {
    issues.Count("file cut off inside a record, read up to there",
                 Say("{}, {} bytes lost", name_, text.size() - whole));
  }
}

void TlvFile::CountBad(std::size_t records, Issues& issues) const {
  for (std::size_t i = 0; i < records; ++i) issues.Count("record left out, it is damaged", name_);
}

void RunTexts::Intern(StringPool& strings) {
  ids_.reserve(texts_.size());
  for (const LocalTexts& texts : texts_) {
    std::vector<StringId>& ids = ids_.emplace_back();
    ids.reserve(texts.All().size());
    for (const std::string_view text : texts.All()) ids.push_back(strings.Intern(text));
  }
}

void RunTexts::Translate(std::vector<StringId>& column) const {
  const std::vector<TlvFile::Run>& runs = file_.runs();
  ParallelFor(runs.size(), [&](std::size_t i) {
    const std::size_t end = i + 1 < runs.size() ? runs[i + 1].first : file_.Size();
    for (std::size_t row = runs[i].first; row < end; ++row)
      column[row] = ids_[i][Index(column[row])];
  });
}

}  // namespace mpa::raw
