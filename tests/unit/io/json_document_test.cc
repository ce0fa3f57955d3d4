// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/json_document.h"

#include <gtest/gtest.h>

#include "support/failures.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using test::ErrorOf;
using test::TempDir;

TEST(ReadJson, ReadsADocument) {
  const TempDir dir;
  const auto document = ReadJson(dir.Write("a.json", R"({"rank_id": 3, "name": "\u6b65"})"));
  EXPECT_EQ(document["rank_id"], 3);
  EXPECT_EQ(document["name"], "\xE6\xAD\xA5");
}

TEST(ReadJson, TakesAnEmptyFileAsAnEmptyObject) {
  const TempDir dir;
  EXPECT_EQ(ReadJson(dir.Write("a.json", "")), nlohmann::json::object());
}

// 20 GB that take no room on the disk: reading them would take all memory.
TEST(ReadJson, DoesNotReadWhatIsTooLargeForADocument) {
  const TempDir dir;
  const auto path = dir.Write("profiler_metadata.json", "{}");
  std::filesystem::resize_file(path, std::uintmax_t{20} << 30);
  const Error error = ErrorOf([&] { ReadJson(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "profiler_metadata.json: more than 256 MB");
  EXPECT_HAS_TEXT(ErrorOf([&] { ReadJson(dir.Write("a.json", "[1, 2, 3]"), 8); }).what(),
                  "not read");
  EXPECT_EQ(ReadJson(dir.Write("a.json", "[1, 2, 3]"), 9).size(), 3);
}

TEST(ReadJson, NamesTheFileThatIsBrokenAndThePlace) {
  const TempDir dir;
  const auto path = dir.Write("communication.json", "{\"step1\": {\n\"a\": }}");
  const Error error = ErrorOf([&] { ReadJson(path); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), path.string());
  EXPECT_HAS_TEXT(error.what(), "line 2");
}

TEST(ReadJson, RefusesInvalidUtf8AndCutOffDocuments) {
  const TempDir dir;
  for (const char* text : {"{\"a\": \"\xff\"}", "{\"a\": [1, 2", "{} {}"}) {
    EXPECT_EQ(ErrorOf([&] { ReadJson(dir.Write("a.json", text)); }).kind(), ErrorKind::kCorrupt)
        << text;
  }
}

TEST(ReadJson, RefusesDocumentsThatAreNestedWithoutEnd) {
  const TempDir dir;
  const auto nested = [&](std::size_t levels) {
    return dir.Write("a.json", std::string(levels, '[') + "\"[\\\"[\"" + std::string(levels, ']'));
  };
  EXPECT_TRUE(ReadJson(nested(100)).is_array());
  const Error error = ErrorOf([&] { ReadJson(nested(1'000'000)); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "nested deeper than 100 levels");
}

TEST(ReadJson, SaysInAShortMessageWhatIsBrokenInALongText) {
  const TempDir dir;
  const auto path = dir.Write("a.json", "{\"" + std::string(1'000'000, 'x'));
  EXPECT_LT(std::string(ErrorOf([&] { ReadJson(path); }).what()).size(), 1000u);
}

TEST(ReadJson, RefusesAFileThatIsNotThere) {
  const TempDir dir;
  EXPECT_EQ(ErrorOf([&] { ReadJson(dir / "missing.json"); }).kind(), ErrorKind::kInput);
}

}  // namespace
}  // namespace mpa::io
