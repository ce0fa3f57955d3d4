// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/event_pieces.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/failures.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using Objects = std::vector<std::string>;

constexpr std::size_t kOnePiece = std::size_t{1} << 20;
constexpr std::size_t kComplete = std::string_view::npos;

struct Events {
  Objects objects;
  std::size_t cut_off_at = kComplete;
  std::vector<EventDamage> damages;
};

// The events as a taker gets them who believes a guessed piece only when it is JSON.
Events EventsOf(const std::filesystem::path& path, std::size_t piece_bytes) {
  EventPieces pieces(path, piece_bytes);
  EventPiece piece;
  Events events;
  while (pieces.Next(piece)) {
    if (!piece.exact() && !nlohmann::json::accept(piece.array())) {
      pieces.CutExactly(piece.number(), piece.offset());
      continue;
    }
    for (const std::string_view object : SplitObjects(piece.array())) {
      events.objects.emplace_back(object);
    }
  }
  events.cut_off_at = pieces.cut_off_at();
  events.damages = pieces.damages();
  return events;
}

Events EventsIn(std::string_view text, std::size_t piece_bytes = kOnePiece) {
  const test::TempDir dir;
  return EventsOf(dir.Write("trace.json", text), piece_bytes);
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

TEST(EventPieces, FindsTheEventsOfAnArray) {
  const Events events = EventsIn(" [ {\"a\":1} ,\n{\"b\":2}] ", kOnePiece);
  EXPECT_EQ(events.objects, (Objects{"{\"a\":1}", "{\"b\":2}"}));
  EXPECT_EQ(events.cut_off_at, kComplete);
}

TEST(EventPieces, FindsTheEventsOfAnObject) {
  const Events events = EventsIn(
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "note": "\"traceEvents\": [",
          "nested": {"traceEvents": [{"no": 1}]}, "traceEvents": [{"a":1}], "after": 3})",
      kOnePiece);
  EXPECT_EQ(events.objects, (Objects{"{\"a\":1}"}));
  EXPECT_EQ(events.cut_off_at, kComplete);
}

TEST(EventPieces, IgnoresBracketsAndQuotesInsideTexts) {
  const Objects objects = {R"({"name":"a]}","args":{"x":[1,{"y":"\\"}]}})",
                           R"({"name":"\"}{\\\""})"};
  EXPECT_EQ(EventsIn('[' + objects[0] + ',' + objects[1] + ']').objects, objects);
}

TEST(EventPieces, EndsAnEventAtItsOwnBracketWhateverIsWrongInside) {
  const Objects objects = {R"({"a":]})", R"({"b":[[})", R"({"c":3})"};
  EXPECT_EQ(EventsIn('[' + objects[0] + ',' + objects[1] + ',' + objects[2] + ']').objects,
            objects);
}

TEST(EventPieces, IgnoresAByteOrderMark) {
  EXPECT_EQ(EventsIn("\xEF\xBB\xBF[{\"a\":1}]").objects, (Objects{"{\"a\":1}"}));
}

TEST(EventPieces, FindsNoEventsInAnEmptyArray) {
  for (const char* text : {"[]", "[ \n ]", R"({"traceEvents":[]})"}) {
    const Events events = EventsIn(text, kOnePiece);
    EXPECT_TRUE(events.objects.empty()) << text;
    EXPECT_EQ(events.cut_off_at, kComplete) << text;
  }
}

TEST(EventPieces, KeepsTheEventsOfAnArrayWithoutEnd) {
  for (const char* text :
       {"[{\"a\":1},{\"b\":2}", "[{\"a\":1},{\"b\":2},", "[{\"a\":1},{\"b\":2},\n"}) {
    const Events events = EventsIn(text, kOnePiece);
    EXPECT_EQ(events.objects, (Objects{"{\"a\":1}", "{\"b\":2}"})) << text;
    EXPECT_EQ(events.cut_off_at, 16u) << text;
  }
}

TEST(EventPieces, DropsTheEventInWhichTheFileBreaksOff) {
  const std::string whole = R"([{"a":1},{"b":"x\"y","c":[2]})";
  const std::size_t second = whole.find(R"({"b")");
  for (std::size_t size = second + 1; size < whole.size(); ++size) {
    const Events events = EventsIn(std::string_view(whole).substr(0, size), kOnePiece);
    EXPECT_EQ(events.objects, (Objects{"{\"a\":1}"})) << size;
    EXPECT_EQ(events.cut_off_at, 8u) << size;
  }
}

TEST(EventPieces, RefusesAnArrayWithoutAnyEvent) {
  const Error error = test::ErrorOf([] { EventsIn("[1,2]", kOnePiece); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_HAS_TEXT(error.what(), "byte 1: expected an event object");
}

// What stands in the way of events, with what is said of it: kind and byte.
TEST(EventPieces, GoesOnAtTheNextEventWhateverStandsBetween) {
  using Kind = EventDamage::Kind;
  const std::string a = R"({"ph":"a"})", b = R"({"ph":"b"})", c = R"({"ph":"c"})";
  struct Case {
    std::string between;
    std::vector<std::pair<std::size_t, Kind>> damages;  // bytes behind the first event
  };
  const std::string nul(3, '\0');
  const std::vector<Case> cases = {
      {",,", {{1, Kind::kSurplusComma}}},
      {", " + nul, {{2, Kind::kNulBytes}}},
      {nul + ",", {{0, Kind::kNulBytes}}},
      {", oops, ", {{2, Kind::kNoEvent}}},
      {",[1,[2]],", {{1, Kind::kNoEvent}}},
      {"],", {{1, Kind::kBehindEnd}}},
      {"][", {{1, Kind::kBehindEnd}}},
      {"]}{\"x\":1,\"traceEvents\":[", {{1, Kind::kBehindEnd}}},
      {"],\"x\":[2],\"traceEvents\":[", {{1, Kind::kBehindEnd}}},
  };
  for (const Case& one : cases) {
    const std::string text = "[" + a + "," + b + one.between + c + "]";
    const std::size_t behind = 1 + a.size() + 1 + b.size();
    for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{16}, kOnePiece}) {
      const Events events = EventsIn(text, piece_bytes);
      EXPECT_EQ(events.objects, (Objects{a, b, c})) << text;
      EXPECT_EQ(events.cut_off_at, kComplete) << text;
      std::vector<std::pair<std::size_t, Kind>> damages;
      for (const EventDamage& damage : events.damages) {
        damages.emplace_back(damage.at - behind, damage.kind);
      }
      EXPECT_EQ(damages, one.damages) << text;
    }
  }
}

TEST(EventPieces, NamesTextBehindTheEnd) {
  for (const char* behind : {"oops", "}}", ",3"}) {
    const Events events = EventsIn(std::string("[{\"ph\":1}]") + behind);
    EXPECT_EQ(events.objects.size(), 1u) << behind;
    ASSERT_EQ(events.damages.size(), 1u) << behind;
    EXPECT_EQ(events.damages[0].kind, EventDamage::kTextBehindEnd) << behind;
    EXPECT_EQ(events.damages[0].at, 10u) << behind;
  }
}

// A broken event reaches up to the next one, wherever its own end seems to be.
TEST(EventPieces, LosesOnlyTheEventThatIsBroken) {
  const std::string a = R"({"ph":"X","name":"a"})", b = R"({"ph":"X","name":"b"})";
  for (const char* broken : {R"({"ph":"X","name":"x,"pid":1})", R"({"ph":"X","args":{"x":1})",
                             R"({"ph":"X","args":"x":1}})", R"({"ph":"X","name":"x\"})"}) {
    const std::string text = "[" + a + "," + broken + "," + b + "," + b + "]";
    for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{30}, kOnePiece}) {
      Objects whole;
      for (const std::string& object : EventsIn(text, piece_bytes).objects) {
        if (nlohmann::json::accept(object)) whole.push_back(object);
      }
      EXPECT_EQ(whole, (Objects{a, b, b})) << broken;
    }
  }
}

TEST(EventPieces, RefusesDocumentsWithoutEvents) {
  for (const char* text :
       {"", " \n", "traceEvents", "42", "{}", R"({"traceEvents": 3})", R"({"a": [{"x": 1}]})",
        R"({"a": "unfinished)", R"({"a")", R"({"a":)", R"({"a": {"b": [)"}) {
    EXPECT_EQ(test::ErrorOf([&] { EventsIn(text, kOnePiece); }).kind(), ErrorKind::kCorrupt)
        << text;
  }
}

TEST(EventPieces, GivesPiecesOfAboutTheSizeAskedForInOrder) {
  const test::TempDir dir;
  EventPieces pieces(dir.Write("a.json", "[{\"a\":1},{\"b\":2},{\"c\":3},{\"d\":4},{\"e\":5}]"),
                     20);
  EventPiece piece;
  std::vector<std::string> arrays;
  while (pieces.Next(piece)) {
    EXPECT_EQ(piece.number(), arrays.size());
    arrays.emplace_back(piece.array());
  }
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays[0], "[{\"a\":1},{\"b\":2}]");
  EXPECT_EQ(nlohmann::json::parse(arrays[1]), nlohmann::json::parse("[{\"c\":3},{\"d\":4}]"));
}

TEST(EventPieces, AreTheSameInAPackedFile) {
  RandomEvents random(5);
  std::string text = "[{}";
  for (int i = 0; i < 5000; ++i) text += ",\n" + random.Object();
  const test::TempDir dir;
  const Events plain = EventsIn(text + "]", 4096);
  const Events packed = EventsOf(dir.Write("a.json.gz", test::Gzip(text + "]")), 4096);
  EXPECT_EQ(packed.objects.size(), 5001u);
  EXPECT_EQ(packed.objects, plain.objects);
  EXPECT_EQ(EventsOf(dir.Write("b.json.gz", test::Gzip(text)), 4096).cut_off_at, text.size());
}

TEST(EventPieces, TakeNoBoundaryInATextOrInANestedArrayForOneOfEvents) {
  const Objects objects = {R"({"name":"},{"})", R"({"args":{"a":[{"x":1},{"y":2},{"z":3}]}})",
                           R"({"name":"\\"})", R"({"b":[{},{"y":2}],"c":"}, {"})"};
  std::string text;
  for (const std::string& object : objects) text += (text.empty() ? "[" : ", ") + object;
  for (std::size_t piece_bytes = 1; piece_bytes < text.size(); ++piece_bytes) {
    EXPECT_EQ(EventsIn(text + "]", piece_bytes).objects, objects) << piece_bytes;
  }
}

TEST(EventPieces, IgnoreWhatFollowsTheArray) {
  const std::string text = R"({"traceEvents":[{"a":1},{"b":2}],"more":[{"c":3},{"d":4},{"e":5}]})";
  for (std::size_t piece_bytes = 1; piece_bytes < text.size(); ++piece_bytes) {
    const Events events = EventsIn(text, piece_bytes);
    EXPECT_EQ(events.objects, (Objects{"{\"a\":1}", "{\"b\":2}"})) << piece_bytes;
    EXPECT_EQ(events.cut_off_at, kComplete) << piece_bytes;
  }
}

TEST(EventPieces, FindsTheSameEventsForAnySizeOfPieces) {
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
      const Events found = EventsIn(text, piece_bytes);
      ASSERT_EQ(found.objects, expected) << "seed " << seed << ", piece " << piece_bytes;
      ASSERT_EQ(found.cut_off_at, kComplete) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace mpa::io
