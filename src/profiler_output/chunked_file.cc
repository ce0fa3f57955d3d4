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
  std::fwrite(text.data(), 1, text.size(), file_.stream());
}

void ChunkedFile::WriteRows(std::size_t count, const FormatRows& format) {
  constexpr std::size_t kRows = 1024;  // some hundred kilobytes
  constexpr std::size_t kChunks = 32;  // enough for all threads, and for uneven ones
  chunks_.resize(kChunks);
  for (std::size_t first = 0; first < count; first += kRows * kChunks) {
    const std::size_t rows = std::min(kRows * kChunks, count - first);
    const std::size_t chunks = (rows + kRows - 1) / kRows;
    ParallelFor(chunks, [&](std::size_t i) {
      chunks_[i].clear();
      format(first + i * kRows, first + std::min((i + 1) * kRows, rows), chunks_[i]);
    });
    for (std::size_t i = 0; i < chunks; ++i) Write(chunks_[i]);
  }
}

}  // namespace mpa::profiler_output
