// SPDX-License-Identifier: Apache-2.0
#include "part_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <system_error>

#include "mpa/base/commit.h"
#include "mpa/base/ending.h"
#include "mpa/base/rank.h"
#include "mpa/io/input_text.h"

namespace mpa {

std::uint32_t Checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// `captures` only says how the command was called.
std::uint32_t ArgumentsCode(const JobFile& file) {
  RecipeArguments arguments = file.arguments;
  arguments.captures.clear();
  return Checksum(ToBytes(arguments) + ToBytes(file.step));
}

std::uint32_t StateOf(const std::vector<SourceFile>& sources) {
  std::string bytes;
  for (SourceFile source : sources) {
    source.inode = 0;
    bytes += ToBytes(source);
  }
  return Checksum(bytes);
}

PartOrigin OriginOf(const JobFile& file, std::size_t i) {
  return {file.recipe, file.job.ranks[i], ArgumentsCode(file), file.captures[i], file.states[i]};
}

namespace {

// Parts hold the number that stands for a label, so they are of that number, too.
std::string RankPiece(RankId rank) {
  return rank.IsLabel() ? fmt::format("capture{}", rank.Number() - kMaxRanks)
                        : fmt::format("rank{}", rank.Number());
}

}  // namespace

std::string PartName(const JobFile& file, std::size_t i) {
  const RankId rank = file.job.ranks[i];
  return fmt::format("{}.{}-{:08x}.{}.{:08x}{}", file.recipe, RankPiece(rank),
                     Checksum(file.captures[i]), MPA_VERSION, ArgumentsCode(file), kPartEnding);
}

std::string JobName(const JobFile& file) {
  return fmt::format("{}.{:08x}.{}.{:08x}{}", file.recipe, Checksum(ToBytes(file.captures)),
                     MPA_VERSION, ArgumentsCode(file), kJobEnding);
}

std::vector<std::filesystem::path> PathsIn(const std::filesystem::path& directory,
                                           std::string_view ending) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ending) paths.push_back(entry.path());
  }
  if (error == std::errc::not_enough_memory) EndForMemory();
  if (error) Fail(ErrorKind::kInput, "{}: {}", directory.string(), error.message());
  // Paths compare part by part, and these differ in their last part alone.
  std::ranges::sort(paths, {}, [](const std::filesystem::path& path) -> const std::string& {
    return path.native();
  });
  return paths;
}

std::string HeadBytes(std::string_view mark) {
  return ToBytes(SealedHead{std::string(mark), MPA_VERSION, std::string(BuildCommit())});
}

void CheckHead(const SealedHead& head, std::string_view mark) {
  if (head.mark != mark) Fail(ErrorKind::kCorrupt, "not a part of a recipe");
  if (head.version != MPA_VERSION) {
    Fail(ErrorKind::kCorrupt, "made by version {}, this is {}; make it again", head.version,
         MPA_VERSION);
  }
  if (head.commit != BuildCommit()) {
    Fail(ErrorKind::kCorrupt, "made by a build of commit {}, this is one of {}; make it again",
         head.commit, BuildCommit());
  }
}

std::string_view TakeSealedText(std::string_view mark, std::string_view& text) {
  PartReader reader(text);
  SealedHead head;
  std::uint64_t size = 0;
  reader(head);
  CheckHead(head, mark);
  reader(size);
  const std::size_t begin = HeadBytes(mark).size() + sizeof(size);
  reader.Require(size);
  const std::size_t end = begin + static_cast<std::size_t>(size);
  if (text.size() - end < sizeof(std::uint32_t)) Fail(ErrorKind::kCorrupt, "the part ends early");
  if (FromBytes<std::uint32_t>(text.substr(end, sizeof(std::uint32_t))) !=
      Checksum(text.substr(0, end)))
    Fail(ErrorKind::kCorrupt, "damaged: its checksum is wrong");
  const std::string_view content = text.substr(begin, end - begin);
  text.remove_prefix(end + sizeof(std::uint32_t));
  return content;
}

JobFile ReadJobFile(const std::filesystem::path& path) {
  const io::InputText file(path, io::Content::kAsIs);
  std::string_view text = file.text();
  JobFile content = TakeSealed<JobFile>(text);
  const std::size_t count = content.captures.size();
  if (content.job.ranks.size() != count || content.job.groups.size() != count ||
      content.labels.size() != count || content.states.size() != count)
    Fail(ErrorKind::kCorrupt, "damaged: its lists have different lengths");
  if (!text.empty()) Fail(ErrorKind::kCorrupt, "damaged: bytes follow the list");
  return content;
}

}  // namespace mpa
