// SPDX-License-Identifier: Apache-2.0
// Large blocks of memory lie in huge pages where the system grants them on request. A large capture
// fills gigabytes once, and with pages of 4 KB a fifth of the time goes into the faults of first
// touch.
#include <malloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 2 * kHugePage;

// Only what the block fills is asked for: the rest of its last page stays small and untouched.
void* TryLargeBlock(std::size_t size) noexcept {
  // Else blocks of up to 32 MB would lie among small ones once one of their size was freed.
  static const bool is_apart = mallopt(M_MMAP_THRESHOLD, kLarge) == 1;
  (void)is_apart;
  const std::size_t whole = size / kHugePage * kHugePage;
  if (whole > static_cast<std::size_t>(-1) - kHugePage) return nullptr;
  void* const block = std::aligned_alloc(kHugePage, whole + kHugePage);
  if (block != nullptr) madvise(block, whole, MADV_HUGEPAGE);  // without them it is slower, no more
  return block;
}

void* Allocate(std::size_t size) {
  for (;;) {
    void* const block = size < kLarge ? std::malloc(size == 0 ? 1 : size) : TryLargeBlock(size);
    if (block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
