// SPDX-License-Identifier: Apache-2.0
// Editing of lines by libedit. Without a description of the terminal (terminfo), such as in a
// container that has nothing else, it edits as on one that can do nothing but go on.
#include "line_editor.h"

#include <histedit.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/console.h"
#include "printing.h"

namespace mpa {
namespace {

// The words in columns, as wide as the screen.
std::string InColumns(const std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const std::string& word : words) width = std::max(width, word.size() + 2);
  const std::size_t columns = std::max<std::size_t>(1, ScreenWidth(stdout) / width);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i % columns + 1 == columns || i + 1 == words.size();
    text += is_last ? words[i] + "\n" : PaddedBehind(words[i], width);
  }
  return text;
}

// How many letters all of them begin with, in either case.
std::size_t SharedLetters(const std::vector<std::string>& words) {
  std::size_t shared = words.front().size();
  for (const std::string& word : words) {
    const auto differ = std::ranges::mismatch(
        words.front(), word, [](char a, char b) { return std::tolower(a) == std::tolower(b); });
    shared = std::min(shared, static_cast<std::size_t>(differ.in1 - words.front().begin()));
  }
  return shared;
}

unsigned char AtSuspend(EditLine*, int) {
  (void)std::raise(SIGTSTP);
  return CC_REFRESH;
}

}  // namespace

LineEditor::LineEditor(Complete complete) : complete_(std::move(complete)) {
  termios settings{};
  if (tcgetattr(STDIN_FILENO, &settings) == 0)
    give_back_ =
        std::make_unique<CleanUp>([settings] { tcsetattr(STDIN_FILENO, TCSANOW, &settings); });
  // Otherwise libedit leaves out what is not ASCII.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  // What it says of an unknown terminal helps nobody.
  messages_ = open_memstream(&message_, &message_bytes_);
  editor_ = el_init("msprof-analyze", stdin, stdout, messages_ == nullptr ? stderr : messages_);
  history_ = history_init();
  if (editor_ == nullptr || history_ == nullptr) return;
  HistEvent event{};
  constexpr int kLines = 1000;
  history(history_, &event, H_SETSIZE, kLines);
  history(history_, &event, H_SETUNIQUE, 1);
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_SIGNAL, 1);
  el_set(editor_, EL_HIST, history, history_);
  el_set(editor_, EL_PROMPT, Prompt);
  // Ctrl-C and Ctrl-Z are keys while a line is edited.
  el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
  const auto bind = [&](const char* key, const char* name, auto function) {
    el_set(editor_, EL_ADDFN, name, name, function);
    el_set(editor_, EL_BIND, key, name, nullptr);
  };
  bind("^I", "complete", AtTab);
  bind("^C", "abandon", AtInterrupt);
  bind("^Z", "suspend", AtSuspend);
}

LineEditor::~LineEditor() {
  if (history_ != nullptr) history_end(history_);
  if (editor_ != nullptr) el_end(editor_);
  if (messages_ != nullptr) (void)std::fclose(messages_);
  std::free(message_);
}

std::optional<LineEditor::Line> LineEditor::Read(const std::string& prompt) {
  if (editor_ == nullptr || history_ == nullptr) return std::nullopt;
  prompt_ = prompt;
  abandoned_ = false;
  int bytes = 0;
  el_set(editor_, EL_PREP_TERM, 1);  // before the prompt is there, not behind it
  const char* const typed = el_gets(editor_, &bytes);
  if (abandoned_) return Line{.text = {}, .abandoned = true};
  if (typed == nullptr || bytes <= 0) return std::nullopt;
  std::string text(typed, static_cast<std::size_t>(bytes));
  HistEvent event{};
  if (text.find_first_not_of(" \n") != std::string::npos)
    history(history_, &event, H_ENTER, text.c_str());
  while (text.ends_with('\n')) text.pop_back();
  return Line{.text = std::move(text)};
}

LineEditor& LineEditor::Of(EditLine* editor) {
  void* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  return *static_cast<LineEditor*>(self);
}

char* LineEditor::Prompt(EditLine* editor) { return Of(editor).prompt_.data(); }

unsigned char LineEditor::AtInterrupt(EditLine* editor, int) {
  Of(editor).abandoned_ = true;
  Print("^C\n");
  (void)std::fflush(stdout);
  return CC_NEWLINE;
}

unsigned char LineEditor::AtTab(EditLine* editor, int) {
  const LineInfo* const line = el_line(editor);
  const std::string_view text(line->buffer,
                              static_cast<std::size_t>(line->lastchar - line->buffer));
  const auto cursor = static_cast<std::size_t>(line->cursor - line->buffer);
  const auto [begin, words] = Of(editor).complete_(text, cursor);
  if (words.empty()) return CC_REFRESH_BEEP;
  const std::size_t shared = SharedLetters(words);
  if (words.size() == 1 || shared > cursor - begin) {
    el_deletestr(editor, static_cast<int>(cursor - begin));
    el_insertstr(editor, words.front().substr(0, shared).c_str());
    return CC_REFRESH;
  }
  Print("\n" + InColumns(words));
  (void)std::fflush(stdout);
  return CC_REDISPLAY;
}

}  // namespace mpa
