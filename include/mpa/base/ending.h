// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <string_view>

/// How the program ends before its work is done, and what happens then.
namespace mpa {

/// Something that must not stay behind when the program is ended, such as an unfinished file. Lives
/// as long as there is something to do.
class CleanUp {
 public:
  /// `body` may run in any thread while the others go on working.
  explicit CleanUp(std::function<void()> body);
  ~CleanUp();
  CleanUp(const CleanUp&) = delete;
  CleanUp& operator=(const CleanUp&) = delete;

  /// Runs those that live, the latest first.
  static void RunAll();

 private:
  // A list without memory of its own, which outlives other static objects.
  static inline CleanUp* first_ = nullptr;

  std::function<void()> body_;
  CleanUp* next_;
  CleanUp* previous_ = nullptr;
};

/// The program is not ended by another thread while one of these lives: for steps that belong
/// together. They have to be short.
class Uninterrupted {
 public:
  Uninterrupted();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Runs the clean-ups, writes the message as an error to stderr and ends the program, from any
/// thread. Neither waits for the others nor needs memory to get to the end.
[[noreturn]] void EndProgram(int exit_code, std::string_view message);

/// The same for memory that is exhausted; called by new itself, but not by other allocations.
[[noreturn]] void EndForMemory();

/// Called once, before any thread is started. From then on
/// - SIGINT, SIGTERM and SIGHUP end the program at once with exit code 128 + signal, unless they
///   are ignored (nohup);
/// - so does an input that becomes shorter while it is read (SIGBUS), with that of broken input;
/// - exhausted memory ends it with the exit code of ErrorKind::kResource;
/// - a pipe without reader, and a file that may not grow, are errors of the write;
/// - standard streams that are closed do not become numbers of other files.
void PrepareForEnds();

}  // namespace mpa
