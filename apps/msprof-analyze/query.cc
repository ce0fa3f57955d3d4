// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze query` and `schema`: SQL over captures.
#include "mpa/query/query.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>

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
#include "query_output.h"

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

// The statement among the words: the one that names nothing that is there.
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
    const bool is_sql = word.find_first_of(" \n\t(") != std::string::npos &&
                        !std::filesystem::exists(ExpandHome(word), ignored);
    if (is_sql && !sql.empty())
      Fail(ErrorKind::kUsage, "one statement at a time; quote it as a whole: {}", kQueryUsage);
    if (is_sql) sql = word;
    return is_sql;
  });
  return sql;
}

std::vector<QuerySide> SidesOf(QueryOptions& options, std::int64_t memory) {
  const auto side = [&](std::string name, const std::vector<std::string>& captures) {
    RankOptions ranks = options.ranks;
    const std::string path = PathOf(captures, kQueryUsage, ranks.open);
    QuerySide made{std::move(name), ranks.Request(path)};
    made.captures.memory_bytes = memory;
    return made;
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

int Finish(const QueryAnswer& answer, const Agent& agent) {
  ClearProgressLine();
  if (!agent.IsWanted()) LogNotes(answer.notes);  // which are in the object
  FinishStdout();
  return answer.partial ? kExitPartial : 0;
}

int ListTables(const QueryOptions& options, QueryJob& job, Agent& agent) {
  const QueryAnswer tables = job.Tables();
  ClearProgressLine();
  agent.Answer().question = "which tables have rows, and how many";
  agent.Answer().next = "msprof-analyze schema";
  PrintAnswer(options, tables, agent);
  if (!options.json && !options.csv && !agent.IsWanted()) {
    Print("\n" + Say("for example:") + "\n");
    for (const char* const example :
         {"SELECT name, count(*), sum(dur)/1e6 ms FROM kernel GROUP BY 1 ORDER BY 3 DESC LIMIT 5",
          "SELECT step, sum(ns)/1e6 ms FROM account WHERE leaf LIKE 'free%' GROUP BY 1",
          "SELECT rank, percentile(dur, 99) FROM comm GROUP BY 1",
          "SELECT name, dur FROM op WHERE dur > 1e6 AND device_total_ns = 0"})
      Print(std::string("  ") + example + "\n");
    Print(Say("'msprof-analyze schema' lists the columns") + "\n");
  }
  return Finish(tables, agent);
}

int RunQuery(QueryOptions options, Agent& agent) {
  if (options.csv && options.json)
    Fail(ErrorKind::kUsage, "--csv and --json exclude each other; give one");
  agent.RefuseJson(options.json);
  const std::string sql = TakeStatement(options);
  const std::int64_t memory = ApplyMemoryLimit("--memory_limit", options.ranks.memory_limit);
  QueryJob job(SidesOf(options, memory));
  if (!options.database.empty()) {
    if (!sql.empty()) Fail(ErrorKind::kUsage, "--export writes all tables; leave out '{}'", sql);
    job.Export(ExpandHome(options.database));
    ClearProgressLine();
    LogNotice("all tables are in {}", options.database);
    agent.Wrote({ExpandHome(options.database)});
    return 0;
  }
  if (sql.empty()) return ListTables(options, job, agent);
  const bool for_people = !options.csv && !options.json && !agent.IsWanted();
  const std::size_t usual = for_people ? kScreenRows : QueryLimits().rows;
  const QueryAnswer answer =
      job.Run(sql, {.rows = options.max_rows.value_or(usual), .seconds = options.max_seconds});
  ClearProgressLine();
  agent.Answer().question = sql;
  PrintAnswer(options, answer, agent);
  return Finish(answer, agent);
}

HelpPage QueryPage() {
  HelpPage page;
  page.summary =
      "Answers SQL (SQLite) over captures of any format: operators, kernels, launches, collectives,"
      " memory, and what analyses make of them. Without a statement, lists the tables.";
  page.usage = {"query CAPTURE... 'SELECT ...' [OPTIONS]", "query CAPTURE... [OPTIONS]",
                "query CAPTURE... --export FILE.db"};
  page.after_options = {ExitCodeList({})};
  page.examples = {
      "query ./result \"SELECT name, count(*), sum(dur)/1e6 ms FROM kernel GROUP BY 1 ORDER BY 3"
      " DESC LIMIT 5\"",
      "query ./new_ascend_pt -bp ./old_ascend_pt \"SELECT side, median(finish - start) FROM step"
      " GROUP BY 1\"",
      "query ./result --export all.db"};
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
