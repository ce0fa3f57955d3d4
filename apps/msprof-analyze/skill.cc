// SPDX-License-Identifier: Apache-2.0
// `msprof-analyze skill`: what language models have to know of this program, made of its commands.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "command.h"
#include "embedded/app.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/io/output_file.h"
#include "mpa/query/query.h"
#include "printing.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// A line for each term; `shorter`: the terms alone, as one sentence.
std::string ListOf(const HelpPage::List& list, bool shorter) {
  std::string text;
  for (const auto& [term, meaning] : list.terms) {
    if (shorter)
      text += fmt::format("{}`{}`", text.empty() ? "" : ", ", term);
    else
      text += fmt::format("{}* `{}`: {}", text.empty() ? "" : "\n", term, Translated(meaning));
  }
  return text;
}

std::string TableNames() {
  std::string names;
  const nlohmann::json schema = nlohmann::json::parse(SchemaJson());
  for (const auto& table : schema["tables"]) {
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", table["name"].get<std::string>());
  }
  return names;
}

std::string SkillText(const CLI::App& program) {
  const bool is_chinese = CurrentLanguage() == Language::kChinese;
  std::string text(is_chinese ? embedded::kSkillInChinese : embedded::kSkill);
  const std::pair<std::string_view, std::string> pieces[] = {
      {"{{tables}}", TableNames()},
      {"{{commands}}", ListOf(CommandList(program), false)},
      {"{{recipes}}", ListOf(RecipeList(), is_chinese)},  // names alone: texts cost more there
      {"{{exit_codes}}", ListOf(ExitCodeList({{"1", "a gate or --fail_on found something"},
                                              {"4", "a gate could not decide"}}),
                                false)}};
  for (const auto& [name, piece] : pieces) text.replace(text.find(name), name.size(), piece);
  return text;
}

int RunSkill(const CLI::App& program, const std::string& given) {
  const std::string text = SkillText(program);
  if (given.empty()) {
    Print(text);
    FinishStdout();
    return 0;
  }
  const fs::path folder = fs::absolute(ExpandHome(given)).lexically_normal() / "msprof-analyze";
  InContext("--write", [&] {
    io::PrepareOutputDirectory(folder / "references");
    io::ReplaceText(folder / "SKILL.md", text);
    io::ReplaceText(folder / "references" / "schema.md", SchemaPage());
    io::ReplaceText(folder / "references" / "questions.md", embedded::kSqlQuestions);
  });
  LogNotice("the skill is in {}", folder.string());
  return 0;
}

HelpPage SkillPage() {
  HelpPage page;
  page.summary =
      "Prints what a language model has to know to use this program: a SKILL.md, made of its"
      " commands.";
  page.usage = {"skill [--write DIR]"};
  page.examples = {"skill", "skill --write ~/.agents/skills"};
  page.documents = {"agents.md"};
  return page;
}

}  // namespace

Command AddSkill(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("skill", "Print the instructions for language models (SKILL.md)");
  const auto folder = std::make_shared<std::string>();
  const OptionAdder add(*app);
  add("--write", *folder,
      "Write it to DIR/msprof-analyze instead, with the schema and examples of 'query' beside it",
      "DIR", kMaxUsed);
  return {app, [&program, folder] { return RunSkill(program, *folder); }, SkillPage};
}

}  // namespace mpa
