// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mpa::test {

/// Every tag that is opened is closed, in order. Scripts hold no tags.
inline void ExpectWellFormed(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    ASSERT_NE(end, std::string::npos);
    std::string tag = page.substr(at + 1, end - at - 1);
    const bool closes = tag.starts_with('/');
    tag = tag.substr(closes ? 1 : 0);
    tag = tag.substr(0, tag.find_first_of(" /"));
    if (tag == "!DOCTYPE" || tag == "meta" || tag == "link") continue;
    if (!closes) {
      open.push_back(tag);
      if (tag == "script") at = page.find("</script>", at) - 1;
      continue;
    }
    ASSERT_FALSE(open.empty()) << tag;
    EXPECT_EQ(open.back(), tag);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

}  // namespace mpa::test
