// SPDX-License-Identifier: Apache-2.0
// Hosts that stand still in calls into the operating system, or wait for a lock. HostCauses looks
// for them as for all that hosts do.
#include "mpa/diagnosis/causes/system_calls.h"

#include <string_view>

#include "mpa/base/text.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

bool ManagesMemory(std::string_view call) {
  return IsOneOf(call, {"malloc", "calloc", "realloc", "free", "posix_memalign", "aligned_alloc",
                        "mmap", "munmap", "mremap", "mprotect", "madvise", "brk", "sbrk", "mlock"});
}

bool UsesFiles(std::string_view call) {
  return IsOneOf(call, {"read",
                        "readv",
                        "pread",
                        "pread64",
                        "preadv",
                        "write",
                        "writev",
                        "pwrite",
                        "pwrite64",
                        "pwritev",
                        "open",
                        "open64",
                        "openat",
                        "close",
                        "fsync",
                        "fdatasync",
                        "sync",
                        "syncfs",
                        "sync_file_range",
                        "fopen",
                        "fclose",
                        "fread",
                        "fwrite",
                        "fflush",
                        "stat",
                        "fstat",
                        "statx",
                        "newfstatat",
                        "rename",
                        "unlink",
                        "sendfile",
                        "copy_file_range",
                        "fallocate",
                        "ftruncate",
                        "getdents64"});
}

bool OfMemory(const AdviceFacts& facts) { return facts.manages_memory; }
bool OfFiles(const AdviceFacts& facts) { return facts.uses_files; }
bool OfDriver(const AdviceFacts& facts) { return facts.calls_driver; }

}  // namespace

void NoteSystemCalls(const std::vector<Evidence>& calls, AdviceFacts& facts) {
  TimeNs all = 0, of_memory = 0, of_files = 0, of_driver = 0;
  for (const Evidence& call : calls) {
    all += call.time;
    if (ManagesMemory(call.name)) of_memory += call.time;
    if (UsesFiles(call.name)) of_files += call.time;
    if (call.name == "ioctl") of_driver += call.time;
  }
  // Calls of several kinds are slow together where the kernel is short of memory, for one.
  constexpr TimeNs kMuch = 4;
  facts.manages_memory = kMuch * of_memory > all;
  facts.uses_files = kMuch * of_files > all;
  facts.calls_driver = kMuch * of_driver > all;
}

const FindingType kHostSystemCall = Fault(
    Area::kHosts, "host.system_call", {"platform", "framework"},
    "the host stands still in calls into the operating system",
    {.looked_at = "calls into the C library and the kernel that take 1 ms or more on the threads"
                  " that issue work",
     .refuted_by = "an operator or a call of the runtime explains it, as a synchronisation does;"
                   " or the device has work meanwhile",
     .categories = {TimeCategory::kSystemCall},
     .applies = [](const Coverage& job) { return job.system_calls; },
     .advice = {
         {If(OfMemory, {"switch transparent huge pages off (never)",
                        Change("/sys/kernel/mm/transparent_hugepage/enabled", "never")}),
          If(OfMemory, {"copy checkpoints to the host in parts, so that memory stays free",
                        Change("copies of checkpoints", "in parts")}),
          If(OfFiles, {"read and write files in other threads or processes, on local storage",
                       Change("files in the step", "in other threads, on local storage")}),
          If(OfDriver, {"see in the kernel's log what the driver did (dmesg)",
                        Check("log of the driver", "dmesg")}),
          {"see who makes the calls (strace -f -T -k)", Check("stacks of the calls", "strace")}}}});

const FindingType kHostLock = Fault(
    Area::kHosts, "host.lock", {"model", "framework"}, "the host waits for locks",
    {.looked_at = "locks and conditions of threads (pthread) for which the threads that issue work"
                  " wait for 1 ms or more",
     .refuted_by = "another thread of the process works meanwhile, for which it waits; or the"
                   " device has work",
     .categories = {TimeCategory::kLock},
     .applies = [](const Coverage& job) { return job.system_calls; },
     .advice = {{{"hold locks while queues change, not while data are prepared",
                  Change("work under locks", "outside of them")},
                 {"let fewer threads share a lock (num_workers, OMP_NUM_THREADS)",
                  Change("threads that share a lock", "fewer")},
                 {"see who holds it (perf lock)", Check("holders of locks", "perf lock")}}}});

const FindingType kHostGil = Fault(
    Area::kHosts, "host.gil", {"model"}, "the host waits for Python's interpreter lock (GIL)",
    {.looked_at = "waits of the threads that issue work for the lock, and which thread held it",
     .refuted_by = "an operator or a call explains the time, or the device has work meanwhile",
     .categories = {TimeCategory::kGil},
     .applies = [](const Coverage& job) { return job.locks; },
     .advice = {{{"run what holds the lock in a process of its own",
                  Change("the thread that holds the lock", "a process of its own")},
                 {"let it give the lock back more often (sys.setswitchinterval)",
                  Change("sys.setswitchinterval", "shorter")}}}});

}  // namespace mpa
