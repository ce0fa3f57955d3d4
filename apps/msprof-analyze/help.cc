// SPDX-License-Identifier: Apache-2.0
// Wraps and aligns text for the screen.
#include "help.h"

#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"

namespace mpa {

void WrappedText::Fill(std::string line, std::size_t indent, std::string_view text,
                       std::string_view more) {
  for (const std::string& filled :
       WrappedBehind(std::move(line), Printable(text), indent, width_, more))
    text_ += filled + '\n';
}

void WrappedText::Add(std::string first, std::size_t indent, std::string_view text) {
  Fill(PaddedBehind(std::move(first), indent), indent, text, "");
}

void WrappedText::AddLabelled(const std::string& label, std::string_view text) {
  constexpr std::size_t kLabelWidth = 16;
  if (!text.empty()) Add(std::string(Translated(label)), kLabelWidth, text);
}

void WrappedText::AddCommand(std::string_view command) { Fill("  ", 6, command, " \\"); }

void WrappedText::AddColored(const char* code, const std::string& first, std::size_t indent,
                             std::string_view text) {
  const std::size_t begin = text_.size();
  Add(first, indent, text);
  if (!color_) return;
  text_.insert(begin + first.size(), "\x1b[0m");
  text_.insert(begin, fmt::format("\x1b[{}m", code));
}

void WrappedText::AddColored(const char* code, std::string_view line) {
  const std::string printable = Printable(line);
  text_ += color_ ? fmt::format("\x1b[{}m{}\x1b[0m\n", code, printable) : printable + '\n';
}

// The layout of --help.

namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kFirstExamples = 4;
constexpr const char* kProgram = "msprof-analyze";

// The default of an option, at the end of what is said of it, is a text of its own: others have it,
// too.
std::string InLanguage(std::string_view english) {
  constexpr std::string_view kDefault = " [default: ";
  const std::size_t at = english.rfind(kDefault);
  if (at == std::string_view::npos || !english.ends_with(']'))
    return std::string(Translated(english));
  std::string_view usual = english.substr(at + kDefault.size());
  usual.remove_suffix(1);
  const bool is_text = usual != ".";  // but the current directory
  return Say("{} [default: {}]", Translated(english.substr(0, at)),
             is_text ? Translated(usual) : usual);
}

void AddHeading(std::string_view heading, WrappedText& page) {
  page.AddBlank();
  page.Add("", 0, Say("{}:", InLanguage(heading)));
}

void AddTerm(const std::string& term, std::size_t column, std::string_view text,
             WrappedText& page) {
  std::string label = "  " + term;
  if (ColumnsOf(label) + 2 > column) {  // the explanation would touch it
    page.Add(std::move(label), 0, "");
    label.clear();
  }
  page.Add(std::move(label), column, text);
}

void AddList(const HelpPage::List& list, WrappedText& page) {
  std::size_t longest = 0;
  for (const auto& [term, text] : list.terms) longest = std::max(longest, ColumnsOf(term));
  AddHeading(list.heading, page);
  for (const auto& [term, text] : list.terms) {
    AddTerm(term, std::min(kTextColumn, longest + 4), InLanguage(text), page);
  }
}

// "-d, --profiling_path PATH".
std::string Label(const CLI::Option& option) {
  const std::string type = TypeNameOf(option);
  return fmt::format("{}{}{}", fmt::join(SpellingsOf(option), ", "), type.empty() ? "" : " ", type);
}

}  // namespace

HelpPage::List CommandList(const CLI::App& program) {
  HelpPage::List list{"Commands", {}};
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    list.terms.emplace_back(command->get_name(), command->get_description());
  }
  return list;
}

HelpPage::List ExitCodeList(std::vector<std::pair<std::string, std::string>> more) {
  HelpPage::List list{"Exit codes",
                      {{"0", "done"},
                       {"2", "wrong command line"},
                       {"3", "input missing or unusable"},
                       {"5", "done, but broken parts of the input were left out"},
                       {"6", "output cannot be written"},
                       {"7", "memory or disk exhausted"}}};
  for (auto& [code, text] : more) {
    const auto at = std::ranges::find_if(
        list.terms, [&code = code](const auto& term) { return term.first >= code; });
    if (at != list.terms.end() && at->first == code) {
      at->second = std::move(text);
    } else {
      list.terms.emplace(at, std::move(code), std::move(text));
    }
  }
  std::erase_if(list.terms, [](const auto& term) { return term.second.empty(); });
  return list;
}

std::vector<std::string> SpellingsOf(const CLI::Option& option) {
  std::vector<std::string> spellings;
  for (const std::string& name : option.get_snames()) spellings.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) {
    if (std::string two = TwoLetterName("--" + name); !two.empty()) spellings.push_back(two);
    spellings.push_back("--" + name);
  }
  return spellings;
}

std::string TypeNameOf(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::vector<OptionGroup> OptionGroups(const CLI::App& app, const OptionFilter& shown) {
  std::vector<OptionGroup> groups;
  const auto options = app.get_options([&](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty() && shown(*option);
  });
  for (const CLI::Option* option : options) {
    const auto known = std::ranges::find_if(
        groups, [&](const OptionGroup& group) { return group.heading == option->get_group(); });
    if (known != groups.end()) {
      known->options.push_back(option);
    } else {
      groups.push_back({option->get_group(), {option}});
    }
  }
  // In the order in which they first occur, but for the first and the last one.
  const auto place = [](const OptionGroup& group) {
    return group.heading == kMaxUsed ? 0 : group.heading == kCommon ? 2 : 1;
  };
  StableSort(groups,
             [&](const OptionGroup& a, const OptionGroup& b) { return place(a) < place(b); });
  return groups;
}

bool IsMostUsed(const CLI::Option& option) {
  return option.get_group() == kMaxUsed || option.check_lname("help");
}

bool IsNamed(const CLI::Option& option, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* name) { return option.check_lname(name); });
}

std::string FormatHelp(const CLI::App& app, const HelpPage& page, HelpDetail detail,
                       std::size_t width) {
  const bool all = detail == HelpDetail::kAll;
  WrappedText text(/*color=*/false, width);
  text.Add("", 0, InLanguage(page.summary));
  AddHeading("Usage", text);
  for (const std::string& usage : page.usage)
    text.AddCommand(fmt::format("{} {}", kProgram, usage));
  for (const HelpPage::List& list : page.before_options) AddList(list, text);
  std::size_t hidden = 0;
  const std::vector<OptionGroup> groups = OptionGroups(app, page.shown);
  for (const OptionGroup& group : groups) {
    if (all || &group == &groups.front()) AddHeading(group.heading, text);
    for (const CLI::Option* option : group.options) {
      if (!all && !page.first(*option)) {
        ++hidden;
        continue;
      }
      AddTerm(Label(*option), kTextColumn, InLanguage(option->get_description()), text);
    }
  }
  if (all) {
    for (const HelpPage::List& list : page.after_options) AddList(list, text);
  }
  AddHeading("Examples", text);
  for (std::size_t i = 0; i < page.examples.size(); ++i) {
    if (all || i < kFirstExamples) {
      text.AddCommand(fmt::format("{} {}", kProgram, page.examples[i]));
    }
  }
  for (const std::string& note : page.notes) {
    text.AddBlank();
    text.Add("", 0, InLanguage(note));
  }
  if (hidden > 0) {
    const std::string options = Counted(static_cast<std::int64_t>(hidden), "more option");
    text.AddBlank();
    text.Add("", 0,
             page.after_options.empty()
                 ? Say("--help all lists {}.", options)
                 : Say("--help all lists {}, and what exit codes mean.", options));
  }
  return text.text();
}

}  // namespace mpa
