// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/query/query.h"

/// What `query` answers beside SQL: ".tables", ".schema kernel".
namespace mpa {

bool IsQueryCommand(std::string_view statement);

/// Names of these commands, "." first.
std::vector<std::string> QueryCommands();

/// Throws Misspelt or Error (kUsage) for one that there is not. `job` gives the captures, where the
/// command is about them.
QueryAnswer AnswerQueryCommand(const std::string& statement, const std::function<QueryJob&()>& job);

struct SqlExample {
  std::string question, sql;
};
/// Ten questions, of docs/query.md.
std::vector<SqlExample> SqlExamples();
/// Their statements, ready to be pasted.
std::string SqlExamplesText();

}  // namespace mpa
