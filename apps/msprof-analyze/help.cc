// SPDX-License-Identifier: Apache-2.0
// The layout of --help.
#include "help.h"

#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "wrapped_text.h"

namespace mpa {
namespace {

constexpr std::size_t kTextColumn = 30;
constexpr const char* kProgram = "msprof-analyze";

void AddTerm(const std::string& term, std::size_t column, std::string_view text,
             WrappedText& page) {
  std::string label = "  " + term;
  if (label.size() + 2 > column) {  // the explanation would touch it
    page.Add(std::move(label), 0, "");
    label.clear();
  }
  page.Add(std::move(label), column, text);
}

void AddList(const HelpPage::List& list, WrappedText& page) {
  std::size_t longest = 0;
  for (const auto& [term, text] : list.terms) longest = std::max(longest, term.size());
  page.AddBlank();
  page.Add("", 0, list.heading + ":");
  for (const auto& [term, text] : list.terms) {
    AddTerm(term, std::min(kTextColumn, longest + 4), text, page);
  }
}

// "-d, --profiling_path PATH".
std::string Label(const CLI::Option& option) {
  const std::string type = TypeNameOf(option);
  return fmt::format("{}{}{}", fmt::join(SpellingsOf(option), ", "), type.empty() ? "" : " ", type);
}

}  // namespace

HelpPage::List ExitCodeList(std::vector<std::pair<std::string, std::string>> more) {
  HelpPage::List list{"Exit codes",
                      {{"0", "done"},
                       {"2", "wrong command line"},
                       {"3", "input missing or unusable"},
                       {"5", "done, but broken parts of the input were left out"},
                       {"6", "output cannot be written"},
                       {"7", "memory or disk exhausted"}}};
  for (auto& [code, text] : more) {
    const auto at = std::find_if(list.terms.begin(), list.terms.end(),
                                 [&code = code](const auto& term) { return term.first >= code; });
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
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const OptionGroup& group) {
      return group.heading == option->get_group();
    });
    if (known != groups.end()) {
      known->options.push_back(option);
    } else {
      groups.push_back({option->get_group(), {option}});
    }
  }
  // In the order in which they first occur, but for the first and the last one.
  const auto place = [](const OptionGroup& group) {
    return group.heading == kMostUsed ? 0 : group.heading == kCommon ? 2 : 1;
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const OptionGroup& a, const OptionGroup& b) { return place(a) < place(b); });
  return groups;
}

std::string FormatHelp(const CLI::App& app, const HelpPage& page, std::size_t width) {
  WrappedText text(/*color=*/false, width);
  text.Add("", 0, page.summary);
  text.AddBlank();
  text.Add("", 0, "Usage:");
  for (const std::string& usage : page.usage)
    text.AddCommand(fmt::format("{} {}", kProgram, usage));
  for (const HelpPage::List& list : page.before_options) AddList(list, text);
  for (const OptionGroup& group : OptionGroups(app, page.shown)) {
    text.AddBlank();
    text.Add("", 0, group.heading + ":");
    for (const CLI::Option* option : group.options) {
      AddTerm(Label(*option), kTextColumn, option->get_description(), text);
    }
  }
  for (const HelpPage::List& list : page.after_options) AddList(list, text);
  text.AddBlank();
  text.Add("", 0, "Examples:");
  for (const std::string& example : page.examples) {
    text.AddCommand(fmt::format("{} {}", kProgram, example));
  }
  for (const std::string& note : page.notes) {
    text.AddBlank();
    text.Add("", 0, note);
  }
  return text.text();
}

}  // namespace mpa
