// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "map_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/rank.h"
#include "mpa/recipe/part_bytes.h"
#include "shares.h"

/// The files in which parts of recipes travel.
namespace mpa {

inline constexpr std::string_view kPartEnding = ".part", kJobEnding = ".job";

/// What a part is of. Its name says most of it, too, but files are renamed.
struct PartOrigin {
  std::string recipe{};
  RankId rank{};
  std::uint32_t arguments = 0;  ///< ArgumentsCode()
  std::string capture{};        ///< as the list of the job names it
  std::uint32_t state = 0;      ///< StateOf() the capture

  bool operator==(const PartOrigin&) const = default;
};

/// What is known of a part without reading it whole. A file begins with it; WholePart follows.
struct PartFile {
  static constexpr std::string_view kMark = "msprof-analyze part";
  PartOrigin origin{};
  std::vector<SourceFile> sources{};
  std::vector<std::string> notes{};
  bool partial = false, failed = false;
  AnalysedCaptures captures{};
  JobMember member{};
  std::string outline{};  ///< as the recipe encodes it, if it does
};

/// What a recipe made of a rank, as it encodes it.
struct WholePart {
  static constexpr std::string_view kMark = "msprof-analyze whole part";
  std::uint32_t of = 0;  ///< the checksum of the bytes of the PartFile before it
  std::string part{};
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
  std::vector<std::uint32_t> states{};  ///< StateOf() each of them, when the list was made
  std::vector<std::string> labels{};    ///< what ranks without a number are called; else empty
  std::vector<std::string> gone{};      ///< captures that earlier lists of the job had
};

std::uint32_t Checksum(std::string_view bytes);

/// Of the arguments that tell what `map` does.
std::uint32_t ArgumentsCode(const JobFile& file);

/// Of a capture by its files, by which parts of earlier runs are told. Without their inodes, which
/// may differ on the machines that make the parts.
std::uint32_t StateOf(const std::vector<SourceFile>& sources);

/// What the part of rank number `i` of the job has to be of.
PartOrigin OriginOf(const JobFile& file, std::size_t i);

/// The file for rank number `i` of the job.
std::string PartName(const JobFile& file, std::size_t i);
std::string JobName(const JobFile& file);

/// The files of a directory whose names are wanted, in order of these. Throws Error.
std::vector<std::filesystem::path> PathsIn(
    const std::filesystem::path& directory,
    const std::function<bool(std::string_view name)>& is_wanted);

/// The mark, the version and the commit come first, so that files of any other program and build
/// are recognised before the rest is looked at; the size and the content follow, and a checksum of
/// all.
struct SealedHead {
  std::string mark, version, commit;
};
/// Throws Error (kCorrupt) unless the head is of such content and of this build.
void CheckHead(const SealedHead& head, std::string_view mark);
std::string HeadBytes(std::string_view mark);

template <typename Content>
std::string Sealed(const Content& content) {
  const std::string body = ToBytes(content);
  const std::string bytes = HeadBytes(Content::kMark) + ToBytes(std::uint64_t{body.size()}) + body;
  return bytes + ToBytes(Checksum(bytes));
}

/// Takes the text of what TakeSealed() decodes. Throws Error (kCorrupt) for other texts.
std::string_view TakeSealedText(std::string_view mark, std::string_view& text);

/// Takes sealed content from the beginning of a text. Throws Error (kCorrupt) without it.
template <typename Content>
Content TakeSealed(std::string_view& text) {
  return FromBytes<Content>(TakeSealedText(Content::kMark, text));
}

/// Throws Error (kCorrupt) for any other text.
JobFile JobFileIn(std::string_view text);
/// The same of a file; throws Error (kInput) for those that cannot be read, too.
JobFile ReadJobFile(const std::filesystem::path& path);

}  // namespace mpa
