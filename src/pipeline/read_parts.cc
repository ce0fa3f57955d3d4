// SPDX-License-Identifier: Apache-2.0
// The parts of all shares, as if the ranks had been read here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "load_rank.h"
#include "map_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/parallel.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/pipeline/parts.h"
#include "part_file.h"
#include "whole_parts.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// The files of some directories by their names; a file that is there twice counts once.
class PartFiles {
 public:
  PartFiles(const std::vector<fs::path>& directories, std::string_view ending) {
    for (const fs::path& directory : directories) {
      for (const fs::path& path : PathsIn(directory, ending))
        paths_.try_emplace(path.filename().string(), path);
    }
  }
  const std::map<std::string, fs::path>& All() const { return paths_; }
  const fs::path* Find(const std::string& name) const {
    const auto found = paths_.find(name);
    return found == paths_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, fs::path> paths_;
};

std::string_view RecipeOf(std::string_view name) { return name.substr(0, name.find('.')); }

// Throws if one of the recipes has parts, but no list of the ranks of all shares.
void RequireLists(const fs::path& directory, const PartFiles& parts, const PartFiles& lists,
                  const std::vector<PartSelection>& wanted) {
  const auto count = [](const PartFiles& files, std::string_view recipe) {
    return std::ranges::count_if(files.All(),
                                 [&](const auto& file) { return RecipeOf(file.first) == recipe; });
  };
  for (const PartSelection& of : wanted) {
    const std::string_view recipe = of.recipe->name;
    const auto found = count(parts, recipe);
    if (found == 0 || count(lists, recipe) > 0) continue;
    Fail(ErrorKind::kInput,
         "{}: the list of ranks {}.*{} is missing, without which {} cannot be merged; run a shard"
         " again, which writes it",
         directory.string(), recipe, kJobEnding, Counted(found, "part"));
  }
}

// Names that a message has room for.
std::string SomeOf(const std::vector<std::string>& names) {
  constexpr std::size_t kMax = 5;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(kMax, names.size()));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > kMax) text += fmt::format(" and {} more", names.size() - kMax);
  return text;
}

// A rank of one of the lists.
struct ListedRank {
  std::size_t list = 0, at = 0;
};

// Parts hold the numbers that stand for labels where they were made.
void TakeLabels(const JobFile& list) {
  for (std::size_t i = 0; i < list.labels.size(); ++i) {
    const std::string& label = list.labels[i];
    if (label.empty() || SetRankLabel(list.job.ranks[i], label)) continue;
    Fail(ErrorKind::kInput,
         "{}: captures without a rank number are in the parts of several directories, {} is one;"
         " merge each directory alone, or name the folders rank-N",
         list.recipe, list.captures[i]);
  }
}

// Parts of one recipe.
class SetReader {
 public:
  SetReader(const PartSelection& wanted, std::int64_t reduce_bytes, const PartFiles& parts,
            std::set<std::string>& used)
      : wanted_(wanted),
        recipe_(*wanted.recipe),
        reduce_bytes_(reduce_bytes),
        parts_(parts),
        used_(used) {}

  void Add(JobFile list) {
    const JobFile same{.recipe = list.recipe,
                       .arguments = wanted_.arguments.value_or(list.arguments),
                       .step = wanted_.arguments ? wanted_.step : list.step};
    if (ArgumentsCode(same) != ArgumentsCode(list)) return;
    TakeLabels(list);
    lists_.push_back(std::move(list));
  }
  bool IsEmpty() const { return lists_.empty(); }

  std::uint32_t Place() const { return lists_.front().place; }

  // Adds the parts that the lists name to those that were used.
  PartSet Read() {
    CheckArguments();
    Order();
    std::vector<MappedRank> mapped = ReadRanks();
    const JobFile& first = lists_.front();
    PartSet set{&recipe_, first.arguments, first.step, true, {}};
    RanksOfJob job{first.job.directory, {}, false, 0, true, true, {}, {}, {}, recipe_.joins_groups};
    for (const JobFile& list : lists_) {
      for (const auto& [rank, state] : list.job.absent.states) job.absent.Add(rank, state);
      job.notes.insert(job.notes.end(), list.job.notes.begin(), list.job.notes.end());
      job.partial = job.partial || list.job.partial;
      job.all += list.job.all;
      job.traces = job.traces && list.job.traces;
      set.of_text = set.of_text && list.job.text;
    }
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const JobFile& of = lists_[ranks_[i].list];
      const std::size_t at = ranks_[i].at;
      job.ranks.push_back(of.job.ranks[at]);
      job.groups.push_back(of.job.groups[at]);
      used_.insert(PartName(of, at));
      if (mapped[i].lacks_part) missing.push_back(NameOf(ranks_[i]));
      if (!problems_[i].empty()) job.notes.push_back(problems_[i]);
    }
    if (missing.size() == 1) {
      job.notes.push_back(
          fmt::format("{}: {}: its part is missing; run its shard, then merge again", recipe_.name,
                      missing.front()));
    } else if (!missing.empty()) {
      job.notes.push_back(fmt::format(
          "{}: the parts of {} of {} ranks are missing: {}; run their shards, then merge again",
          recipe_.name, missing.size(), ranks_.size(), SomeOf(missing)));
    }
    set.mapped = Together(job, std::move(mapped));
    return set;
  }

 private:
  std::string NameOf(const ListedRank& rank) const {
    const JobFile& list = lists_[rank.list];
    return RankText(list.job.ranks[rank.at]);
  }

  void CheckArguments() const {
    const JobFile& first = lists_.front();
    for (const JobFile& list : lists_) {
      if (ArgumentsCode(list) == ArgumentsCode(first)) continue;
      Fail(ErrorKind::kInput,
           "the parts of {} were made with different options, named {:08x} and {:08x}; remove"
           " those of one",
           recipe_.name, ArgumentsCode(first), ArgumentsCode(list));
    }
  }

  // By group, then by number: the order in which one run has them.
  void Order() {
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      for (std::size_t at = 0; at < lists_[list].captures.size(); ++at)
        ranks_.push_back({list, at});
    }
    if (lists_.size() == 1) return;
    const auto key = [&](const ListedRank& rank) {
      const RanksOfJob& job = lists_[rank.list].job;
      return std::pair(job.groups[rank.at], job.ranks[rank.at]);
    };
    StableSort(ranks_, {}, key);
    const auto twice = std::ranges::adjacent_find(ranks_, [&](const auto& a, const auto& b) {
      return a.list != b.list && key(a) == key(b) && key(a).second >= 0;
    });
    if (twice == ranks_.end() || recipe_.joins_groups) return;
    Fail(ErrorKind::kInput, "{}: two parts of {}, from {} and {}; remove one", recipe_.name,
         NameOf(*twice), lists_[twice->list].captures[twice->at],
         lists_[std::next(twice)->list].captures[std::next(twice)->at]);
  }

  // Reads what there is of the ranks, by the recipe whole or in outline.
  std::vector<MappedRank> ReadRanks() {
    std::vector<MappedRank> mapped(ranks_.size());
    problems_.resize(ranks_.size());
    const bool in_outline = recipe_.outlines != nullptr;
    ParallelFor(ranks_.size(), [&](std::size_t i) { ReadRank(i, in_outline, mapped[i]); });
    std::vector<RankId> ranks;
    for (const ListedRank& rank : ranks_) ranks.push_back(lists_[rank.list].job.ranks[rank.at]);
    WholeParts(recipe_, reduce_bytes_, ranks.size())
        .Choose(lists_.front().arguments, ranks, mapped,
                [&](std::size_t i) { ReadRank(i, false, mapped[i]); });
    return mapped;
  }

  void ReadRank(std::size_t i, bool in_outline, MappedRank& mapped) {
    const ListedRank& rank = ranks_[i];
    const fs::path* path = parts_.Find(PartName(lists_[rank.list], rank.at));
    mapped = {};
    mapped.failed = mapped.lacks_part = path == nullptr;
    if (path == nullptr) return;
    try {
      const io::InputText content(*path, io::Content::kAsIs);
      std::string_view text = content.text();
      const std::string_view head = TakeSealedText(PartFile::kMark, text);
      auto file = FromBytes<PartFile>(head);
      CheckOrigin(file.origin, OriginOf(lists_[rank.list], rank.at));
      CheckMember(file.member);
      mapped = {nullptr, std::move(file.notes), file.partial,          file.failed,
                false,   file.captures,         std::move(file.member)};
      if (mapped.failed) return;
      if (in_outline) {
        mapped.part = recipe_.decode(file.outline);
        return;
      }
      const auto whole = TakeSealed<WholePart>(text);
      if (whole.of != Checksum(head) || !text.empty())
        Fail(ErrorKind::kCorrupt, "damaged: its halves are of different parts");
      mapped.part = recipe_.decode(whole.part);
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      mapped = {};
      mapped.failed = true;
      problems_[i] = fmt::format("{}: {}; {} is left out, run its shard again", path->string(),
                                 error.what(), NameOf(rank));
    }
  }

  // A part that was copied over another one, renamed, or made of a capture that is another by now.
  static void CheckOrigin(const PartOrigin& is, const PartOrigin& wanted) {
    const auto fail = [](const std::string& what) {
      Fail(ErrorKind::kCorrupt, "not what its name says: {}", what);
    };
    if (is.recipe != wanted.recipe) fail("it is of " + Printable(is.recipe));
    if (is.rank != wanted.rank) fail("it is of rank " + RankName(is.rank));
    if (is.capture != wanted.capture) fail("it is of the capture " + Printable(is.capture));
    if (is.arguments != wanted.arguments) fail("it was made with other options");
    if (is.state != wanted.state) {
      Fail(ErrorKind::kCorrupt,
           "of an earlier run or another job: the files of its capture have changed");
    }
  }

  const PartSelection& wanted_;
  const Recipe& recipe_;
  const std::int64_t reduce_bytes_;
  const PartFiles& parts_;
  std::set<std::string>& used_;
  std::vector<JobFile> lists_;
  std::vector<ListedRank> ranks_;
  std::vector<std::string> problems_;  // of each whose part is there, but of no use; empty: none
};

}  // namespace

std::vector<PartSet> ReadParts(const std::vector<fs::path>& directories,
                               const std::vector<PartSelection>& wanted,
                               std::int64_t reduce_bytes) {
  const PartFiles parts(directories, kPartEnding), lists(directories, kJobEnding);
  RequireLists(directories.front(), parts, lists, wanted);
  std::vector<std::string> notes;
  std::set<std::string> used;
  std::map<std::string, SetReader, std::less<>> readers;
  for (const PartSelection& of : wanted)
    readers.try_emplace(std::string(of.recipe->name), of, reduce_bytes, parts, used);
  bool lost = false;
  for (const auto& [name, path] : lists.All()) {
    try {
      JobFile list = ReadJobFile(path);
      const auto reader = readers.find(list.recipe);
      if (reader != readers.end()) reader->second.Add(std::move(list));
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      notes.push_back(fmt::format("{}: {}; the list is left out", path.string(), error.what()));
      lost = true;
    }
  }
  std::vector<PartSet> sets;
  std::vector<SetReader*> found;
  for (const PartSelection& of : wanted) {
    SetReader& reader = readers.find(of.recipe->name)->second;
    if (!reader.IsEmpty()) found.push_back(&reader);
  }
  StableSort(found, {}, &SetReader::Place);
  for (SetReader* reader : found) sets.push_back(reader->Read());
  if (sets.empty()) {
    Fail(ErrorKind::kInput, "{}: no parts{}", directories.front().string(),
         notes.empty() ? "; --shard makes them" : ": " + notes.front());
  }
  std::vector<std::string> foreign;
  for (const auto& [name, path] : parts.All()) {
    const std::string_view recipe = RecipeOf(name);
    const bool is_wanted = std::ranges::any_of(
        sets, [recipe](const PartSet& set) { return set.recipe->name == recipe; });
    if (is_wanted && !used.contains(name)) foreign.push_back(name);
  }
  if (!foreign.empty()) {
    notes.push_back(fmt::format(
        "{} parts belong to ranks that the job does not have, or to another version, and are left"
        " out: {}",
        foreign.size(), SomeOf(foreign)));
  }
  for (PartSet& set : sets) {
    set.mapped.notes.insert(set.mapped.notes.begin(), notes.begin(), notes.end());
    set.mapped.partial = set.mapped.partial || lost;
  }
  return sets;
}

}  // namespace mpa
