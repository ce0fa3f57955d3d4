// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpa/query/query.h"

namespace mpa {

/// Lines that somebody types on the terminal of stdin and stdout, with a history of this run.
class LineEditor {
 public:
  /// What a line up to the cursor can go on with, at Tab.
  using Complete = std::function<Completions(std::string_view line, std::size_t cursor)>;

  explicit LineEditor(Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Line {
    std::string text;
    bool abandoned = false;  ///< by Ctrl-C
  };
  /// The next line without its end; none after the last one (Ctrl-D).
  std::optional<Line> Read(const std::string& prompt);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpa
