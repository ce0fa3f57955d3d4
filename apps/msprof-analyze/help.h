// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpa {

/// Columns of a screen whose width is not known.
inline constexpr std::size_t kUsualWidth = 80;

/// Text for the screen in lines of at most `width` columns; a word that is longer (a path) has a
/// line of its own. Names from captures can neither steer the terminal nor break the layout.
class WrappedText {
 public:
  explicit WrappedText(bool color, std::size_t width = kUsualWidth)
      : color_(color), width_(width) {}

  /// `first`, then `text` in the columns from `indent` on.
  void Add(std::string first, std::size_t indent, std::string_view text);
  /// "  label         text", with the label in the language of the process; nothing for an empty
  /// text.
  void AddLabelled(const std::string& label, std::string_view text);
  /// A command of a shell, broken with backslashes where it is too long for a line.
  void AddCommand(std::string_view command);
  /// A line in a colour, given as the number of the terminal's escape sequence.
  void AddColored(const char* code, std::string_view line);
  /// As Add(), with `first` in a colour.
  void AddColored(const char* code, const std::string& first, std::size_t indent,
                  std::string_view text);
  void AddBlank() { text_ += '\n'; }

  const std::string& text() const { return text_; }

 private:
  // Adds `text` to the begun `line`; lines that others follow end with `more`.
  void Fill(std::string line, std::size_t indent, std::string_view text, std::string_view more);

  bool color_;
  std::size_t width_;
  std::string text_;
};

/// Headings of options. The first of these comes first, the last one last.
inline constexpr const char* kMaxUsed = "Most used options";
inline constexpr const char* kReading = "Reading captures";
inline constexpr const char* kCommon = "Help, messages and threads";

using OptionFilter = std::function<bool(const CLI::Option& option)>;

/// True for options under the first heading, and for --help.
bool IsMostUsed(const CLI::Option& option);

/// True for an option with one of these long names.
bool IsNamed(const CLI::Option& option, std::initializer_list<const char*> names);

/// What --help and the manual page say besides the options. `usage` and `examples` are commands
/// without the program's name.
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
  OptionFilter shown = [](const CLI::Option&) { return true; };
  OptionFilter first = IsMostUsed;       ///< of these, what --help shows without `all`
  std::vector<std::string> documents{};  ///< files of docs/ that say more; only in the manual
};

/// The commands of the program.
HelpPage::List CommandList(const CLI::App& program);

/// The exit codes of every command; `more` are those of one, or other words for some.
HelpPage::List ExitCodeList(std::vector<std::pair<std::string, std::string>> more);

/// Options under their heading.
struct OptionGroup {
  std::string heading;
  std::vector<const CLI::Option*> options;
};

/// The options of `app` that have a name and that `shown` accepts, in the order of the page.
std::vector<OptionGroup> OptionGroups(const CLI::App& app, const OptionFilter& shown);

/// "-d", "-bp", "--profiling_path": how an option is written.
std::vector<std::string> SpellingsOf(const CLI::Option& option);

/// "PATH"; empty for an option without a value.
std::string TypeNameOf(const CLI::Option& option);

/// What people need first (--help), or everything (--help all).
enum class HelpDetail { kFirst, kAll };

/// The page with the options of `app`, wrapped at `width`.
std::string FormatHelp(const CLI::App& app, const HelpPage& page, HelpDetail detail,
                       std::size_t width);

}  // namespace mpa
