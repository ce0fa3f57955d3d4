// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/capture/ability.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/report.h"

/// The analyses of `cluster`: each condenses every rank of a job and puts the parts together.
namespace mpa {

/// An option of one recipe, for the command line, --help and the manual; Option<T> in
/// mpa/recipe/arguments.h declares it.
struct RecipeOption {
  enum class Kind : std::uint8_t { kSwitch, kCount, kNumber, kChoice, kText };
  std::string_view name;       ///< "normalize_names", without dashes
  std::string_view type_name;  ///< "N"; of a switch empty
  std::string help;            ///< with what holds without the option
  Kind kind = Kind::kSwitch;
  std::span<const std::string_view> choices{};
  std::int64_t least = 1;                           ///< of a count; numbers are above 0
  std::function<void(const std::string&)> check{};  ///< throws Error that says what is wrong
  bool required = false;
  bool is_page = false;  ///< the file that the page of the report is written to
};

/// What was given for an option, in the member of its kind.
struct OptionValue {
  std::int64_t count = 0;  ///< or the position of a choice
  double number = 0;
  std::string text{};  ///< or the choice
};

template <typename T>
struct Option;

/// What a recipe is asked.
struct RecipeArguments {
  std::map<std::string, OptionValue, std::less<>> given{};  ///< its own options
  std::string captures{};              ///< what -d has to be for the same ranks
  std::optional<std::int32_t> step{};  ///< the chosen one, for RecipeInfo::cuts_steps
  bool is_baseline = false;            ///< the rank is of the run to compare with

  /// The value that was given, else the usual one.
  template <typename T>
  T operator[](const Option<T>& option) const;
  const OptionValue* Find(std::string_view name) const {
    const auto found = given.find(name);
    return found == given.end() ? nullptr : &found->second;
  }
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  /// Takes what a user wrote. Throws Error (kUsage) that names an option which does not accept it.
  void Set(const RecipeOption& option, const std::string& text);
};

/// How much a recipe says on the screen.
enum class Detail : std::uint8_t {
  kNone,
  kAnswer,  ///< of all ranks together, at most kScreenLines
  kMore,    ///< --print: of a single rank more, in the same room
  kAll,     ///< --verbose: of every rank, however long it is
};

/// What a recipe is asked to make of the parts.
struct OutputSelection {
  bool sheets = true;
  bool documents = true;            ///< the files that the form text has beside the sheets
  Detail screen = Detail::kAnswer;  ///< the lines
};

/// The database that the tables of all recipes share, in the output directory.
inline constexpr const char* kResultsDatabase = "cluster_analysis.db";

/// What `map` made of one rank: plain values that outlive the rank.
struct RankPart {
  RankId rank{};  ///< for RankName()
  std::shared_ptr<const void> part;
};

/// RecipeInfo::next of recipes that name who holds up a job.
inline constexpr std::string_view kDiagnosisNext = "advisor all";

/// What a recipe is called and what it needs.
struct RecipeInfo {
  std::string_view name{};     ///< on the command line: "module_statistic"
  std::string_view folder{};   ///< of its files: "ModuleStatistic"
  std::string_view summary{};  ///< one line for --help
  Tables needs{};              ///< the loader reads nothing else
  std::vector<RecipeOption> options{};
  /// What the recipe can do with a capture, for `check`.
  Verdict (*can_run)(const RankFacts& facts) = nullptr;
  /// The command that says more of what this one found: "advisor all". Empty: none.
  std::string_view next{};
  /// A recipe that finds something in the same captures, where this one needs more than a capture;
  /// `check` tries that one instead. Empty: it tries this one.
  std::string_view tried_as{};
  /// What few captures hold, and it shows nothing without, where only the events tell: "sends and
  /// receives". `check` calls it unknown until it tries the recipe.
  std::string_view only_with{};
  /// Without --export_type, text captures give the form text, as the plain modes of the Python tool
  /// do; databases give tables.
  bool text_form_of_text = false;
  /// The documents of its report are what it is for: they are written in whatever form the sheets
  /// are.
  bool documents_always = false;
  bool empty_is_answer = false;  ///< sheets without rows are a result, not a failure
  /// `map` gets the whole run, and the chosen step in the arguments: what happens before the step
  /// matters for it.
  bool cuts_steps = false;
  /// Captures that share ranks are roles of one job: `reduce` gets all of them at once, with
  /// several parts of a rank. Else each group of captures is reduced by itself.
  bool joins_groups = false;
  /// Its captures are the records of servers' requests (Discovery::servers), and those of devices
  /// that lie beside them: one job, which has joins_groups.
  bool of_servers = false;
  /// Kernels alone, as kernel_details.csv lists them, are enough for an answer.
  bool answers_from_kernels = false;
  /// The required option that names the directory of another run; empty: none. `map`
  /// gets the ranks of that run with `is_baseline`, `reduce` theirs behind the others.
  std::string_view baseline{};
  /// Reads what an earlier run left of that other run, in a file or below a directory, of one step
  /// or all: parts as `map` would make them. Empty: it left nothing there. Captures go first.
  std::vector<RankPart> (*earlier_results)(const std::filesystem::path& path,
                                           std::optional<std::int32_t> step) = nullptr;
  /// Takes the files of a rank out of its part, so that they can be written while other ranks are
  /// read; `reduce` gives what was not taken.
  std::vector<TextDocument> (*take_documents)(RankPart& part) = nullptr;
};

/// An analysis of all ranks, made by MakeRecipe() from two functions of the type of its parts.
struct Recipe : RecipeInfo {
  /// Condenses a rank. Runs on several ranks at once and depends on its arguments only.
  std::shared_ptr<const void> (*map)(const RankTrace& trace, const RecipeArguments& arguments);
  /// Adds what is wanted to the report, from the parts in order of rank.
  void (*reduce)(const std::vector<RankPart>& parts, const RecipeArguments& arguments,
                 OutputSelection wanted, Report& report);
  /// A part as bytes, and back. `decode` throws Error (kCorrupt) for bytes that `encode` does not
  /// make.
  std::string (*encode)(const RankPart& part);
  std::shared_ptr<const void> (*decode)(std::string_view bytes);
  /// Of recipes whose `reduce` needs but some parts of a large job whole; null: it needs all.
  struct Outlines {
    /// The bytes of what `reduce` needs of every part, which `decode` reads, too.
    std::string (*encode)(const RankPart& part);
    /// What `reduce` takes in memory for a part that it gets whole. Of an outline the same.
    std::int64_t (*memory)(const RankPart& part);
    /// The positions of the parts that `reduce` is to get whole, so that it takes about `bytes` of
    /// memory; by their outlines, or whole. 0: all of them.
    std::vector<std::size_t> (*choose)(const std::vector<RankPart>& parts,
                                       const RecipeArguments& arguments, std::int64_t bytes);
  };
  const Outlines* outlines = nullptr;
};

/// Every recipe, in the order of --help.
const std::vector<Recipe>& AllRecipes();

}  // namespace mpa
