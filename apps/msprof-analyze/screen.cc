// SPDX-License-Identifier: Apache-2.0
#include "screen.h"


#include <algorithm>
#include <cstdio>

#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"

namespace mpa {

void Print(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) Print(Printable(line) + "\n");
}

void PrintWrapped(std::string_view text) {
  constexpr std::size_t kWidth = 80, kMostLines = 5;
  const std::string printable = Printable(text);
  std::string_view rest = printable;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    std::size_t end = rest.size();
    if (end > kWidth) end = rest.substr(0, kWidth + 1).rfind(' ');
    if (end == std::string_view::npos) end = std::min(rest.find(' '), rest.size());
    if (line == kMostLines && end < rest.size()) {
      Print("...\n");
      return;
    }
    Print(ShortenMiddle(rest.substr(0, end), kWidth) + "\n");
    rest = Trim(rest.substr(end));
  }
}

void FinishStdout() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    Fail(ErrorKind::kOutput, "cannot write to standard output; check where it goes");
  }
}

}  // namespace mpa
