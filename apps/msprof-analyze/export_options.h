// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "mpa/writers/writers.h"

namespace mpa {

/// What a command makes of its report: --export_type and --json, the same for every command.
class ExportOptions {
 public:
  /// Adds the options to a command; *this has to outlive the parsing.
  void AddTo(CLI::App& command);
  /// What --export_type lists, in lower case and each once; none when it was not given.
  std::vector<std::string> Names() const;
  bool json() const { return json_; }
  /// The same as types of files, a workbook by default. Throws Error (kUsage).
  std::vector<ExportType> Types() const;
  /// Writes the report, prints its tables or with --json the document, and tells where the files
  /// lie. Without types there are no files.
  void Deliver(const Report& report, const std::filesystem::path& directory,
               const std::string& stem) const;

 private:
  std::string types_;
  bool json_ = false;
};

}  // namespace mpa
