// SPDX-License-Identifier: Apache-2.0
// The prompt of `query`: lines become statements, names are completed.
#include "query_prompt.h"

#include <sqlite3.h>

#include <optional>
#include <string_view>

#include "line_editor.h"
#include "mpa/base/error.h"
#include "mpa/base/interruption.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/text.h"
#include "printing.h"
#include "query_commands.h"

namespace mpa {
namespace {

// `earlier`: lines of the same statement.
Completions CompleteLine(const std::string& earlier, std::string_view line, std::size_t cursor) {
  if (earlier.empty() && line.starts_with('.') && line.find(' ') >= cursor) {
    Completions commands;
    for (std::string& name : QueryCommands()) {
      if (name.starts_with(line.substr(0, cursor))) commands.words.push_back(std::move(name));
    }
    return commands;
  }
  Completions completions = CompleteStatement(earlier + std::string(line), earlier.size() + cursor);
  completions.begin -= earlier.size();
  return completions;
}

void Answer(const std::string& statement, const std::function<void(const std::string&)>& answer) {
  Interruption::Forget();
  try {
    answer(statement);
  } catch (const Error& error) {
    WriteLog(LogLevel::kError, error.what());
  }
}

}  // namespace

void PromptForStatements(const std::function<void(const std::string&)>& answer) {
  const Interruption stoppable;
  std::string statement;  // what there is of it; ends with the end of a line
  LineEditor editor([&](std::string_view line, std::size_t cursor) {
    return CompleteLine(statement, line, cursor);
  });
  Print("\n" + Say("SQL ends with ';', Tab completes names, .help lists commands") + "\n");
  FinishStdout();
  while (const auto line = editor.Read(statement.empty() ? "query> " : "  ...> ")) {
    const std::string_view typed = Trim(line->text);
    if (line->abandoned) {
      statement.clear();
    } else if (statement.empty() && IsQueryCommand(typed)) {
      if (typed == ".quit") return;
      Answer(std::string(typed), answer);
    } else if (!statement.empty() || !typed.empty()) {
      statement += line->text + "\n";
      if (sqlite3_complete(statement.c_str()) == 0) continue;
      Answer(statement, answer);
      statement.clear();
    }
  }
  Print("\n");
}

}  // namespace mpa
