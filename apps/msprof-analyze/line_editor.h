// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpa/base/ending.h"
#include "mpa/query/query.h"

struct editline;
struct history;

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
  static LineEditor& Of(editline* editor);
  static char* Prompt(editline* editor);
  static unsigned char AtTab(editline* editor, int key);
  static unsigned char AtInterrupt(editline* editor, int key);

  std::unique_ptr<CleanUp> give_back_;  // the terminal, however the program ends
  Complete complete_;
  std::string prompt_;
  bool abandoned_ = false;
  std::FILE* messages_ = nullptr;
  char* message_ = nullptr;
  std::size_t message_bytes_ = 0;
  editline* editor_ = nullptr;
  struct history* history_ = nullptr;
};

}  // namespace mpa
