// SPDX-License-Identifier: Apache-2.0
// Error kinds and their exit codes.
#include "mpa/base/error.h"

namespace mpa {

int ExitCode(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kInput:
    case ErrorKind::kCorrupt:
      return 3;
    case ErrorKind::kOutput:
      return 6;
    case ErrorKind::kResource:
      return 7;
    case ErrorKind::kInternal:
      break;
  }
  return 70;
}

void Error::AddContext(std::string_view where) { text_.insert(0, fmt::format("{}: ", where)); }

}  // namespace mpa
