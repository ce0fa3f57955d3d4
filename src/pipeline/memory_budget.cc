// SPDX-License-Identifier: Apache-2.0
#include "memory_budget.h"

namespace mpa {

MemoryBudget::Share::Share(MemoryBudget& budget, std::int64_t bytes)
    : budget_(budget), bytes_(bytes) {
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

}  // namespace mpa
