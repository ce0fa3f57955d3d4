// SPDX-License-Identifier: Apache-2.0
// The parts of all shares, as if the ranks had been read here.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "load_rank.h"
#include "map_rank.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/pipeline/parts.h"
#include "part_file.h"
#include "part_places.h"
#include "whole_parts.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

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
  SetReader(const PartSelection& wanted, std::int64_t reduce_bytes, const PartPlaces& parts,
            std::set<std::string>& used)
      : wanted_(wanted),
        recipe_(*wanted.recipe),
        reduce_bytes_(reduce_bytes),
        parts_(parts),
        used_(used) {}

  /// A list, which has to outlive this.
  void Add(const JobFile& list) {
    const JobFile same{.recipe = list.recipe,
                       .arguments = wanted_.arguments.value_or(list.arguments),
                       .step = wanted_.arguments ? wanted_.step : list.step};
    if (ArgumentsCode(same) != ArgumentsCode(list)) return;
    TakeLabels(list);
    lists_.push_back(&list);
  }
  bool IsEmpty() const { return lists_.empty(); }

  std::uint32_t Place() const { return lists_.front()->place; }

  // Adds the parts that the lists name to those that were used.
  PartSet Read() {
    CheckArguments();
    Order();
    std::vector<MappedRank> mapped = ReadRanks();
    const JobFile& first = *lists_.front();
    PartSet set{&recipe_, first.arguments, first.step, true, {}};
    RanksOfJob job{first.job.directory, {}, false, 0, true, true, {}, {}, {}, recipe_.joins_groups};
    for (const JobFile* list : lists_) {
      for (const auto& [rank, state] : list->job.absent.states) job.absent.Add(rank, state);
      job.notes.insert(job.notes.end(), list->job.notes.begin(), list->job.notes.end());
      job.partial = job.partial || list->job.partial;
      job.all += list->job.all;
      job.traces = job.traces && list->job.traces;
      set.of_text = set.of_text && list->job.text;
    }
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const JobFile& of = *lists_[ranks_[i].list];
      const std::size_t at = ranks_[i].at;
      job.ranks.push_back(of.job.ranks[at]);
      job.groups.push_back(of.job.groups[at]);
      used_.insert(PartName(of, at));
      if (mapped[i].lacks_part) missing.push_back(NameOf(ranks_[i]));
      if (!problems_[i].empty()) job.notes.push_back(problems_[i]);
    }
    if (missing.size() == 1) {
      job.notes.push_back(Say("{}: {}: its part is missing; run its shard, then merge again",
                              recipe_.name, missing.front()));
    } else if (!missing.empty()) {
      job.notes.push_back(
          Say("{}: the parts of {} of {} ranks are missing: {}; run their shards, then merge again",
              recipe_.name, missing.size(), ranks_.size(), SomeOf(missing)));
    }
    set.mapped = Together(job, std::move(mapped));
    return set;
  }

 private:
  std::string NameOf(const ListedRank& rank) const {
    const JobFile& list = *lists_[rank.list];
    return RankText(list.job.ranks[rank.at]);
  }

  void CheckArguments() const {
    const JobFile& first = *lists_.front();
    for (const JobFile* list : lists_) {
      if (ArgumentsCode(*list) == ArgumentsCode(first)) continue;
      Fail(ErrorKind::kInput,
           "the parts of {} were made with different options, named {:08x} and {:08x}; remove"
           " those of one",
           recipe_.name, ArgumentsCode(first), ArgumentsCode(*list));
    }
  }

  // By group, then by number: the order in which one run has them.
  void Order() {
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      for (std::size_t at = 0; at < lists_[list]->captures.size(); ++at)
        ranks_.push_back({list, at});
    }
    if (lists_.size() == 1) return;
    const auto key = [&](const ListedRank& rank) {
      const RanksOfJob& job = lists_[rank.list]->job;
      return std::pair(job.groups[rank.at], job.ranks[rank.at]);
    };
    StableSort(ranks_, {}, key);
    const auto twice = std::ranges::adjacent_find(ranks_, [&](const auto& a, const auto& b) {
      return a.list != b.list && key(a) == key(b) && key(a).second >= 0;
    });
    if (twice == ranks_.end() || recipe_.joins_groups) return;
    Fail(ErrorKind::kInput, "{}: two parts of {}, from {} and {}; remove one", recipe_.name,
         NameOf(*twice), lists_[twice->list]->captures[twice->at],
         lists_[std::next(twice)->list]->captures[std::next(twice)->at]);
  }

  // Reads what there is of the ranks, by the recipe whole or in outline.
  std::vector<MappedRank> ReadRanks() {
    std::vector<MappedRank> mapped(ranks_.size());
    problems_.resize(ranks_.size());
    std::vector<std::size_t> all(ranks_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    ReadRanks(all, recipe_.outlines != nullptr, mapped);
    std::vector<RankId> ranks;
    for (const ListedRank& rank : ranks_) ranks.push_back(lists_[rank.list]->job.ranks[rank.at]);
    WholeParts(recipe_, reduce_bytes_, ranks.size())
        .Choose(
            lists_.front()->arguments, ranks, mapped,
            [&](const std::vector<std::size_t>& missing) { ReadRanks(missing, false, mapped); });
    return mapped;
  }

  void ReadRanks(const std::vector<std::size_t>& wanted, bool in_outline,
                 std::vector<MappedRank>& mapped) {
    const auto file_of = [&](std::size_t i) {
      const std::vector<PartPlace>& places = PlacesOf(i);
      return places.empty() ? nullptr : places.front().file;
    };
    ReadByFile(wanted, file_of,
               [&](std::size_t i, OpenFile& file) { ReadRank(i, in_outline, file, mapped[i]); });
  }

  const std::vector<PartPlace>& PlacesOf(std::size_t i) const {
    return parts_.Find(PartName(*lists_[ranks_[i].list], ranks_[i].at));
  }

  // From the first copy of its part that can be read.
  void ReadRank(std::size_t i, bool in_outline, OpenFile& file, MappedRank& mapped) {
    const std::vector<PartPlace>& places = PlacesOf(i);
    mapped = {};
    mapped.failed = true;
    mapped.lacks_part = places.empty();
    for (const PartPlace& place : places) {
      try {
        mapped = ReadPart(ranks_[i], in_outline, file.Of(place));
        problems_[i].clear();
        return;
      } catch (const Error& error) {
        if (!IsBadInput(error)) throw;
        if (!problems_[i].empty()) continue;
        problems_[i] = Say("{}: {}; {} is left out, run its shard again", place.Text(),
                           error.what(), NameOf(ranks_[i]));
      }
    }
  }

  MappedRank ReadPart(const ListedRank& rank, bool in_outline, OpenFile::Texts texts) const {
    std::string_view rest = texts.head;
    const std::string_view head = TakeSealedText(PartFile::kMark, rest);
    auto file = FromBytes<PartFile>(head);
    CheckOrigin(file.origin, OriginOf(*lists_[rank.list], rank.at));
    MappedRank mapped{nullptr, std::move(file.notes), file.partial,          file.failed,
                      false,   file.captures,         std::move(file.member)};
    if (mapped.failed) return mapped;
    if (in_outline) {
      mapped.part = recipe_.decode(file.outline);
      return mapped;
    }
    if (rest.empty()) rest = texts.rest;
    const auto whole = TakeSealed<WholePart>(rest);
    if (whole.of != Checksum(head) || !rest.empty())
      Fail(ErrorKind::kCorrupt, "damaged: its halves are of different parts");
    mapped.part = recipe_.decode(whole.part);
    return mapped;
  }

  // A part that was copied over another one, renamed, or made of a capture that is another by now.
  static void CheckOrigin(const PartOrigin& is, const PartOrigin& wanted) {
    const auto fail = [](const std::string& what) {
      Fail(ErrorKind::kCorrupt, "not what its name says: {}", what);
    };
    if (is.recipe != wanted.recipe) fail(Say("it is of {}", Printable(is.recipe)));
    if (is.rank != wanted.rank) fail(Say("it is of rank {}", RankName(is.rank)));
    if (is.capture != wanted.capture) fail(Say("it is of the capture {}", Printable(is.capture)));
    if (is.arguments != wanted.arguments) fail(Say("it was made with other options"));
    if (is.state != wanted.state) {
      Fail(ErrorKind::kCorrupt,
           "of an earlier run or another job: the files of its capture have changed");
    }
  }

  const PartSelection& wanted_;
  const Recipe& recipe_;
  const std::int64_t reduce_bytes_;
  const PartPlaces& parts_;
  std::set<std::string>& used_;
  std::vector<const JobFile*> lists_;
  std::vector<ListedRank> ranks_;
  std::vector<std::string> problems_;  // of each whose part is there, but of no use; empty: none
};

// Parts that belong to none of the ranks, by name.
class UnusedParts {
 public:
  /// Throws Error (kInput) for those that can belong to a list alone that is missing.
  UnusedParts(const PartPlaces& places, const std::vector<ReadList>& lists,
              const fs::path& directory, bool lacks_lists)
      : places_(places), lists_(lists), directory_(directory), lacks_lists_(lacks_lists) {}

  void Add(const std::string& name) { names_.push_back(name); }

  /// May be empty.
  std::string Note() const {
    if (names_.empty()) return "";
    if (!lacks_lists_) RequireTheirLists();
    return Say(
        "{} parts belong to ranks that the job does not have, or to another version, and are left"
        " out: {}",
        names_.size(), SomeOf(names_));
  }

 private:
  using Capture = std::tuple<std::string, std::uint32_t, std::string>;  // recipe, arguments

  // Of a job that has lost ranks, the lists know those as well.
  void RequireTheirLists() const {
    std::set<Capture> known;
    for (const ReadList& list : lists_) {
      const std::uint32_t arguments = ArgumentsCode(list.job);
      for (const auto* captures : {&list.job.captures, &list.job.gone}) {
        for (const std::string& capture : *captures)
          known.emplace(list.job.recipe, arguments, capture);
      }
    }
    std::map<std::string, std::vector<std::string>> unlisted;  // by recipe
    OpenFile file;
    for (const std::string& name : names_) {
      const std::optional<PartOrigin> origin = OriginIn(places_.Find(name).front(), file);
      if (origin && !known.contains({origin->recipe, origin->arguments, origin->capture}))
        unlisted[origin->recipe].push_back(name);
    }
    for (const auto& [recipe, names] : unlisted) FailForList(directory_, recipe, names);
  }

  // Empty: damaged, or of another version.
  static std::optional<PartOrigin> OriginIn(const PartPlace& place, OpenFile& file) {
    try {
      std::string_view text = file.Of(place).head;
      return TakeSealed<PartFile>(text).origin;
    } catch (const Error& error) {
      if (!IsBadInput(error)) throw;
      return std::nullopt;
    }
  }

  const PartPlaces& places_;
  const std::vector<ReadList>& lists_;
  const fs::path& directory_;
  const bool lacks_lists_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<PartSet> ReadParts(const std::vector<fs::path>& directories,
                               const std::vector<PartSelection>& wanted,
                               std::int64_t reduce_bytes) {
  std::vector<std::string> notes;
  const PartPlaces places(directories, wanted, notes);
  RequireLists(directories.front(), places, wanted);
  std::set<std::string> used;
  std::map<std::string, SetReader, std::less<>> readers;
  for (const PartSelection& of : wanted)
    readers.try_emplace(std::string(of.recipe->name), of, reduce_bytes, places, used);
  const std::vector<ReadList> lists = ReadLists(places, notes);
  const bool lost = !notes.empty();
  for (const ReadList& list : lists) {
    const auto reader = readers.find(list.job.recipe);
    if (reader != readers.end()) reader->second.Add(list.job);
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
    if (notes.empty())
      Fail(ErrorKind::kInput, "{}: no parts; --shard makes them", directories.front().string());
    Fail(ErrorKind::kInput, "{}: no parts: {}", directories.front().string(), notes.front());
  }
  UnusedParts unused(places, lists, directories.front(), lost);
  for (const auto& [name, copies] : places.Parts()) {
    const std::string_view recipe = RecipeOf(name);
    const bool is_wanted = std::ranges::any_of(
        sets, [recipe](const PartSet& set) { return set.recipe->name == recipe; });
    if (is_wanted && !used.contains(name)) unused.Add(name);
  }
  if (std::string note = unused.Note(); !note.empty()) notes.push_back(std::move(note));
  for (PartSet& set : sets) {
    set.mapped.notes.insert(set.mapped.notes.begin(), notes.begin(), notes.end());
    set.mapped.partial = set.mapped.partial || lost;
  }
  return sets;
}

}  // namespace mpa
