// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/pipeline/parts.h"
#include "part_file.h"

namespace mpa {

void CheckLists(const std::vector<std::filesystem::path>& directories,
                const std::vector<PartSelection>& wanted) {
  const auto recipe_of = [](const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    return name.substr(0, name.find('.'));
  };
  std::set<std::string> listed;
  std::multiset<std::string> parts;
  for (const std::filesystem::path& directory : directories) {
    for (const auto& path : PathsIn(directory, kJobEnding)) listed.insert(recipe_of(path));
    for (const auto& path : PathsIn(directory, kPartEnding)) parts.insert(recipe_of(path));
  }
  for (const PartSelection& of : wanted) {
    const std::string recipe(of.recipe->name);
    const std::size_t count = parts.count(recipe);
    if (count == 0 || listed.contains(recipe)) continue;
    Fail(ErrorKind::kInput,
         "{}: the list of ranks {}.*{} is missing, without which {} cannot be merged; run a shard"
         " again, which writes it",
         directories.front().string(), recipe, kJobEnding, Counted(count, "part"));
  }
}

}  // namespace mpa
