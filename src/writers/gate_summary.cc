// SPDX-License-Identifier: Apache-2.0
// The summary of a job, to which others write, too.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "mpa/base/error.h"
#include "mpa/writers/gate_writers.h"

namespace mpa {

namespace fs = std::filesystem;

void CheckGateSummary(const fs::path& path) {
  std::error_code error;
  const fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  if (fs::is_directory(path, error)) {
    Fail(ErrorKind::kOutput, "{}: a directory has this name", path.string());
  }
  if (access(fs::exists(path, error) ? path.c_str() : parent.c_str(), W_OK) != 0) {
    Fail(ErrorKind::kOutput, "{}: cannot write there: {}", path.string(), std::strerror(errno));
  }
}

void AppendGateSummary(const GateReport& report, const fs::path& path) {
  const std::string text = FormatGateMarkdown(report);
  std::FILE* file = std::fopen(path.c_str(), "ab");
  bool written = file != nullptr;
  if (written) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = std::fclose(file) == 0 && written;
  }
  if (!written) Fail(ErrorKind::kOutput, "{}: {}", path.string(), std::strerror(errno));
}

}  // namespace mpa
