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

std::size_t ScreenWidth(std::FILE* stream) {
  constexpr std::size_t kUsual = 80, kNarrowest = 60, kWidest = 120;
  constexpr long kMost = 10'000;
  if (const char* columns = std::getenv("COLUMNS")) {
    const long chosen = std::strtol(columns, nullptr, 10);
    if (chosen > 0)
      return std::clamp<std::size_t>(static_cast<std::size_t>(std::min(chosen, kMost)), kNarrowest,
                                     kMost);
  }
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
}

}  // namespace mpa
