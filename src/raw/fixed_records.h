// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/model/issues.h"
#include "record.h"

namespace mpa::raw {

/// Calls visit(Record<kSize>) for each whole record of a file that is nothing but records; what is
/// cut off at the end is counted.
template <std::size_t kSize, typename Visit>
void ForEachFixedRecord(const std::filesystem::path& path, Issues& issues, Visit visit) {
  // Read in blocks: these files have no magic, their first bytes may look like a packed file.
  constexpr std::size_t kBlock = kSize * 65536;
  std::ifstream file(path, std::ios::binary);
  LogInfo("{}: its records are read", path.string());
  if (!file) Fail(ErrorKind::kInput, "{}: cannot open the file", path.string());
  std::vector<char> block(kBlock);
  std::size_t rest = 0;
  while (file && rest == 0) {
    file.read(block.data(), static_cast<std::streamsize>(kBlock));
    const auto got = static_cast<std::size_t>(file.gcount());
    rest = got % kSize;
    for (std::size_t at = 0; at + kSize <= got; at += kSize) {
      visit(Record<kSize>(block.data() + at));
    }
  }
  if (rest > 0) {
    issues.Count("file cut off inside a record, read up to there",
                 fmt::format("{}, {} bytes lost", path.filename().string(), rest));
  }
}

}  // namespace mpa::raw
