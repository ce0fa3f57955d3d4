// SPDX-License-Identifier: Apache-2.0
// The files of recipes.
#include "cluster_output.h"

#include <algorithm>

#include "mpa/base/notes.h"
#include "mpa/io/output_file.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

void CountRows(const Report& report, const fs::path& file, WrittenResults& written) {
  for (const Sheet& sheet : report.sheets) {
    const bool holds_it = file.stem() == sheet.text_file.stem || file.stem() == sheet.name;
    if (file.extension() != ".csv" || !holds_it) continue;
    written.rows.emplace_back(file.string(), sheet.rows.size());
    return;
  }
}

// All files below a folder, or the one file.
std::vector<fs::path> FilesAt(const fs::path& path) {
  std::vector<fs::path> files;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {path};
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Files that lie in the folder of the recipe itself.
void AddFiles(const std::vector<fs::path>& files, const Report& report, const fs::path& folder,
              WrittenResults& written) {
  if (files.size() > 1) written.places.push_back(folder);
  if (files.size() == 1) written.places.push_back(files.front());
  for (const fs::path& file : files) {
    written.files.push_back(file);
    CountRows(report, file, written);
  }
}

}  // namespace

void NewDirectories::Add(const fs::path& directory) {
  std::error_code ignored;
  std::vector<fs::path> missing;
  fs::path outer = fs::absolute(directory).lexically_normal();
  if (outer.filename().empty()) outer = outer.parent_path();  // "out/"
  for (; outer != outer.parent_path() && !fs::exists(outer, ignored); outer = outer.parent_path()) {
    missing.push_back(outer);
  }
  directories_.insert(directories_.end(), missing.rbegin(), missing.rend());
}

NewDirectories::~NewDirectories() {
  for (auto directory = directories_.rbegin(); directory != directories_.rend(); ++directory) {
    std::error_code not_empty;
    fs::remove(*directory, not_empty);
  }
}

void EarlyDocuments::Write(const Recipe& recipe, const std::vector<TextDocument>& documents) {
  for (const TextDocument& document : documents) {
    const fs::path name = fs::path(recipe.folder) / document.file_name, path = directory_ / name;
    io::PrepareDirectoryBelow(directory_, name.parent_path());
    io::ReplaceText(path, document.text);
    const std::lock_guard lock(mutex_);
    files_[recipe.name].insert(path);
  }
}

std::vector<fs::path> EarlyDocuments::FilesOf(const Recipe& recipe) const {
  const auto found = files_.find(recipe.name);
  if (found == files_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::string_view StandardType(const Recipe& recipe, const fs::path& directory,
                              const OpenOptions& open) {
  if (!recipe.text_form_of_text || directory.empty()) return kRecipeType;
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) return kRecipeType;  // which is said later
  const Discovery found = Discover(directory, open);
  const bool all_text =
      !found.ranks.empty() && std::ranges::all_of(found.ranks, [](const RankInput& rank) {
        return rank.kind == CaptureKind::kNpuText;
      });
  return all_text ? "text" : kRecipeType;
}

void PrepareTargets(const Recipe& recipe, const std::vector<ExportType>& types,
                    const fs::path& directory) {
  if (types.empty()) return;
  io::PrepareDirectoryBelow(directory.parent_path(), directory.filename());
  const fs::path folder = directory / recipe.folder;
  if (recipe.documents_always) io::PrepareDirectoryBelow(directory, recipe.folder);
  for (const ExportType& type : types) {
    if (type.name == "db") {
      PrepareDatabase(directory / kResultsDatabase);
      continue;
    }
    io::PrepareDirectoryBelow(directory, recipe.folder);
    if (type.name != "text" && type.name != "notebook") {
      PrepareReport(folder, std::string(recipe.name), type);
      continue;
    }
    // Which ranks there are is not known yet.
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".xlsx" && entry.is_directory()) {
        io::PrepareOutputFile(entry.path());
      }
    }
  }
}

bool WritesDocuments(const Recipe& recipe, const std::vector<ExportType>& types) {
  return recipe.documents_always || std::ranges::any_of(types, [](const ExportType& type) {
           return type.name == "text" || type.name == "notebook";
         });
}

WrittenResults WriteResults(const Recipe& recipe, const Report& report,
                            const std::vector<ExportType>& types, const fs::path& directory,
                            const EarlyDocuments& early) {
  WrittenResults written;
  const fs::path folder = directory / recipe.folder;
  std::vector<std::string> notes;
  bool documents = false;
  for (const ExportType& type : types) {
    if (type.name == "db") {
      written.database = directory / kResultsDatabase;
      written.places.push_back(written.database);
      WriteDatabase(report.sheets, written.database);
      for (const Sheet& sheet : report.sheets) {
        written.tables.push_back(sheet.name);
        written.rows.emplace_back(sheet.name, sheet.rows.size());
      }
    } else if (type.name == "text") {
      std::vector<fs::path> files = WriteRankWorkbooks(report, folder, notes);
      const std::vector<fs::path> texts = WriteTextFiles(report, folder);
      files.insert(files.end(), texts.begin(), texts.end());
      // Tables without a form of the Python tool, or without rows: better than no file at all.
      if (files.empty() && early.FilesOf(recipe).empty()) {
        files = WriteTextFiles(report, folder, Sheets::kAll);
      }
      AddFiles(files, report, folder, written);
      documents = true;
    } else if (type.name == "notebook") {
      AddFiles(WriteNotebook(report, folder, recipe.name), report, folder, written);
      documents = true;
    } else {
      const fs::path path = ReplaceReport(report, folder, std::string(recipe.name), type, notes);
      written.places.push_back(path);
      for (const fs::path& file : FilesAt(path)) {
        written.files.push_back(file);
        CountRows(report, file, written);
      }
    }
  }
  if (recipe.documents_always && !types.empty()) {
    std::vector<fs::path> files = early.FilesOf(recipe);
    if (!documents) {
      const std::vector<fs::path> late = WriteTextFiles(report, folder);
      files.insert(files.end(), late.begin(), late.end());
    }
    AddFiles(files, report, folder, written);
  }
  LogNotes(notes);
  return written;
}

}  // namespace mpa
