// SPDX-License-Identifier: Apache-2.0
// Parts of recipes that travel from one machine to another.
#include "mpa/pipeline/part_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/io/input_text.h"
#include "mpa/io/output_file.h"
#include "mpa/recipe/part_bytes.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".part";

// What a file holds. The mark and the version come first, so that files of any other program and
// version are recognised before the rest is looked at.
struct PartFile {
  std::string mark = "msprof-analyze part";
  std::string version = MPA_VERSION;
  std::string recipe;
  RecipeArguments arguments;
  std::int64_t rank = -1;
  bool partial = false;            // of the ranks that were read together
  std::vector<std::string> notes;  // likewise, in the first file alone
  std::string part;
};

template <class Archive>
void serialize(Archive& archive, PartFile& file) {
  archive(file.mark, file.version);
  if (file.mark != PartFile().mark) Fail(ErrorKind::kCorrupt, "not a part of a recipe");
  if (file.version != MPA_VERSION) {
    Fail(ErrorKind::kCorrupt, "made by version {}, this is {}; make it again", file.version,
         MPA_VERSION);
  }
  archive(file.recipe, file.arguments, file.rank, file.partial, file.notes, file.part);
}

std::vector<fs::path> PartPaths(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == kEnding) paths.push_back(entry.path());
  }
  if (error) Fail(ErrorKind::kInput, "{}: {}", directory.string(), error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::vector<fs::path> WriteParts(const Recipe& recipe, const RecipeArguments& arguments,
                                 const MappedRanks& mapped, const fs::path& directory) {
  io::PrepareOutputDirectory(directory);
  std::vector<fs::path> paths;
  std::vector<std::string> notes = mapped.notes;
  for (std::size_t i = 0; i < mapped.parts.size(); ++i) {
    const RankPart& part = mapped.parts[i];
    PartFile file;
    file.recipe = recipe.name;
    file.arguments = arguments;
    file.rank = part.rank;
    file.partial = mapped.partial;
    file.notes = std::exchange(notes, {});
    file.part = recipe.encode(part);
    // Ranks that are unknown are numbered, or one would replace the other.
    const std::string name = part.rank >= 0 ? fmt::format("{}.rank{}", recipe.name, part.rank)
                                            : fmt::format("{}.unknown_rank{}", recipe.name, i);
    paths.push_back(directory / (name + std::string(kEnding)));
    io::ReplaceText(paths.back(), ToBytes(file));
  }
  return paths;
}

MappedRanks ReadParts(const Recipe& recipe, const RecipeArguments& arguments,
                      const fs::path& directory) {
  MappedRanks mapped;
  for (const fs::path& path : PartPaths(directory)) {
    try {
      const io::InputText bytes(path, io::Content::kAsIs);
      const PartFile file = FromBytes<PartFile>(bytes.text());
      if (file.recipe != recipe.name) continue;
      if (file.arguments != arguments) {
        Fail(ErrorKind::kInput, "{}: made with other options of the recipe; give the same ones",
             path.string());
      }
      mapped.parts.push_back({file.rank, recipe.decode(file.part)});
      mapped.partial = mapped.partial || file.partial;
      mapped.notes.insert(mapped.notes.end(), file.notes.begin(), file.notes.end());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      mapped.notes.push_back(
          fmt::format("{}: {}; the rank is left out", path.string(), error.what()));
      mapped.partial = true;
    }
  }
  if (mapped.parts.empty()) {
    Fail(ErrorKind::kInput, "{}: no parts of {}{}", directory.string(), recipe.name,
         mapped.notes.empty() ? "; --save_parts makes them" : ": " + mapped.notes.front());
  }
  std::stable_sort(mapped.parts.begin(), mapped.parts.end(),
                   [](const RankPart& a, const RankPart& b) { return a.rank < b.rank; });
  const auto twice = std::adjacent_find(
      mapped.parts.begin(), mapped.parts.end(),
      [](const RankPart& a, const RankPart& b) { return a.rank >= 0 && a.rank == b.rank; });
  if (twice != mapped.parts.end()) {
    Fail(ErrorKind::kInput, "{}: two parts of rank {}; remove one", directory.string(),
         twice->rank);
  }
  return mapped;
}

}  // namespace mpa
