// SPDX-License-Identifier: Apache-2.0
// Generated captures of which a file is lost or wrong: what the others say is kept, and the loss is
// counted.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "mpa/raw/session.h"
#include "raw/raw_captures.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;

// A copy of a generated capture.
class LostFiles : public testing::Test {
 protected:
  void Copy(const std::string& name) {
    const auto captures = test::GeneratedRawCaptures(name);
    MPA_NEED_GENERATED(captures);
    capture_ = directory_ / "capture";
    fs::remove_all(capture_);
    fs::copy(captures.front().path, capture_, fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(capture_)) {
      if (entry.path().filename().string().starts_with("PROF_")) prof_ = entry.path();
    }
    intact_ = ReadSession(captures.front().path, Parts::kAll);
    ASSERT_TRUE(intact_.issues.Empty());
  }

  Session Read() const { return ReadSession(capture_, Parts::kAll); }

  void Replace(const fs::path& file, const std::string& from, const std::string& to) const {
    std::string text = test::ReadAll(file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << file << " has no " << from;
    directory_.Write(fs::relative(file, directory_.path()).string(),
                     text.replace(at, from.size(), to));
  }

  // All rows are there, and their times differ from those of the intact capture by so much at most.
  void ExpectKept(const Session& session, TimeNs device_tolerance, TimeNs host_tolerance = 10) {
    EXPECT_EQ(session.kernels.Size(), intact_.kernels.Size());
    EXPECT_EQ(session.calls.Size(), intact_.calls.Size());
    EXPECT_EQ(session.steps.Size(), intact_.steps.Size());
    ExpectNear(session.ops.start, intact_.ops.start, host_tolerance);
    ExpectNear(session.calls.start, intact_.calls.start, host_tolerance);
    std::vector<TimeNs> found, planted;
    for (const std::int32_t task : session.kernels.task) {
      found.push_back(session.tasks.start[static_cast<std::size_t>(task)]);
    }
    for (const std::int32_t task : intact_.kernels.task) {
      planted.push_back(intact_.tasks.start[static_cast<std::size_t>(task)]);
    }
    ExpectNear(found, planted, device_tolerance);
  }

  static void ExpectNear(const std::vector<TimeNs>& found, const std::vector<TimeNs>& planted,
                         TimeNs tolerance) {
    ASSERT_EQ(found.size(), planted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_LE(std::abs(found[i] - planted[i]), tolerance) << "row " << i;
    }
  }

  static void ExpectLine(const Issues& issues, const std::string& part) {
    const std::vector<std::string> lines = issues.Lines();
    EXPECT_TRUE(
        std::any_of(lines.begin(), lines.end(),
                    [&](const std::string& line) { return line.find(part) != std::string::npos; }))
        << part << " is not in\n"
        << fmt::format("{}", fmt::join(lines, "\n"));
  }

  // Launches of the generated captures take less.
  static constexpr TimeNs kLaunchTakes = 20'000;

  const fs::path& prof() const { return prof_; }
  const fs::path& capture() const { return capture_; }
  const Session& intact() const { return intact_; }

 private:
  test::TempDir directory_;
  fs::path capture_, prof_;
  Session intact_;
};

TEST_F(LostFiles, EachControlFileIsNamedAndReplacedByOthers) {
  struct Case {
    const char* file;
    const char* named;
    TimeNs device, host;
  };
  // Anchors of host and device differ by 40 ns in these captures.
  for (const Case& lost :
       {Case{"host/host_start.log", "host/host_start.log", 0, 40},
        Case{"host/start_info", "host/start_info", 0, 40},
        Case{"host/end_info", "host/end_info", 0, 0},
        Case{"host/info.json", "host/info.json", 0, 0},
        Case{"host/sample.json", "host/sample.json", 0, 0},
        Case{"device_0/start_info.0", "device_0/start_info", 40, 0},
        Case{"device_0/sample.json", "device_0/sample.json", 0, 0},
        Case{"device_0/info.json.0", "device_0/info.json", 0, 0},
        Case{"device_0/dev_start.log.0", "device_0/dev_start.log", kLaunchTakes, 0},
        Case{"device_0/host_start.log.0", "device_0/host_start.log", kLaunchTakes, 0}}) {
    for (const bool emptied : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", lost.file, emptied ? "emptied" : "missing"));
      Copy("no_queue");
      const fs::path file = prof() / lost.file;
      ASSERT_TRUE(fs::exists(file));
      if (emptied) {
        fs::resize_file(file, 0);
      } else {
        fs::remove(file);
      }
      const Session session = Read();
      // Without the begin nobody knows what was recorded before it.
      const bool is_begin = std::string_view(lost.file).find("start_info") != std::string::npos;
      if (is_begin) {
        ExpectNear(session.ops.start, intact().ops.start, lost.host);
        EXPECT_EQ(session.steps.Size(), intact().steps.Size());
        EXPECT_GE(session.kernels.Size(), intact().kernels.Size());
      } else {
        ExpectKept(session, lost.device, lost.host);
      }
      ExpectLine(session.issues,
                 fmt::format("{} is {}", lost.named, emptied ? "empty" : "missing"));
      ExpectLine(FindDamage(capture()), lost.named);
    }
  }
}

TEST_F(LostFiles, TheClockOfTheFrameworkNeedsNoSettings) {
  for (const char* run : {"stars", "hwts"}) {
    SCOPED_TRACE(run);
    Copy(run);
    fs::resize_file(capture() / "profiler_info_0.json", 0);
    const Session session = Read();
    ExpectKept(session, 0, 0);
    ExpectLine(session.issues, "profiler_info_0.json is empty");
  }
}

TEST_F(LostFiles, TheAnchorThatOthersContradictIsNotUsed) {
  Copy("stars");
  Replace(prof() / "host/host_start.log", "clock_monotonic_raw: 8", "clock_monotonic_raw: 9");
  const Session session = Read();
  ExpectKept(session, 0, 40);
  ExpectLine(session.issues, "host/host_start.log is damaged, its clocks contradict");
}

TEST_F(LostFiles, TheFrequencyThatOthersContradictIsNotUsed) {
  Copy("stars");
  Replace(prof() / "host/info.json", "\"Frequency\": \"100", "\"Frequency\": \"900");
  const Session session = Read();
  ExpectKept(session, 0, 0);
  ExpectLine(session.issues, "host/info.json is damaged, the frequency of its CPU");
}

TEST_F(LostFiles, AClockThatPutsTasksBeforeTheirLaunchesIsEstimated) {
  Copy("stars");
  Replace(prof() / "device_0/dev_start.log.0", "cntvct: 4300", "cntvct: 4310");
  const Session session = Read();
  ExpectKept(session, kLaunchTakes, 0);
  ExpectLine(session.issues, "times of device_0 are estimated");
}

TEST_F(LostFiles, StampsOfTheFrameworkAreTicksOrNanosecondsWhateverTheSettingsSay) {
  Copy("stars");
  Replace(capture() / "profiler_info_0.json", "\"syscnt_enable\": true",
          "\"syscnt_enable\": false");
  const Session session = Read();
  ExpectKept(session, 0, 0);
  ExpectLine(session.issues, "the clock of FRAMEWORK is estimated");
}

// Without its launches nothing is known of work but when it ran.
TEST_F(LostFiles, TasksWithoutLaunchesAreCounted) {
  Copy("stars");
  for (const auto& entry : fs::directory_iterator(prof() / "host/data")) {
    if (entry.path().filename().string().find("task_track") != std::string::npos) {
      fs::remove(entry.path());
    }
  }
  const Session session = Read();
  EXPECT_TRUE(session.kernels.Empty());
  ExpectLine(session.issues, "host/task_track is missing");
  ExpectLine(session.issues,
             fmt::format("{0} of {0} tasks of device_0 have no launch", intact().tasks.Size()));
}

TEST_F(LostFiles, WrapsThatTheDeviceDidNotRecordAreNamed) {
  Copy("stars");
  fs::remove(prof() / "device_0/data/ts_track.data.0.slice_0");
  fs::remove(prof() / "device_0/data/ts_track.data.0.slice_0.done");
  ExpectLine(Read().issues, "device_0/ts_track.data would tell");
}

TEST_F(LostFiles, SlicesAreJudgedByTheNotesOfTheirWriter) {
  Copy("stars");
  const fs::path slice = prof() / "device_0/data/stars_soc.data.0.slice_1";
  fs::resize_file(slice, 640);
  ExpectLine(FindDamage(capture()), "device_0/stars_soc.data.0 is not as long as");
  fs::remove(slice);
  ExpectLine(FindDamage(capture()), "device_0/stars_soc.data.0 is missing");
  fs::remove(fs::path(slice.string() + ".done"));
  ExpectLine(FindDamage(capture()), "device_0/stars_soc.data.0 has lost slices between others");
}

TEST_F(LostFiles, NoQueueWithoutMarks) {
  Copy("stars");
  fs::remove(capture() / "FRAMEWORK/torch.op_mark");
  ExpectLine(Read().issues, "FRAMEWORK/torch.op_mark is missing");
}

}  // namespace
}  // namespace mpa::raw
