// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/recipe/recipe.h"
#include "mpa/writers/writers.h"

/// Where the results of recipes go.
namespace mpa {

/// The form of recipes without --export_type.
inline constexpr std::string_view kRecipeType = "db";

/// The form that is written without --export_type.
std::string_view StandardType(const Recipe& recipe, const std::filesystem::path& directory,
                              const OpenOptions& open);

/// Checks that the result can be written, before any rank is read.
void PrepareTargets(const Recipe& recipe, const std::vector<ExportType>& types,
                    const std::filesystem::path& directory);

/// Directories for results that are not there yet, outer ones first. What is still empty in the end
/// is removed: a run that fails leaves nothing beside the captures.
class NewDirectories {
 public:
  NewDirectories() = default;
  ~NewDirectories();
  NewDirectories(const NewDirectories&) = delete;
  NewDirectories& operator=(const NewDirectories&) = delete;

  /// With those above it. To be called before they are made.
  void Add(const std::filesystem::path& directory);

 private:
  std::vector<std::filesystem::path> directories_;
};

/// What was written, for people and for programs.
struct WrittenResults {
  std::vector<std::filesystem::path>
      places;                                ///< of the results: files, or directories with several
  std::filesystem::path database;            ///< empty: none
  std::vector<std::string> tables;           ///< in it
  std::vector<std::filesystem::path> files;  ///< all others
  /// Of tables, and of files that hold one.
  std::vector<std::pair<std::string, std::int64_t>> rows;
};

/// Files of single ranks that are written while other ranks are still read, so that not all of them
/// are in memory at once.
class EarlyDocuments {
 public:
  explicit EarlyDocuments(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// May be called by several threads at once. Throws Error (kOutput).
  void Write(const Recipe& recipe, const std::vector<TextDocument>& documents);
  auto Writer() {
    return [this](const Recipe& recipe, const std::vector<TextDocument>& documents) {
      Write(recipe, documents);
    };
  }
  std::vector<std::filesystem::path> FilesOf(const Recipe& recipe) const;

 private:
  std::filesystem::path directory_;
  std::mutex mutex_;
  std::map<std::string_view, std::set<std::filesystem::path>> files_;
};

/// True if the documents of the report are among the files of these types.
bool WritesDocuments(const Recipe& recipe, const std::vector<ExportType>& types);

/// Writes the report. Tables join those of other recipes in one database, and workbooks of ranks
/// lie in the folder itself.
WrittenResults WriteResults(const Recipe& recipe, const Report& report,
                            const std::vector<ExportType>& types,
                            const std::filesystem::path& directory, const EarlyDocuments& early);

}  // namespace mpa
