// SPDX-License-Identifier: Apache-2.0
// Pages for man(1), from what --help shows, and `msprof-analyze man`, which prints them.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "command.h"
#include "mpa/base/commit.h"
#include "mpa/base/error.h"
#include "mpa/recipe/recipe.h"
#include "printing.h"
#include "version.h"

namespace mpa {
namespace {

// Literal text: roff takes backslashes for escapes, hyphens for places to break a line, and a dot
// or an apostrophe in front of a line for a command.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '~') {
      escaped += "\\(ti";
    } else if (c == '^') {
      escaped += "\\(ha";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

class Roff {
 public:
  void Request(std::string_view text) { text_ += fmt::format("{}\n", text); }
  void Heading(const std::string& heading) { Request(".SH " + Capitals(Escaped(heading))); }
  void Subheading(std::string_view heading) { Request(fmt::format(".SS {}", Escaped(heading))); }
  // In lines of a length for people who read the source.
  void Text(std::string_view text) {
    constexpr std::size_t kWidth = 78;
    std::string line;
    while (!text.empty()) {
      const std::string word = Escaped(text.substr(0, text.find(' ')));
      text.remove_prefix(std::min(text.size(), text.find(' ') == std::string_view::npos
                                                   ? text.size()
                                                   : text.find(' ') + 1));
      if (!line.empty() && line.size() + 1 + word.size() > kWidth) Line(std::exchange(line, {}));
      line += line.empty() ? word : " " + word;
    }
    if (!line.empty()) Line(line);
  }
  void Paragraph(std::string_view text) {
    Request(".PP");
    Text(text);
  }
  // "term" in bold, what stands behind it in italics.
  void Term(std::string_view term, std::string_view type, std::string_view text) {
    Request(".TP");
    Request(fmt::format("\\fB{}\\fR{}{}", Escaped(term), type.empty() ? "" : " ",
                        type.empty() ? "" : fmt::format("\\fI{}\\fR", Escaped(type))));
    Text(text);
  }
  void Option(const CLI::Option& option, std::string_view text) {
    Term(fmt::format("{}", fmt::join(SpellingsOf(option), ", ")), TypeNameOf(option), text);
  }
  const std::string& text() const { return text_; }

 private:
  void Line(const std::string& line) {
    text_ +=
        fmt::format("{}{}\n", line.starts_with('.') || line.starts_with('\'') ? "\\&" : "", line);
  }

  std::string text_;
};

void AddTerms(const HelpPage::List& list, Roff& roff) {
  roff.Heading(list.heading == "Exit codes" ? "Exit status" : list.heading);
  for (const auto& [term, text] : list.terms) roff.Term(term, "", text);
}

// What belongs to single recipes: on the screen each has a page of its own.
void AddOptionsOfRecipes(const CLI::App& app, Roff& roff) {
  roff.Heading("Options of recipes");
  for (const Recipe& recipe : AllRecipes()) {
    if (recipe.options.empty()) continue;
    roff.Subheading(recipe.name);
    for (const RecipeOption& option : recipe.options) {
      roff.Option(*app.get_option(fmt::format("--{}", option.name)), option.help);
    }
  }
}

std::string NameOfPage(const CLI::App& app) {
  return app.get_parent() == nullptr
             ? app.get_name()
             : fmt::format("{}-{}", app.get_parent()->get_name(), app.get_name());
}

}  // namespace

std::string ManualPage(const ManualPart& part) {
  const CLI::App& app = *part.app;
  const HelpPage& page = part.page;
  const bool is_program = app.get_parent() == nullptr;
  const CLI::App& program = is_program ? app : *app.get_parent();
  Roff roff;
  roff.Request(".\\\" SPDX-License-Identifier: Apache-2.0");
  roff.Request(fmt::format(".TH {} 1 \"{}\" \"msprof\\-analyze {}\" \"User Commands\"",
                           Capitals(Escaped(NameOfPage(app))), BuildCommitDate(), MPA_VERSION));
  // Long names are not to be broken, nor lines stretched to the edge.
  roff.Request(".nh");
  roff.Request(".ad l");
  roff.Heading("Name");
  roff.Request(fmt::format("{} \\- {}", Escaped(NameOfPage(app)), Escaped(app.get_description())));
  roff.Heading("Synopsis");
  for (const std::string& usage : page.usage) {
    if (&usage != &page.usage.front()) roff.Request(".br");
    roff.Request(fmt::format("\\fB{}\\fR {}", Escaped(program.get_name()), Escaped(usage)));
  }
  roff.Heading("Description");
  roff.Text(page.summary);
  for (const std::string& note : page.notes) roff.Paragraph(note);
  for (const HelpPage::List& list : page.before_options) AddTerms(list, roff);
  roff.Heading("Options");
  for (const OptionGroup& group : OptionGroups(app, page.shown)) {
    roff.Subheading(group.heading);
    for (const CLI::Option* option : group.options) roff.Option(*option, option->get_description());
  }
  const auto options = app.get_options();
  if (std::ranges::any_of(options, [](const CLI::Option* option) { return IsOfRecipes(*option); }))
    AddOptionsOfRecipes(app, roff);
  for (const HelpPage::List& list : page.after_options) AddTerms(list, roff);
  roff.Heading("Examples");
  roff.Request(".nf");
  for (const std::string& example : page.examples) {
    roff.Request(fmt::format("{} {}", Escaped(program.get_name()), Escaped(example)));
  }
  roff.Request(".fi");
  roff.Heading("See also");
  std::vector<std::string> others;
  if (!is_program) others.push_back(fmt::format("\\fB{}\\fR(1)", Escaped(program.get_name())));
  for (const CLI::App* other : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (other != &app) others.push_back(fmt::format("\\fB{}\\fR(1)", Escaped(NameOfPage(*other))));
  }
  roff.Request(fmt::format("{}", fmt::join(others, ",\n")));
  for (const std::string& document : page.documents) {
    roff.Request(".PP");
    roff.Request(fmt::format("\\fI/usr/share/doc/msprof\\-analyze/docs/{}\\fR", Escaped(document)));
  }
  return roff.text();
}

Command AddManual(CLI::App& program, std::function<ManualPart(const std::string& name)> part) {
  CLI::App* app = program.add_subcommand("man", "Print a manual page, for man -l");
  const auto name = std::make_shared<std::string>();
  app->add_option("command", *name, "The command [default: the program itself]")
      ->type_name("COMMAND")
      ->check(CLI::IsMember([&program] {
        std::vector<std::string> names;
        for (const CLI::App* other : program.get_subcommands([](const CLI::App*) { return true; }))
          names.push_back(other->get_name());
        return names;
      }()));
  const auto print = [name, part = std::move(part)] {
    Print(ManualPage(part(*name)));
    FinishStdout();
    return 0;
  };
  const auto page = [] {
    HelpPage help;
    help.summary =
        "Prints the manual page of the program or of a command, in the format that man reads.";
    help.usage = {"man [COMMAND]"};
    help.examples = {"man compare | man -l -"};
    return help;
  };
  return {app, print, page};
}

}  // namespace mpa
