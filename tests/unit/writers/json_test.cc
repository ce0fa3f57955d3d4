// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "mpa/writers/writers.h"
#include "support/failures.h"
#include "support/files.h"
#include "support/reports.h"
#include "writers/formats.h"

namespace mpa {
namespace {

using test::OneSheet;
using Json = nlohmann::ordered_json;

std::string TextOf(const Report& report) {
  const test::TempDir dir;
  writers::WriteJsonFile(report, dir / "report.json");
  return test::ReadAll(dir / "report.json");
}

Json DocumentOf(const Report& report) { return Json::parse(TextOf(report)); }

TEST(WriteJson, WritesOneDocumentWithARowOnEachLine) {
  Column time{"Time(ms)"};
  time.side = Side::kBase;
  time.unit = Unit::kNsShownAsMs;
  Report report =
      OneSheet({{"Index"}, time}, {{{Cell(std::string("a")), Cell(std::int64_t{1500000})}},
                                   {{Cell(std::string("b")), Cell()}}});
  report.sheets[0].banners = {{1, 1, "Base Profiling: ./old", Side::kBase}};
  report.notes = {"a note"};
  report.lines = {"rank 3 is late", ""};
  report.story = {"slower by 1.50 ms"};
  EXPECT_EQ(TextOf(report),
            "{\"schema_version\": 2,\n"
            " \"notes\": [\"a note\"],\n"
            " \"story\": [\n"
            "  {\"text\": \"rank 3 is late\", \"value\": null, \"unit\": null, \"rank\": 3,"
            " \"numbers\": []},\n"
            "  {\"text\": \"slower by 1.50 ms\", \"value\": 1.5, \"unit\": \"ms\", \"rank\": null,"
            " \"numbers\":"
            " [{\"name\": null, \"value\": 1.5, \"unit\": \"ms\", \"rank\": null}]}],\n"
            " \"sheets\": [\n"
            "  {\"name\": \"Sheet\", \"base\": \"./old\", \"comparison\": null,\n"
            "   \"columns\": [\"index\", \"base_time_ms\"],\n"
            "   \"rows\": [\n"
            "    {\"index\": \"a\", \"base_time_ms\": 1.5},\n"
            "    {\"index\": \"b\", \"base_time_ms\": null}]}]}\n");
}

TEST(WriteJson, OfAnEmptyReportIsValid) {
  EXPECT_EQ(DocumentOf({}).at("sheets"), Json::array());
  EXPECT_EQ(DocumentOf(OneSheet({{"a"}}, {})).at("sheets").at(0).at("rows"), Json::array());
}

TEST(WriteJson, KeepsNumbersExact) {
  constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max();
  const std::string text = TextOf(OneSheet({{"a"}, {"b"}, {"c"}, {"d"}},
                                           {{{Cell(kLarge), Cell(0.1), Cell(1e300), Cell(40.0)}}}));
  EXPECT_HAS_TEXT(text, "{\"a\": 9223372036854775807, \"b\": 0.1, \"c\": 1e+300, \"d\": 40}");
}

TEST(WriteJson, KeepsTheDecimalsThatPeopleDoNotSee) {
  Column difference{"Diff Duration(ms)"};
  difference.decimals = 2;
  EXPECT_HAS_TEXT(TextOf(OneSheet({difference}, {{{Cell(0.004539)}}})),
                  "{\"diff_duration_ms\": 0.004539}");
}

TEST(WriteJson, WritesNullWhereThereIsNoNumber) {
  const std::string text = TextOf(
      OneSheet({{"a"}, {"b"}, {"c"}, {"d"}}, {{{Cell(std::numeric_limits<double>::infinity()),
                                                Cell(std::numeric_limits<double>::quiet_NaN()),
                                                NoNumber::kNotCounted, NoNumber::kUnknown}}}));
  EXPECT_HAS_TEXT(text, "{\"a\": null, \"b\": null, \"c\": null, \"d\": null}");
}

TEST(WriteJson, GivesTheLevelOfIndentedRows) {
  const Json sheet =
      DocumentOf(OneSheet({{"Index"}}, {{{Cell(std::string("Time"))}},
                                        {{Cell(std::string("\t\tWait"))}, Emphasis::kNone, 2}}))
          .at("sheets")
          .at(0);
  EXPECT_EQ(sheet.at("columns"), Json({"index", "level"}));
  EXPECT_EQ(sheet.at("rows").dump(), R"([{"index":"Time","level":0},{"index":"Wait","level":2}])");
}

TEST(WriteJson, KeepsNamesWithinTheirQuotes) {
  const std::string name("\"}\\,\n\t\x1b\0\x7f/\xE6\xAD\xA5", 13);
  const Json row =
      DocumentOf(OneSheet({{"a"}}, {{{Cell(name)}}})).at("sheets").at(0).at("rows").at(0);
  EXPECT_EQ(row.at("a"), name);
}

TEST(WriteJson, ReplacesBytesThatAreNotUtf8) {
  Report report = OneSheet({{"a"}}, {{{Cell(std::string("\xFF"))}}});
  report.notes = {"\xC3"};
  const Json document = DocumentOf(report);
  EXPECT_EQ(document.at("sheets").at(0).at("rows").at(0).at("a"), "\xEF\xBF\xBD");
  EXPECT_EQ(document.at("notes").at(0), "\xEF\xBF\xBD");
}

TEST(WriteJson, SaysWhichFileItCannotWrite) {
  const test::TempDir dir;
  const Error error = test::ErrorOf([&] { writers::WriteJsonFile({}, dir / "missing/r.json"); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutput);
  EXPECT_HAS_TEXT(error.what(), "missing/r.json");
}

}  // namespace
}  // namespace mpa
