// SPDX-License-Identifier: Apache-2.0
#include "query_commands.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "embedded/app.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

struct QueryCommand {
  const char *name, *meaning;
};
constexpr QueryCommand kQueryCommands[] = {
    {".tables", ToTranslate("tables that have rows, and how many")},
    {".schema", ToTranslate("columns of a table (.schema kernel), or the names of all")},
    {".examples", ToTranslate("ten questions in SQL")},
    {".help", ToTranslate("this list; everything else is SQL and ends with ';'")},
    {".quit", ToTranslate("leaves, as Ctrl-D does; Ctrl-C stops a statement")}};

[[noreturn]] void FailUnknownCommand(const std::string& name) {
  const std::vector<std::string> commands = QueryCommands();
  const auto nearest = Closest(name, commands);
  if (!nearest)
    Fail(ErrorKind::kUsage, "unknown command '{}'; available: {}", name, fmt::join(commands, ", "));
  Misspelt error(Say("unknown command '{}'; did you mean '{}'? Available: {}", name, *nearest,
                     fmt::join(commands, ", ")),
                 name, *nearest);
  error.corrected = *nearest;
  throw error;
}

QueryAnswer SchemaAnswer(const std::string& table) {
  try {
    return SchemaOf(table);
  } catch (Misspelt& error) {
    error.corrected = ".schema " + error.right;
    throw;
  }
}

}  // namespace

bool IsQueryCommand(std::string_view statement) {
  return statement.size() > 1 && statement[0] == '.' &&
         std::isalpha(static_cast<unsigned char>(statement[1])) != 0;
}

std::vector<std::string> QueryCommands() {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : kQueryCommands) names.emplace_back(name);
  return names;
}

QueryAnswer AnswerQueryCommand(const std::string& statement,
                               const std::function<QueryJob&()>& job) {
  std::string_view rest = Trim(statement);
  if (rest.ends_with(';')) rest = Trim(rest.substr(0, rest.size() - 1));
  const std::string name(rest.substr(0, rest.find(' ')));
  const std::string about(Trim(rest.substr(name.size())));
  QueryAnswer answer;
  if (name == ".tables") return job().Tables();
  if (name == ".schema") return SchemaAnswer(about);
  if (name == ".examples") {
    answer.columns = {{"question"}, {"sql"}};
    for (const auto& [question, sql] : SqlExamples()) answer.rows.push_back({question, sql});
  } else if (name == ".help") {
    answer.columns = {{"command"}, {"meaning"}};
    for (const auto& [command, meaning] : kQueryCommands)
      answer.rows.push_back({command, std::string(Translated(meaning))});
  } else {
    FailUnknownCommand(name);
  }
  return answer;
}

// Each is a paragraph of the page, and its statement the block of SQL behind that.
std::vector<SqlExample> SqlExamples() {
  constexpr std::string_view kOpen = "\n\n```sql\n", kClose = "\n```\n";
  constexpr std::size_t kCount = 10;
  std::vector<SqlExample> examples;
  std::string_view page = embedded::kSqlQuestions;
  for (std::size_t at = 0;
       examples.size() < kCount && (at = page.find(kOpen)) != std::string_view::npos;) {
    const std::string_view before = page.substr(0, at);
    page.remove_prefix(at + kOpen.size());
    examples.push_back({std::string(Translated(before.substr(before.rfind('\n') + 1))),
                        std::string(page.substr(0, page.find(kClose)))});
  }
  return examples;
}

std::string SqlExamplesText() {
  std::string text;
  for (const auto& [question, sql] : SqlExamples())
    text += fmt::format("{}-- {}\n{};\n", text.empty() ? "" : "\n", question, sql);
  return text;
}

}  // namespace mpa
