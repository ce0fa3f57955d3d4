// SPDX-License-Identifier: Apache-2.0
// From captures, jobs and baseline files to the runs that a gate judges.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "capture_mismatch.h"
#include "job_members.h"
#include "load_rank.h"
#include "mpa/base/enum_name.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/capture/survey.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "mpa/io/output_file.h"
#include "mpa/pipeline/find_ranks.h"
#include "mpa/pipeline/gate.h"
#include "mpa/pipeline/history.h"

namespace mpa {
namespace {

using gate::Facts;

std::string_view NameOf(gate::RankStat stat) {
  return EnumName<gate::RankStat::kP95>(stat, {"worst", "median", "p95"});
}

// What became of a rank; empty when it could not be read.
struct ReadRank {
  std::optional<gate::RankSummary> summary;
  std::vector<std::string> notes;
  bool partial = false;
  JobMember member;
  std::shared_ptr<const void> part;  // what the search for causes made of it
};

// An input on the way from its ranks to a run.
struct Pending {
  std::vector<FoundRank> found;
  bool repeats = false;        // an earlier input of the same side
  std::vector<ReadRank> read;  // one for each
  std::vector<RankFacts> surveyed;
  Facts facts;
  RecordedSettings settings;
  AbsentRanks absent;
};

// How the captures below the path were collected. `loaded` says what is cut off.
void FindFacts(const RunInput& input, const LoadRunsRequest& request, Pending& run,
               LoadedRuns& loaded) {
  const Survey survey = SurveyCaptures(input.path, request.open);
  for (const RankFacts& rank : survey.ranks) {
    if (rank.complete != Recorded::kNo) continue;
    loaded.notes.push_back(Say("{}: the data is cut off", rank.path.string()));
    loaded.partial = true;
  }
  run.surveyed = survey.ranks;
  run.facts["rank_stat"] = NameOf(request.rank_stat);
  run.facts["warmup"] = std::to_string(request.summary.warmup);
  run.settings = SettingsToCompare(survey.ranks);
}

// Files that end within a line or a document were cut off, even where the rest can still be read or
// is of no use to a gate.
bool IsCutOff(const CaptureFile& file) {
  const bool lines = file.path.extension() == ".csv";
  if (!lines && file.path.extension() != ".json") return false;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file.path, ignored) || file.bytes <= 0) {
    return false;  // whoever reads it says what is wrong
  }
  constexpr std::size_t kEnd = 16;
  const std::string end = io::ReadEnd(file.path, kEnd);
  if (lines) return !end.ends_with('\n');
  const std::string_view text = Trim(end);
  return !text.ends_with('}') && !text.ends_with(']');
}

void CheckEnds(const RankInput& input, ReadRank& rank) {
  for (const CaptureFile& file : input.files) {
    if (!IsCutOff(file)) continue;
    rank.notes.push_back(Say("{}: breaks off", file.path.string()));
    rank.partial = true;
  }
}

void CheckKernels(const RankInput& input, ReadRank& rank) {
  const auto& steps = rank.summary->steps_without_kernels;
  if (steps.empty()) return;
  rank.notes.push_back(Say("{}: the device computed in step {}, but no kernel is listed there",
                           input.path.string(), fmt::join(steps, ", ")));
  rank.partial = true;
}

// The rank as the search for causes needs it. Where that cannot use it, the gate does without.
void Condense(const RankTrace& trace, const JobCauseFinder& search, ReadRank& rank) {
  try {
    rank.part = search.recipe.map(trace, {});
  } catch (const Error& error) {
    if (!IsBadInput(error)) throw;
  }
}

ReadRank Read(const FoundRank& found, bool alone, const LoadRunsRequest& request) {
  ReadRank rank;
  const JobCauseFinder* search = alone ? nullptr : request.search;
  const bool is_server = found.input.kind == CaptureKind::kServer;
  if (is_server) search = nullptr;
  try {
    const Tables needed = is_server ? Tables::kServer : gate::TablesFor(request.summary);
    const Tables wanted = search == nullptr ? needed : needed | search->recipe.needs;
    LoadedRank loaded = LoadRank(found.input, {wanted, ""}, std::nullopt);
    RequireTimeline(loaded.trace, needed, found.input);
    rank.summary = is_server ? gate::SummariseServer(loaded.trace)
                             : gate::Summarise(loaded.trace, request.summary);
    if (search != nullptr) Condense(loaded.trace, *search, rank);
    rank.summary->rank = found.rank;
    rank.member = MemberOf(found.input, loaded.trace);
    rank.notes = std::move(loaded.notes);
    rank.partial = loaded.partial;
    CheckEnds(found.input, rank);
    CheckKernels(found.input, rank);
  } catch (const Error& error) {
    // Of a job the other ranks can still be judged; a single capture is the whole run.
    if (!IsBadInput(error) || alone) throw;
    rank.notes.push_back(Say("{}; the rank is left out", error.what()));
    rank.partial = true;
  }
  return rank;
}

Pending Prepare(const RunInput& input, const LoadRunsRequest& request, LoadedRuns& loaded) {
  Pending run;
  const GroupsTaken taken = request.summary.requests ? GroupsTaken::kServers : GroupsTaken::kOne;
  FoundRanks found = FindRanks(input.path, std::nullopt, request.open, taken);
  loaded.notes = std::move(found.notes);
  loaded.partial = found.partial;
  FindFacts(input, request, run, loaded);
  // A damaged capture is one: what it would have shown is lost, not the job another one.
  const auto damaged = std::ranges::count_if(
      found.absent.states, [](const auto& rank) { return rank.second == RankState::kDamaged; });
  run.facts["world_size"] = std::to_string(found.ranks.size() + static_cast<std::size_t>(damaged));
  run.found = std::move(found.ranks);
  run.absent = std::move(found.absent);
  run.read.resize(run.found.size());
  return run;
}

// A capture that was given twice would count as two runs that agree perfectly.
void FindRepeated(const std::vector<RunInput>& inputs, bool count_repeated,
                  std::vector<Pending>& pending, std::vector<LoadedRuns>& loaded) {
  std::vector<RunSource> sources;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sources.push_back({inputs[i].path, pending[i].found});
    for (std::size_t other = 0; other < i; ++other) {
      if (pending[other].repeats || !IsSameCapture(sources[i], sources[other])) continue;
      const bool same_side = inputs[i].option == inputs[other].option;
      const char* effect = !same_side       ? "it is compared with itself"
                           : count_repeated ? "it says nothing about noise"
                                            : "it counts once";
      const std::string note =
          Say("{}: the same capture as {} {}; {}", inputs[i].path.string(), inputs[other].option,
              inputs[other].path.string(), Translated(effect));
      if (!same_side || count_repeated) {
        loaded[i].notes.push_back(note);
        continue;
      }
      pending[i].found.clear();
      pending[i].repeats = true;
      loaded[i] = {};
      loaded[i].notes.push_back(note);
      break;
    }
  }
}

// How the ranks that were read were collected: of others less may be known.
Facts FactsOfRead(const Pending& run) {
  std::vector<RankFacts> read;
  for (std::size_t i = 0; i < run.found.size(); ++i) {
    if (!run.read[i].summary) continue;
    const auto facts = std::ranges::find(run.surveyed, run.found[i].input.path, &RankFacts::path);
    if (facts != run.surveyed.end()) read.push_back(*facts);
  }
  return CollectionFacts(read);
}

// A run is of one job.
void DropOtherJobs(Pending& run, LoadedRuns& loaded) {
  std::vector<RankId> ranks;
  std::vector<const JobMember*> members;
  std::vector<ReadRank*> read;
  for (ReadRank& rank : run.read) {
    if (!rank.summary) continue;
    ranks.push_back(rank.summary->rank);
    members.push_back(&rank.member);
    read.push_back(&rank);
  }
  const OtherJobs others = FindOtherJobs(ranks, members);
  if (others.positions.empty()) return;
  for (const std::size_t other : others.positions) *read[other] = {};
  loaded.notes.push_back(others.note);
  loaded.partial = true;
}

// What costs the job time. Ranks that could not be read may hide it, or be it: nothing is said
// then.
std::optional<JobCauses> CausesOfRun(const Pending& run, const JobCauseFinder& search) {
  std::vector<RankPart> parts;
  for (std::size_t i = 0; i < run.read.size(); ++i) {
    if (!run.read[i].summary) continue;
    if (run.read[i].part == nullptr) return std::nullopt;
    parts.push_back({run.found[i].rank, run.read[i].part});
  }
  if (parts.size() < 2) return std::nullopt;
  try {
    JobCauses causes = search.causes(parts, run.absent);
    if (causes.step > 0) return causes;
  } catch (const Error& error) {
    if (!IsBadInput(error)) throw;
  }
  return std::nullopt;
}

void Finish(const RunInput& input, const LoadRunsRequest& request, Pending run,
            LoadedRuns& loaded) {
  DropOtherJobs(run, loaded);
  run.facts.merge(FactsOfRead(run));
  std::optional<JobCauses> causes;
  if (request.search != nullptr) causes = CausesOfRun(run, *request.search);
  std::vector<gate::RankSummary> ranks;
  FactSets of_ranks;
  for (ReadRank& rank : run.read) {
    loaded.notes.insert(loaded.notes.end(), rank.notes.begin(), rank.notes.end());
    loaded.partial = loaded.partial || rank.partial;
    if (!rank.summary) continue;
    of_ranks.Add("chip", rank.summary->chip);
    of_ranks.Add(gate::kAllocators, rank.summary->allocators);
    ranks.push_back(std::move(*rank.summary));
  }
  if (ranks.empty()) Fail(ErrorKind::kInput, "no rank could be read: {}", loaded.notes.back());
  const bool empty = std::ranges::all_of(
      ranks, [](const gate::RankSummary& rank) { return rank.samples.empty(); });
  if (empty) {
    Fail(ErrorKind::kInput,
         "{}: nothing to judge, because it holds no device work; 'msprof-analyze check' shows what"
         " is in it",
         input.path.string());
  }
  gate::RunSummary summary = gate::ReduceRanks(std::move(ranks), request.rank_stat);
  summary.source = input.path.string();
  summary.facts = std::move(run.facts);
  summary.facts.merge(of_ranks.Joined());
  summary.settings = std::move(run.settings);
  summary.causes = std::move(causes);
  loaded.runs.push_back(std::move(summary));
}

}  // namespace

std::vector<LoadedRuns> LoadRuns(const std::vector<RunInput>& inputs,
                                 const LoadRunsRequest& request) {
  std::vector<LoadedRuns> loaded(inputs.size());
  std::vector<Pending> pending(inputs.size());
  std::vector<std::pair<std::size_t, std::size_t>> ranks;  // of which input, and which of it
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    InContext(inputs[i].option, [&] {
      if (IsBaselineFile(inputs[i].path)) {
        gate::Baseline baseline = ReadBaseline(inputs[i].path, request.history_runs);
        loaded[i].runs = std::exchange(baseline.runs, {});
        loaded[i].baseline = std::move(baseline);
      } else {
        pending[i] = Prepare(inputs[i], request, loaded[i]);
      }
    });
  }
  FindRepeated(inputs, request.count_repeated, pending, loaded);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (RankIndex rank; rank < pending[i].found.size(); ++rank) ranks.emplace_back(i, rank);
  }
  MemoryBudget budget(request.memory_bytes);
  ParallelFor(ranks.size(), [&](std::size_t at) {
    const auto [i, rank] = ranks[at];
    Pending& run = pending[i];
    const MemoryBudget::Share share(budget, run.found[rank].input);
    InContext(inputs[i].option, [&, rank = rank] {
      run.read[rank] = Read(run.found[rank], run.found.size() == 1, request);
    });
  });
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (loaded[i].baseline || pending[i].repeats) continue;
    InContext(inputs[i].option,
              [&] { Finish(inputs[i], request, std::move(pending[i]), loaded[i]); });
  }
  return loaded;
}

// The small documents of a gate: baselines and noise.

namespace fs = std::filesystem;

bool IsBaselineFile(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  if (IsHistoryFile(path)) return true;
  // A trace can be gigabytes and have the same ending. Documents have their members in alphabetical
  // order: "kind" stands before all that grows.
  std::string begin(4096, '\0');
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  begin.resize(std::fread(begin.data(), 1, begin.size(), file));
  (void)std::fclose(file);
  // Of a file that breaks off the kind may be gone.
  return begin.find(gate::kBaselineKind) != std::string::npos ||
         begin.starts_with("{\n \"created\": \"");
}

nlohmann::json ReadDocument(const fs::path& path) { return io::ReadJson(path); }

gate::Baseline ReadBaseline(const fs::path& path, std::size_t history_runs) {
  if (IsHistoryFile(path)) return BaseOfHistory(path, history_runs);
  const nlohmann::json document = [&] {
    try {
      return ReadDocument(path);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCorrupt) throw;
      Fail(ErrorKind::kCorrupt,
           "{}: a baseline that breaks off or was damaged; copy it again, or make it with"
           " --save_baseline",
           path.string());
    }
  }();
  return InContext(path.string(), [&] { return gate::BaselineFromJson(document); });
}

std::size_t WarmupOfBaseline(const fs::path& path) {
  if (!IsBaselineFile(path)) return 0;
  const gate::Facts facts = ReadBaseline(path).runs.front().facts;
  const auto warmup = facts.find("warmup");
  const auto steps = warmup == facts.end() ? std::nullopt : io::ParseInt(warmup->second);
  return static_cast<std::size_t>(std::max<std::int64_t>(steps.value_or(0), 0));
}

gate::NoiseFloors ReadNoise(const fs::path& path) {
  const nlohmann::json document = ReadDocument(path);
  return InContext(path.string(), [&] { return gate::NoiseFromJson(document); });
}

namespace {

// Lists of numbers in one line each: what belongs to a name, so that a change of it is one line.
std::string WithShortLists(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  bool in_text = false;
  for (std::size_t i = 0; i < document.size(); ++i) {
    const char c = document[i];
    const bool escaped = in_text && c == '\\' && i + 1 < document.size();
    if (c == '"') in_text = !in_text;
    out += c;
    if (escaped) out += document[++i];
    if (in_text || c != '[') continue;
    const std::size_t end = document.find_first_not_of("0123456789-+.eE, \n", i + 1);
    if (end == std::string_view::npos || document[end] != ']') continue;
    for (const char inner : document.substr(i + 1, end - i - 1)) {
      if (inner == ' ' || inner == '\n') continue;
      out += inner;
      if (inner == ',') out += ' ';
    }
    i = end - 1;
  }
  return out;
}

}  // namespace

void WriteDocument(const nlohmann::json& document, const fs::path& path) {
  InContext(path.string(), [&] {
    io::PrepareOutputDirectory(fs::absolute(path).parent_path());
    constexpr int kIndent = 1;
    // Names of captures need not be UTF-8.
    const std::string text =
        document.dump(kIndent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    io::ReplaceText(path, PrintableJson(WithShortLists(text)));
  });
}

}  // namespace mpa
