// SPDX-License-Identifier: Apache-2.0
#include "mpa/capture/archive.h"

#include <algorithm>
#include <string>

#include "mpa/base/text.h"

namespace mpa {

bool IsArchive(const std::filesystem::path& path) {
  constexpr std::string_view kEndings[] = {".tar", ".tgz", ".gz",  ".zip", ".bz2",
                                           ".xz",  ".zst", ".rar", ".7z"};
  const std::string name = ToLower(path.filename().string());
  return !name.ends_with(".json.gz") &&
         std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace mpa
