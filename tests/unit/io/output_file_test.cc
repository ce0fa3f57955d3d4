// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/output_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/failures.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using test::ErrorOf;
using test::TempDir;

void Fill(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(OutputFile, AppearsUnderItsNameOnCommit) {
  const TempDir dir;
  {
    OutputFile file(dir / "report.xlsx");
    Fill(file.temporary_path(), "content");
    EXPECT_FALSE(std::filesystem::exists(dir / "report.xlsx"));
    EXPECT_TRUE(file.CommitAs(dir / "report.xlsx"));
  }
  EXPECT_EQ(dir.Names(), std::vector<std::string>{"report.xlsx"});
  EXPECT_EQ(test::ReadAll(dir / "report.xlsx"), "content");
}

TEST(OutputFile, LeavesNothingBehindWithoutCommit) {
  const TempDir dir;
  {
    OutputFile file(dir / "report.xlsx");
    Fill(file.temporary_path(), "half of the content");
    EXPECT_EQ(dir.Names().size(), 1u);
  }
  EXPECT_TRUE(dir.Names().empty());
}

TEST(OutputFile, NeverReplacesAnotherFile) {
  const TempDir dir;
  dir.Write("report.xlsx", "old");
  OutputFile file(dir / "report.xlsx");
  Fill(file.temporary_path(), "new");
  EXPECT_FALSE(file.CommitAs(dir / "report.xlsx"));
  EXPECT_EQ(test::ReadAll(dir / "report.xlsx"), "old");
  EXPECT_TRUE(file.CommitAs(dir / "report01.xlsx"));
  EXPECT_EQ(test::ReadAll(dir / "report01.xlsx"), "new");
}

TEST(OutputFile, SaysWhichFileCouldNotGetItsName) {
  const TempDir dir;
  OutputFile file(dir / "report.xlsx");
  Fill(file.temporary_path(), "content");
  const Error error = ErrorOf([&] { file.CommitAs(dir / "missing/report.xlsx"); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_HAS_TEXT(error.what(), "missing/report.xlsx");
}

TEST(OutputFile, CanBeADirectory) {
  const TempDir dir;
  {
    OutputFile file(dir / "a_csv");
    std::filesystem::create_directory(file.temporary_path());
    Fill(file.temporary_path() / "a.csv", "content");
  }
  EXPECT_TRUE(dir.Names().empty());
  OutputFile file(dir / "a_csv");
  std::filesystem::create_directory(file.temporary_path());
  Fill(file.temporary_path() / "a.csv", "content");
  std::filesystem::create_directory(dir / "a_csv");
  EXPECT_FALSE(file.CommitAs(dir / "a_csv"));
  EXPECT_TRUE(file.CommitAs(dir / "a01_csv"));
  EXPECT_EQ(test::ReadAll(dir / "a01_csv/a.csv"), "content");
}

TEST(OutputSet, GivesAllOutputsTheSameNumber) {
  const TempDir dir;
  dir.Write("report.b", "old");
  {
    OutputSet set(dir.path(), "report");
    Fill(set.Add(".a"), "A");
    Fill(set.Add(".b"), "B");
    EXPECT_EQ(set.Commit(), (std::vector{dir / "report01.a", dir / "report01.b"}));
  }
  EXPECT_EQ(dir.Names(), (std::vector<std::string>{"report.b", "report01.a", "report01.b"}));
  EXPECT_EQ(test::ReadAll(dir / "report01.a"), "A");
}

TEST(OutputSet, LeavesNothingWhenOneOutputCannotBeNamed) {
  const TempDir dir;
  {
    OutputSet set(dir.path(), "report");
    Fill(set.Add(".a"), "A");
    set.Add(".b");  // never written
    EXPECT_THROW(set.Commit(), Error);
  }
  EXPECT_TRUE(dir.Names().empty());
}

TEST(OutputFile, ReplacesADirectoryAsAWhole) {
  const TempDir dir;
  dir.Write("a_csv/old.csv", "old");
  {
    OutputFile file(dir / "a_csv");
    std::filesystem::create_directory(file.temporary_path());
    Fill(file.temporary_path() / "new.csv", "new");
    file.Replace(dir / "a_csv");
  }
  EXPECT_EQ(dir.Names(), std::vector<std::string>{"a_csv"});
  EXPECT_FALSE(std::filesystem::exists(dir / "a_csv/old.csv"));
  EXPECT_EQ(test::ReadAll(dir / "a_csv/new.csv"), "new");
}

TEST(OutputFile, TwoOfOneNameDoNotMeet) {
  const TempDir dir;
  OutputFile one(dir / "a.json"), other(dir / "a.json");
  Fill(one.temporary_path(), "one");
  Fill(other.temporary_path(), "other");
  one.Replace(dir / "a.json");
  EXPECT_EQ(test::ReadAll(dir / "a.json"), "one");
  other.Replace(dir / "a.json");
  EXPECT_EQ(test::ReadAll(dir / "a.json"), "other");
}

TEST(TextFile, SaysWhenTheTextIsNotInTheFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  TextFile file("/dev/full");
  file.Write("content");
  const Error error = ErrorOf([&] { file.Close(); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_HAS_TEXT(error.what(), "/dev/full");
}

TEST(PrepareOutputDirectory, MakesTheDirectoryAndThoseAboveIt) {
  const TempDir dir;
  PrepareOutputDirectory(dir / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(dir / "a/b/c"));
  PrepareOutputDirectory(dir / "a/b/c");  // once more does no harm
}

TEST(PrepareOutputDirectory, KeepsOthersOutOfTheDirectory) {
  const TempDir dir;
  PrepareOutputDirectory(dir / "out");
  const auto mode = std::filesystem::status(dir / "out").permissions();
  EXPECT_EQ(mode & std::filesystem::perms::others_all, std::filesystem::perms::none);
}

TEST(PrepareOutputDirectory, RefusesTheNameOfAFile) {
  const TempDir dir;
  const auto path = dir.Write("report.xlsx", "");
  const Error error = ErrorOf([&] { PrepareOutputDirectory(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_HAS_TEXT(error.what(), "report.xlsx");
}

TEST(PrepareOutputDirectory, SaysWhereItCannotWrite) {
  const TempDir dir;
  dir.Write("file", "");
  const Error error = ErrorOf([&] { PrepareOutputDirectory(dir / "file/below"); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_HAS_TEXT(error.what(), "file/below");
}

TEST(PrepareOutputFile, RefusesWhatCannotBeReplacedByAFile) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "folder");
  for (const auto& path : {dir / "folder", std::filesystem::path("/dev/null")}) {
    const Error error = ErrorOf([&] { PrepareOutputFile(path); });
    EXPECT_EQ(error.kind(), ErrorKind::kOutput);
    EXPECT_HAS_TEXT(error.what(), path.string());
  }
  PrepareOutputFile(dir / "new/baseline.json");
  EXPECT_TRUE(std::filesystem::is_directory(dir / "new"));
}

TEST(PrepareOutputTree, TakesThePlaceOfADirectory) {
  const TempDir dir;
  dir.Write("a_csv/old.csv", "old");
  PrepareOutputTree(dir / "a_csv");
  EXPECT_EQ(test::ReadAll(dir / "a_csv/old.csv"), "old");
  PrepareOutputTree(dir / "new/b_csv");
  EXPECT_TRUE(std::filesystem::is_empty(dir / "new"));
  EXPECT_EQ(ErrorOf([] { PrepareOutputTree("/dev/null"); }).kind(), ErrorKind::kOutput);
}

}  // namespace
}  // namespace mpa::io
