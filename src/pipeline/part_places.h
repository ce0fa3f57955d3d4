// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/io/input_text.h"
#include "mpa/pipeline/parts.h"
#include "part_file.h"

/// Where parts and lists of ranks are: files of their own, or packed ones.
namespace mpa {

inline constexpr std::string_view kPackedEnding = ".pack";

/// What a packed file begins with. All heads follow in this order, then what belongs to each: so
/// who looks at heads alone reads the beginning of the file.
struct PackIndex {
  static constexpr std::string_view kMark = "msprof-analyze packed parts";
  /// A list, or a part, whose head is its PartFile.
  struct Row {
    std::string name{};  ///< that it had as a file
    std::uint64_t head_bytes = 0, rest_bytes = 0;
  };
  std::vector<Row> rows{};
};

/// Bytes of a file, as far as it has them.
struct FilePiece {
  std::uint64_t begin = 0, size = std::numeric_limits<std::uint64_t>::max();

  std::string_view Of(std::string_view text) const;
};

struct PartPlace {
  const std::filesystem::path* file = nullptr;
  std::string packed{};       ///< its name in a packed file; else empty
  FilePiece head{};           ///< of a file of its own the whole
  FilePiece rest{.size = 0};  ///< what does not follow the head

  /// For messages.
  std::string Text() const;
};

/// The file of the place that was asked for last stays open.
class OpenFile {
 public:
  struct Texts {
    std::string_view head, rest;
  };
  /// Throws Error.
  Texts Of(const PartPlace& place);

 private:
  const std::filesystem::path* path_ = nullptr;
  std::optional<io::InputText> content_;
};

/// Parts of some recipes, and lists, in some directories. Where there are several copies, those of
/// the first directory come first, and files of their own before packed ones.
class PartPlaces {
 public:
  using ByName = std::map<std::string, std::vector<PartPlace>, std::less<>>;
  using Named = std::pair<std::string, PartPlace>;

  /// Throws Error (kInput) for a directory that cannot be listed. Packed files that are of no use
  /// are named in `notes`.
  PartPlaces(const std::vector<std::filesystem::path>& directories,
             const std::vector<PartSelection>& wanted, std::vector<std::string>& notes);

  const ByName& Parts() const { return parts_; }
  /// File by file.
  const std::vector<Named>& Lists() const { return lists_; }
  const std::vector<PartPlace>& Find(std::string_view part) const;

 private:
  void AddPacked(const std::filesystem::path& file);

  void Add(std::string name, PartPlace place);
  bool IsWanted(std::string_view name) const;

  std::set<std::string, std::less<>> wanted_;  // recipes
  std::deque<std::filesystem::path> files_;
  ByName parts_;
  std::vector<Named> lists_;
};

/// Calls `read` with each of the positions, on several threads, which open a file once for many of
/// them. `file_of`: where it is read; null: nowhere.
void ReadByFile(const std::vector<std::size_t>& positions,
                const std::function<const std::filesystem::path*(std::size_t)>& file_of,
                const std::function<void(std::size_t, OpenFile&)>& read);

/// A list of ranks.
struct ReadList {
  std::string name;
  PartPlace place;
  JobFile job;
};

/// Each list once, by name. Those that cannot be read are named in `notes`. Throws Error (kInput)
/// where two of one name are of different runs.
std::vector<ReadList> ReadLists(const PartPlaces& places, std::vector<std::string>& notes);

/// The recipe by the name of a part or a list.
std::string_view RecipeOf(std::string_view name);

/// Throws Error (kInput) for parts of a recipe, given by name, that no list names.
[[noreturn]] void FailForList(const std::filesystem::path& directory, std::string_view recipe,
                              const std::vector<std::string>& parts);

/// Throws Error (kInput) if one of the recipes has parts, but no list of ranks.
void RequireLists(const std::filesystem::path& directory, const PartPlaces& places,
                  const std::vector<PartSelection>& wanted);

/// Names that a message has room for.
std::string SomeOf(const std::vector<std::string>& names);

}  // namespace mpa
