// SPDX-License-Identifier: Apache-2.0
// Files of records that contain their own length.
#include "tlv.h"

#include <fmt/format.h>

#include "mpa/base/log.h"

namespace mpa::raw {
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
                 fmt::format("{}, {} bytes lost", name_, text.size() - whole));
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
