// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "mpa/writers/writers.h"

namespace mpa {

/// What a command makes of its report: --export_type and --json, the same for every command.
class ExportOptions {
 public:
  /// Adds the options to a command; *this has to outlive the parsing. The help says what the first
  /// of `kinds` writes without the option: `standard`.
  void AddTo(CLI::App& command, const std::vector<ReportKind>& kinds, std::string_view standard);
  /// What --export_type lists, in lower case and each once; none when it was not given.
  std::vector<std::string> Names() const;
  bool json() const { return json_; }
  /// The forms to write, those of `standard` when none are given. With --json nothing is standard.
  /// Throws Error (kUsage) for what is unknown or not a form of such reports.
  std::vector<ExportType> Types(ReportKind kind, std::string_view standard) const;
  /// Prints the report, or with --json the document.
  void Show(const Report& report) const;

 private:
  std::string types_;
  bool json_ = false;
};

/// The lines that Show() prints of a report where stdout is no terminal.
std::vector<std::string> ScreenOf(const Report& report);

}  // namespace mpa
