// SPDX-License-Identifier: Apache-2.0
// From a session to the launches of device work in the tables of a rank.
#include <gtest/gtest.h>

#include "readers/raw_device.h"

namespace mpa::readers {
namespace {

// The operator of row 0 launches work by the call of row 0, on its own thread.
class RawLaunches : public testing::Test {
 protected:
  RawLaunches() {
    session.info.process = 3;
    session.ops.Append({{.start = 100, .dur = 100}, {.process = 3, .thread = 7}});
    session.calls.Append({{.start = 150, .dur = 10}, {.thread = 7}});
  }

  std::int32_t AddCopy(TimeNs start, raw::TaskKind kind = raw::TaskKind::kOther) {
    session.tasks.Append({{.start = start},
                          {.end = start + 5,
                           .host_type = session.strings.Intern("MEMCPY_ASYNC"),
                           .call = 0,
                           .kind = kind}});
    return static_cast<std::int32_t>(session.tasks.Size()) - 1;
  }

  RankTrace Filled() {
    RankTrace trace;
    TrackNumbers tracks(trace.tracks);
    FillDeviceTables(session, Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications,
                     tracks, trace);
    return trace;
  }

  raw::Session session;
};

using Links = std::vector<std::int64_t>;

TEST_F(RawLaunches, EndAtTheCollectiveNotAtItsCopies) {
  const std::int32_t copy = AddCopy(300, raw::TaskKind::kCollectivePart);
  session.collectives.Append({.start = 290, .end = 400, .dur = 110.25, .call = 0});
  session.parts.Append({.task = copy, .collective = 0});
  session.links.Append({.op = 0, .collective = 0});
  const RankTrace trace = Filled();
  EXPECT_EQ(trace.launches.host_time, std::vector<TimeNs>{100});
  EXPECT_EQ(trace.communications.link, trace.launches.link);
  EXPECT_EQ(trace.communications.dur_rest, std::vector<double>{0});  // text files have no more
  EXPECT_EQ(trace.device_tasks.link, Links{-1});
}

TEST_F(RawLaunches, OfCopiesThatNoLinkNamesBeginWithTheirCall) {
  AddCopy(300);
  const RankTrace trace = Filled();
  EXPECT_EQ(trace.launches.host_time, std::vector<TimeNs>{150});
  ASSERT_EQ(trace.tracks.tid, Links{7});
  EXPECT_EQ(trace.launches.host_track, std::vector<std::int32_t>{0});
  EXPECT_EQ(trace.device_tasks.link, trace.launches.link);
}

TEST_F(RawLaunches, CollectivesThatRunAsKernelsAreNoKernels) {
  const std::int32_t task = AddCopy(300, raw::TaskKind::kCollectivePart);
  session.kernels.Append({{.name = session.strings.Intern("allReduce_AivKernel"),
                           .core = session.strings.Intern("COMMUNICATION")},
                          {.task = task}});
  EXPECT_TRUE(Filled().kernels.Empty());
}

}  // namespace
}  // namespace mpa::readers
