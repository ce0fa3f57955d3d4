// SPDX-License-Identifier: Apache-2.0
// A share of the ranks as files.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "load_rank.h"
#include "map_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/base/rank.h"
#include "mpa/io/input_text.h"
#include "mpa/io/output_file.h"
#include "mpa/io/scratch_directory.h"
#include "mpa/pipeline/parts.h"
#include "part_file.h"
#include "shares.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// One scratch directory for all files: each makes its predecessor's leftovers go.
class ReplacedFiles {
 public:
  explicit ReplacedFiles(fs::path directory)
      : directory_(std::move(directory)), scratch_(directory_) {}

  // Returns the path.
  fs::path Write(const std::string& name, std::string_view bytes) const {
    const fs::path temporary = scratch_.path() / name, path = directory_ / name;
    io::WriteText(temporary, bytes);
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error) Fail(ErrorKind::kOutput, "{}: {}", path.string(), error.message());
    return path;
  }

 private:
  fs::path directory_;
  io::ScratchDirectory scratch_;
};

// The lists that this one takes the place of: the job has other ranks now, because it was captured
// again, or some were moved. Their captures are gone.
std::vector<fs::path> TakeOlderLists(const fs::path& directory, JobFile& file) {
  const std::set<std::string> captures(file.captures.begin(), file.captures.end());
  std::set<std::string> gone;
  std::vector<fs::path> older;
  const auto is_list = [](std::string_view name) { return name.ends_with(kJobEnding); };
  for (const fs::path& path : PathsIn(directory, is_list)) {
    try {
      const auto other = ReadJobFile(path);
      const bool is_same = other.recipe == file.recipe &&
                           ArgumentsCode(other) == ArgumentsCode(file) &&
                           std::ranges::any_of(other.captures, [&](const std::string& capture) {
                             return captures.contains(capture);
                           });
      if (!is_same) continue;
      gone.insert(other.captures.begin(), other.captures.end());
      gone.insert(other.gone.begin(), other.gone.end());
      if (path.filename() != JobName(file)) older.push_back(path);
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;  // merging names it
    }
  }
  std::ranges::set_difference(gone, captures, std::back_inserter(file.gone));
  return older;
}

JobFile JobFileOf(const RecipeRun& run, const ClusterRequest& request, const FoundRanks& found,
                  const std::vector<std::vector<SourceFile>>& sources) {
  std::error_code ignored;
  const fs::path directory = fs::canonical(request.directory, ignored);
  JobFile file{.recipe = std::string(run.recipe->name),
               .arguments = run.arguments,
               .step = request.step,
               .job = JobOf({run}, found, request)};
  for (const std::vector<SourceFile>& of_rank : sources) file.states.push_back(StateOf(of_rank));
  for (const FoundRank& rank : found.ranks) {
    file.captures.push_back((WayTo(directory, rank.input) / rank.input.path.filename()).string());
    file.labels.push_back(rank.rank.IsLabel() ? RankName(rank.rank) : "");
  }
  return file;
}

bool IsUpToDate(const fs::path& path, const PartOrigin& origin,
                const std::vector<SourceFile>& sources) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return false;
  try {
    const io::InputText file(path, io::Content::kAsIs);
    std::string_view text = file.text();
    const std::string_view head = TakeSealedText(PartFile::kMark, text);
    const auto made = FromBytes<PartFile>(head);
    const auto whole = TakeSealed<WholePart>(text);
    return made.origin == origin && made.sources == sources && whole.of == Checksum(head) &&
           text.empty();
  } catch (const Error& error) {
    if (!IsBadInput(error)) throw;
    return false;
  }
}

void Append(const WrittenShard& more, WrittenShard& to) {
  to.files.insert(to.files.end(), more.files.begin(), more.files.end());
  to.lists.insert(to.lists.end(), more.lists.begin(), more.lists.end());
  to.notes.insert(to.notes.end(), more.notes.begin(), more.notes.end());
  to.partial = to.partial || more.partial;
  to.ranks = more.ranks;
  to.kept = to.files.size() == more.files.size() ? more.kept : std::min(to.kept, more.kept);
}

}  // namespace

WrittenShard WriteShard(const std::vector<RecipeRun>& runs, const ClusterRequest& request,
                        const ShardRequest& shard) {
  WrittenShard written;
  if (ReadApart(runs, request)) {
    for (const RecipeRun& run : runs) Append(WriteShard({run}, request, shard), written);
    return written;
  }
  // Whoever merges may write the files of ranks, which are named by the rank.
  ClusterRequest finding = request;
  finding.each_group = request.each_group && std::ranges::none_of(runs, [](const RecipeRun& run) {
                         return run.recipe->take_documents != nullptr;
                       });
  FoundRanks found = FindRanksOf(runs, finding);
  if (shard.local) {
    std::erase_if(found.ranks, [](const FoundRank& rank) { return !IsOnThisMachine(rank.input); });
    found.all = 0;
  }
  std::vector<std::vector<SourceFile>> sources(found.ranks.size());
  ParallelFor(found.ranks.size(),
              [&](std::size_t i) { sources[i] = SourcesOf(found.ranks[i].input); });
  std::vector<std::int64_t> bytes;
  for (const auto& of_rank : sources) bytes.push_back(BytesOf(of_rank));
  const std::vector<std::size_t> mine = PositionsOf(shard.local ? Shard{} : shard.shard, bytes);
  const ReplacedFiles files(shard.directory);
  std::vector<JobFile> jobs;
  for (const RecipeRun& run : runs) {
    jobs.push_back(JobFileOf(run, request, found, sources));
    jobs.back().place = static_cast<std::uint32_t>(jobs.size() - 1);
    const std::vector<fs::path> older = TakeOlderLists(shard.directory, jobs.back());
    written.lists.push_back(files.Write(JobName(jobs.back()), Sealed(jobs.back())));
    std::error_code ignored;
    for (const fs::path& path : older) fs::remove(path, ignored);
  }
  std::vector<std::vector<MappedRank>> mapped(mine.size());  // without parts: for their notes
  std::atomic<std::size_t> kept = 0;
  MemoryBudget budget(request.memory_bytes);
  ParallelFor(mine.size(), [&](std::size_t i) {
    const FoundRank& rank = found.ranks[mine[i]];
    std::vector<RecipeRun> open;
    std::vector<std::size_t> of_open;  // the run
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const std::string name = PartName(jobs[run], mine[i]);
      if (!shard.fresh &&
          IsUpToDate(shard.directory / name, OriginOf(jobs[run], mine[i]), sources[mine[i]]))
        continue;
      open.push_back(runs[run]);
      of_open.push_back(run);
    }
    if (open.empty()) {
      ++kept;
      return;
    }
    const MemoryBudget::Share share(budget, rank.input);
    mapped[i] = MapRank(open, request, rank);
    for (std::size_t run = 0; run < open.size(); ++run) {
      MappedRank& made = mapped[i][run];
      const Recipe& recipe = *open[run].recipe;
      const JobFile& job = jobs[of_open[run]];
      PartFile file{OriginOf(job, mine[i]), sources[mine[i]], made.notes, made.partial, made.failed,
                    made.captures,          made.member,      ""};
      WholePart whole;
      const RankPart part{rank.rank, std::exchange(made.part, nullptr)};
      if (!made.failed) whole.part = recipe.encode(part);
      if (!made.failed && recipe.outlines != nullptr) file.outline = recipe.outlines->encode(part);
      whole.of = Checksum(ToBytes(file));
      files.Write(PartName(job, mine[i]), Sealed(file) + Sealed(whole));
    }
  });
  written.ranks = mine.size();
  written.kept = kept;
  written.notes = found.notes;
  written.partial = found.partial;
  for (const JobFile& job : jobs) {
    for (const std::size_t i : mine) written.files.push_back(shard.directory / PartName(job, i));
  }
  for (const std::vector<MappedRank>& of_rank : mapped) {
    for (const MappedRank& made : of_rank) {
      written.notes.insert(written.notes.end(), made.notes.begin(), made.notes.end());
      written.partial = written.partial || made.partial || made.failed;
    }
  }
  return written;
}

}  // namespace mpa
