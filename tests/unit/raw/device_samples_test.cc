// SPDX-License-Identifier: Apache-2.0
// Frequencies and samples of memory, record by record.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "raw/made_capture.h"
#include "raw/stages.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

using test::Put;

// Device counts of 20 ns, host stamps in ns, the epoch at 0; the collection began at 1000.
struct Input {
  test::TempDir directory;
  Side side;
  Device device;
  Session session;

  Input() {
    side.clock.device_hertz = 50'000'000;
    side.begin = 1000;
    device.platform = 5;
    device.generation = Generation::kStars;
    device.cube_mhz = 1800;
  }
};

std::string Samples(std::uint32_t count,
                    const std::vector<std::pair<std::uint64_t, std::uint32_t>>& samples) {
  std::string bytes(888, '\0');
  Put(bytes, 0, count);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Put(bytes, 8 + 16 * i, samples[i].first);
    Put(bytes, 16 + 16 * i, samples[i].second);
  }
  return bytes;
}

std::vector<std::pair<TimeNs, std::int64_t>> Frequencies(Input& input) {
  ReadFrequencies(DataFiles(input.directory.path()), input.side, input.device, input.session);
  std::vector<std::pair<TimeNs, std::int64_t>> found;
  for (std::size_t i = 0; i < input.session.core_clocks.Size(); ++i) {
    found.emplace_back(input.session.core_clocks.start[i], input.session.core_clocks.mhz[i]);
  }
  return found;
}

using Changes = std::vector<std::pair<TimeNs, std::int64_t>>;

TEST(Frequencies, StartWithTheOneInForceWhenTheCollectionBegan) {
  Input input;
  input.directory.Write("lpmFreqConv.data.0.slice_0",
                        Samples(3, {{10, 900}, {60, 1000}, {100, 0}, {200, 7}}));
  EXPECT_EQ(Frequencies(input), (Changes{{1000, 900}, {1200, 1000}}));
  EXPECT_FALSE(input.session.issues.Empty());  // 0 MHz
}

TEST(Frequencies, AreNominalWhereNoneIsRecorded) {
  Input input;
  EXPECT_EQ(Frequencies(input), (Changes{{1000, 1800}}));
  Input other;
  other.device.platform = 1;
  EXPECT_EQ(Frequencies(other), Changes{});
}

TEST(Frequencies, ACountBeyondTheRecordIsNotBelieved) {
  Input input;
  input.directory.Write("lpmFreqConv.data.0.slice_0", Samples(0xFFFFFFFF, {{60, 1000}}));
  EXPECT_EQ(Frequencies(input), (Changes{{1000, 1800}, {1200, 1000}}));
  const std::vector<std::string> lines = input.session.issues.Lines();
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) {
    return line.find("core frequency left out, a record has too many (lpmFreqConv.data)") !=
           std::string::npos;
  })) << fmt::format("{}", fmt::join(lines, "\n"));
  // As many as a record holds are no reason to say so.
  Input full;
  full.directory.Write("lpmFreqConv.data.0.slice_0",
                       Samples(55, std::vector(55, std::pair(std::uint64_t{60}, 1000U))));
  EXPECT_EQ(Frequencies(full).size(), 1u + 55);
  EXPECT_TRUE(full.session.issues.Empty());
}

TEST(MemorySamples, OfTheDeviceHaveTimesSinceTheStart) {
  Input input;
  std::string bytes(32, '\0');
  Put(bytes, 0, std::uint32_t{5});
  Put(bytes, 4, std::uint32_t{1});
  Put(bytes, 16, std::uint64_t{7});
  Put(bytes, 24, ~std::uint64_t{0});
  input.directory.Write("npu_mem.data.0.slice_0", bytes);
  ReadMemorySamples(DataFiles(input.directory.path()), input.side, input.device, input.session);
  const DeviceMemory& memory = input.session.device_memory;
  ASSERT_EQ(memory.Size(), 1u);
  EXPECT_EQ(memory.time[0], 5000);
  EXPECT_TRUE(memory.whole_device[0]);
  EXPECT_EQ(memory.ddr[0], 7);
  EXPECT_EQ(memory.hbm[0], std::numeric_limits<std::int64_t>::max());
}

TEST(MemorySamples, OfModulesStartWithTheCollection) {
  Input input;
  std::string bytes(72, '\0');
  const std::uint64_t times[] = {900, 1000, 2000};
  for (std::size_t i = 0; i < 3; ++i) {
    Put(bytes, 24 * i, static_cast<std::uint32_t>(i));
    Put(bytes, 24 * i + 8, times[i]);
    Put(bytes, 24 * i + 16, i == 2 ? ~std::uint64_t{0} : std::uint64_t{4096});
  }
  input.directory.Write("npu_module_mem.data.0.slice_0", bytes);
  ReadMemorySamples(DataFiles(input.directory.path()), input.side, input.device, input.session);
  const ModuleMemory& memory = input.session.module_memory;
  EXPECT_EQ(memory.module, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(memory.time, (std::vector<TimeNs>{1000, 2000}));
  EXPECT_EQ(memory.reserved, (std::vector<std::int64_t>{4096, -1}));
}

TEST(MemorySamples, OfOperatorsAreInOrderOfTime) {
  test::MadeCapture capture;
  for (const std::uint64_t time : {300, 200}) {
    std::string bytes = test::MadeCapture::Record(256, 10000, 6, time, 48);
    Put(bytes, 24, std::uint64_t{0xABC});
    Put(bytes, 32, std::int64_t{time == 300 ? -64 : 64});
    Put(bytes, 40, std::uint64_t{100});
    Put(bytes, 48, std::uint64_t{1000 + time});
    Put(bytes, 68, std::uint32_t{20});
    capture.Add("host/data/aging.additional.task_memory_info.slice_0", bytes);
  }
  const Session session = ReadSession(capture.Write(), Parts::kMemory);
  ASSERT_EQ(session.op_memory.Size(), 2u);
  EXPECT_EQ(session.op_memory.bytes, (std::vector<std::int64_t>{64, -64}));
  EXPECT_EQ(session.op_memory.allocated, (std::vector<std::int64_t>{1200, 1300}));
  EXPECT_EQ(session.strings.View(session.op_memory.name[0]), "aclnnAdd_Add_Add");
  EXPECT_EQ(session.op_memory.address[0], 0xABCu);
}

}  // namespace
}  // namespace mpa::raw
