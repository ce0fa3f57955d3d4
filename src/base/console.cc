// SPDX-License-Identifier: Apache-2.0
// What the terminal can do.
#include "mpa/base/console.h"

#include <unistd.h>

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

}  // namespace mpa
