// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "mpa/report/report.h"

/// The analyses of `cluster`: each condenses every rank of a job and puts the parts together.
namespace mpa {

/// An option of one recipe.
struct RecipeParameter {
  enum class Value : std::uint8_t {
    kNone,      ///< a switch
    kCount,     ///< a whole number above 0
    kPositive,  ///< a number above 0
    kChoice,    ///< one of `choices`
    kText,      ///< what `problem` accepts
    kFile,      ///< where to write the document of that name in the result
  };
  std::string_view name;       ///< "normalize_names", without dashes
  std::string_view type_name;  ///< "N"; of a switch empty
  std::string_view help;
  Value value = Value::kNone;
  std::vector<std::string_view> choices{};
  /// Says what is wrong with a value, nothing when it is right.
  std::string (*problem)(const std::string& value) = nullptr;
};

/// The recipe's own options that were given, by name; a switch has an empty value. Others have been
/// checked against what their parameter says.
using RecipeArguments = std::map<std::string, std::string, std::less<>>;

/// What `map` made of one rank.
struct RankPart {
  std::int64_t rank = -1;  ///< -1: the capture does not say
  std::any part;
};

/// A workbook of one rank.
struct RankWorkbook {
  std::string stem;  ///< "module_statistic_0"
  std::vector<Sheet> sheets;
};

struct RecipeResult {
  std::vector<Sheet> tables;            ///< with all ranks, for databases, JSON and CSV
  std::vector<RankWorkbook> workbooks;  ///< for people
  std::vector<std::string> notes;       ///< what could not be computed, and why
  std::vector<std::string> screen;      ///< lines for --print
  /// Texts of files by the parameter (Value::kFile) that says where they go.
  std::map<std::string, std::string, std::less<>> documents;
};

/// An analysis of all ranks. `map` runs on several ranks at once and depends on its arguments only;
/// what it returns holds values and outlives the rank. `reduce` gets the parts in order of rank.
struct Recipe {
  std::string_view name;     ///< on the command line: "module_statistic"
  std::string_view folder;   ///< of its files: "ModuleStatistic"
  std::string_view summary;  ///< one line for --help
  Tables needs{};            ///< the loader reads nothing else
  std::vector<RecipeParameter> parameters;
  std::any (*map)(const RankTrace& trace, const RecipeArguments& arguments);
  RecipeResult (*reduce)(const std::vector<RankPart>& parts, const RecipeArguments& arguments);
  bool always_prints = false;    ///< the screen is the main result: shown without --print
  bool empty_is_answer = false;  ///< tables without rows are a result, not a failure
  /// `map` gets the whole run, and the chosen step as the argument "step_id": what happens before
  /// the step matters for it.
  bool cuts_steps = false;
};

/// Every recipe, in the order of --help.
const std::vector<Recipe>& AllRecipes();

}  // namespace mpa
