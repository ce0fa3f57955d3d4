// SPDX-License-Identifier: Apache-2.0
#include "part_places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"

namespace mpa {

namespace fs = std::filesystem;

std::string_view FilePiece::Of(std::string_view text) const {
  return begin < text.size()
             ? text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(size))
             : std::string_view();
}

std::string PartPlace::Text() const {
  return packed.empty() ? file->string() : fmt::format("{}: {}", file->string(), Printable(packed));
}

OpenFile::Texts OpenFile::Of(const PartPlace& place) {
  if (path_ != place.file) {
    path_ = nullptr;
    content_.emplace(*place.file, io::Content::kAsIs);
    path_ = place.file;
  }
  return {place.head.Of(content_->text()), place.rest.Of(content_->text())};
}

PartPlaces::PartPlaces(const std::vector<fs::path>& directories,
                       const std::vector<PartSelection>& wanted, std::vector<std::string>& notes) {
  for (const PartSelection& of : wanted) wanted_.emplace(of.recipe->name);
  const auto is_of_use = [&](std::string_view name) {
    return name.ends_with(kPackedEnding) || IsWanted(name);
  };
  for (const fs::path& directory : directories) {
    std::vector<const fs::path*> packed;
    for (fs::path& path : PathsIn(directory, is_of_use)) {
      const fs::path& file = files_.emplace_back(std::move(path));
      if (file.extension() == kPackedEnding)
        packed.push_back(&file);
      else
        Add(file.filename().string(), {&file});
    }
    for (const fs::path* file : packed) {
      try {
        AddPacked(*file);
      } catch (const Error& error) {
        if (!IsBadInput(error)) throw;
        notes.push_back(Say("{}: {}; the file is left out, run 'merge --partial' again",
                            file->string(), error.what()));
      }
    }
  }
}

void PartPlaces::AddPacked(const fs::path& file) {
  const io::InputText content(file, io::Content::kAsIs);
  std::string_view rest = content.text();
  const auto index = TakeSealed<PackIndex>(rest);
  std::uint64_t at = content.text().size() - rest.size();
  // Sums that are beyond all numbers lie beyond the end of the file, too.
  const auto take = [&](std::uint64_t bytes) {
    const FilePiece piece{at, bytes};
    at += std::min(bytes, std::numeric_limits<std::uint64_t>::max() - at);
    return piece;
  };
  std::vector<PartPlace> places;
  for (const PackIndex::Row& row : index.rows)
    places.push_back({&file, row.name, take(row.head_bytes)});
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].rest = take(index.rows[i].rest_bytes);
    if (IsWanted(index.rows[i].name)) Add(index.rows[i].name, std::move(places[i]));
  }
}

// The content of a list says which recipe it is for.
bool PartPlaces::IsWanted(std::string_view name) const {
  return name.ends_with(kJobEnding) ||
         (name.ends_with(kPartEnding) && wanted_.contains(RecipeOf(name)));
}

void PartPlaces::Add(std::string name, PartPlace place) {
  if (name.ends_with(kJobEnding)) {
    lists_.emplace_back(std::move(name), std::move(place));
  } else {
    parts_[std::move(name)].push_back(std::move(place));
  }
}

const std::vector<PartPlace>& PartPlaces::Find(std::string_view part) const {
  static const std::vector<PartPlace> kNone;
  const auto found = parts_.find(part);
  return found == parts_.end() ? kNone : found->second;
}

void ReadByFile(const std::vector<std::size_t>& positions,
                const std::function<const fs::path*(std::size_t)>& file_of,
                const std::function<void(std::size_t, OpenFile&)>& read) {
  constexpr std::size_t kAtATime = 8;  // as many as a node has; others are for other threads
  std::map<const fs::path*, std::vector<std::size_t>> of_files;
  for (const std::size_t position : positions) of_files[file_of(position)].push_back(position);
  std::vector<std::span<const std::size_t>> tasks;
  for (const auto& [file, of_file] : of_files) {
    for (std::span<const std::size_t> rest = of_file; !rest.empty();) {
      tasks.push_back(rest.first(std::min(kAtATime, rest.size())));
      rest = rest.subspan(tasks.back().size());
    }
  }
  ParallelFor(tasks.size(), [&](std::size_t task) {
    OpenFile file;
    for (const std::size_t position : tasks[task]) read(position, file);
  });
}

std::vector<ReadList> ReadLists(const PartPlaces& places, std::vector<std::string>& notes) {
  struct Kept {
    std::string text;
    ReadList list;
  };
  std::map<std::string, Kept> by_name;
  OpenFile file;
  for (const auto& [name, place] : places.Lists()) {
    Kept& kept = by_name[name];
    std::optional<JobFile> job;
    try {
      const std::string_view text = file.Of(place).head;
      if (!kept.text.empty() && text == kept.text) continue;  // as most copies
      job = JobFileIn(text);
      if (kept.text.empty()) {
        kept = {std::string(text), {name, place, std::move(*job)}};
        continue;
      }
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      notes.push_back(Say("{}: {}; the list is left out", place.Text(), error.what()));
      continue;
    }
    JobFile& first = kept.list.job;
    if (job->captures != first.captures || job->states != first.states) {
      Fail(ErrorKind::kInput, "{} and {} list the ranks of different runs; remove the older one",
           kept.list.place.Text(), place.Text());
    }
    first.gone.insert(first.gone.end(), job->gone.begin(), job->gone.end());
  }
  std::vector<ReadList> lists;
  for (auto& [name, kept] : by_name) {
    if (!kept.text.empty()) lists.push_back(std::move(kept.list));
  }
  return lists;
}

std::string_view RecipeOf(std::string_view name) { return name.substr(0, name.find('.')); }

void FailForList(const fs::path& directory, std::string_view recipe,
                 const std::vector<std::string>& parts) {
  Fail(ErrorKind::kInput,
       "{}: the list of ranks {}.*{} is missing, without which {} cannot be merged: {}; run a shard"
       " again, which writes it",
       directory.string(), recipe, kJobEnding, Counted(parts.size(), "part"), SomeOf(parts));
}

void RequireLists(const fs::path& directory, const PartPlaces& places,
                  const std::vector<PartSelection>& wanted) {
  for (const PartSelection& of : wanted) {
    const auto is_of_it = [&](const auto& named) {
      return RecipeOf(named.first) == of.recipe->name;
    };
    if (std::ranges::any_of(places.Lists(), is_of_it)) continue;
    std::vector<std::string> parts;
    for (const auto& named : places.Parts()) {
      if (is_of_it(named)) parts.push_back(named.first);
    }
    if (!parts.empty()) FailForList(directory, of.recipe->name, parts);
  }
}

std::string SomeOf(const std::vector<std::string>& names) {
  constexpr std::size_t kMax = 5;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(kMax, names.size()));
  std::string text = Printable(fmt::format("{}", fmt::join(names.begin(), end, ", ")));
  if (names.size() > kMax) text += Say(" and {} more", names.size() - kMax);
  return text;
}

}  // namespace mpa
