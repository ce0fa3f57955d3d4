// SPDX-License-Identifier: Apache-2.0
// What is read from captures whose contents are known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "mpa/raw/session.h"
#include "raw/raw_captures.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

using nlohmann::json;
using test::PlantedCapture;
using Lines = std::vector<std::string>;

constexpr Parts kParts = Parts::kCann | Parts::kMarks;

std::string Text(const Session& session, StringId id) {
  return std::string(session.strings.View(id));
}

void ExpectSameLines(Lines expected, Lines found) {
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  Lines missing, surplus;
  std::set_difference(expected.begin(), expected.end(), found.begin(), found.end(),
                      std::back_inserter(missing));
  std::set_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                      std::back_inserter(surplus));
  EXPECT_EQ(missing.size() + surplus.size(), 0u)
      << "missing " << missing.size() << ", first: " << (missing.empty() ? "" : missing[0])
      << "\nsurplus " << surplus.size() << ", first: " << (surplus.empty() ? "" : surplus[0]);
}

// Shapes, types and formats of the inputs or outputs of a planted set of tensors.
std::string PlantedTensors(const json& tensors, int side) {
  std::string shapes, types, formats;
  for (const json& tensor : tensors) {
    if (tensor[0] != side) continue;
    if (!types.empty()) {
      shapes += ";";
      types += ";";
      formats += ";";
    }
    formats += tensor[1].get<std::string>();
    types += tensor[2].get<std::string>();
    for (std::size_t i = 0; i < tensor[3].size(); ++i) {
      shapes += (i > 0 ? "," : "") + tensor[3][i].dump();
    }
  }
  return types.empty() ? "N/A|N/A|N/A" : fmt::format("\"{}\"|{}|{}", shapes, types, formats);
}

std::string TimesOf(const json& task) {
  return fmt::format("{} {} {:.3f}", task["start_ns"].get<TimeNs>(), task["end_ns"].get<TimeNs>(),
                     task["dur_ns"].get<double>());
}

std::string TaskPlace(const json& task) {
  return fmt::format("{} {} {} {}", task["stream"].get<int>(), task["task"].get<int>(),
                     task["batch"].get<int>(), task["context"].get<std::int64_t>());
}

std::string TimesOf(const Tasks& tasks, std::size_t row) {
  return fmt::format("{} {} {:.3f}", tasks.start[row], tasks.end[row], tasks.Exact(row));
}

std::string TaskPlace(const Tasks& tasks, std::size_t row) {
  return fmt::format("{} {} {} {}", tasks.stream[row], tasks.task_id[row], tasks.batch[row],
                     tasks.context[row]);
}

Lines PlantedKernels(const json& truth) {
  const bool level0 = truth["options"]["level"] == "l0";
  Lines lines;
  for (const json& kernel : truth["kernels"]) {
    if (kernel.value("before_start", false)) continue;
    const json& tensors = truth["tensor_sets"][kernel["tensors"].get<std::size_t>()];
    const auto text = [&](const char* key) {
      return level0 ? "N/A" : kernel[key].get<std::string>();
    };
    lines.push_back(fmt::format(
        "{} {} {} {} hf32 {} {} {} {}", kernel["name"].get<std::string>(), text("type"),
        text("core"), kernel["host_task_type"].get<std::string>(),
        level0 ? "N/A" : (kernel["hf32"] != 0 ? "YES" : "NO"),
        level0 ? "N/A|N/A|N/A" : PlantedTensors(tensors, 0),
        level0 ? "N/A|N/A|N/A" : PlantedTensors(tensors, 1),
        fmt::format("{} {} blocks {} {} issued {} launched {}", TaskPlace(kernel), TimesOf(kernel),
                    kernel["blocks"].get<int>(), kernel["mix_blocks"].get<int>(),
                    kernel["issued_ns"].get<TimeNs>(), kernel["launch_ns"].get<TimeNs>())));
  }
  return lines;
}

Lines FoundKernels(const Session& session) {
  const Kernels& kernels = session.kernels;
  const Tasks& tasks = session.tasks;
  Lines lines;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(kernels.task[i]);
    EXPECT_EQ(tasks.detail[task], static_cast<std::int32_t>(i));
    const auto text = [&](StringId id) { return Text(session, id); };
    const auto call = static_cast<std::size_t>(tasks.call[task]);
    lines.push_back(fmt::format(
        "{} {} {} {} hf32 {} {}|{}|{} {}|{}|{} {}", text(kernels.name[i]), text(kernels.op_type[i]),
        text(kernels.core[i]), text(tasks.host_type[task]), text(kernels.hf32[i]),
        text(kernels.input_shapes[i]), text(kernels.input_types[i]), text(kernels.input_formats[i]),
        text(kernels.output_shapes[i]), text(kernels.output_types[i]),
        text(kernels.output_formats[i]),
        fmt::format("{} {} blocks {} {} issued {} launched {}", TaskPlace(tasks, task),
                    TimesOf(tasks, task), kernels.blocks[i], kernels.mix_blocks[i],
                    tasks.issued[task], tasks.call[task] < 0 ? -1 : session.calls.start[call])));
  }
  return lines;
}

std::string TaskLine(const std::string& place, TimeNs start, TimeNs end, TimeNs issued) {
  return fmt::format("{} {} {} issued {}", place, start, end, issued);
}

std::string TaskLine(const json& task) {
  return TaskLine(TaskPlace(task), task["start_ns"], task["end_ns"], task["issued_ns"]);
}

// All tasks: kernels, the groups around some of them, parts of collectives and others.
Lines PlantedTasks(const json& truth) {
  Lines lines;
  for (const json& kernel : truth["kernels"]) {
    if (kernel.value("before_start", false)) continue;
    lines.push_back(TaskLine(kernel));
    if (!kernel.contains("outer_start_ns")) continue;
    json outer = kernel;
    outer["context"] = kNoContext;
    outer["start_ns"] = kernel["outer_start_ns"];
    outer["end_ns"] = kernel["outer_end_ns"];
    lines.push_back(TaskLine(outer));
  }
  for (const json& task : truth["tasks"]) lines.push_back(TaskLine(task));
  for (const json& collective : truth["collectives"]) {
    for (const json& task : collective["tasks"]) lines.push_back(TaskLine(task));
  }
  return lines;
}

Lines FoundTasks(const Session& session) {
  const Tasks& tasks = session.tasks;
  Lines lines;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    lines.push_back(TaskLine(TaskPlace(tasks, i), tasks.start[i], tasks.end[i], tasks.issued[i]));
  }
  return lines;
}

Lines PlantedCalls(const json& truth, TimeNs begin) {
  Lines lines;
  for (const json& call : truth["cann_apis"]) {
    if (call["end_ns"].get<TimeNs>() < begin) continue;
    lines.push_back(fmt::format("{} {} {} {} {}", call["level"].get<int>(),
                                call["name"].get<std::string>(), call["tid"].get<int>(),
                                call["start_ns"].get<TimeNs>(), call["end_ns"].get<TimeNs>()));
  }
  return lines;
}

Lines FoundCalls(const Session& session) {
  const HostCalls& calls = session.calls;
  Lines lines;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    const bool part = calls.level[i] == Level::kCommunication;
    lines.push_back(fmt::format("{} {} {} {} {}", static_cast<int>(calls.level[i]),
                                Text(session, part ? calls.item[i] : calls.name[i]),
                                calls.thread[i], calls.start[i], calls.End(i)));
  }
  return lines;
}

Lines PlantedCopies(const json& truth) {
  Lines lines;
  for (const json& task : truth["tasks"]) {
    if (!task.contains("size")) continue;
    lines.push_back(fmt::format("{} {} {}", task["start_ns"].get<TimeNs>(),
                                task["size"].get<std::int64_t>(), task["direction"].get<int>()));
  }
  return lines;
}

// Those whose size the host recorded.
Lines FoundCopies(const Session& session) {
  Lines lines;
  const Tasks& tasks = session.tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (tasks.copy_bytes[i] == 0) continue;
    lines.push_back(
        fmt::format("{} {} {}", tasks.start[i], tasks.copy_bytes[i], tasks.copy_direction[i]));
  }
  return lines;
}

Lines PlantedMarks(const json& truth) {
  Lines lines;
  for (const json& mark : truth["mstx"]) {
    const json& device = mark["device"];
    const auto time = [&](const char* of_range) {
      if (device.is_null()) return TimeNs{-1};
      return device.value(of_range, device.value("time_ns", TimeNs{-1}));
    };
    lines.push_back(fmt::format("{} {} {} {} {} {} {} device {} {}", mark["mark"].get<int>(),
                                mark["event_type"].get<int>(), mark["domain"].get<std::string>(),
                                mark["message"].get<std::string>(), mark["tid"].get<int>(),
                                mark["start_ns"].get<TimeNs>(), mark["end_ns"].get<TimeNs>(),
                                time("start_ns"), time("end_ns")));
  }
  return lines;
}

Lines FoundMarks(const Session& session) {
  const Marks& marks = session.marks;
  Lines lines;
  for (std::size_t i = 0; i < marks.Size(); ++i) {
    lines.push_back(
        fmt::format("{} {} {} {} {} {} {} device {} {}", marks.mark_id[i], marks.event_type[i],
                    Text(session, marks.domain[i]), Text(session, marks.message[i]),
                    marks.thread[i], marks.start[i], marks.End(i), marks.device_start[i],
                    marks.device_start[i] < 0 ? -1 : marks.device_start[i] + marks.device_dur[i]));
  }
  return lines;
}

class PlantedCann : public testing::TestWithParam<const char*> {};

TEST_P(PlantedCann, IsReadToTheNanosecond) {
  const auto captures = test::SharedRawCaptures(GetParam());
  MPA_SKIP_WITHOUT(captures);
  for (const PlantedCapture& capture : captures) {
    const Session session = ReadSession(capture.path, kParts);
    ExpectSameLines(PlantedKernels(capture.truth), FoundKernels(session));
    ExpectSameLines(PlantedTasks(capture.truth), FoundTasks(session));
    ExpectSameLines(PlantedCalls(capture.truth, session.info.begin), FoundCalls(session));
    if (session.info.level > 0) ExpectSameLines(PlantedCopies(capture.truth), FoundCopies(session));
    ExpectSameLines(PlantedMarks(capture.truth), FoundMarks(session));
    EXPECT_EQ(session.issues.Lines(), Lines());
  }
}

INSTANTIATE_TEST_SUITE_P(Complete, PlantedCann,
                         testing::Values("level0", "level1", "stack_mstx_gc", "hwts", "two_ranks"));

// A file that was cut, and the time stamp of its last whole record.
struct Cut {
  std::string file;
  std::uint64_t last_stamp = 0;
};

Cut CutOf(const PlantedCapture& capture, std::string_view stem, std::size_t stamp_offset) {
  for (const json& cut : capture.truth["cuts"]) {
    const auto file = cut["file"].get<std::string>();
    if (file.find(stem) == std::string::npos) continue;
    const std::string bytes = test::ReadAll(capture.path / file);
    EXPECT_EQ(bytes.size(), cut["kept"].get<std::size_t>());
    const auto size = cut["record"].get<std::size_t>();
    const std::size_t last = bytes.size() / size * size - size;
    Cut found{.file = file};
    std::memcpy(&found.last_stamp, bytes.data() + last + stamp_offset, sizeof found.last_stamp);
    return found;
  }
  return {};
}

// Of kernels only what the device records.
Lines DeviceLines(const json& truth, const std::function<bool(const json&)>& keeps) {
  Lines lines;
  for (const json& kernel : truth["kernels"]) {
    if (kernel.value("before_start", false) || !keeps(kernel)) continue;
    lines.push_back(TaskPlace(kernel) + " " + TimesOf(kernel));
  }
  return lines;
}

Lines DeviceLines(const Session& session) {
  Lines lines;
  for (const std::int32_t task : session.kernels.task) {
    const auto row = static_cast<std::size_t>(task);
    lines.push_back(TaskPlace(session.tasks, row) + " " + TimesOf(session.tasks, row));
  }
  return lines;
}

bool HasCount(const Session& session, std::string_view what) {
  const Lines lines = session.issues.Lines();
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.starts_with(what); });
}

TEST(CutCann, KeepsTheKernelsWhoseEndTheDeviceRecorded) {
  const auto captures = test::SharedRawCaptures("truncated_device");
  MPA_SKIP_WITHOUT(captures);
  const auto& truth = captures[0].truth;
  const Cut cut = CutOf(captures[0], "stars_soc", 8);
  const Session session = ReadSession(captures[0].path, kParts);
  ExpectSameLines(DeviceLines(truth,
                              [&](const json& kernel) {
                                return kernel["end_tick"].get<std::uint64_t>() <= cut.last_stamp;
                              }),
                  DeviceLines(session));
  EXPECT_TRUE(HasCount(session, "file cut off inside a record, read up to there"));
}

TEST(CutCann, KeepsTheKernelsWhoseLaunchTheHostRecorded) {
  const auto captures = test::SharedRawCaptures("truncated_task_track");
  MPA_SKIP_WITHOUT(captures);
  const auto& truth = captures[0].truth;
  const json& host = truth["clocks"]["host"];
  const std::uint64_t last = CutOf(captures[0], "task_track", 16).last_stamp;
  const TimeNs last_ns = host["monotonic"].get<TimeNs>() + host["offset_ns"].get<TimeNs>() +
                         (static_cast<TimeNs>(last) - host["count"].get<TimeNs>()) * 10;
  const Session session = ReadSession(captures[0].path, kParts);
  ExpectSameLines(
      DeviceLines(truth,
                  [&](const json& kernel) { return kernel["issued_ns"].get<TimeNs>() <= last_ns; }),
      DeviceLines(session));
}

TEST(CutCann, LosesNoKernelWithTheCallsAroundIt) {
  const auto captures = test::SharedRawCaptures("truncated_api_event");
  MPA_SKIP_WITHOUT(captures);
  const auto& truth = captures[0].truth;
  std::map<std::string, std::string> names;
  for (const json& kernel : truth["kernels"]) {
    names[TaskPlace(kernel)] = kernel["name"].get<std::string>();
  }
  const Session session = ReadSession(captures[0].path, kParts);
  ExpectSameLines(DeviceLines(truth, [](const json&) { return true; }), DeviceLines(session));
  const Kernels& kernels = session.kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(kernels.task[i]);
    // Without its operator a kernel has the name of its function.
    const StringId function = session.tasks.function[task];
    const std::string name = Text(session, kernels.name[i]);
    EXPECT_TRUE(kernels.name[i] == function || name == names[TaskPlace(session.tasks, task)])
        << name;
  }
}

TEST(CutCann, LosesTheShapesOfTheLastKernelsOnly) {
  const auto captures = test::SharedRawCaptures("truncated_tensor_info");
  MPA_SKIP_WITHOUT(captures);
  const auto& truth = captures[0].truth;
  const Session session = ReadSession(captures[0].path, kParts);
  ExpectSameLines(DeviceLines(truth, [](const json&) { return true; }), DeviceLines(session));
  const Lines planted = PlantedKernels(truth), found = FoundKernels(session);
  std::size_t whole = 0;
  for (const std::string& line : found) {
    whole += std::find(planted.begin(), planted.end(), line) != planted.end();
  }
  // As many operators have lost their tensors as records are lost; some have two records.
  const json& cut = truth["cuts"][0];
  const auto lost = (cut["written"].get<std::size_t>() - cut["kept"].get<std::size_t>()) / 256 + 1;
  EXPECT_GE(whole + lost, found.size());
  EXPECT_LT(whole, found.size());
}

}  // namespace
}  // namespace mpa::raw
