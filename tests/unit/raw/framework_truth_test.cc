// SPDX-License-Identifier: Apache-2.0
// Framework tables against captures whose contents are known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "mpa/raw/summaries.h"
#include "raw/control_files.h"
#include "raw/raw_captures.h"
#include "raw/stages.h"

namespace mpa::raw {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;
using test::PlantedCapture;

Lines SortedLines(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

// What is planted but was not found, and what was found but is not planted.
Lines Differences(Lines planted, Lines found) {
  planted = SortedLines(std::move(planted));
  found = SortedLines(std::move(found));
  Lines differences;
  std::set_difference(planted.begin(), planted.end(), found.begin(), found.end(),
                      std::back_inserter(differences));
  for (std::string& line : differences) line.insert(0, "missing: ");
  std::set_difference(found.begin(), found.end(), planted.begin(), planted.end(),
                      std::back_inserter(differences));
  return differences;
}

Session ReadFrameworkOf(const PlantedCapture& capture) {
  Session session;
  const ControlFiles files = ReadControlFiles(capture.path, DriverDirectories(capture.path).front(),
                                              session.info, session.issues);
  ReadFramework(session.info.framework, files.framework_clock, Parts::kAll, session);
  return session;
}

std::string Text(const Json& object, const char* key) { return object.value(key, std::string()); }

std::int64_t Number(const Json& value) { return value.is_null() ? -1 : value.get<std::int64_t>(); }

// How many of the planted records, in order of end, fit into the bytes that a cut has left.
std::size_t RecordsLeft(const Json& truth, const std::string& file, const Json& sizes) {
  std::size_t left = sizes.size();
  for (const Json& cut : truth["cuts"]) {
    if (cut["file"] != file) continue;
    std::int64_t bytes = 0;
    for (left = 0; left < sizes.size(); ++left) {
      bytes += sizes[left].get<std::int64_t>();
      if (bytes > cut["kept"].get<std::int64_t>()) break;
    }
  }
  return left;
}

// The planted operators that are in the file: all, or those that ended first.
std::vector<std::size_t> OpsInFile(const Json& truth) {
  const Json& ops = truth["host_ops"];
  std::vector<std::size_t> rows(ops.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return ops[a]["end_ns"] < ops[b]["end_ns"];
  });
  Json sizes = Json::array();
  for (const std::size_t row : rows) {
    std::size_t size = 6 + 58;
    for (const char* field : {"name", "shapes", "types", "stack"}) {
      if (ops[row].contains(field)) size += 6 + Text(ops[row], field).size();
    }
    sizes.push_back(size);
  }
  rows.resize(RecordsLeft(truth, "FRAMEWORK/torch.op_range", sizes));
  return rows;
}

// When the operator began that is open at `time` on any thread, the last one to begin; -1: none.
std::int64_t LastOpenAt(const Json& ops, const std::vector<std::size_t>& rows, std::int64_t time) {
  std::int64_t last = -1;
  for (const std::size_t row : rows) {
    const std::int64_t start = Number(ops[row]["start_ns"]);
    if (start < time && Number(ops[row]["end_ns"]) >= time) last = std::max(last, start);
  }
  return last;
}

std::string OpLine(const Json& op, const std::string& parent) {
  return fmt::format("{} {} {} seq {} fwd {} [{}] [{}] [{}] in {}", op["start_ns"].dump(),
                     op["end_ns"].dump(), Text(op, "name"), op["sequence"].dump(),
                     op["forward_thread"].dump(), Text(op, "shapes"), Text(op, "types"),
                     Text(op, "stack"), parent);
}

class PlantedFramework : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    captures_ = test::SharedRawCaptures(GetParam());
    MPA_SKIP_WITHOUT(captures_);
  }
  std::vector<PlantedCapture> captures_;
};

TEST_P(PlantedFramework, OperatorsAreAsPlanted) {
  for (const PlantedCapture& capture : captures_) {
    const Session session = ReadFrameworkOf(capture);
    const Json& planted = capture.truth["host_ops"];
    const std::vector<std::size_t> left = OpsInFile(capture.truth);
    const std::set<std::size_t> known(left.begin(), left.end());
    Lines expected;
    for (const std::size_t row : left) {
      std::int64_t parent = Number(planted[row]["parent"]);
      while (parent >= 0 && !known.contains(static_cast<std::size_t>(parent))) {
        parent = Number(planted[static_cast<std::size_t>(parent)]["parent"]);
      }
      const std::int64_t around =
          parent < 0 ? LastOpenAt(planted, left, Number(planted[row]["start_ns"]))
                     : Number(planted[static_cast<std::size_t>(parent)]["start_ns"]);
      expected.push_back(OpLine(planted[row], fmt::format("{}", around)));
    }
    Lines found;
    const TorchOps& ops = session.ops;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      const Json op = {{"start_ns", ops.start[i]},
                       {"end_ns", ops.End(i)},
                       {"name", session.strings.View(ops.name[i])},
                       {"sequence", ops.sequence[i]},
                       {"forward_thread", ops.forward_thread[i]},
                       {"shapes", session.strings.View(ops.shapes[i])},
                       {"types", session.strings.View(ops.types[i])},
                       {"stack", session.strings.View(ops.stack[i])}};
      const auto parent = ops.parent[i];
      found.push_back(OpLine(op, fmt::format("{}", parent < 0 ? -1 : ops.start[parent])));
    }
    EXPECT_EQ(Differences(expected, found), Lines());
    EXPECT_TRUE(std::is_sorted(ops.start.begin(), ops.start.end()));
  }
}

TEST_P(PlantedFramework, QueuedWorkIsAsPlanted) {
  for (const PlantedCapture& capture : captures_) {
    const Session session = ReadFrameworkOf(capture);
    const QueueRanges& queue = session.queue;
    const auto cut =
        std::any_of(capture.truth["cuts"].begin(), capture.truth["cuts"].end(),
                    [](const Json& file) { return file["file"] == "FRAMEWORK/torch.op_mark"; });
    Lines expected;
    for (const Json& entry : capture.truth["queue"]) {
      for (const char* side : {"enqueue", "dequeue"}) {
        expected.push_back(fmt::format(
            "{} {} {} {} {} {} {}", side, entry["correlation"].dump(), Text(entry, "name"),
            entry[fmt::format("{}_tid", side)].dump(),
            entry[fmt::format("{}_start_ns", side)].dump(),
            entry[fmt::format("{}_end_ns", side)].dump(),
            capture.truth["host_ops"][entry["op"].get<std::size_t>()]["start_ns"].dump()));
      }
    }
    Lines found;
    for (std::size_t i = 0; i < queue.Size(); ++i) {
      const std::int32_t other = queue.partner[i];
      if (other < 0) continue;
      const std::int32_t op = queue.op[queue.dequeue[i] ? static_cast<std::size_t>(other) : i];
      found.push_back(fmt::format("{} {} {} {} {} {} {}", queue.dequeue[i] ? "dequeue" : "enqueue",
                                  queue.correlation[i], session.strings.View(queue.name[i]),
                                  queue.thread[i], queue.start[i], queue.End(i),
                                  op < 0 ? -1 : session.ops.start[op]));
    }
    if (cut) {
      EXPECT_LT(found.size(), expected.size());
      EXPECT_GT(found.size(), expected.size() * 8 / 10);
    } else {
      EXPECT_EQ(Differences(expected, found), Lines());
    }
  }
}

TEST_P(PlantedFramework, StepsAndBackwardPairsAreAsPlanted) {
  for (const PlantedCapture& capture : captures_) {
    if (OpsInFile(capture.truth).size() < capture.truth["host_ops"].size()) continue;
    const Session session = ReadFrameworkOf(capture);
    const Json& ops = capture.truth["host_ops"];
    Lines expected, found;
    for (const Json& step : capture.truth["steps"]) {
      expected.push_back(fmt::format("step {} {} {}", step["id"].dump(),
                                     step["host_start_ns"].dump(), step["host_end_ns"].dump()));
    }
    for (const Json& pair : capture.truth["fwd_bwd"]) {
      expected.push_back(fmt::format("pair {} {} {}", pair["sequence"].dump(),
                                     ops[pair["forward"].get<std::size_t>()]["start_ns"].dump(),
                                     ops[pair["backward"].get<std::size_t>()]["start_ns"].dump()));
    }
    const Steps& steps = session.steps;
    for (std::size_t i = 0; i < steps.Size(); ++i) {
      found.push_back(fmt::format("step {} {} {}", steps.id[i], steps.start[i], steps.end[i]));
    }
    const BackwardPairs& pairs = session.backward;
    for (std::size_t i = 0; i < pairs.Size(); ++i) {
      found.push_back(fmt::format("pair {} {} {}", pairs.sequence[i],
                                  session.ops.start[pairs.forward[i]],
                                  session.ops.start[pairs.backward[i]]));
    }
    EXPECT_EQ(Differences(expected, found), Lines());
  }
}

TEST_P(PlantedFramework, PythonCallsAndCollectionsAreAsPlanted) {
  for (const PlantedCapture& capture : captures_) {
    const Session session = ReadFrameworkOf(capture);
    Lines expected, found;
    std::map<std::string, std::map<std::string, std::size_t>> modules;
    const auto begins = [](const Json& a, const Json& b) { return a["start_ns"] < b["start_ns"]; };
    Json planted = capture.truth["python"];
    std::sort(planted.begin(), planted.end(), begins);
    for (const Json& call : planted) {
      std::string name = Text(call, "name");
      if (const std::size_t at = name.find("######"); at != std::string::npos) {
        auto& objects = modules[name.substr(0, at)];
        const auto number = objects.try_emplace(name.substr(at), objects.size()).first->second;
        name = fmt::format("nn.Module: {}_{}", name.substr(0, at), number);
      }
      expected.push_back(fmt::format("{} {} {} {}", call["start_ns"].dump(), call["end_ns"].dump(),
                                     call["tid"].dump(), name));
    }
    for (const Json& collection : capture.truth["gc"]) {
      expected.push_back(
          fmt::format("gc {} {}", collection["start_ns"].dump(), collection["end_ns"].dump()));
    }
    const PythonCalls& calls = session.python;
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      found.push_back(fmt::format("{} {} {} {}", calls.start[i], calls.End(i), calls.thread[i],
                                  session.strings.View(calls.name[i])));
    }
    for (std::size_t i = 0; i < session.garbage_collections.Size(); ++i) {
      found.push_back(
          fmt::format("gc {} {}", session.garbage_collections.start[i],
                      session.garbage_collections.start[i] + session.garbage_collections.dur[i]));
    }
    EXPECT_EQ(Differences(expected, found), Lines());
  }
}

// The operator that an allocation is counted for.
std::string OwnerOf(const Json& truth, const Json& allocation) {
  const Json& ops = truth["host_ops"];
  std::int64_t op = Number(allocation["op"]);
  const auto name = [&] { return Text(ops[static_cast<std::size_t>(op)], "name"); };
  const auto up = [&] { op = Number(ops[static_cast<std::size_t>(op)]["parent"]); };
  if (op < 0) {  // in queued work: the library operator that enqueued it
    for (const Json& entry : truth["queue"]) {
      if (entry["dequeue_tid"] == allocation["tid"] &&
          entry["dequeue_start_ns"] <= allocation["time_ns"] &&
          entry["dequeue_end_ns"] >= allocation["time_ns"]) {
        op = Number(entry["op"]);
      }
    }
    while (!name().starts_with("aten") && !name().starts_with("npu")) up();
  }
  while (name() == "empty_tensor" || name() == "malloc_workspace") up();
  return name();
}

TEST_P(PlantedFramework, AllocationsAreAsPlanted) {
  for (const PlantedCapture& capture : captures_) {
    if (!capture.truth["cuts"].empty()) continue;
    Session session = ReadFrameworkOf(capture);
    Lines expected, found;
    std::map<std::int64_t, std::size_t> open;
    struct Life {
      std::string begin;
      std::int64_t released = -1, block_released = -1;
    };
    std::vector<Life> lives;
    for (const Json& event : capture.truth["memory"]) {
      const auto address = event["address"].get<std::int64_t>();
      const auto time = event["time_ns"].get<std::int64_t>();
      if (event["kind"] == "malloc") {
        open[address] = lives.size();
        lives.push_back(
            {fmt::format("{} {} {}", time, event["size"].dump(), OwnerOf(capture.truth, event))});
      } else {
        Life& life = lives.at(open.at(address));
        (event["kind"] == "free" ? life.released : life.block_released) = time;
      }
    }
    for (const Life& life : lives) {
      expected.push_back(fmt::format("{} {} {}", life.begin, life.released, life.block_released));
    }
    for (const AllocationLife& life : AllocationLives(session)) {
      if (life.cann) continue;
      found.push_back(fmt::format("{} {} {} {} {}", life.allocated, life.bytes,
                                  session.strings.View(life.name), life.released,
                                  life.active_released));
    }
    EXPECT_EQ(Differences(expected, found), Lines());
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, PlantedFramework,
                         testing::Values("level0", "level1", "stack_mstx_gc", "hwts", "two_ranks",
                                         "truncated", "truncated_device", "truncated_framework",
                                         "truncated_api_event", "truncated_task_track",
                                         "truncated_tensor_info"),
                         [](const auto& capture) { return std::string(capture.param); });

}  // namespace
}  // namespace mpa::raw
