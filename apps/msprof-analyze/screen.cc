// SPDX-License-Identifier: Apache-2.0
#include "screen.h"

#include <algorithm>
#include <cstdio>

#include "mpa/base/error.h"

namespace mpa {

void PrintLines(const std::vector<std::string>& lines) {
  for (std::string line : lines) {
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    std::fputs((line + "\n").c_str(), stdout);
  }
}

void FinishStdout() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    Fail(ErrorKind::kOutput, "cannot write to standard output");
  }
}

}  // namespace mpa
