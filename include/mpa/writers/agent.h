// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/report/cell.h"
#include "mpa/report/report.h"

/// Answers in a bounded number of characters, for language models and other programs that read
/// little.
namespace mpa {

/// The first rows of a list.
struct AgentTable {
  std::string name, meaning{};
  std::vector<std::string> columns{};     ///< keys with their units: "sum_ns"
  std::vector<std::vector<Cell>> rows{};  ///< as many as may be of use
  std::size_t of = 0;                     ///< all rows
  /// Of all rows, by column: sums of those that may be added.
  std::vector<std::pair<std::string, Cell>> totals{};
};

/// What a command answers.
struct AgentAnswer {
  std::string question{};
  std::vector<std::string> answer{};  ///< sentences, the verdict first
  /// Which ranks and steps are meant, in words by key: {"ranks", "0-7"}.
  std::vector<std::pair<std::string, Cell>> scope{};
  std::vector<AgentTable> tables{};
  std::vector<std::string> caveats{};  ///< what to keep in mind
  std::string lost{};                  ///< why something had to be left out; empty: nothing had to
  std::string next{};                  ///< the command that goes on from here
  std::string rest{};                  ///< the command that prints all of it
  /// More members of the message, such as what was written: key and JSON text.
  std::vector<std::pair<std::string, std::string>> members{};
};

/// A list of a report, with its first rows.
AgentTable AgentTableOf(const Sheet& sheet);

/// What points in time count from. Traces of GPUs need not say when the host was started.
inline constexpr const char* kTimesOfCaptures =
    "ns since the Unix epoch; numbers below 10^18: since boot";

/// A value as documents have it: null for an empty cell, texts in UTF-8.
nlohmann::ordered_json JsonOf(const Cell& cell);

/// The fewest bytes that FormatAgent() can be asked to keep.
inline constexpr std::size_t kFewestChars = 600;

/// The object of --agent, in one line of at most `most` bytes (0: of any length). Lists say how
/// many of their rows are left out. First rows go, from all lists alike, then words beside the
/// verdict, last commands: half a command does not run.
std::string FormatAgent(const AgentAnswer& answer, int exit_code, std::size_t most);

/// The same of an error, with the command to run instead.
std::string FormatAgentError(std::string_view text, std::string_view suggestion, int exit_code,
                             std::size_t most);

}  // namespace mpa
