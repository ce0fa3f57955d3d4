// SPDX-License-Identifier: Apache-2.0
// The dictionaries of the host records: lines of "<number>:<text>".
#include "dictionary.h"

#include <fmt/format.h>

#include "mpa/base/log.h"
#include "mpa/base/text.h"

namespace mpa::raw {
namespace {

// Calls entry(key, text) for the parts before and after the first colon of each line.
template <typename Entry>
void ForEachLine(std::string_view content, Entry entry) {
  while (!content.empty()) {
    std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(std::min(line.size() + 1, content.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) entry(line.substr(0, colon), line.substr(colon + 1));
  }
}

}  // namespace

Dictionary::Dictionary(const DataFiles& host, StringPool& strings) : strings_(strings) {
  for (const Slice& slice : host.Of("additional.type_info_dic")) {
    ReadTypes(Open(slice));
  }
  for (const Slice& slice : host.Of("additional.hash_dic")) {
    ReadTexts(Open(slice));
  }
}

void Dictionary::CountDamage(Issues& issues) const {
  for (const Slice& slice : damaged_) {
    issues.Count("texts are lost, names are shown as numbers: the file is damaged or cut off",
                 slice.path.filename().string());
  }
}

std::string_view Dictionary::Open(const Slice& slice) {
  LogInfo("{}: its texts are read", slice.path.string());
  const std::string_view text = files_.emplace_back(slice.path, io::Content::kAsIs).text();
  bool whole = text.ends_with('\n') && text.find('\0') == std::string_view::npos;
  for (std::size_t at = 0; whole && at < text.size(); at = text.find('\n', at) + 1)
    whole = text[at] == '\n' || text[at] == '\r' || (text[at] >= '0' && text[at] <= '9');
  if (!text.empty() && !whole) damaged_.push_back(slice);
  return text;
}

void Dictionary::ReadTypes(std::string_view text) {
  ForEachLine(text, [&](std::string_view key, std::string_view name) {
    const std::size_t bar = key.find('_');
    if (bar == std::string_view::npos) return;
    const auto level = WholeNumber<std::uint32_t>(key.substr(0, bar));
    const auto type = WholeNumber<std::uint32_t>(key.substr(bar + 1));
    if (level && type) types_.try_emplace(TypeKey(*level, *type), Entry{.text = name});
  });
}

void Dictionary::ReadTexts(std::string_view text) {
  ForEachLine(text, [&](std::string_view key, std::string_view value) {
    if (const auto hash = WholeNumber<std::uint64_t>(key)) {
      texts_.try_emplace(*hash, Entry{.text = value});
    }
  });
}

StringId Dictionary::Text(std::uint64_t hash) { return Find(texts_, unknown_texts_, hash, hash); }

StringId Dictionary::TypeName(std::uint32_t level, std::uint32_t type) {
  return Find(types_, unknown_types_, TypeKey(level, type), type);
}

StringId Dictionary::Find(Entries& known, Ids& unknown, std::uint64_t key, std::uint64_t number) {
  if (const auto found = known.find(key); found != known.end()) {
    Entry& entry = found->second;
    if (entry.id == StringId::kEmpty) entry.id = strings_.Intern(entry.text);
    return entry.id;
  }
  const auto [place, fresh] = unknown.try_emplace(key, StringId::kEmpty);
  if (fresh) place->second = strings_.Intern(fmt::format("{}", number));
  return place->second;
}

}  // namespace mpa::raw
