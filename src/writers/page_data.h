// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpa/report/page.h"

namespace mpa::writers {

/// What the script of a page draws, as a JSON document that may stand within HTML.
class PageData {
 public:
  /// Return the number by which the page refers to it.
  std::size_t Add(const PageTable& table);
  std::size_t Add(const PageChart& chart);
  bool Empty() const { return table_count_ + chart_count_ == 0; }
  std::string Json() const;

 private:
  std::string tables_, charts_;
  std::size_t table_count_ = 0, chart_count_ = 0;
};

}  // namespace mpa::writers
