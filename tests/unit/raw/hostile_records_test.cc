// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes of a raw file are, a capture is read or refused with an Error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "mpa/base/error.h"
#include "mpa/raw/session.h"
#include "raw/raw_captures.h"
#include "support/files.h"
#include "support/hostile_bytes.h"
#include "support/rank_checks.h"
#include "support/raw_session_checks.h"
#include "support/reading.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;

// The name of a file without directory, prefix of the collection, device and slice.
std::string Kind(const fs::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view front : {"aging.", "unaging.", "additional.", "compact.", "torch."})
    if (name.starts_with(front)) name.erase(0, front.size());
  return name.substr(0, name.find('.'));
}

bool IsText(const std::string& kind) {
  static const std::set<std::string> texts = {"info",
                                              "sample",
                                              "start_info",
                                              "end_info",
                                              "host_start",
                                              "dev_start",
                                              "hash_dic",
                                              "type_info_dic",
                                              "profiler_info_0",
                                              "profiler_info_1",
                                              "profiler_metadata",
                                              "hccs",
                                              "nic",
                                              "roce"};
  return texts.contains(kind);
}

std::vector<std::size_t> RecordsOf(const std::string& kind, std::string_view bytes) {
  static const std::map<std::string, std::size_t> sizes = {{"api_event", 40},
                                                           {"task_track", 64},
                                                           {"node_basic_info", 64},
                                                           {"hccl_op_info", 64},
                                                           {"memcpy_info", 64},
                                                           {"tensor_info", 256},
                                                           {"context_id_info", 256},
                                                           {"hccl_info", 256},
                                                           {"task_memory_info", 256},
                                                           {"msproftx", 256},
                                                           {"stars_soc", 64},
                                                           {"hwts", 64},
                                                           {"ffts_profile", 128},
                                                           {"aicore", 128},
                                                           {"ts_track", 40},
                                                           {"lpmFreqConv", 888},
                                                           {"npu_mem", 32},
                                                           {"npu_module_mem", 24},
                                                           {"pcie", 96},
                                                           {"hbm", 24},
                                                           {"ddr", 20},
                                                           {"llc", 24},
                                                           {"qos", 64},
                                                           {"stars_soc_profile", 64},
                                                           {"l2_cache", 72},
                                                           {"gc_record", 24},
                                                           {"python_tracer_func", 33}};
  if (IsText(kind)) return test::TextRecords(bytes);
  const auto size = sizes.find(kind);
  return size == sizes.end() ? test::TlvRecords(bytes) : test::FixedRecords(bytes, size->second);
}

// A copy of a generated capture whose files can be broken one at a time.
class HostileRecords : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto captures = test::GeneratedRawCaptures(GetParam());
    MPA_NEED_GENERATED(captures);
    copy_ = scratch_ / captures.front().path.filename().string();
    fs::copy(captures.front().path, copy_, fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(copy_))
      if (entry.is_regular_file() && entry.path().extension() != ".done" && IsOfInterest(entry))
        files_.push_back(entry.path());
    std::sort(files_.begin(), files_.end());
  }

  // The first slices will do; the chips differ in what they write on their own side.
  static bool IsOfInterest(const fs::path& file) {
    const std::string name = file.filename().string();
    if (name.find(".slice_") != std::string::npos && !name.ends_with(".slice_0")) return false;
    return GetParam() == "stars" || file.string().find("/device_") != std::string::npos;
  }

  // Returns, or throws an Error, and keeps what a session and the tables of a rank promise.
  void ExpectSurvives(const std::string& what) const {
    SCOPED_TRACE(what);
    try {
      EXPECT_EQ(test::BrokenPromise(ReadSession(copy_, Parts::kAll)), "");
      RankTrace trace;
      reader_.read({FileKind::kRawCapture, copy_, 0}, {test::kAllTables, ""}, trace);
      EXPECT_EQ(test::BrokenPromise(trace), "");
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kInternal) << error.what();
    }
  }

  void ExpectSurvivesAll(const fs::path& file,
                         const std::vector<test::HostileVariant>& variants) const {
    const std::string whole = test::ReadAll(file);
    for (const test::HostileVariant& variant : variants) {
      Write(file, variant.bytes);
      ExpectSurvives(fmt::format("{}: {}", file.filename().string(), variant.name));
    }
    Write(file, whole);
  }

  static void Write(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  const Reader& reader_ = test::ReaderOf(FileKind::kRawCapture);
  test::TempDir scratch_;
  fs::path copy_;
  std::vector<fs::path> files_;
};

TEST_P(HostileRecords, BrokenFilesAreReadOrRefused) {
  for (const fs::path& file : files_) {
    const std::string bytes = test::ReadAll(file), kind = Kind(file);
    ExpectSurvivesAll(file, test::HostileVariants(bytes, RecordsOf(kind, bytes)));
    if (IsText(kind)) ExpectSurvivesAll(file, test::HostileTexts(bytes));
  }
}

TEST_P(HostileRecords, MissingFilesAndDirectoriesInTheirPlace) {
  for (const fs::path& file : files_) {
    const std::string whole = test::ReadAll(file);
    fs::remove(file);
    ExpectSurvives(fmt::format("without {}", file.filename().string()));
    fs::create_directory(file);
    ExpectSurvives(fmt::format("{} is a directory", file.filename().string()));
    fs::remove(file);
    Write(file, whole);
  }
}

// Operators are written one after the other when they end: without the last byte, without the last.
TEST(CutRecords, LeaveTheWholeOnes) {
  const auto captures = test::GeneratedRawCaptures("stars");
  MPA_NEED_GENERATED(captures);
  const test::TempDir scratch;
  const fs::path copy = scratch / captures.front().path.filename().string();
  fs::copy(captures.front().path, copy, fs::copy_options::recursive);
  const std::size_t ops = ReadSession(copy, Parts::kFramework).ops.Size();
  const fs::path file = copy / "FRAMEWORK" / "torch.op_range";
  fs::resize_file(file, fs::file_size(file) - 1);
  const Session session = ReadSession(copy, Parts::kFramework);
  EXPECT_EQ(session.ops.Size(), ops - 1);
  EXPECT_FALSE(session.issues.Empty());
}

INSTANTIATE_TEST_SUITE_P(Captures, HostileRecords,
                         testing::Values("stars", "hwts", "captured_graphs"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace mpa::raw
