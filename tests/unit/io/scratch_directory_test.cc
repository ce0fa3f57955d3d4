// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/scratch_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "mpa/io/directory_lock.h"
#include "support/failures.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using State = DirectoryLock::State;
using test::ErrorOf;
using test::TempDir;

TEST(DirectoryLock, IsHeldByOne) {
  const TempDir dir;
  auto first = std::make_unique<DirectoryLock>(dir.path());
  EXPECT_EQ(first->state(), State::kHeld);
  EXPECT_EQ(DirectoryLock(dir.path()).state(), State::kTaken);
  first.reset();
  EXPECT_EQ(DirectoryLock(dir.path()).state(), State::kHeld);
}

TEST(DirectoryLock, IsWaitedFor) {
  const TempDir dir;
  auto first = std::make_unique<DirectoryLock>(dir.path());
  std::atomic<bool> got = false;
  std::thread second([&] {
    DirectoryLock lock(dir.path());
    lock.Wait();
    got = lock.state() == State::kHeld;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(got);
  first.reset();
  second.join();
  EXPECT_TRUE(got);
}

TEST(DirectoryLock, IsImpossibleWhereThereIsNoDirectory) {
  const TempDir dir;
  EXPECT_EQ(DirectoryLock(dir / "missing").state(), State::kImpossible);
}

TEST(ScratchDirectory, GoesWithAllThatIsInIt) {
  const TempDir dir;
  {
    const ScratchDirectory scratch(dir.path());
    std::filesystem::create_directories(scratch.path() / "a/b");
    EXPECT_EQ(dir.Names().size(), 1u);
  }
  EXPECT_TRUE(dir.Names().empty());
}

TEST(ScratchDirectory, RemovesWhatNobodyUses) {
  const TempDir dir;
  const ScratchDirectory used(dir.path());
  dir.Write(".msprof-analyze-unfinished-dead01/report.xlsx", "half");
  dir.Write(".msprof-analyze-unfinished-dead02-/report.xlsx", "half");
  dir.Write("report.xlsx", "whole");
  const ScratchDirectory another(dir.path());
  EXPECT_TRUE(std::filesystem::exists(used.path()));
  EXPECT_TRUE(std::filesystem::exists(another.path()));
  EXPECT_TRUE(std::filesystem::exists(dir / "report.xlsx"));
  EXPECT_EQ(dir.Names().size(), 3u);
}

TEST(ScratchDirectory, LeavesThoseOfOtherMachines) {
  const TempDir dir;
  std::string own;
  {
    const ScratchDirectory scratch(dir.path());
    own = scratch.path().filename().string();
  }
  const std::string prefix = ".msprof-analyze-unfinished-";
  ASSERT_NE(own.find('@'), std::string::npos);
  dir.Write(own.substr(0, own.find('@')) + "@dead01/part", "half");
  dir.Write(prefix + "another-machine@used01/part", "half");
  { const ScratchDirectory next(dir.path()); }
  EXPECT_EQ(dir.Names(), std::vector<std::string>{prefix + "another-machine@used01"});
}

TEST(ScratchDirectory, FollowsNoLinks) {
  const TempDir dir, elsewhere;
  elsewhere.Write("kept", "");
  std::filesystem::create_directory_symlink(elsewhere.path(),
                                            dir / ".msprof-analyze-unfinished-link");
  dir.Write(".msprof-analyze-unfinished-dead/file", "");
  std::filesystem::create_directory_symlink(elsewhere.path(),
                                            dir / ".msprof-analyze-unfinished-dead/link");
  { const ScratchDirectory next(dir.path()); }
  EXPECT_EQ(elsewhere.Names(), std::vector<std::string>{"kept"});
  EXPECT_EQ(dir.Names(), std::vector<std::string>{".msprof-analyze-unfinished-link"});
}

TEST(ScratchDirectory, SaysWhereNothingCanBeMade) {
  const TempDir dir;
  const Error error = ErrorOf([&] { ScratchDirectory scratch(dir / "missing"); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_HAS_TEXT(error.what(), "missing: cannot write there: No such file");
}

TEST(FinalName, HasNoScratchDirectories) {
  EXPECT_EQ(FinalName("/out/.msprof-analyze-unfinished-a1B2c3/x_csv/y.csv"), "/out/x_csv/y.csv");
  EXPECT_EQ(FinalName("report.md"), "report.md");
}

}  // namespace
}  // namespace mpa::io
