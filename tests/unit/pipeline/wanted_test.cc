// SPDX-License-Identifier: Apache-2.0
// Every recipe makes what it is asked for and nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/recipe/recipe.h"
#include "pipeline/load_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

const fs::path kCaptures = fs::path(MPA_SOURCE_DIR) / "testdata/captures";

Report ReportOf(const Recipe& recipe, OutputSelection wanted) {
  RecipeArguments arguments;
  if (recipe.name == "calibrate_npu_gpu") {
    for (const RecipeOption& option : recipe.options) {
      if (option.required) arguments.Set(option, (kCaptures / "gpu_base.json").string());
    }
  }
  std::vector<RankPart> parts;
  for (const char* capture : {"twin_text_base_ascend_pt", "twin_text_new_ascend_pt"}) {
    auto loaded =
        LoadRank(OpenRank(kCaptures / capture, {.force = true}), {recipe.needs, ""}, std::nullopt);
    loaded.trace.capture_group = "actor_update";
    parts.push_back({static_cast<std::int64_t>(parts.size()), recipe.map(loaded.trace, arguments)});
  }
  Report report;
  recipe.reduce(parts, arguments, wanted, report);
  return report;
}

TEST(OutputSelection, RecipesMakeOnlyWhatIsAskedFor) {
  std::size_t asked = 0, with_sheets = 0, with_lines = 0, with_documents = 0;
  for (const Recipe& recipe : AllRecipes()) {
    if (recipe.of_servers) continue;  // the capture is of a device
    ++asked;
    SCOPED_TRACE(recipe.name);
    const Report none =
        ReportOf(recipe, {.sheets = false, .documents = false, .screen = Detail::kNone});
    EXPECT_TRUE(none.sheets.empty());
    EXPECT_TRUE(none.lines.empty());
    EXPECT_TRUE(none.documents.empty());
    const Report sheets =
        ReportOf(recipe, {.sheets = true, .documents = false, .screen = Detail::kNone});
    EXPECT_TRUE(sheets.lines.empty());
    EXPECT_TRUE(sheets.documents.empty());
    with_sheets += !sheets.sheets.empty();
    with_lines += !ReportOf(recipe, {.sheets = false, .documents = false}).lines.empty();
    const Report documents = ReportOf(recipe, {.sheets = false, .screen = Detail::kNone});
    EXPECT_TRUE(documents.sheets.empty());
    with_documents += !documents.documents.empty();
  }
  // All of them have sheets, whatever the captures lack.
  EXPECT_GE(with_sheets + 2, asked);
  EXPECT_GE(with_lines, asked / 2);
  EXPECT_GE(with_documents, 2u);  // `all` and export_summary
}

}  // namespace
}  // namespace mpa
