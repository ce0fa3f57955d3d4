// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/pickle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/failures.h"
#include "support/files.h"

namespace mpa::io {
namespace {

using namespace std::string_literals;
using test::ErrorOf;
using test::TempDir;

// Writes values as Python does; what is inside is written when it is put into something.
class Printer : public PickleConsumer {
 public:
  void Add(Pickle& pickle, const PickleValue& container,
           std::span<const PickleValue> items) override {
    std::string& text = inside_[container.number];
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool is_value = container.kind == PickleKind::kDict && i % 2 == 1;
      if (!text.empty()) text += is_value ? ": " : ", ";
      text += Text(pickle, items[i]);
    }
    ++parts;
  }

  std::string Text(const Pickle& pickle, const PickleValue& value) const {
    switch (value.kind) {
      case PickleKind::kNone:
        return "None";
      case PickleKind::kBool:
        return value.integer != 0 ? "True" : "False";
      case PickleKind::kInteger:
        return std::to_string(value.integer);
      case PickleKind::kHuge:
        return "huge";
      case PickleKind::kReal:
        return fmt::format("{}", value.Real());
      case PickleKind::kText:
        return fmt::format("'{}'", pickle.Text(value));
      case PickleKind::kBytes:
        return fmt::format("b'{}'", pickle.Text(value));
      case PickleKind::kList:
        return fmt::format("[{}]", Inside(value));
      case PickleKind::kTuple:
        return fmt::format("({})", Inside(value));
      case PickleKind::kDict:
        return fmt::format("{{{}}}", Inside(value));
    }
    return "";
  }

  int parts = 0;

 private:
  std::string Inside(const PickleValue& value) const {
    const auto found = inside_.find(value.number);
    return found == inside_.end() ? "" : found->second;
  }
  std::map<std::uint32_t, std::string> inside_;
};

// Bytes with zeros in them.
#define BYTES(literal) std::string(literal, sizeof(literal) - 1)

std::string TextOf(const std::string& bytes) {
  const TempDir dir;
  Pickle pickle(dir.Write("a.pkl", bytes));
  Printer printer;
  return printer.Text(pickle, pickle.Read(printer));
}

std::string Refused(const std::string& bytes) {
  const TempDir dir;
  const auto path = dir.Write("a.pkl", bytes);
  const Error error = ErrorOf([&] {
    Pickle pickle(path);
    Printer printer;
    pickle.Read(printer);
  });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  const std::string text = error.what();
  EXPECT_TRUE(text.starts_with(path.string() + ": ")) << text;
  return text.substr(path.string().size() + 2);
}

TEST(Pickle, ReadsNumbersOfAllSizes) {
  EXPECT_EQ(TextOf("\x80\x04K\x07."s), "7");
  EXPECT_EQ(TextOf("M\x39\x30."s), "12345");
  EXPECT_EQ(TextOf("J\xff\xff\xff\xff."s), "-1");
  EXPECT_EQ(TextOf(BYTES("\x8a\x06\x00\x00\x00\x00\xc1\x12.")), "20620137988096");
  EXPECT_EQ(TextOf(BYTES("\x8a\x01\xfe.")), "-2");
  EXPECT_EQ(TextOf(BYTES("\x8a\x00.")), "0");
  EXPECT_EQ(TextOf(BYTES("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f.")), "9223372036854775807");
  EXPECT_EQ(TextOf(BYTES("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.")), "huge");
  EXPECT_EQ(TextOf(BYTES("G\x3f\xe8\x00\x00\x00\x00\x00\x00.")), "0.75");
  EXPECT_EQ(TextOf("\x88."s), "True");
  EXPECT_EQ(TextOf("N."s), "None");
}

TEST(Pickle, ReadsTextsAndBytes) {
  EXPECT_EQ(TextOf("\x8c\x03\xe6\xad\xa5."s), "'\xe6\xad\xa5'");
  EXPECT_EQ(TextOf(BYTES("X\x02\x00\x00\x00hi.")), "'hi'");
  EXPECT_EQ(TextOf(BYTES("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi.")), "'hi'");
  EXPECT_EQ(TextOf("C\x02hi."s), "b'hi'");
}

TEST(Pickle, ReadsContainersInContainers) {
  EXPECT_EQ(TextOf("]."s), "[]");
  EXPECT_EQ(TextOf("](K\x01K\x02"
                   "e."s),
            "[1, 2]");
  EXPECT_EQ(TextOf("]K\x01"
                   "aK\x02"
                   "a."s),
            "[1, 2]");
  EXPECT_EQ(TextOf("}(\x8c\x01xK\x01\x8c\x01y]u."s), "{'x': 1, 'y': []}");
  EXPECT_EQ(TextOf("}\x8c\x01x)s."s), "{'x': ()}");
  EXPECT_EQ(TextOf("(K\x01K\x02t."s), "(1, 2)");
  EXPECT_EQ(TextOf("K\x01K\x02\x86."s), "(1, 2)");
}

TEST(Pickle, GivesWhatIsKeptAgain) {
  EXPECT_EQ(TextOf("](\x8c\x01x\x94h\x00h\x00"
                   "e."s),
            "['x', 'x', 'x']");
  EXPECT_EQ(TextOf(BYTES("](\x8c\x01xq\x05h\x05j\x05\x00\x00\x00"
                         "e.")),
            "['x', 'x', 'x']");
}

TEST(Pickle, ContentsOfAListComeInParts) {
  const TempDir dir;
  Pickle pickle(dir.Write("a.pkl",
                          "](K\x01"
                          "e(K\x02K\x03"
                          "e."));
  Printer printer;
  EXPECT_EQ(printer.Text(pickle, pickle.Read(printer)), "[1, 2, 3]");
  EXPECT_EQ(printer.parts, 2);
}

TEST(Pickle, TextsMayReachOverTheBuffer) {
  const std::string half(700'000, 'a');
  std::string size = BYTES("X\x00\x00\x00\x00");
  for (int i = 0; i < 4; ++i) size[1 + i] = static_cast<char>(half.size() >> (8 * i) & 0xff);
  const std::string text = TextOf("](" + size + half + size + half + "e.");
  EXPECT_EQ(text.size(), 2 * half.size() + 8);
}

TEST(Pickle, RefusesWhatRunsCodeWithItsByte) {
  EXPECT_EQ(
      Refused("\x80\x04"
              "cos\nsystem\n."s),
      "the instruction GLOBAL, which runs code or imports and is never followed: a snapshot has"
      " plain values only, at byte 2");
  const std::pair<std::string, std::string> refused[] = {{"\x93", "STACK_GLOBAL"},
                                                         {"R", "REDUCE"},
                                                         {"b", "BUILD"},
                                                         {"i", "INST"},
                                                         {"o", "OBJ"},
                                                         {"\x81", "NEWOBJ"},
                                                         {"\x92", "NEWOBJ_EX"},
                                                         {"P", "PERSID"},
                                                         {"Q", "BINPERSID"},
                                                         {"\x82", "EXT1"},
                                                         {"\x83", "EXT2"},
                                                         {"\x84", "EXT4"}};
  for (const auto& [code, name] : refused) {
    const std::string text = Refused("](K\x01K\x02" + code + "e.");
    EXPECT_TRUE(text.starts_with("the instruction " + name + ", which runs code")) << text;
    EXPECT_TRUE(text.ends_with("at byte 6")) << text;
  }
}

TEST(Pickle, RefusesOtherInstructionsByName) {
  EXPECT_EQ(Refused("I12\n."s), "the instruction INT, which no snapshot has, at byte 0");
  EXPECT_EQ(Refused("\x8f."s), "the instruction EMPTY_SET, which no snapshot has, at byte 0");
  EXPECT_EQ(Refused("\xfe."s), "0xfe is no instruction of a pickle, at byte 0");
}

TEST(Pickle, RefusesEndsWithinAValue) {
  const std::string whole =
      "\x80\x04}(\x8c\x01x](K\x01M\x10\x10"
      "eX\x01\x00\x00\x00zNu."s;
  EXPECT_EQ(TextOf(whole), "{'x': [1, 4112], 'z': None}");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string text = Refused(whole.substr(0, size));
    EXPECT_NE(text.find("the file ends within a value"), std::string::npos) << size << ": " << text;
  }
  EXPECT_EQ(Refused("](K\x01."s), "the pickle ends within a value, at byte 4");
  EXPECT_EQ(Refused("."s), "the pickle ends within a value, at byte 0");
}

TEST(Pickle, RefusesTextsThatTheFileDoesNotHold) {
  EXPECT_EQ(Refused(BYTES("\x8d\x00\x00\x00\x00\x01\x00\x00\x00hi.")),
            "a text of 4294967296 bytes, longer than any name, at byte 0");
  EXPECT_EQ(Refused(BYTES("X\x00\x00\xf0\x00hi.")), "the file ends within a value, at byte 0");
}

TEST(Pickle, RefusesInstructionsWithoutTheirValues) {
  for (const std::string& bytes :
       {"a."s, "]a."s, "e."s,
        "K\x01"
        "e."s,
        "s."s, "}K\x01s."s, "t."s, "\x85."s, "K\x01\x86."s, "\x94."s, "K\x01(\x85."s, "](a."s}) {
    const std::string text = Refused(bytes);
    EXPECT_TRUE(text.starts_with("an instruction without its values")) << text;
  }
  EXPECT_EQ(Refused("}(K\x01u."s), "a key without its value, at byte 4");
  EXPECT_EQ(Refused("K\x01(K\x01"
                    "e."s),
            "values are added to something that is no container, at byte 5");
  EXPECT_EQ(Refused("](K\x01u."s), "values are added to something that is no container, at byte 4");
}

TEST(Pickle, RefusesValuesThatWereNotKept) {
  EXPECT_EQ(Refused("h\x00."s), "value 0 is asked for before it was kept, at byte 0");
  EXPECT_EQ(Refused("K\x01q\x02h\x01."s), "value 1 is asked for before it was kept, at byte 4");
  EXPECT_EQ(Refused("K\x01r\xff\xff\xff\x7f."s),
            "value 2147483647 is kept, more than the file can have, at byte 2");
}

TEST(Pickle, RefusesContainersInThemselves) {
  EXPECT_EQ(Refused("]\x94h\x00"
                    "a."s),
            "a container in itself, at byte 4");
  // A list in a list that is in it.
  EXPECT_EQ(Refused("]\x94]\x94h\x00"
                    "aa."s),
            "a container is filled after it was put into another one, at byte 7");
}

TEST(Pickle, RefusesDeepNesting) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, ']') + std::string(levels - 1, 'a') + ".";
  };
  EXPECT_EQ(TextOf(nested(3)), "[[[]]]");
  EXPECT_EQ(TextOf(nested(100)).size(), 200u);
  EXPECT_TRUE(Refused(nested(101)).starts_with("containers in containers, more than 100 levels"));
  EXPECT_TRUE(Refused(nested(1'000'000)).starts_with("containers in containers"));
}

// Each list has the one before it ten times: 10^30 items for who writes them out.
TEST(Pickle, DoesNotFollowReferencesOverAndOver) {
  std::string bytes = "]\x94";
  for (char i = 0; i < 30; ++i) {
    bytes += "](";
    for (int times = 0; times < 10; ++times) bytes += "h"s + i;
    bytes += "e\x94";
  }
  struct Counter : PickleConsumer {
    void Add(Pickle&, const PickleValue&, std::span<const PickleValue> added) override {
      items += added.size();
    }
    std::size_t items = 0;
  } counter;
  const TempDir dir;
  // What is below on the stack is put into a tuple.
  Pickle pickle(dir.Write("a.pkl", "(" + bytes + "t."));
  pickle.Read(counter);
  EXPECT_EQ(counter.items, 30u * 10 + 31);
}

TEST(Pickle, IsToldByItsFirstBytes) {
  const TempDir dir;
  EXPECT_TRUE(BeginsAsPickle(dir.Write("a", "\x80\x04K\x01.")));
  EXPECT_TRUE(BeginsAsPickle(dir.Write("b", test::Gzip("\x80\x02K\x01."))));
  EXPECT_FALSE(BeginsAsPickle(dir.Write("c", "\x80\x09K\x01.")));
  EXPECT_FALSE(BeginsAsPickle(dir.Write("d", "")));
  EXPECT_FALSE(BeginsAsPickle(dir.Write("e", "{\"a\": 1}")));
}

}  // namespace
}  // namespace mpa::io
