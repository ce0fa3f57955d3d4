// SPDX-License-Identifier: Apache-2.0
#include "screen.h"

#include <cstdio>

#include "mpa/base/error.h"
#include "mpa/base/printable.h"

namespace mpa {

void PrintLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::fputs((Printable(line) + "\n").c_str(), stdout);
}

void FinishStdout() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    Fail(ErrorKind::kOutput, "cannot write to standard output");
  }
}

}  // namespace mpa
