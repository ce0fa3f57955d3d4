// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/json_cut.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/failures.h"

namespace mpa::io {
namespace {

using Objects = std::vector<std::string>;

constexpr std::size_t kOnePiece = std::size_t{1} << 30;
constexpr std::size_t kComplete = std::string_view::npos;

// The objects of all pieces.
Objects ObjectsOf(const CutArray& cut) {
  Objects objects;
  for (const std::string_view piece : cut.pieces) {
    for (const std::string_view object : SplitObjects(piece)) objects.emplace_back(object);
  }
  return objects;
}

Objects ObjectsIn(std::string_view text) { return ObjectsOf(CutEventArray(text, kOnePiece)); }

TEST(CutEventArray, FindsTheEventsOfAnArray) {
  const CutArray cut = CutEventArray(" [ {\"a\":1} ,\n{\"b\":2}] ", kOnePiece);
  EXPECT_EQ(ObjectsOf(cut), (Objects{"{\"a\":1}", "{\"b\":2}"}));
  EXPECT_EQ(cut.cut_off_at, kComplete);
}

TEST(CutEventArray, FindsTheEventsOfAnObject) {
  const CutArray cut = CutEventArray(
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "note": "\"traceEvents\": [",
          "nested": {"traceEvents": [{"no": 1}]}, "traceEvents": [{"a":1}], "after": 3})",
      kOnePiece);
  EXPECT_EQ(ObjectsOf(cut), (Objects{"{\"a\":1}"}));
  EXPECT_EQ(cut.cut_off_at, kComplete);
}

TEST(CutEventArray, IgnoresBracketsAndQuotesInsideTexts) {
  const Objects objects = {R"({"name":"a]}","args":{"x":[1,{"y":"\\"}]}})",
                           R"({"name":"\"}{\\\""})"};
  EXPECT_EQ(ObjectsIn('[' + objects[0] + ',' + objects[1] + ']'), objects);
}

TEST(CutEventArray, EndsAnEventAtItsOwnBracketWhateverIsWrongInside) {
  const Objects objects = {R"({"a":]})", R"({"b":[[})", R"({"c":3})"};
  EXPECT_EQ(ObjectsIn('[' + objects[0] + ',' + objects[1] + ',' + objects[2] + ']'), objects);
}

TEST(CutEventArray, IgnoresAByteOrderMark) {
  EXPECT_EQ(ObjectsIn("\xEF\xBB\xBF[{\"a\":1}]"), (Objects{"{\"a\":1}"}));
}

TEST(CutEventArray, FindsNoEventsInAnEmptyArray) {
  for (const char* text : {"[]", "[ \n ]", R"({"traceEvents":[]})"}) {
    const CutArray cut = CutEventArray(text, kOnePiece);
    EXPECT_TRUE(cut.pieces.empty()) << text;
    EXPECT_EQ(cut.cut_off_at, kComplete) << text;
  }
}

TEST(CutEventArray, KeepsTheEventsOfAnArrayWithoutEnd) {
  for (const char* text :
       {"[{\"a\":1},{\"b\":2}", "[{\"a\":1},{\"b\":2},", "[{\"a\":1},{\"b\":2},\n"}) {
    const CutArray cut = CutEventArray(text, kOnePiece);
    EXPECT_EQ(ObjectsOf(cut), (Objects{"{\"a\":1}", "{\"b\":2}"})) << text;
    EXPECT_EQ(cut.cut_off_at, 16u) << text;
  }
}

TEST(CutEventArray, DropsTheEventInWhichTheFileBreaksOff) {
  const std::string whole = R"([{"a":1},{"b":"x\"y","c":[2]})";
  const std::size_t second = whole.find(R"({"b")");
  for (std::size_t size = second + 1; size < whole.size(); ++size) {
    const CutArray cut = CutEventArray(std::string_view(whole).substr(0, size), kOnePiece);
    EXPECT_EQ(ObjectsOf(cut), (Objects{"{\"a\":1}"})) << size;
    EXPECT_EQ(cut.cut_off_at, 8u) << size;
  }
}

TEST(CutEventArray, RefusesWhatIsNoEvent) {
  const Error error =
      test::ErrorOf([] { CutEventArray("[{\"a\":1}, oops {\"b\":2}]", kOnePiece); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "byte 10");
  EXPECT_EQ(test::ErrorOf([] { CutEventArray("[1,2]", kOnePiece); }).kind(), ErrorKind::kCorrupt);
}

TEST(CutEventArray, RefusesDocumentsWithoutEvents) {
  for (const char* text :
       {"", " \n", "traceEvents", "42", "{}", R"({"traceEvents": 3})", R"({"a": [{"x": 1}]})",
        R"({"a": "unfinished)", R"({"a")", R"({"a":)", R"({"a": {"b": [)"}) {
    EXPECT_EQ(test::ErrorOf([&] { CutEventArray(text, kOnePiece); }).kind(), ErrorKind::kCorrupt)
        << text;
  }
}

TEST(CutEventArray, EndsAPieceAsSoonAsItIsLargeEnough) {
  const CutArray cut = CutEventArray("[{\"a\":1},{\"b\":2},{\"c\":3},{\"d\":4},{\"e\":5}]", 8);
  EXPECT_EQ(cut.pieces, (std::vector<std::string_view>{"{\"a\":1},{\"b\":2}", "{\"c\":3},{\"d\":4}",
                                                       "{\"e\":5}"}));
}

// Random events with everything that could mislead a search for brackets.
class RandomEvents {
 public:
  explicit RandomEvents(unsigned seed) : random_(seed) {}

  std::string Object(int depth = 0) {
    std::string text = "{";
    for (int left = Below(4); left > 0; --left) {
      text += Space() + Text() + Space() + ":" + Space() + Value(depth + 1) + Space();
      if (left > 1) text += ',';
    }
    return text + "}";
  }
  std::string Space() {
    static constexpr const char* kSpaces[] = {"", "", " ", "\n", "\t\r\n"};
    return kSpaces[Below(5)];
  }

 private:
  int Below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::string Text() {
    static constexpr const char* kParts[] = {"x", "\\\"", "\\\\", "{", "}",
                                             "[", "]",    ",",    ":", "\xE6\xAD\xA5"};
    std::string text = "\"";
    for (int left = Below(6); left > 0; --left) text += kParts[Below(10)];
    return text + "\"";
  }
  std::string Value(int depth) {
    switch (Below(depth > 3 ? 3 : 5)) {
      case 0:
        return "-12.5e3";
      case 1:
        return "null";
      case 2:
        return Text();
      case 3:
        return Object(depth);
      default:
        return "[" + Value(depth + 1) + "," + Value(depth + 1) + "]";
    }
  }

  std::mt19937 random_;
};

TEST(CutEventArray, FindsTheSameEventsForAnySizeOfPieces) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    RandomEvents events(seed);
    Objects expected;
    std::string text = events.Space() + "[" + events.Space();
    for (unsigned i = 0; i < seed % 13; ++i) {
      expected.push_back(events.Object());
      text += (i > 0 ? "," : "") + events.Space() + expected.back() + events.Space();
    }
    text += "]";
    for (const std::size_t piece_bytes :
         {std::size_t{1}, std::size_t{7}, std::size_t{40}, kOnePiece}) {
      const CutArray cut = CutEventArray(text, piece_bytes);
      ASSERT_EQ(ObjectsOf(cut), expected) << "seed " << seed << ", piece " << piece_bytes;
      ASSERT_EQ(cut.cut_off_at, kComplete) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace mpa::io
