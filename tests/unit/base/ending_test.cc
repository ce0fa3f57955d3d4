// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/ending.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "mpa/base/memory.h"
#include "support/files.h"

namespace mpa {
namespace {

using testing::ExitedWithCode;

void Say(const char* text) { (void)std::fputs(text, stderr); }

// As a terminal starts programs; a script ignores signals for what it starts in the background, and
// so does nohup.
void PrepareInTerminal() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(number, SIG_DFL);
  PrepareForEnds();
}

// Sends itself a signal and does nothing else from then on.
[[noreturn]] void GetSignal(int number) {
  kill(getpid(), number);
  while (true) pause();
}

TEST(EndingDeathTest, SignalsRunTheCleanUps) {
  for (const auto& [number, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}}) {
    EXPECT_EXIT(
        {
          PrepareInTerminal();
          const CleanUp first([] { Say("first"); });
          const CleanUp second([] { Say("second, "); });
          {
            const CleanUp gone([] { Say("never"); });
          }
          GetSignal(number);
        },
        ExitedWithCode(code), "^second, firstmsprof-analyze: error: .*\n$");
  }
}

TEST(EndingDeathTest, WhatBelongsTogetherIsFinishedFirst) {
  EXPECT_EXIT(
      {
        PrepareInTerminal();
        auto together = std::make_unique<Uninterrupted>();
        kill(getpid(), SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        Say("finished ");
        together.reset();
        while (true) pause();
      },
      ExitedWithCode(130), "finished msprof-analyze: error: interrupted");
}

TEST(EndingDeathTest, AnIgnoredHangUpStaysIgnored) {
  EXPECT_EXIT(
      {
        (void)std::signal(SIGHUP, SIG_IGN);
        PrepareForEnds();
        kill(getpid(), SIGHUP);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EndProgram(9, "the end");
      },
      ExitedWithCode(9), "the end");
}

TEST(EndingDeathTest, AnInputThatBecomesShorterIsToldOf) {
  const test::TempDir dir;
  const auto path = dir.Write("input", std::string(10'000, 'x'));
  EXPECT_EXIT(
      {
        PrepareForEnds();
        const CleanUp tidy([] { Say("tidied "); });
        const int file = open(path.c_str(), O_RDWR);
        const auto* text = static_cast<const volatile char*>(
            mmap(nullptr, 10'000, PROT_READ, MAP_PRIVATE, file, 0));
        if (ftruncate(file, 0) == 0) Say(text[9'000] == 'x' ? "still there" : "changed");
      },
      ExitedWithCode(3), "^tidied msprof-analyze: error: an input file shrank");
}

TEST(EndingDeathTest, ExceptionsThatNobodyCatchesAreToldOf) {
  EXPECT_EXIT(
      {
        PrepareForEnds();
        std::thread([] { throw 1; }).join();
      },
      ExitedWithCode(70), "internal error");
}

TEST(EndingDeathTest, ExhaustedMemoryEndsTheProgramInAnyThread) {
  EXPECT_EXIT(
      {
        PrepareForEnds();
        LimitMemory(1);
        const CleanUp tidy([] { Say(std::string(100'000, '.').substr(0, 3).c_str()); });
        std::thread([] {
          std::vector<std::vector<char>> all;
          while (true) all.emplace_back(1000);
        }).join();
      },
      ExitedWithCode(7), R"(^\.\.\.msprof-analyze: error: out of memory)");
}

TEST(MemoryOfProcess, IsPartOfTheMachine) {
  const std::int64_t machine = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  EXPECT_GT(MemoryOfProcess(), 0);
  EXPECT_LE(MemoryOfProcess(), machine);
}

}  // namespace
}  // namespace mpa
