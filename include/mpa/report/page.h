// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/base/time.h"

/// What a page for people says, from top to bottom: texts, no markup. Writers give it a form.
namespace mpa {

struct PageTable {
  std::string title{};  ///< the table is folded below it; empty: it is always seen
  std::vector<std::string> headers{};
  std::vector<std::vector<std::string>> rows{};
  std::vector<std::size_t> numbers{};  ///< columns that stand to the right
};

/// A part of a whole, one piece of a bar.
struct PageShare {
  std::string text;
  TimeNs time = 0;
};

/// A finding.
struct PageCard {
  std::string severity;  ///< "critical", "high", "medium", "low" or "info": how the card looks
  std::string label{};   ///< what people read of it
  std::string title{}, gain{}, facts{}, advice{};
  PageTable places{};     ///< that show it
  std::string command{};  ///< tells more about it
};

struct PageSection {
  std::string heading{};
  std::vector<std::string> lines{};   ///< in letters of one width
  std::vector<std::string> points{};  ///< a list
  std::vector<PageShare> bar{};
  std::vector<PageTable> tables{};
  std::vector<PageCard> cards{};
};

struct Page {
  std::string language = "en";  ///< of its texts, as HTML names it
  std::string title{};
  std::vector<std::string> lead{};  ///< the first paragraph is the answer, the others are details
  std::vector<PageSection> sections{};
};

}  // namespace mpa
