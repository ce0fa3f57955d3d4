// SPDX-License-Identifier: Apache-2.0
// What the terminal can do.
#include "mpa/base/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace mpa {

bool IsTerminal(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && !(term != nullptr && std::strcmp(term, "dumb") == 0);
}

bool UseColor(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  return IsTerminal(stream) && (no_color == nullptr || *no_color == '\0');
}

namespace {

// What the environment says; 0: nothing.
std::size_t ChosenColumns() {
  constexpr long kMax = 10'000;
  const char* columns = std::getenv("COLUMNS");
  const long chosen = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return static_cast<std::size_t>(std::clamp(chosen, 0L, kMax));
}

// Columns of the terminal; 0: not a terminal.
std::size_t TerminalColumns(std::FILE* stream) {
  winsize size{};
  return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

bool HasScreenWidth(std::FILE* stream) {
  return ChosenColumns() > 0 || TerminalColumns(stream) > 0 || isatty(fileno(stream)) != 0;
}

std::size_t ScreenWidth(std::FILE* stream) {
  constexpr std::size_t kUsual = 80, kNarrowest = 60, kWidest = 120;
  if (const std::size_t chosen = ChosenColumns(); chosen > 0) return std::max(chosen, kNarrowest);
  const std::size_t columns = TerminalColumns(stream);
  return columns == 0 ? kUsual : std::clamp(columns, kNarrowest, kWidest);
}

}  // namespace mpa
