// SPDX-License-Identifier: Apache-2.0
// The ways in which the program ends before its work is done.
#include "mpa/base/ending.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "mpa/base/console.h"
#include "mpa/base/error.h"
#include "mpa/base/interruption.h"
#include "mpa/base/language.h"

namespace mpa {
namespace {

std::recursive_mutex g_mutex;
pthread_t g_signal_thread;
std::atomic<bool> g_is_stoppable = false, g_was_interrupted = false;
// Given back when memory is exhausted, for the clean-ups.
constexpr std::size_t kReserveBytes = std::size_t{256} << 10;
char* g_reserve = nullptr;

// A reader of stderr that does not read must not keep the program alive.
void WriteLastLine(std::string_view message) {
  std::array<char, 512> line;
  const auto end = fmt::format_to_n(line.data(), line.size() - 1, "{}msprof-analyze: {}: {}",
                                    IsTerminal(stderr) ? "\r\033[K" : "", Translated("error"),
                                    Translated(message.substr(0, line.size() / 2)));
  *end.out = '\n';
  pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t ignored =
      write(STDERR_FILENO, line.data(), static_cast<std::size_t>(end.out - line.data()) + 1);
}

[[noreturn]] void EndBySignal(int signal) {
  switch (signal) {
    case SIGBUS:
      EndProgram(ExitCode(ErrorKind::kCorrupt),
                 "an input file shrank or its disk failed while it was read; run again when no"
                 " program writes to it");
    case SIGINT:
      EndProgram(128 + signal, "interrupted; unfinished outputs were removed");
    default:
      EndProgram(128 + signal, "ended by a signal; unfinished outputs were removed");
  }
}

// The thread that meets it cannot go on; another one cleans up.
void HandOverBusError(int) {
  pthread_kill(g_signal_thread, SIGBUS);
  while (true) pause();
}

void WaitForSignals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGBUS);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    if (present.sa_handler != SIG_IGN) sigaddset(&awaited, signal);
  }
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &awaited, &before);
  try {
    std::thread waiting([awaited] {
      int signal = 0;
      while (sigwait(&awaited, &signal) != 0 || (signal == SIGINT && Interruption::Take())) {
      }
      EndBySignal(signal);
    });
    g_signal_thread = waiting.native_handle();
    waiting.detach();
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
    struct sigaction action {};
    action.sa_handler = HandOverBusError;
    sigaction(SIGBUS, &action, nullptr);
  } catch (const std::system_error&) {  // no more threads: signals end it, but leave things behind
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}

[[noreturn]] void EndForBug() {
  EndProgram(ExitCode(ErrorKind::kInternal), "internal error; please report this");
}

// Otherwise the next file that is opened gets the number, and with it what is printed.
void OccupyClosedStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // Not for writing: what was to be printed is missed, which is an error.
    if (open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) != stream) return;
  }
}

}  // namespace

CleanUp::CleanUp(std::function<void()> body) : body_(std::move(body)) {
  const Uninterrupted list;
  next_ = std::exchange(first_, this);
  if (next_ != nullptr) next_->previous_ = this;
}

CleanUp::~CleanUp() {
  const Uninterrupted list;
  (previous_ == nullptr ? first_ : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void CleanUp::RunAll() {
  for (CleanUp* each = first_; each != nullptr; each = each->next_) {
    try {
      each->body_();
    } catch (...) {  // no memory even for this; the next run finds what stays behind
    }
  }
}

Interruption::Interruption() {
  Forget();
  g_is_stoppable = true;
}
void Interruption::Forget() { g_was_interrupted = false; }
Interruption::~Interruption() { g_is_stoppable = false; }
bool Interruption::Take() { return g_is_stoppable && !g_was_interrupted.exchange(true); }
bool WasInterrupted() { return g_is_stoppable && g_was_interrupted; }

Uninterrupted::Uninterrupted() : lock_(g_mutex) {}

void EndProgram(int exit_code, std::string_view message) {
  g_mutex.lock();  // for good: whoever else gets here waits for the end
  CleanUp::RunAll();
  WriteLastLine(message);
  _exit(exit_code);
}

void EndForMemory() {
  g_mutex.lock();
  std::set_new_handler(nullptr);
  delete[] std::exchange(g_reserve, nullptr);
  EndProgram(
      ExitCode(ErrorKind::kResource),
      "out of memory: the machine or --memory_limit allows no more; try fewer --jobs or one step");
}

void PrepareForEnds() {
  std::set_terminate(EndForBug);
  std::set_new_handler(EndForMemory);
  g_reserve = new char[kReserveBytes];
  OccupyClosedStreams();
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaction(signal, &ignored, nullptr);
  WaitForSignals();
}

}  // namespace mpa
