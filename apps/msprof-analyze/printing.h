// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cluster_output.h"

namespace mpa {

/// Prints on stdout. What fails is told by FinishStdout().
void Print(std::string_view text);

/// Prints lines of a report on stdout, as Printable() shows them: names of a capture must not steer
/// the terminal.
void PrintLines(const std::vector<std::string>& lines);

/// `text` in at most five lines; more is cut off.
std::vector<std::string> FewLines(std::string_view text);

/// Throws Error (kOutput) when not all that was printed has reached stdout, unless it is a pipe
/// whose reader has read enough.
void FinishStdout();

/// --agent: stdout carries one JSON object and nothing else, the log goes to a file that the object
/// names.
class Agent {
 public:
  /// Decides by the arguments; from then on stderr is the file.
  Agent(int count, const char* const* arguments);

  bool IsWanted() const { return wanted_; }

  /// Prints what was written, and as `answer` the screen. `warnings` are the notes of the log.
  void PrintResults(const std::vector<WrittenResults>& written,
                    const std::vector<std::string>& answer,
                    const std::vector<std::string>& warnings, const std::string& suggestion,
                    int exit_code) const;
  /// The same of files alone.
  void PrintFiles(const std::vector<std::filesystem::path>& files,
                  const std::vector<std::string>& answer, const std::vector<std::string>& warnings,
                  const std::string& suggestion, int exit_code) const;
  /// Prints a JSON document as the message; `exit_code` is that of the process.
  void PrintDocument(std::string_view document, const std::string& suggestion, int exit_code) const;
  /// Throws Error (kUsage) if --json was given, too.
  void RefuseJson(bool json) const;
  void PrintFailure(std::string_view text, int exit_code) const;

 private:
  bool wanted_ = false;
  std::filesystem::path log_;
};

}  // namespace mpa
