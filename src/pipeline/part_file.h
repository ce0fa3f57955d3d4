// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cereal/types/set.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "map_rank.h"
#include "mpa/base/error.h"
#include "mpa/io/input_text.h"
#include "mpa/recipe/part_bytes.h"
#include "shares.h"

/// The files in which parts of recipes travel.
namespace mpa {

inline constexpr std::string_view kPartEnding = ".part", kJobEnding = ".job";

/// What a recipe made of a rank.
struct PartFile {
  static constexpr std::string_view kMark = "msprof-analyze part";
  std::vector<SourceFile> sources{};
  std::vector<std::string> notes{};
  bool partial = false, failed = false;
  AnalysedCaptures captures{};
  std::string part{};  ///< as the recipe encodes it
};

/// The ranks of all shares.
struct JobFile {
  static constexpr std::string_view kMark = "msprof-analyze job";
  std::string recipe{};
  std::uint32_t place = 0;  ///< among the recipes of the command
  RecipeArguments arguments{};
  std::optional<std::int32_t> step{};  ///< empty: all
  RanksOfJob job{};
  std::vector<std::string> captures{};  ///< of each rank, from the directory of the job on
};

std::uint32_t Checksum(std::string_view bytes);

/// Of the arguments that tell what `map` does.
std::uint32_t ArgumentsCode(const JobFile& file);

/// The file for rank number `i` of the job.
std::string PartName(const JobFile& file, std::size_t i);
std::string JobName(const JobFile& file);

/// The files with an ending in a directory, in order of their names. Throws Error.
std::vector<std::filesystem::path> PathsIn(const std::filesystem::path& directory,
                                           std::string_view ending);

/// The mark and the version come first, so that files of any other program and version are
/// recognised before the rest is looked at; a checksum follows it.
struct PartHead {
  std::string mark, version;
};
/// Throws Error (kCorrupt) unless the head is of such a file and of this version.
void CheckHead(const PartHead& head, std::string_view mark);
std::string HeadBytes(std::string_view mark);

template <typename Content>
std::string Sealed(const Content& content) {
  const std::string bytes = HeadBytes(Content::kMark) + ToBytes(content);
  return bytes + ToBytes(Checksum(bytes));
}

/// Throws Error: kCorrupt for other files, kInput for those that cannot be read.
template <typename Content>
Content ReadSealed(const std::filesystem::path& path) {
  const io::InputText file(path, io::Content::kAsIs);
  const std::string_view text = file.text();
  const std::size_t size = text.size() - std::min(text.size(), sizeof(std::uint32_t));
  PartReader reader(text.substr(0, size));
  PartHead head;
  reader(head);
  CheckHead(head, Content::kMark);
  if (FromBytes<std::uint32_t>(text.substr(size)) != Checksum(text.substr(0, size)))
    Fail(ErrorKind::kCorrupt, "damaged: its checksum is wrong");
  Content content;
  reader(content);
  return content;
}

}  // namespace mpa
