// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mpa {

/// Headings of options. The first of these comes first, the last one last.
inline constexpr const char* kMostUsed = "Most used options";
inline constexpr const char* kReading = "Reading captures";
inline constexpr const char* kCommon = "Help, messages and threads";

/// What --help says besides the options. `usage` and `examples` are commands without the program's
/// name.
struct HelpPage {
  std::string summary;
  std::vector<std::string> usage;
  /// A heading and its terms, each with an explanation.
  struct List {
    std::string heading;
    std::vector<std::pair<std::string, std::string>> terms;
  };
  std::vector<List> before_options{}, after_options{};
  std::vector<std::string> examples{};
  std::vector<std::string> notes{};  ///< paragraphs, the last thing on the page
};

/// The exit codes of every command; `more` are those of one, or other words for some.
HelpPage::List ExitCodeList(std::vector<std::pair<std::string, std::string>> more);

using OptionFilter = std::function<bool(const CLI::Option& option)>;

/// The page, wrapped at `width`, with the options of `app` that `shown` accepts, by their groups.
std::string FormatHelp(const CLI::App& app, const HelpPage& page, const OptionFilter& shown,
                       std::size_t width);

}  // namespace mpa
