// SPDX-License-Identifier: Apache-2.0
// A session of a generated capture is what was planted in it. Each test writes both as lines, one
// an item, and compares the lines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "mpa/raw/labels.h"
#include "mpa/raw/session.h"
#include "raw/raw_captures.h"

namespace mpa::raw {
namespace {

using nlohmann::json;
using test::Int;
using test::PlantedCapture;
using test::Str;

class GeneratedTruth : public testing::TestWithParam<std::string> {
 protected:
  struct Case {
    PlantedCapture capture;
    Session session;
  };

  void SetUp() override {
    // Read once for all tests of a case.
    static std::map<std::string, std::unique_ptr<Case>> cases;
    std::unique_ptr<Case>& loaded = cases[GetParam()];
    if (!loaded) {
      const auto captures = test::GeneratedRawCaptures(GetParam());
      MPA_NEED_GENERATED(captures);
      loaded = std::make_unique<Case>(
          Case{captures.front(), ReadSession(captures.front().path, Parts::kAll)});
    }
    case_ = loaded.get();
  }

  const json& Truth() const { return case_->capture.truth; }
  const json& Planted(const char* list) const { return case_->capture.truth.at(list); }
  const Session& Found() const { return case_->session; }
  std::string_view Text(StringId id) const { return Found().strings.View(id); }
  bool Stars() const { return Found().info.devices.at(0).generation == Generation::kStars; }

 private:
  const Case* case_ = nullptr;
};

using Lines = std::vector<std::string>;

std::int64_t IntOr(const json& item, const char* key, std::int64_t none) {
  return item.contains(key) && !item.at(key).is_null() ? Int(item, key) : none;
}

// The same lines, in whatever order.
void ExpectSame(Lines found, Lines planted) {
  ASSERT_FALSE(planted.empty()) << "the generator plants some";
  std::sort(found.begin(), found.end());
  std::sort(planted.begin(), planted.end());
  const auto without = [](const Lines& lines, const Lines& others) {
    Lines rest;
    std::set_difference(lines.begin(), lines.end(), others.begin(), others.end(),
                        std::back_inserter(rest));
    rest.resize(std::min<std::size_t>(rest.size(), 5));
    return rest;
  };
  EXPECT_EQ(found.size(), planted.size());
  EXPECT_EQ(without(found, planted), Lines()) << "found only";
  EXPECT_EQ(without(planted, found), Lines()) << "planted only";
}

// ---- tasks of the device

std::string Place(const json& item) {
  return fmt::format("{}/{}/{}/{} {}..{} {:.3f}", Int(item, "stream"), Int(item, "task"),
                     Int(item, "batch"), Int(item, "context"), Int(item, "start_ns"),
                     Int(item, "end_ns"), item.at("dur_ns").get<double>());
}

std::string Place(const Session& session, std::size_t task) {
  const Tasks& tasks = session.tasks;
  return fmt::format("{}/{}/{}/{} {}..{} {:.3f}", tasks.stream[task], tasks.task_id[task],
                     tasks.batch[task], tasks.context[task], tasks.start[task], tasks.end[task],
                     tasks.Exact(task));
}

std::size_t Row(std::int32_t index) { return static_cast<std::size_t>(index); }

// "1024,512;512" with the quotes around it, FLOAT;FLOAT or ND;ND of the tensors on one side.
struct Tensors {
  std::string shapes, types, formats;
};

Tensors TensorsOf(const json& tensors, int output) {
  Lines shapes, types, formats;
  for (const json& tensor : tensors) {
    if (tensor.at(0).get<int>() != output) continue;
    formats.push_back(tensor.at(1).get<std::string>());
    types.push_back(tensor.at(2).get<std::string>());
    shapes.push_back(fmt::format("{}", fmt::join(tensor.at(3).get<std::vector<int>>(), ",")));
  }
  if (shapes.empty()) return {"N/A", "N/A", "N/A"};
  return {fmt::format("\"{}\"", fmt::join(shapes, ";")), fmt::format("{}", fmt::join(types, ";")),
          fmt::format("{}", fmt::join(formats, ";"))};
}

bool BeforeStart(const json& item) { return item.contains("before_start"); }

TEST_P(GeneratedTruth, KernelsHaveTheirNamesTimesAndBlocks) {
  Lines planted, found;
  for (const json& item : Planted("kernels")) {
    if (BeforeStart(item)) continue;
    planted.push_back(fmt::format(
        "{} {} {} {} {} blocks {} {} hf32 {} issued {}", Str(item, "name"), Str(item, "type"),
        Str(item, "core"), Str(item, "host_task_type"), Place(item), Int(item, "blocks"),
        Int(item, "mix_blocks"), Int(item, "hf32") != 0 ? "YES" : "NO", Int(item, "issued_ns")));
  }
  const Kernels& kernels = Found().kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const std::size_t task = Row(kernels.task[i]);
    EXPECT_EQ(Found().tasks.kind[task], TaskKind::kKernel);
    EXPECT_EQ(Row(Found().tasks.detail[task]), i);
    found.push_back(fmt::format("{} {} {} {} {} blocks {} {} hf32 {} issued {}",
                                Text(kernels.name[i]), Text(kernels.op_type[i]),
                                Text(kernels.core[i]), Text(Found().tasks.host_type[task]),
                                Place(Found(), task), kernels.blocks[i], kernels.mix_blocks[i],
                                Text(kernels.hf32[i]), Found().tasks.issued[task]));
  }
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, KernelsHaveTheTensorsOfAllTheirRecords) {
  Lines planted, found;
  for (const json& item : Planted("kernels")) {
    if (BeforeStart(item)) continue;
    const json& tensors = Planted("tensor_sets").at(item.at("tensors").get<std::size_t>());
    const Tensors in = TensorsOf(tensors, 0), out = TensorsOf(tensors, 1);
    planted.push_back(fmt::format("{} {} {} {} {} {} {}", Int(item, "start_ns"), in.shapes,
                                  in.types, in.formats, out.shapes, out.types, out.formats));
  }
  const Kernels& kernels = Found().kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    found.push_back(fmt::format("{} {} {} {} {} {} {}", Found().tasks.start[Row(kernels.task[i])],
                                Text(kernels.input_shapes[i]), Text(kernels.input_types[i]),
                                Text(kernels.input_formats[i]), Text(kernels.output_shapes[i]),
                                Text(kernels.output_types[i]), Text(kernels.output_formats[i])));
  }
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, CyclesAreThoseOfTheCoreOfTheKernel) {
  const Counters& counters = Found().counters;
  const auto column = [&](std::string_view name) {
    const auto at = std::find(counters.names.begin(), counters.names.end(), name);
    EXPECT_NE(at, counters.names.end()) << name;
    return static_cast<std::size_t>(at - counters.names.begin());
  };
  std::map<std::int64_t, std::size_t> row_of_start;
  const Kernels& kernels = Found().kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i)
    row_of_start[Found().tasks.start[Row(kernels.task[i])]] = i;
  std::size_t compared = 0;
  for (const json& item : Planted("kernels")) {
    if (BeforeStart(item) || !item.contains("counters")) continue;
    const std::size_t kernel = row_of_start.at(Int(item, "start_ns"));
    ASSERT_GE(kernels.counters[kernel], 0) << Str(item, "name");
    const std::string_view name = !Stars()                                ? "total_cycles"
                                  : Str(item, "core") == "AI_VECTOR_CORE" ? "aiv_total_cycles"
                                                                          : "aic_total_cycles";
    const std::size_t row = Row(kernels.counters[kernel]);
    EXPECT_EQ(counters.values.at(row * counters.names.size() + column(name)),
              item.at("counters").at("cycles").get<double>());
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

TEST_P(GeneratedTruth, CopiesEventsAndSwitchesAreTasks) {
  Lines planted, found;
  for (const json& item : Planted("tasks"))
    planted.push_back(fmt::format("{} {} issued {} bytes {} direction {}",
                                  Str(item, "host_task_type"), Place(item), Int(item, "issued_ns"),
                                  IntOr(item, "size", 0), IntOr(item, "direction", -1)));
  const Tasks& tasks = Found().tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    // A task around the only context of a kernel is known by its kernel.
    const bool collective_group = tasks.group[i] != 0 && tasks.stream[i] == 5;
    if (tasks.kind[i] != TaskKind::kOther || (tasks.group[i] != 0 && !collective_group)) continue;
    found.push_back(fmt::format("{} {} issued {} bytes {} direction {}", Text(tasks.host_type[i]),
                                Place(Found(), i), tasks.issued[i], tasks.copy_bytes[i],
                                tasks.copy_direction[i]));
  }
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, TheTaskAroundAKernelIsKept) {
  if (!Stars()) GTEST_SKIP() << "no contexts on this chip";
  Lines planted, found;
  for (const json& item : Planted("kernels"))
    if (item.contains("outer_start_ns"))
      planted.push_back(fmt::format("{} {}..{}", Int(item, "task"), Int(item, "outer_start_ns"),
                                    Int(item, "outer_end_ns")));
  const Tasks& tasks = Found().tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i)
    if (tasks.group[i] != 0 && tasks.stream[i] == 2)
      found.push_back(fmt::format("{} {}..{}", tasks.task_id[i], tasks.start[i], tasks.end[i]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, TasksComeFromTheCallThatLaunchedThem) {
  std::map<std::string, std::int64_t> launches;
  for (const char* list : {"kernels", "tasks"})
    for (const json& item : Planted(list))
      if (!item.at("launch_ns").is_null() && !BeforeStart(item))
        launches[Place(item)] = Int(item, "launch_ns");
  const Tasks& tasks = Found().tasks;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    const auto launch = launches.find(Place(Found(), i));
    if (launch == launches.end()) continue;
    ++compared;
    ASSERT_GE(tasks.call[i], 0);
    const TimeNs start = Found().calls.start[Row(tasks.call[i])];
    EXPECT_EQ(Stars() ? start : tasks.issued[i], launch->second);
    EXPECT_LE(start, tasks.issued[i]);
    EXPECT_GE(Found().calls.End(Row(tasks.call[i])), tasks.issued[i]);
  }
  EXPECT_EQ(compared, launches.size());
}

TEST_P(GeneratedTruth, HostCalls) {
  Lines planted, found;
  for (const json& item : Planted("cann_apis"))
    planted.push_back(fmt::format("{} {} {} {}..{}", Int(item, "level"), Str(item, "name"),
                                  Int(item, "tid"), Int(item, "start_ns"), Int(item, "end_ns")));
  const HostCalls& calls = Found().calls;
  for (std::size_t i = 0; i < calls.Size(); ++i)
    found.push_back(fmt::format("{} {} {} {}..{}", static_cast<int>(calls.level[i]),
                                Text(calls.name[i]), calls.thread[i], calls.start[i],
                                calls.End(i)));
  ExpectSame(found, planted);
}

// ---- collectives

TEST_P(GeneratedTruth, Collectives) {
  Lines planted, found;
  for (const json& item : Planted("collectives"))
    planted.push_back(fmt::format("{} {} {} {} {} {} {}..{}", Str(item, "type"),
                                  Str(item, "group_hash"), Str(item, "group"), Int(item, "count"),
                                  Str(item, "data_type"), Str(item, "algorithm"),
                                  Int(item, "start_ns"), Int(item, "end_ns")));
  const Collectives& ops = Found().collectives;
  for (std::size_t i = 0; i < ops.Size(); ++i)
    found.push_back(fmt::format("{} {} {} {} {} {} {}..{}", Text(ops.op_type[i]),
                                Text(ops.group[i]), Text(ops.group_name[i]), ops.count[i],
                                NameOf(CommunicationDataTypes(), ops.data_type[i]),
                                Text(ops.algorithm[i]), ops.start[i], ops.end[i]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, CollectivesAreNamedByGroupAndNumber) {
  Lines planted, found;
  int index = 0;
  for (const json& item : Planted("collectives")) {
    const std::string hash = Str(item, "group_hash");
    planted.push_back(
        fmt::format("{}_{}_{}_1", Str(item, "type"), hash.substr(hash.size() - 3), index++));
  }
  for (const StringId name : Found().collectives.name) found.emplace_back(Text(name));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, PartsOfCollectives) {
  Lines planted, found;
  for (const json& op : Planted("collectives"))
    for (const json& item : op.at("tasks"))
      planted.push_back(fmt::format(
          "{} {} of {} plane {} master {} {}->{} bytes {} {} {} notify {}", Str(item, "name"),
          Place(item), Int(op, "start_ns"), Int(item, "plane"), item.at("master").get<bool>(),
          Int(item, "local_rank"), Int(item, "remote_rank"), Int(item, "size"), Str(item, "link"),
          Str(item, "transport"), Int(item, "notify")));
  const CollectiveParts& parts = Found().parts;
  for (std::size_t i = 0; i < parts.Size(); ++i)
    found.push_back(fmt::format("{} {} of {} plane {} master {} {}->{} bytes {} {} {} notify {}",
                                Text(parts.name[i]), Place(Found(), Row(parts.task[i])),
                                Found().collectives.start[Row(parts.collective[i])], parts.plane[i],
                                parts.master[i] != 0, parts.local_rank[i], parts.remote_rank[i],
                                parts.bytes[i], NameOf(LinkTypes(), parts.link[i]),
                                NameOf(TransportTypes(), parts.transport[i]), parts.notify[i]));
  ExpectSame(found, planted);
}

// ---- framework

TEST_P(GeneratedTruth, Operators) {
  Lines planted, found;
  const auto start = [&](const json& parent) {
    return parent.is_null() ? std::int64_t{-1}
                            : Int(Planted("host_ops").at(parent.get<std::size_t>()), "start_ns");
  };
  for (const json& item : Planted("host_ops"))
    planted.push_back(
        fmt::format("{} {} {}..{} in {} sequence {} of {} {} {} {}", Str(item, "name"),
                    Int(item, "tid"), Int(item, "start_ns"), Int(item, "end_ns"),
                    start(item.at("parent")), Int(item, "sequence"), Int(item, "forward_thread"),
                    item.value("shapes", ""), item.value("types", ""), item.value("stack", "")));
  const TorchOps& ops = Found().ops;
  for (std::size_t i = 0; i < ops.Size(); ++i)
    found.push_back(fmt::format("{} {} {}..{} in {} sequence {} of {} {} {} {}", Text(ops.name[i]),
                                ops.thread[i], ops.start[i], ops.End(i),
                                ops.parent[i] < 0 ? -1 : ops.start[Row(ops.parent[i])],
                                ops.sequence[i], ops.forward_thread[i], Text(ops.shapes[i]),
                                Text(ops.types[i]), Text(ops.stack[i])));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, QueuedWork) {
  Lines planted, found;
  if (Planted("queue").empty()) GTEST_SKIP() << "no task queue in this run";
  for (const json& item : Planted("queue")) {
    const json& op = Planted("host_ops").at(item.at("op").get<std::size_t>());
    planted.push_back(fmt::format("enqueue {} {} {} {}..{} in {}", Int(item, "correlation"),
                                  Str(item, "name"), Int(item, "enqueue_tid"),
                                  Int(item, "enqueue_start_ns"), Int(item, "enqueue_end_ns"),
                                  Int(op, "start_ns")));
    planted.push_back(fmt::format("dequeue {} {} {} {}..{} in -1", Int(item, "correlation"),
                                  Str(item, "name"), Int(item, "dequeue_tid"),
                                  Int(item, "dequeue_start_ns"), Int(item, "dequeue_end_ns")));
  }
  const QueueRanges& queue = Found().queue;
  for (std::size_t i = 0; i < queue.Size(); ++i) {
    ASSERT_GE(queue.partner[i], 0);
    EXPECT_EQ(queue.correlation[Row(queue.partner[i])], queue.correlation[i]);
    found.push_back(fmt::format("{} {} {} {} {}..{} in {}",
                                queue.dequeue[i] != 0 ? "dequeue" : "enqueue", queue.correlation[i],
                                Text(queue.name[i]), queue.thread[i], queue.start[i], queue.End(i),
                                queue.op[i] < 0 ? -1 : Found().ops.start[Row(queue.op[i])]));
  }
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, DeviceWorkBelongsToTheOperatorThatAskedForIt) {
  Lines planted, found;
  for (const json& item : Planted("flows")) {
    const json& op = Planted("host_ops").at(item.at("op").get<std::size_t>());
    planted.push_back(fmt::format("{} at {} {} correlation {}", Str(op, "name"),
                                  Int(op, "start_ns"), Int(item, "start_ns"),
                                  IntOr(item, "correlation", -1)));
  }
  const DeviceLinks& links = Found().links;
  for (std::size_t i = 0; i < links.Size(); ++i) {
    const std::size_t op = Row(links.op[i]);
    found.push_back(
        fmt::format("{} at {} {} correlation {}", Text(Found().ops.name[op]), Found().ops.start[op],
                    links.task[i] >= 0 ? Found().tasks.start[Row(links.task[i])]
                                       : Found().collectives.start[Row(links.collective[i])],
                    links.correlation[i]));
  }
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, Steps) {
  Lines planted, found;
  for (const json& item : Planted("steps"))
    planted.push_back(fmt::format("{} {}..{} {}..{}", Int(item, "id"), Int(item, "host_start_ns"),
                                  Int(item, "host_end_ns"), Int(item, "device_start_ns"),
                                  Int(item, "device_end_ns")));
  const Steps& steps = Found().steps;
  for (std::size_t i = 0; i < steps.Size(); ++i)
    found.push_back(fmt::format("{} {}..{} {}..{}", steps.id[i], steps.start[i], steps.end[i],
                                steps.device_start[i], steps.device_end[i]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, BackwardOperatorsKnowTheirForwardOperators) {
  Lines planted, found;
  const json& ops = Planted("host_ops");
  for (const json& item : Planted("fwd_bwd"))
    planted.push_back(fmt::format("{} {} {}", Int(item, "sequence"),
                                  Int(ops.at(item.at("forward").get<std::size_t>()), "start_ns"),
                                  Int(ops.at(item.at("backward").get<std::size_t>()), "start_ns")));
  const BackwardPairs& pairs = Found().backward;
  for (std::size_t i = 0; i < pairs.Size(); ++i)
    found.push_back(fmt::format("{} {} {}", pairs.sequence[i],
                                Found().ops.start[Row(pairs.forward[i])],
                                Found().ops.start[Row(pairs.backward[i])]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, PythonCallsWithModulesByTheirOrdinal) {
  Lines planted, found;
  std::map<std::string, std::vector<std::string>> modules;  // class -> modules, as they appear
  std::vector<json> items = Planted("python").get<std::vector<json>>();
  std::sort(items.begin(), items.end(),
            [](const json& a, const json& b) { return Int(a, "start_ns") < Int(b, "start_ns"); });
  for (const json& item : items) {
    std::string name = Str(item, "name");
    if (const auto at = name.find("######"); at != std::string::npos) {
      std::vector<std::string>& known = modules[name.substr(0, at)];
      auto ordinal = std::find(known.begin(), known.end(), name);
      if (ordinal == known.end()) ordinal = known.insert(ordinal, name);
      name = fmt::format("{}_{}", name.substr(0, at), ordinal - known.begin());
    }
    planted.push_back(fmt::format("{} {} {}..{}", name, Int(item, "tid"), Int(item, "start_ns"),
                                  Int(item, "end_ns")));
  }
  const PythonCalls& calls = Found().python;
  for (std::size_t i = 0; i < calls.Size(); ++i)
    found.push_back(fmt::format("{} {} {}..{}", Text(calls.name[i]), calls.thread[i],
                                calls.start[i], calls.End(i)));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, GarbageCollections) {
  Lines planted, found;
  for (const json& item : Planted("gc"))
    planted.push_back(fmt::format("{}..{}", Int(item, "start_ns"), Int(item, "end_ns")));
  const GarbageCollections& collections = Found().garbage_collections;
  for (std::size_t i = 0; i < collections.Size(); ++i)
    found.push_back(
        fmt::format("{}..{}", collections.start[i], collections.start[i] + collections.dur[i]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, Marks) {
  Lines planted, found;
  for (const json& item : Planted("mstx")) {
    const json& device = item.at("device");
    planted.push_back(fmt::format(
        "{} {} {} {} {} {}..{} device {}..{}", Int(item, "mark"), Int(item, "event_type"),
        Str(item, "domain"), Str(item, "message"), Int(item, "tid"), Int(item, "start_ns"),
        Int(item, "end_ns"), device.is_null() ? -1 : Int(device, "start_ns"),
        device.is_null() ? -1 : Int(device, "end_ns")));
  }
  const Marks& marks = Found().marks;
  for (std::size_t i = 0; i < marks.Size(); ++i)
    found.push_back(fmt::format("{} {} {} {} {} {}..{} device {}..{}", marks.mark_id[i],
                                marks.event_type[i], Text(marks.domain[i]), Text(marks.message[i]),
                                marks.thread[i], marks.start[i], marks.End(i),
                                marks.device_start[i],
                                marks.device_start[i] + std::max<TimeNs>(marks.device_dur[i], 0)));
  ExpectSame(found, planted);
}

// ---- memory

TEST_P(GeneratedTruth, AllocatorEvents) {
  Lines planted, found;
  const auto action = [](const std::string& kind) {
    return kind == "malloc" ? 0 : kind == "free" ? 1 : 2;
  };
  for (const json& item : Planted("memory"))
    planted.push_back(fmt::format("{} {} {} of {} {} {} {} stream {} by {}", Int(item, "time_ns"),
                                  action(Str(item, "kind")), Int(item, "address"),
                                  Int(item, "size"), Int(item, "allocated"), Int(item, "reserved"),
                                  Int(item, "active"), Int(item, "stream_ptr"), Int(item, "tid")));
  const AllocatorEvents& events = Found().allocations;
  for (std::size_t i = 0; i < events.Size(); ++i)
    found.push_back(fmt::format("{} {} {} of {} {} {} {} stream {} by {}", events.time[i],
                                events.action[i], events.address[i], events.bytes[i],
                                events.allocated[i], events.reserved[i], events.active[i],
                                events.stream[i], events.thread[i]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, MemoryOfOperators) {
  Lines planted, found;
  for (const json& item : Planted("op_memory"))
    planted.push_back(fmt::format("{} {} {} {} {} {}", Int(item, "time_ns"), Str(item, "name"),
                                  Int(item, "address"), Int(item, "size"), Int(item, "allocated"),
                                  Int(item, "reserved")));
  const OpMemory& memory = Found().op_memory;
  for (std::size_t i = 0; i < memory.Size(); ++i)
    found.push_back(fmt::format("{} {} {} {} {} {}", memory.time[i], Text(memory.name[i]),
                                memory.address[i], memory.bytes[i], memory.allocated[i],
                                memory.reserved[i]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, SamplesOfDeviceMemory) {
  Lines planted, found;
  for (const json& item : Planted("device_memory"))
    planted.push_back(fmt::format("{} {} {}", Int(item, "time_ns"), item.at("device").get<bool>(),
                                  Int(item, "hbm")));
  const DeviceMemory& memory = Found().device_memory;
  for (std::size_t i = 0; i < memory.Size(); ++i)
    found.push_back(
        fmt::format("{} {} {}", memory.time[i], memory.whole_device[i] != 0, memory.hbm[i]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, SamplesOfModuleMemory) {
  Lines planted, found;
  for (const json& item : Planted("module_memory"))
    planted.push_back(
        fmt::format("{} {} {}", Int(item, "time_ns"), Str(item, "name"), Int(item, "reserved")));
  const ModuleMemory& memory = Found().module_memory;
  for (std::size_t i = 0; i < memory.Size(); ++i)
    found.push_back(fmt::format("{} {} {}", memory.time[i], NameOf(Modules(), memory.module[i]),
                                memory.reserved[i]));
  ExpectSame(found, planted);
}

TEST_P(GeneratedTruth, FrequencyInForceAfterEachChange) {
  if (!Stars()) GTEST_SKIP() << "not recorded on this chip";
  const CoreClocks& clocks = Found().core_clocks;
  for (const json& item : Planted("frequency")) {
    if (Int(item, "time_ns") < Found().info.devices.at(0).begin) continue;
    std::int64_t in_force = -1;
    for (std::size_t i = 0; i < clocks.Size(); ++i)
      if (clocks.start[i] <= Int(item, "time_ns")) in_force = clocks.mhz[i];
    EXPECT_EQ(in_force, Int(item, "mhz"));
  }
}

TEST_P(GeneratedTruth, NothingIsLeftOutButTheKernelFromBeforeTheStart) {
  EXPECT_EQ(Found().info.level, 1);
  EXPECT_EQ(Found().info.rank, Int(Truth(), "rank"));
  EXPECT_LE(Found().issues.Lines().size(), 1u)
      << fmt::format("{}", fmt::join(Found().issues.Lines(), "\n"));
}

// ---- compiled graphs: kernels that were handed over when their model was loaded

class GeneratedGraphs : public GeneratedTruth {};

TEST_P(GeneratedGraphs, KernelsBelongToTheModelThatWasLoadedWithThem) {
  Lines planted, found;
  for (const json& item : Planted("graph_kernels"))
    planted.push_back(fmt::format("{} of {} task {} {}..{}", Str(item, "name"), Int(item, "model"),
                                  Int(item, "task"), Int(item, "start_ns"), Int(item, "end_ns")));
  const Kernels& kernels = Found().kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const std::size_t task = Row(kernels.task[i]);
    found.push_back(fmt::format("{} of {} task {} {}..{}", Text(kernels.name[i]),
                                Found().tasks.model[task], Found().tasks.task_id[task],
                                Found().tasks.start[task], Found().tasks.end[task]));
  }
  ExpectSame(found, planted);
}

TEST_P(GeneratedGraphs, CallsOfTheRunAndOfTheLoad) {
  Lines planted, found;
  for (const json& item : Planted("calls"))
    planted.push_back(fmt::format("{} {} {} {}..{}", Int(item, "level"), Str(item, "name"),
                                  Int(item, "tid"), Int(item, "start_ns"), Int(item, "end_ns")));
  const HostCalls& calls = Found().calls;
  for (std::size_t i = 0; i < calls.Size(); ++i)
    found.push_back(fmt::format("{} {} {} {}..{}", static_cast<int>(calls.level[i]),
                                Text(calls.name[i]), calls.thread[i], calls.start[i],
                                calls.End(i)));
  ExpectSame(found, planted);
}

TEST_P(GeneratedGraphs, RunsOfModels) {
  Lines planted, found;
  for (const json& item : Planted("model_runs"))
    planted.push_back(fmt::format("{} {} {}..{}", Int(item, "model"), Int(item, "index"),
                                  Int(item, "start_ns"), Int(item, "end_ns")));
  if (planted.empty()) GTEST_SKIP() << "no runs were recorded";
  const ModelIterations& runs = Found().model_iterations;
  for (std::size_t i = 0; i < runs.Size(); ++i)
    found.push_back(fmt::format("{} {} {}..{}", runs.model[i], runs.iteration[i], runs.start[i],
                                runs.start[i] + runs.dur[i]));
  ExpectSame(found, planted);
}

INSTANTIATE_TEST_SUITE_P(Captures, GeneratedGraphs, testing::Values("head_steady", "head_hard"),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(Captures, GeneratedTruth,
                         testing::Values("stars", "stars_odd_clock", "stars_again", "hwts",
                                         "no_queue"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace mpa::raw
