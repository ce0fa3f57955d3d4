// SPDX-License-Identifier: Apache-2.0
#include "chunked_file.h"

#include <algorithm>
#include <cstdio>

#include "mpa/base/parallel.h"

namespace mpa::profiler_output {

void ChunkedFile::Write(std::string_view text) {
  const std::size_t dropped = std::min(drop_, text.size());
  drop_ -= dropped;
  text.remove_prefix(dropped);
  file_.Write(text);
}

void ChunkedFile::WriteRows(std::size_t count, const FormatRows& format) {
  constexpr std::size_t kRows = 256;   // some ten kilobytes, which stay in the caches
  constexpr std::size_t kChunks = 32;  // enough for all threads, and for uneven ones
  std::vector<std::string> ready, next(kChunks);
  for (std::size_t first = 0; first < count; first += kRows * kChunks) {
    const std::size_t rows = std::min(kRows * kChunks, count - first);
    next.resize((rows + kRows - 1) / kRows);
    // What was made before is written while the next rows are made.
    ParallelFor(next.size() + 1, [&](std::size_t i) {
      if (i == 0) {
        for (const std::string& chunk : ready) Write(chunk);
        return;
      }
      const std::size_t from = (i - 1) * kRows;
      next[i - 1].clear();
      format(first + from, first + std::min(from + kRows, rows), next[i - 1]);
    });
    std::swap(ready, next);
    next.resize(kChunks);
  }
  for (const std::string& chunk : ready) Write(chunk);
}

}  // namespace mpa::profiler_output
