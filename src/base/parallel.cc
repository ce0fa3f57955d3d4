// SPDX-License-Identifier: Apache-2.0
// ParallelFor, the only concurrency primitive of the program.
#include "mpa/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace mpa {
namespace {

int AllowedCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

// Workers that may still be started; the main thread is not counted.
std::atomic<int>& IdleWorkers() {
  static std::atomic<int> idle = AllowedCpus() - 1;
  return idle;
}

bool BorrowWorker() {
  int idle = IdleWorkers();
  while (idle > 0) {
    if (IdleWorkers().compare_exchange_weak(idle, idle - 1)) return true;
  }
  return false;
}

}  // namespace

void SetJobs(int jobs) { IdleWorkers() = (jobs > 0 ? jobs : AllowedCpus()) - 1; }

void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t failed_index = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed_index) {
          failed_index = i;
          failure = std::current_exception();
        }
        next = count;  // nothing new is started after a failure
      }
    }
  };
  std::vector<std::thread> workers;
  while (workers.size() + 1 < count && BorrowWorker()) {
    try {
      workers.emplace_back([&] {
        work();
        ++IdleWorkers();  // at once: the last bodies may have loops of their own
      });
    } catch (const std::system_error&) {  // as many as the system gives will do
      ++IdleWorkers();
      break;
    }
  }
  work();
  if (!workers.empty()) {
    ++IdleWorkers();  // while this thread waits, loops of the last bodies may have its place
    for (std::thread& worker : workers) worker.join();
    --IdleWorkers();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace mpa
