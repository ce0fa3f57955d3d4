// SPDX-License-Identifier: Apache-2.0
#include "memory_budget.h"

#include "mpa/base/log.h"

namespace mpa {
namespace {

// A trace is mapped whole and joined from fragments, of a database only the columns that are needed
// are kept.
std::int64_t MemoryOf(const RankInput& input) {
  std::int64_t bytes = 0;
  for (const CaptureFile& file : input.files) {
    const bool packed = file.path.extension() == ".gz";
    bytes += file.kind == FileKind::kProfilerDb ? file.bytes : file.bytes * (packed ? 15 : 2);
  }
  return bytes;
}

}  // namespace

MemoryBudget::Share::Share(MemoryBudget& budget, const RankInput& rank)
    : budget_(budget), bytes_(MemoryOf(rank)) {
  if (budget.bytes_ > 0 && bytes_ > budget.bytes_) {
    LogWarning("{}: may take up to {} MB of memory, where {} MB can be had; it is read alone",
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
