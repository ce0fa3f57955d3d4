// SPDX-License-Identifier: Apache-2.0
#include "memory_budget.h"

#include "mpa/base/log.h"

namespace mpa {
namespace {

// Memory for each byte of a file, in tenths, as docs/performance.md measures it, with a margin: of
// a trace 3.8 (a gzipped one holds 15 times its size), of a database 6.6, of raw data 11. Of traces
// and databases only the columns that are needed are kept.
constexpr std::int64_t kOfText = 5, kOfGzip = 75, kOfDatabase = 8, kOfRaw = 15;

std::int64_t TenthsOf(const CaptureFile& file) {
  if (file.kind == FileKind::kProfilerDb) return kOfDatabase;
  if (file.kind == FileKind::kRawCapture) return kOfRaw;
  return file.path.extension() == ".gz" ? kOfGzip : kOfText;
}

}  // namespace

std::int64_t MemoryOf(const RankInput& input) {
  std::int64_t bytes = 0;
  for (const CaptureFile& file : input.files) bytes += file.bytes / 10 * TenthsOf(file);
  return bytes;
}

MemoryBudget::Share::Share(MemoryBudget& budget, const RankInput& rank)
    : budget_(budget), bytes_(MemoryOf(rank)) {
  if (budget.bytes_ > 0 && bytes_ > budget.bytes_) {
    LogWarning("{}: may need up to {} MB of memory, and {} MB are available; it is read alone",
               rank.path.string(), bytes_ / 1'000'000, budget.bytes_ / 1'000'000);
  }
  std::unique_lock lock(budget_.mutex_);
  budget_.changed_.wait(lock, [&] {
    return budget_.bytes_ <= 0 || budget_.taken_ == 0 || budget_.taken_ + bytes_ <= budget_.bytes_;
  });
  budget_.taken_ += bytes_;
}

MemoryBudget::Share::~Share() {
  const std::lock_guard lock(budget_.mutex_);
  budget_.taken_ -= bytes_;
  budget_.changed_.notify_all();
}

}  // namespace mpa
