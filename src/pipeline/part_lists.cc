// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "mpa/pipeline/parts.h"
#include "part_file.h"

namespace mpa {

void CheckLists(const std::vector<std::filesystem::path>& directories,
                const std::vector<PartSelection>& wanted) {
  std::set<std::string, std::less<>> listed;
  std::map<std::string, std::size_t, std::less<>> parts;  // how many, by recipe
  for (const std::filesystem::path& directory : directories) {
    std::error_code ignored;  // who reads the parts says why it cannot
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().filename().string();
      const std::string recipe = name.substr(0, name.find('.'));
      if (name.ends_with(kJobEnding)) listed.insert(recipe);
      if (name.ends_with(kPartEnding)) ++parts[recipe];
    }
  }
  for (const PartSelection& of : wanted) {
    const auto found = parts.find(of.recipe->name);
    if (found == parts.end() || listed.contains(of.recipe->name)) continue;
    Fail(ErrorKind::kInput,
         "{}: the list of ranks {}.*{} is missing, without which {} cannot be merged; run a shard"
         " again, which writes it",
         directories.front().string(), found->first, kJobEnding,
         Counted(static_cast<std::int64_t>(found->second), "part"));
  }
}

}  // namespace mpa
