// SPDX-License-Identifier: Apache-2.0
// Parts of recipes: bytes that no recipe made, behind a seal that holds, beside a part that is
// whole; and the files that they come in.
#include "mpa/pipeline/parts.h"

#include <algorithm>
#include <memory>

#include "fuzz/fuzzing.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/io/input_text.h"
#include "mpa/recipe/recipe.h"
#include "pipeline/load_rank.h"
#include "pipeline/part_file.h"
#include "pipeline/part_places.h"
#include "support/files.h"

namespace mpa::test {
namespace {

namespace fs = std::filesystem;

// What the recipes have parts of: between them all have some.
std::vector<RankTrace> Ranks(const Scratch& scratch) {
  std::vector<RankTrace> ranks;
  const auto read = [&](const fs::path& path) {
    constexpr auto kAll = static_cast<Tables>(~std::uint64_t{0});
    ranks.push_back(LoadRank(OpenRank(path, {.force = true}), {kAll, ""}, std::nullopt).trace);
    ranks.back().rank = static_cast<std::int64_t>(ranks.size()) - 1;
  };
  for (const char* name : {"db_base_ascend_pt", "toy_model_ascend_pt", "head_steady_ascend_pt",
                           "pipeline_first_ascend_pt", "comm_marks_ascend_pt"}) {
    const fs::path output = scratch.path() / name / "ASCEND_PROFILER_OUTPUT";
    fs::create_directories(output);
    BuildDatabase(output / "ascend_pytorch_profiler_0.db", Captured(std::string(name) + ".sql"));
    read(scratch.path() / name);
  }
  for (const char* name : {"gpu_base.json", "serving_base.json"})
    read(scratch.Write(name, Captured(name)));
  return ranks;
}

void Reduce(const Recipe& recipe, const std::vector<RankPart>& parts) {
  Report report;
  recipe.reduce(parts, {}, {.screen = Detail::kMore}, report);
  for (Sheet& sheet : report.sheets) sheet.rows.reserve(0);  // makes those made when they are read
}

// Bytes as a part of rank 1, beside a whole one of rank 0.
Target TargetOf(const Recipe& recipe, const std::vector<RankTrace>& ranks) {
  Target target{std::string(recipe.name), {}, {}};
  std::shared_ptr<const void> whole;
  for (const RankTrace& rank : ranks) {
    Try("", [&] {
      const RankPart part{0, recipe.map(rank, {})};
      Reduce(recipe, {part});
      target.seeds.push_back(recipe.encode(part));
      if (recipe.outlines != nullptr) target.seeds.push_back(recipe.outlines->encode(part));
      if (!whole) whole = part.part;
    });
  }
  target.run = [recipe, whole](std::string_view bytes) {
    Try("", [&] {
      const RankPart part{1, recipe.decode(bytes)};
      if (whole) Reduce(recipe, {{0, whole}, part});
      if (recipe.outlines != nullptr) recipe.outlines->choose({{0, whole}, part}, {}, 1);
    });
  };
  return target;
}

// The file of a part, and the list of its job.
struct Files {
  Recipe recipe;
  JobFile list;
  std::string part, list_text;
};

Files FilesOf(const Recipe& recipe, const RankTrace& rank) {
  Files files{recipe, {.recipe = std::string(recipe.name)}, "", ""};
  files.list.job.directory = "job";
  files.list.job.ranks = {0};
  files.list.job.groups = {""};
  files.list.captures = {"rank0_ascend_pt"};
  files.list.labels = {""};
  files.list.states = {1};
  const RankPart part{0, recipe.map(rank, {})};
  PartFile head{.origin = OriginOf(files.list, 0), .sources = {{"a.db", 4096, 1, 1, 1}}};
  head.member.groups = {{"a", {0, 1, 2, 3, 4, 5, 6, 7}}};
  files.part = Sealed(head) + Sealed(WholePart{Checksum(ToBytes(head)), recipe.encode(part)});
  files.list_text = Sealed(files.list);
  return files;
}

void Merge(const Files& files, const fs::path& directory) {
  Try("", [&] {
    std::vector<PartSet> sets = ReadParts({directory}, {{&files.recipe}}, 1);
    ReduceRanks(files.recipe, {}, {}, std::move(sets.front().mapped));
  });
}

// The content of one of the two files, and of one that packs them: as it is, or sealed.
std::vector<Target> FileTargets(const std::shared_ptr<const Files>& files, const Scratch& scratch) {
  const std::string part = "parts/" + PartName(files->list, 0);
  const std::string list = "parts/" + JobName(files->list);
  const fs::path directory = scratch.path() / "parts";
  scratch.Write(part, files->part);
  scratch.Write(list, files->list_text);
  const auto as_it_is = [=, &scratch](std::string_view text) {
    scratch.Write(part, text);
    Merge(*files, directory);
    scratch.Write(part, files->part);
  };
  const auto list_as_it_is = [=, &scratch](std::string_view text) {
    scratch.Write(list, text);
    Merge(*files, directory);
    scratch.Write(list, files->list_text);
  };
  const auto sealed = [](std::string_view mark, std::string_view body) {
    const std::string text =
        HeadBytes(mark) + ToBytes(std::uint64_t{body.size()}) + std::string(body);
    return text + ToBytes(Checksum(text));
  };
  std::string_view rest = files->part;
  const std::string head(TakeSealedText(PartFile::kMark, rest));
  const std::string whole(rest);
  std::string_view list_text = files->list_text;
  const std::string list_body(TakeSealedText(JobFile::kMark, list_text));
  const std::string packed = "packed/parts.pack";
  const auto pack_as_it_is = [=, &scratch](std::string_view text) {
    scratch.Write(packed, text);
    Merge(*files, scratch.path() / "packed");
  };
  fs::create_directories(scratch.path() / "packed");
  const fs::path pack = PackParts({directory}, {{&files->recipe}}, scratch.path() / "packed").file;
  const std::string whole_pack(io::InputText(pack, io::Content::kAsIs).text());
  fs::remove(pack);
  std::string_view pieces_text = whole_pack;
  const std::string index(TakeSealedText(PackIndex::kMark, pieces_text));
  const std::string pieces(pieces_text);
  return {{"packed_file", {whole_pack}, pack_as_it_is},
          {"pack_index",
           {index},
           [=](std::string_view body) { pack_as_it_is(sealed(PackIndex::kMark, body) + pieces); }},
          {"part_file", {files->part}, as_it_is},
          {"part_head",
           {head},
           [=](std::string_view body) { as_it_is(sealed(PartFile::kMark, body) + whole); }},
          {"job_file", {files->list_text}, list_as_it_is},
          {"job_list", {list_body}, [=](std::string_view body) {
             list_as_it_is(sealed(JobFile::kMark, body));
           }}};
}

}  // namespace

std::vector<Target> Targets() {
  static const Scratch scratch;
  static const std::vector<RankTrace> ranks = Ranks(scratch);
  std::vector<Recipe> recipes = AllRecipes();
  recipes.push_back(DiagnosisRecipe());
  std::vector<Target> targets;
  for (const Recipe& recipe : recipes) targets.push_back(TargetOf(recipe, ranks));
  const auto hccl_sum = std::ranges::find(recipes, "hccl_sum", &Recipe::name);
  const auto files = std::make_shared<const Files>(FilesOf(*hccl_sum, ranks.front()));
  for (Target& target : FileTargets(files, scratch)) targets.push_back(std::move(target));
  return targets;
}

}  // namespace mpa::test
