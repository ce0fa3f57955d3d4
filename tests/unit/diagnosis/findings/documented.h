// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/files.h"

namespace mpa::test {

/// Expects the table between "<!-- NAME: begin -->" and "<!-- NAME: end -->" of docs/advisor.md.
/// With MPA_UPDATE_DOCS it is written there.
inline void ExpectDocumented(const std::string& name, const std::string& table) {
  const std::filesystem::path page = std::filesystem::path(MPA_SOURCE_DIR) / "docs" / "advisor.md";
  const std::string text = ReadAll(page);
  const std::string begin = "<!-- " + name + ": begin -->\n", end = "<!-- " + name + ": end -->\n";
  const std::size_t from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::string wanted = text.substr(0, from) + begin + "\n" + table + "\n" + text.substr(to);
  if (std::getenv("MPA_UPDATE_DOCS") != nullptr) {
    std::ofstream(page) << wanted;
    return;
  }
  EXPECT_EQ(text, wanted) << "MPA_UPDATE_DOCS=1 writes docs/advisor.md anew";
}

}  // namespace mpa::test
