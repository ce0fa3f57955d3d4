// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cluster_output.h"
#include "mpa/pipeline/cluster.h"
#include "mpa/writers/agent.h"

namespace mpa {

/// --agent: stdout carries one JSON object and nothing else, whatever happens. Commands say what
/// they found; the program prints it when it ends. What they log as warnings is in the object, too.
class Agent {
 public:
  /// Decides by the arguments, as NormalizeArguments() gives them; from then on the log is kept in
  /// memory.
  explicit Agent(std::vector<std::string> words);

  bool IsWanted() const { return wanted_; }

  /// What the command answers: the question, caveats and what to do next are the command's.
  AgentAnswer& Answer() { return answer_; }
  /// Adds what a report says: its verdict and lists.
  void Show(const Report& report);
  /// Says whose numbers these are.
  void IsAbout(const MappedRanks& mapped);
  /// Adds what was written.
  void Wrote(const WrittenResults& results);
  void Wrote(const std::vector<std::filesystem::path>& files);
  /// Of several reports --json prints none: what to give instead, to get all of them.
  void RestIs(std::string_view option) { rest_ = option; }
  /// Throws Error (kUsage) if --json was given, too.
  void RefuseJson(bool json) const;

  /// Prints the answer. "lost" says where a warning is the reason for the exit code.
  void Finish(int exit_code);
  /// Prints what went wrong, with the corrected command where a name was misspelt.
  void FinishWithError(std::string_view text, int exit_code);

 private:
  std::string Corrected(std::string_view text) const;
  std::vector<std::string> Warnings() const;

  bool wanted_ = false;
  std::size_t most_ = 2000;
  int log_ = -1;                                 // a file in memory; -1: warnings are not kept
  std::vector<std::string> words_;               // of the command line
  std::vector<std::string> options_, operands_;  // without --agent and its length; from "--" on
  std::string rest_ = "--json";
  AgentAnswer answer_;
  WrittenResults written_;
};

}  // namespace mpa
