// SPDX-License-Identifier: Apache-2.0
#include "raw/slices.h"

#include <gtest/gtest.h>

#include <cstring>

#include "raw/dictionary.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

// A device record of 8 bytes with magic: number, magic, number again.
std::string Numbered(std::uint16_t number) {
  std::string bytes(8, '\0');
  const std::uint16_t fields[] = {number, kDeviceMagic.value, number, 0};
  std::memcpy(bytes.data(), fields, sizeof fields);
  return bytes;
}

std::vector<int> Read(const std::filesystem::path& directory, std::string_view stem, Magic magic,
                      Issues& issues) {
  std::vector<int> numbers;
  ForEachDeviceRecord<8>(DataFiles(directory), stem, magic, issues,
                         [&](const Record<8>& record) { numbers.push_back(record.U16(4)); });
  return numbers;
}

TEST(DeviceSlices, AreOneStreamInNumericOrder) {
  test::TempDir directory;
  const std::string all = Numbered(1) + Numbered(2) + Numbered(3);
  directory.Write("x.data.0.slice_10", all.substr(13));
  directory.Write("x.data.0.slice_9", all.substr(3, 10));
  directory.Write("x.data.0.slice_0", all.substr(0, 3));
  directory.Write("x.data.0.slice_0.done", "filesize:3\n");
  Issues issues;
  EXPECT_EQ(Read(directory.path(), "x.data", kDeviceMagic, issues), (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(issues.Empty());
}

TEST(DeviceSlices, OlderNamesAreFoundToo) {
  test::TempDir directory;
  directory.Write("x.data.4.dev.profiler_default_tag.0.slice_0", Numbered(7));
  Issues issues;
  EXPECT_EQ(Read(directory.path(), "x.data", kDeviceMagic, issues), (std::vector<int>{7}));
}

TEST(DeviceSlices, LoseOnlyTheRecordThatIsCut) {
  test::TempDir directory;
  const std::string all = Numbered(1) + Numbered(2) + Numbered(3);
  Issues issues;
  directory.Write("end.data.0.slice_0", all.substr(0, 21));
  EXPECT_EQ(Read(directory.path(), "end.data", kDeviceMagic, issues), (std::vector<int>{1, 2}));
  EXPECT_EQ(Read(directory.path(), "end.data", kNoMagic, issues), (std::vector<int>{1, 2}));
  directory.Write("begin.data.0.slice_3", all.substr(5));
  EXPECT_EQ(Read(directory.path(), "begin.data", kDeviceMagic, issues), (std::vector<int>{2, 3}));
  EXPECT_EQ(Read(directory.path(), "begin.data", kNoMagic, issues), (std::vector<int>{2, 3}));
  EXPECT_FALSE(issues.Empty());
}

TEST(HostSlices, ThoseThatDoNotAgeComeFirstAndCutOnesKeepWholeRecords) {
  test::TempDir directory;
  const auto record = [](char level) {
    return std::string("\x5A\x5A") + level + std::string(5, '\0');
  };
  directory.Write("aging.compact.x.slice_0", record(2) + record(3) + "\x5A");
  directory.Write("aging.compact.x.slice_1", std::string(8, 'q') + record(4));
  directory.Write("unaging.compact.x.slice_0", record(1));
  std::vector<std::pair<int, bool>> levels;
  Issues issues;
  ForEachHostRecord<8>(DataFiles(directory.path()), "compact.x", issues,
                       [&](const Record<8>& found, const Slice& slice) {
                         levels.emplace_back(found.U16(2), slice.aging);
                       });
  EXPECT_EQ(levels,
            (std::vector<std::pair<int, bool>>{{1, false}, {2, true}, {3, true}, {4, true}}));
  EXPECT_EQ(issues.Lines().size(), 2u);
}

TEST(Record, ReadsNothingBeyondItsEnd) {
  const std::string bytes = "\x01\x02\x03\x04";
  const Record<4> record(bytes.data());
  EXPECT_EQ(record.U16(2), 0x0403);
  EXPECT_EQ(record.U16(3), 0);
  EXPECT_EQ(record.U32(static_cast<std::size_t>(-1)), 0u);
}

TEST(Dictionary, SplitsAtTheFirstColonAndShowsUnknownNumbers) {
  test::TempDir directory;
  directory.Write("unaging.additional.hash_dic.slice_0",
                  "17:a:b\n18446744073709551615:top\nbroken\n:none\n");
  directory.Write("aging.additional.type_info_dic.slice_0", "5000_3:WAIT\n");
  StringPool strings;
  Dictionary dictionary(DataFiles(directory.path()), strings);
  EXPECT_EQ(strings.View(dictionary.Text(17)), "a:b");
  EXPECT_EQ(strings.View(dictionary.Text(~std::uint64_t{0})), "top");
  EXPECT_EQ(strings.View(dictionary.Text(18)), "18");
  EXPECT_EQ(strings.View(dictionary.TypeName(5000, 3)), "WAIT");
  EXPECT_EQ(strings.View(dictionary.TypeName(5000, 4)), "4");
}

}  // namespace
}  // namespace mpa::raw
