// SPDX-License-Identifier: Apache-2.0
#include "recipe_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "command.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/notes.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"
#include "printing.h"
#include "unknown_names.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

const RecipeOption* FindOption(const Recipe& recipe, std::string_view name) {
  const auto found = std::ranges::find_if(
      recipe.options, [&](const RecipeOption& option) { return option.name == name; });
  return found == recipe.options.end() ? nullptr : &*found;
}

// Where the page goes that the report is asked for; empty: it is not. Checked before any rank is
// read. Throws Error that names the option.
fs::path PagePath(const Recipe& recipe, const RecipeArguments& arguments) {
  for (const RecipeOption& option : recipe.options) {
    const OptionValue* given = option.is_page ? arguments.Find(option.name) : nullptr;
    if (given == nullptr) continue;
    const fs::path path = fs::absolute(ExpandHome(given->text)).lexically_normal();
    std::error_code ignored;
    if (!path.has_filename() || fs::is_directory(path, ignored)) {
      Fail(ErrorKind::kUsage, "--{} {}: give the name of a file", option.name, given->text);
    }
    InContext(fmt::format("--{}", option.name), [&] { io::PrepareOutputFile(path); });
    return path;
  }
  return {};
}

}  // namespace

const Recipe& FindRecipe(const std::string& name) {
  for (const Recipe& recipe : AllRecipes()) {
    if (name.empty() || recipe.name == name) return recipe;
  }
  FailUnknownRecipe(name);
}

namespace {

// The option of the recipe that names what to compare with; empty: it compares nothing.
std::string_view OptionOfBenchmark(const Recipe& recipe) {
  if (!recipe.baseline.empty()) return recipe.baseline;
  constexpr std::string_view kOfAnotherKind = "baseline_profiling_path";
  return FindOption(recipe, kOfAnotherKind) == nullptr ? "" : kOfAnotherKind;
}

// Gives -bp to the recipes that compare.
void NameBenchmark(const std::vector<RecipeRun>& runs, GivenOptions& given) {
  const auto benchmark = given.extract(std::string(kBenchmark));
  if (benchmark.empty()) return;
  bool used = false;
  for (const RecipeRun& run : runs) {
    const std::string_view option = OptionOfBenchmark(*run.recipe);
    if (option.empty()) continue;
    given.try_emplace(std::string(option), benchmark.mapped());
    used = true;
  }
  if (used) return;
  Fail(ErrorKind::kUsage,
       "-bp: the recipe {} compares nothing; cluster_time_compare_summary and 'msprof-analyze"
       " compare' do",
       runs.front().recipe->name);
}

// The Python tool ignores the options of recipes with these, and scripts may give them.
bool IsPlainMode(const Recipe& recipe) {
  return IsOneOf(recipe.name, {"all", "communication_time", "communication_matrix"});
}

}  // namespace

std::vector<RecipeRun> RunsOf(const std::string& names, GivenOptions given) {
  std::vector<RecipeRun> runs;
  for (const std::string_view piece : Split(names, ',')) {
    const std::string name(Trim(piece));
    if (name.empty() && !names.empty()) FailUnknownRecipe(name);
    const Recipe& recipe = FindRecipe(name);
    const bool is_new =
        std::ranges::none_of(runs, [&](const RecipeRun& run) { return run.recipe == &recipe; });
    if (is_new) runs.push_back({&recipe, {}});
  }
  NameBenchmark(runs, given);
  for (const auto& [name, value] : given) {
    bool known = false;
    for (RecipeRun& run : runs) {
      const RecipeOption* option = FindOption(*run.recipe, name);
      if (option == nullptr) continue;
      run.arguments.Set(*option, value);
      known = true;
    }
    if (!known && IsPlainMode(*runs.front().recipe)) {
      LogWarning("--{} has no effect with -m {}", name, runs.front().recipe->name);
    } else if (!known) {
      Fail(ErrorKind::kUsage,
           "--{0}: the recipe {1} has no such option; see 'msprof-analyze -m {1} --help'", name,
           runs.front().recipe->name);
    }
  }
  for (const RecipeRun& run : runs) {
    for (const RecipeOption& option : run.recipe->options) {
      if (!option.required || run.arguments.Has(option.name)) continue;
      Fail(ErrorKind::kUsage, "--{} {} is required by the recipe {}", option.name, option.type_name,
           run.recipe->name);
    }
  }
  return runs;
}

void CheckCaptures(const char* option, const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    Fail(ErrorKind::kInput, "{} {}: no such file or directory; check the path", option,
         path.string());
  }
  if (IsArchive(path)) {
    Fail(ErrorKind::kInput, "{} {}: {}", option, path.string(), Translated(kArchiveProblem));
  }
}

fs::path PlaceBeside(const fs::path& captures) {
  std::error_code ignored;
  return fs::is_directory(captures, ignored) ? captures : fs::absolute(captures).parent_path();
}

fs::path BaselineOf(const RecipeRun& run) {
  const std::string_view option = run.recipe->baseline;
  if (option.empty()) return {};
  fs::path path = ExpandHome(run.arguments.Find(option)->text);  // as it is required
  std::error_code ignored;
  if (run.recipe->earlier_results != nullptr && fs::is_regular_file(path, ignored)) return path;
  CheckCaptures(fmt::format("--{}", option).c_str(), path);
  return path;
}

namespace {

namespace fs = std::filesystem;

// Recipes that read ranks together have the same to say of them: what one said, the others do not.
class NewNotes {
 public:
  std::vector<std::string> Of(const std::vector<std::string>& notes) {
    std::vector<std::string> fresh;
    for (const std::string& note : notes) {
      if (!said_.contains(note)) fresh.push_back(note);
    }
    said_.insert(fresh.begin(), fresh.end());
    return fresh;
  }

 private:
  std::set<std::string> said_;
};

// The ranks in the results of an earlier run, if no captures can be read instead.
std::vector<RankPart> EarlierRanks(const Recipe& recipe, const ClusterRequest& request) {
  if (recipe.earlier_results == nullptr) return {};
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(request.directory, ignored);
  if (!is_file && !Discover(request.directory, request.open).ranks.empty()) return {};
  std::vector<RankPart> parts = recipe.earlier_results(request.directory, request.step);
  std::erase_if(parts, [&](const RankPart& part) {
    return request.ranks && !request.ranks->contains(part.rank);
  });
  if (is_file && parts.empty()) {
    Fail(ErrorKind::kInput,
         "--{} {}: no earlier results of these ranks and steps; give a directory with captures, or"
         " one in which cluster_time_summary was run",
         recipe.baseline, request.directory.string());
  }
  return parts;
}

// Writes and shows the report of one recipe. Gives whether it is of parts of the input.
bool Finish(const RecipeRun& run, MappedRanks mapped, OutputSelection wanted,
            const std::vector<ExportType>& types, const fs::path& output,
            const EarlyDocuments& early, const Delivery& delivery, NewNotes& notes) {
  const Recipe& recipe = *run.recipe;
  const fs::path page = PagePath(recipe, run.arguments);
  delivery.agent.IsAbout(mapped);
  ClusterOutcome outcome = ReduceRanks(recipe, run.arguments, wanted, std::move(mapped));
  if (!recipe.next.empty() && !outcome.report.lines.empty()) {
    const std::string& captures = run.arguments.captures;
    const std::string_view given = captures.empty() ? "DIR" : std::string_view(captures);
    outcome.report.lines.emplace_back(Say("Next: msprof-analyze {} -d {}", recipe.next, given));
    delivery.agent.Answer().next = fmt::format("msprof-analyze {} -d {}", recipe.next, given);
  }
  ClearProgressLine();
  LogNotes(notes.Of(outcome.report.notes));
  const std::vector<Sheet>& sheets = outcome.report.sheets;
  const bool empty =
      std::ranges::all_of(sheets, [](const Sheet& sheet) { return sheet.rows.empty(); });
  if (empty && !recipe.empty_is_answer) {
    Fail(ErrorKind::kInput,
         "{}: no results; no files written; see what the captures hold with 'msprof-analyze check'",
         recipe.name);
  }
  WrittenResults written = WriteResults(recipe, outcome.report, types, output, early);
  const std::vector<Timeline>& timelines = outcome.report.timelines;
  if (!page.empty() && !timelines.empty()) {  // otherwise a note says why there is none
    InContext(page.string(), [&] { io::ReplaceText(page, FormatPage(timelines.front())); });
    written.places.push_back(page);
    written.files.push_back(page);
  }
  if (delivery.agent.IsWanted()) {
    delivery.agent.Show(outcome.report);
    delivery.agent.Wrote(written);
  } else {
    delivery.exports.Show(outcome.report);
    if (wanted.screen == Detail::kMore) {
      const std::size_t used = ScreenOf(outcome.report).size();
      PrintLines(TextChartsOf(outcome.report, kScreenLines - std::min(kScreenLines, used)));
    }
  }
  FinishStdout();
  for (const fs::path& path : written.places) {
    LogNotice("the results are in {}", path.string());
  }
  if (!types.empty() && written.places.empty()) {
    LogNotice("{}: no results, so no files were written", recipe.name);
  }
  return outcome.partial;
}

// Adds the condensed ranks of the run to compare with.
void AddBaseline(const RecipeRun& run, ClusterRequest request, const fs::path& directory,
                 MappedRanks& mapped) {
  request.directory = directory;
  request.open.chosen = {};
  request.arguments = run.arguments;
  request.arguments.is_baseline = true;
  MappedRanks base{EarlierRanks(*run.recipe, request), {}, false};
  if (base.parts.empty()) base = MapRanks(*run.recipe, request);
  mapped.partial = mapped.partial || base.partial;
  mapped.notes.insert(mapped.notes.end(), base.notes.begin(), base.notes.end());
  mapped.parts.insert(mapped.parts.end(), base.parts.begin(), base.parts.end());
}

Detail DetailOf(const Delivery& delivery) {
  if (delivery.exports.json()) return Detail::kAnswer;
  if (LogEnabled(LogLevel::kInfo)) return Detail::kAll;
  return delivery.print ? Detail::kMore : Detail::kAnswer;
}

int FinishAll(const std::vector<RecipeRun>& runs, std::vector<MappedRanks> mapped,
              const Delivery& delivery, const fs::path& output, const EarlyDocuments& early) {
  NewNotes notes;
  if (runs.size() > 1) delivery.agent.RestIs("--export_type json");
  bool partial = false, any = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    try {
      std::string& question = delivery.agent.Answer().question;
      question += fmt::format("{}{}", question.empty() ? "" : "; ", runs[i].recipe->summary);
      if (runs.size() > 1 && !delivery.agent.IsWanted()) {
        Print(fmt::format("{}== {}\n", i == 0 ? "" : "\n", runs[i].recipe->name));
      }
      partial |= Finish(runs[i], std::move(mapped[i]),
                        {.documents = WritesDocuments(*runs[i].recipe, delivery.types[i]),
                         .screen = DetailOf(delivery)},
                        delivery.types[i], output, early, delivery, notes);
      any = true;
    } catch (const Error& error) {
      const bool is_last_hope = i + 1 == runs.size() && !any;
      if (error.kind() != ErrorKind::kInput || is_last_hope) throw;
      WriteLog(LogLevel::kWarning, error.what());
      partial = true;
    }
  }
  return partial ? kExitPartial : 0;
}

}  // namespace

void CheckForms(const ExportOptions& exports, Agent& agent, std::size_t runs) {
  agent.RefuseJson(exports.json());
  if (!exports.json() || runs == 1) return;
  Fail(ErrorKind::kUsage,
       "--json prints the document of one recipe; give one recipe, or --export_type json");
}

int RunRecipes(const std::vector<RecipeRun>& runs, Delivery& delivery,
               const ClusterRequest& request, const MapRuns& map) {
  const fs::path output =
      fs::absolute(delivery.below).lexically_normal() / "cluster_analysis_output";
  NewDirectories directories;
  directories.Add(delivery.below);
  directories.Add(output);
  std::optional<Error> unwritable;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    directories.Add(output / runs[i].recipe->folder);
    unwritable = PrepareOrTell(delivery.is_given,
                               [&] { PrepareTargets(*runs[i].recipe, delivery.types[i], output); });
    if (unwritable) break;
    (void)PagePath(*runs[i].recipe, runs[i].arguments);  // refuses what cannot be written
  }
  if (unwritable) delivery.types.assign(runs.size(), {});
  EarlyDocuments early(output);
  std::vector<MappedRanks> mapped = map(early);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const fs::path baseline = BaselineOf(runs[i]);
    if (!baseline.empty()) AddBaseline(runs[i], request, baseline, mapped[i]);
  }
  const int exit_code = FinishAll(runs, std::move(mapped), delivery, output, early);
  if (unwritable) throw *unwritable;
  return exit_code;
}

}  // namespace mpa
