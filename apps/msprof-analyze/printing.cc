// SPDX-License-Identifier: Apache-2.0
#include "printing.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/base/utf8.h"

namespace mpa {

void Print(std::string_view text) { (void)std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) Print(Printable(line) + "\n");
}

std::vector<std::string> FewLines(std::string_view text) {
  constexpr std::size_t kMaxLines = 5;
  const std::size_t width = ScreenColumns();
  const std::string printable = Printable(text);
  std::string_view rest = printable;
  std::vector<std::string> lines;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    std::size_t end = rest.size();
    if (end > width) end = rest.substr(0, width + 1).rfind(' ');
    if (end == std::string_view::npos) end = std::min(rest.find(' '), rest.size());
    if (line == kMaxLines && end < rest.size()) {
      lines.emplace_back("...");
      break;
    }
    lines.push_back(ShortenMiddle(rest.substr(0, end), width));
    rest = Trim(rest.substr(end));
  }
  return lines;
}

namespace {

// As after `| head`, which has read what it wants.
bool IsReaderGone() {
  pollfd state{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0;
}

}  // namespace

void FinishStdout() {
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (failed && !IsReaderGone()) {
    Fail(ErrorKind::kOutput, "cannot write to standard output; check where it goes");
  }
}

}  // namespace mpa
