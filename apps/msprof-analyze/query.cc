// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze query` and `schema`: SQL over captures.
#include "mpa/query/query.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <variant>

#include "agent.h"
#include "choices.h"
#include "command.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/pipeline/cluster.h"
#include "printing.h"
#include "query_commands.h"
#include "query_output.h"
#include "query_prompt.h"
#include "unknown_names.h"

namespace mpa {
namespace {

struct QueryOptions {
  std::vector<std::string> words, captures, base;
  std::string file, database;
  std::optional<std::size_t> max_rows;
  std::size_t max_chars = 0;
  double max_seconds = QueryLimits().seconds;
  bool csv = false, json = false;
  RankOptions ranks;
};

constexpr const char* kQueryUsage = "msprof-analyze query CAPTURE... 'SELECT ...'";

// The largest text that SQLite takes as a statement, see SQLITE_LIMIT_SQL_LENGTH.
constexpr std::size_t kMostSql = 1 << 20;

std::string ReadAll(std::istream& stream, std::string_view name) {
  std::string text(kMostSql + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMostSql) Fail(ErrorKind::kUsage, "{}: longer than a statement may be", name);
  return text;
}

// The statement among the words: one that is SQL or a command, and no path.
std::string TakeStatement(QueryOptions& options) {
  if (options.file == "-") return ReadAll(std::cin, "-f -");
  if (!options.file.empty()) {
    std::ifstream stream(ExpandHome(options.file), std::ios::binary);
    if (!stream) Fail(ErrorKind::kInput, "-f {}: cannot be read", options.file);
    return ReadAll(stream, "-f " + options.file);
  }
  std::string sql;
  std::erase_if(options.words, [&](const std::string& word) {
    std::error_code ignored;
    const bool is_sql =
        (word.find_first_of(" \n\t(") != std::string::npos || IsQueryCommand(word)) &&
        !std::filesystem::exists(ExpandHome(word), ignored);
    if (is_sql && !sql.empty())
      Fail(ErrorKind::kUsage, "one statement at a time; quote it as a whole: {}", kQueryUsage);
    if (is_sql) sql = word;
    return is_sql;
  });
  return sql;
}

std::vector<QuerySide> SidesOf(const QueryOptions& options) {
  const auto side = [&](std::string name, const std::vector<std::string>& captures) {
    RankOptions ranks = options.ranks;
    const std::string path = PathOf(captures, kQueryUsage, ranks.open);
    return QuerySide{std::move(name), ranks.Request(path)};
  };
  std::vector<std::string> captures = options.captures;
  captures.insert(captures.end(), options.words.begin(), options.words.end());
  if (options.base.empty()) return {side("", captures)};
  return {side("base", options.base), side("comparison", captures)};
}

// Few rows on a screen, more for programs.
constexpr std::size_t kScreenRows = 30;

void PrintAnswer(const QueryOptions& options, const QueryAnswer& answer, Agent& agent) {
  if (agent.IsWanted()) return TellAgent(answer, agent.Answer());
  if (options.json) return Print(AnswerJson(answer, options.max_chars));
  std::string text = options.csv ? AnswerCsv(answer) : FormatAnswer(answer, ScreenColumns());
  if (options.max_chars > 0 && text.size() > options.max_chars)
    text = text.substr(0, text.rfind('\n', options.max_chars) + 1) +
           Say("more rows follow; add LIMIT or GROUP BY, or give --max_rows") + "\n";
  Print(text);
}

// What to ask, below the tables.
void PrintQuestions() {
  Print("\n" + Say("for example (msprof-analyze query .examples shows the SQL):") + "\n");
  for (const SqlExample& example : SqlExamples()) Print("  " + example.question + "\n");
  Print(Say("ask: msprof-analyze query CAPTURE 'SELECT ...'; '.schema kernel' lists columns") +
        "\n");
}

// Lines of a view, which must not be cut.
void PrintWhole(const QueryAnswer& answer) {
  for (const auto& row : answer.rows) Print(std::get<std::string>(row[0]) + "\n");
}

class Session {
 public:
  Session(const QueryOptions& options, Agent& agent) : options_(options), agent_(agent) {}

  bool IsForPeople() const { return !options_.csv && !options_.json && !agent_.IsWanted(); }
  bool IsPartial() const { return partial_; }

  /// The captures; nothing is read before a statement names it.
  QueryJob& Job() {
    if (!job_) job_ = std::make_unique<QueryJob>(SidesOf(options_));
    return *job_;
  }

  void Answer(const std::string& statement) {
    const bool is_command = IsQueryCommand(statement);
    const QueryAnswer answer =
        is_command ? AnswerQueryCommand(statement, [&]() -> QueryJob& { return Job(); })
                   : Job().Run(statement, Limits());
    ClearProgressLine();
    if (IsForPeople() && statement.starts_with(".examples"))
      Print(SqlExamplesText());
    else if (IsForPeople() && is_command && answer.columns.size() == 1)
      PrintWhole(answer);
    else
      PrintAnswer(options_, answer, agent_);
    FinishStdout();
    partial_ = partial_ || answer.partial;
    std::vector<std::string> notes = answer.notes;
    std::erase_if(notes, [&](const std::string& note) { return !told_.insert(note).second; });
    if (!agent_.IsWanted()) LogNotes(notes);  // which are in the object
  }

 private:
  QueryLimits Limits() const {
    const std::size_t usual = IsForPeople() ? kScreenRows : QueryLimits().rows;
    return {.rows = options_.max_rows.value_or(usual), .seconds = options_.max_seconds};
  }

  const QueryOptions& options_;
  Agent& agent_;
  std::unique_ptr<QueryJob> job_;
  std::set<std::string> told_;
  bool partial_ = false;
};

int RunQuery(QueryOptions options, Agent& agent) {
  if (options.csv && options.json)
    Fail(ErrorKind::kUsage, "--csv and --json exclude each other; give one");
  agent.RefuseJson(options.json);
  const std::string sql = TakeStatement(options);
  Session session(options, agent);
  if (!options.database.empty()) {
    if (!sql.empty()) Fail(ErrorKind::kUsage, "--export writes all tables; leave out '{}'", sql);
    session.Job().Export(ExpandHome(options.database));
    ClearProgressLine();
    LogNotice("all tables are in {}", options.database);
    agent.Wrote({ExpandHome(options.database)});
    return 0;
  }
  agent.Answer().question = sql.empty() ? "which tables have rows, and how many" : sql;
  if (sql.empty()) agent.Answer().next = "msprof-analyze schema";
  try {
    session.Answer(sql.empty() ? ".tables" : sql);
  } catch (const Misspelt& error) {
    if (options.file.empty() && !error.corrected.empty()) SuggestInstead(sql, error.corrected);
    throw;
  }
  if (sql.empty() && session.IsForPeople()) {
    PrintQuestions();
    if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0)
      PromptForStatements([&](const std::string& statement) { session.Answer(statement); });
    FinishStdout();
  }
  return session.IsPartial() ? kExitPartial : 0;
}

HelpPage QueryPage() {
  HelpPage page;
  page.summary =
      "Answers SQL (SQLite) over captures of any format: operators, kernels, launches, collectives,"
      " memory, and what analyses make of them. Without a statement, lists the tables, and on a"
      " terminal asks for statements.";
  page.usage = {"query CAPTURE... 'SELECT ...' [OPTIONS]", "query CAPTURE... [OPTIONS]",
                "query CAPTURE... --export FILE.db"};
  page.after_options = {ExitCodeList({})};
  page.examples = {
      "query ./result \"SELECT name, count(*), sum(dur)/1e6 ms FROM kernel GROUP BY 1 ORDER BY 3"
      " DESC LIMIT 5\"",
      "query ./new_ascend_pt -bp ./old_ascend_pt \"SELECT side, median(finish - start) FROM step"
      " GROUP BY 1\"",
      "query .examples", "query ./result --export all.db"};
  page.documents = {"query.md", "schema.md"};
  return page;
}

HelpPage SchemaCommandPage() {
  HelpPage page;
  page.summary = "Lists the tables, columns and functions of 'query'.";
  page.usage = {"schema [OPTIONS]"};
  page.examples = {"schema", "schema --json"};
  page.documents = {"schema.md"};
  return page;
}

}  // namespace

Command AddQuery(CLI::App& program, Agent& agent) {
  CLI::App* app = program.add_subcommand("query", "Ask anything: SQL over captures of any format");
  const auto options = std::make_shared<QueryOptions>();
  const OptionAdder add(*app);
  app->add_option("words", options->words)->expected(-1)->type_name("PATH");
  add("-d,--profiling_path", options->captures,
      "A capture, or a directory with those of all ranks; several together form one job", "PATH",
      kMaxUsed)
      ->allow_extra_args(false);
  add("--benchmark_profiling_path", options->base,
      "The captures to compare with: every table then has the column side", "PATH", kMaxUsed)
      ->allow_extra_args(false);
  add("-f,--file", options->file, "File with the statement; '-' is the standard input", "FILE",
      kMaxUsed);
  add.Flag("--json", options->json, "Print one JSON document: columns with units, rows, notes",
           kMaxUsed);
  add.Flag("--csv", options->csv, "Print comma-separated values", kMaxUsed);
  add("--export", options->database, "Write all tables as one SQLite database instead", "FILE",
      kMaxUsed);
  add("--max_rows", options->max_rows,
      "Rows to print [default: 30 on the screen, 1000 with --json and --csv]", "N", kMaxUsed);
  add("--max_chars", options->max_chars,
      "Maximum length of what is printed; rows beyond are left out [default: unlimited]", "N",
      kMaxUsed);
  add("--max_seconds", options->max_seconds,
      "Time after which a statement is given up, without that of reading captures [default: 30]",
      "SECONDS", kMaxUsed)
      ->check(CLI::Range(0.01, 86400.0));
  add("--ranks,--rank_list", options->ranks.rank_list, "Ranks to read, such as 0,1,4-7", "LIST",
      kReading);
  AddOpenOptions(*app, options->ranks.open);
  AddMemoryOption(*app, options->ranks.memory_limit)->group(kReading);
  return {app, [options, &agent] { return RunQuery(*options, agent); }, QueryPage};
}

Command AddSchema(CLI::App& program) {
  CLI::App* app = program.add_subcommand("schema", "List the tables and columns of 'query'");
  const auto json = std::make_shared<bool>(false);
  OptionAdder(*app).Flag("--json", *json, "Print one JSON document instead of the page", kMaxUsed);
  const auto run = [json] {
    Print(*json ? SchemaJson() + "\n" : SchemaPage());
    FinishStdout();
    return 0;
  };
  return {app, run, SchemaCommandPage};
}

}  // namespace mpa
