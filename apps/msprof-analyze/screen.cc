// SPDX-License-Identifier: Apache-2.0
#include "screen.h"

#include <cstdio>

#include "mpa/base/error.h"
#include "mpa/base/printable.h"

namespace mpa {

void Print(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) Print(Printable(line) + "\n");
}

void FinishStdout() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    Fail(ErrorKind::kOutput, "cannot write to standard output");
  }
}

}  // namespace mpa
