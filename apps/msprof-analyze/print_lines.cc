// SPDX-License-Identifier: Apache-2.0
#include "print_lines.h"

#include <algorithm>
#include <cstdio>

namespace mpa {

void PrintLines(const std::vector<std::string>& lines) {
  for (std::string line : lines) {
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    std::fputs((line + "\n").c_str(), stdout);
  }
}

}  // namespace mpa
