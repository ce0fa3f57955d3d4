// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/input_text.h"

#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using test::ErrorOf;
using test::Gzip;
using test::TempDir;

// Text that does not pack to almost nothing, so that cutting its gzip form in half loses much.
std::string LongText() {
  std::string text;
  for (unsigned i = 0, x = 1; i < 20000; ++i, x = x * 1103515245 + 12345) text += std::to_string(x);
  return text;
}

TEST(InputText, ReadsAPlainFile) {
  const TempDir dir;
  const InputText input(dir.Write("a.txt", "plain \xE6\xAD\xA5"));
  EXPECT_EQ(input.text(), "plain \xE6\xAD\xA5");
  EXPECT_FALSE(input.truncated());
}

TEST(InputText, ReadsAnEmptyFile) {
  const TempDir dir;
  EXPECT_EQ(InputText(dir.Write("a.txt", "")).text(), "");
}

TEST(InputText, UnpacksGzipWhateverTheFileIsCalled) {
  const TempDir dir;
  const std::string text = LongText();
  const InputText input(dir.Write("trace.json", Gzip(text)));
  EXPECT_EQ(input.text(), text);
  EXPECT_FALSE(input.truncated());
}

TEST(InputText, UnpacksAllMembersOfAGzipFile) {
  const TempDir dir;
  EXPECT_EQ(InputText(dir.Write("a.gz", Gzip("first, ") + Gzip("second"))).text(), "first, second");
}

TEST(InputText, GivesTheTextBeforeTheEndOfATruncatedGzipFile) {
  const TempDir dir;
  const std::string text = LongText();
  const std::string packed = Gzip(text);
  const InputText input(dir.Write("a.gz", packed.substr(0, packed.size() / 2)));
  EXPECT_TRUE(input.truncated());
  EXPECT_GT(input.text().size(), text.size() / 4);
  EXPECT_EQ(input.text(), std::string_view(text).substr(0, input.text().size()));
}

TEST(InputText, RefusesGzipDataThatUnpacksToHundredsOfTimesItsSize) {
  const TempDir dir;
  const std::string member = Gzip(std::string(std::size_t{16} << 20, '\0'));
  std::string bomb;
  for (int i = 0; i < 5; ++i) bomb += member;
  const auto path = dir.Write("bomb.json.gz", bomb);
  const Error error = ErrorOf([&] { InputText input(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), path.string());
  EXPECT_HAS_TEXT(error.what(), "gunzip");
}

TEST(InputText, NoticesThatTheChecksumOfAGzipFileIsMissing) {
  const TempDir dir;
  const std::string packed = Gzip("some text");
  const InputText input(dir.Write("a.gz", packed.substr(0, packed.size() - 8)));
  EXPECT_EQ(input.text(), "some text");
  EXPECT_TRUE(input.truncated());
}

// The unpacker holds the last bytes back when there is no room for them, though it has no input
// left.
TEST(InputText, GivesAllTextBeforeTheEndOfATruncatedGzipFile) {
  const TempDir dir;
  const std::string text((std::size_t{1} << 20) + 100, 'a');  // more than is read at once
  const std::string packed = Gzip(text);
  const InputText input(dir.Write("a.gz", packed.substr(0, packed.size() - 8)));
  EXPECT_EQ(input.text().size(), text.size());
  EXPECT_TRUE(input.truncated());
}

TEST(InputText, RefusesBrokenGzipData) {
  const TempDir dir;
  std::string packed = Gzip(LongText());
  for (std::size_t i = 100; i < 200; ++i) packed[i] = static_cast<char>(0xff);
  const auto path = dir.Write("a.gz", packed);
  const Error error = ErrorOf([&] { InputText input(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), path.string());
}

TEST(InputText, RefusesGzipDataWithAWrongChecksum) {
  const TempDir dir;
  std::string packed = Gzip("some text");
  packed[packed.size() - 8] = static_cast<char>(packed[packed.size() - 8] ^ 1);
  EXPECT_EQ(ErrorOf([&] { InputText input(dir.Write("a.gz", packed)); }).kind(),
            ErrorKind::kCorrupt);
}

TEST(InputText, RefusesMissingFilesAndDirectories) {
  const TempDir dir;
  for (const auto& path : {dir / "missing.json", dir.path()}) {
    const Error error = ErrorOf([&] { InputText input(path); });
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_HAS_TEXT(error.what(), path.string());
  }
}

TEST(ReadStart, GivesTheFirstBytesOfTheContent) {
  const TempDir dir;
  EXPECT_EQ(ReadStart(dir.Write("a.txt", "0123456789"), 4), "0123");
  EXPECT_EQ(ReadStart(dir.Write("a.txt", "01"), 4), "01");
  EXPECT_EQ(ReadStart(dir.Write("a.txt", ""), 4), "");
}

TEST(ReadStart, UnpacksOnlyWhatItNeedsOfAGzipFile) {
  const TempDir dir;
  const std::string text = LongText();
  const std::string packed = Gzip(text);
  EXPECT_EQ(ReadStart(dir.Write("a.gz", packed.substr(0, packed.size() / 2)), 100),
            text.substr(0, 100));
}

}  // namespace
}  // namespace mpa::io
