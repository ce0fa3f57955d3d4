// SPDX-License-Identifier: Apache-2.0
// FRAMEWORK: the files of torch_npu.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "record.h"
#include "stages.h"
#include "time_order.h"
#include "tlv.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;

void ReadCollections(const fs::path& file, const FrameworkClock& clock, Session& part) {
  constexpr std::size_t kSize = 24;
  GarbageCollections& collections = part.garbage_collections;
  ForEachFixedRecord<kSize>(file, part.issues, [&](const Record<kSize>& record) {
    const TimeNs start = clock.Ns(record.I64(8));
    const TimeNs end = clock.Ns(record.I64(16));
    if (!IsRange(start, end) || !clock.IsPlausible(start)) {
      return part.issues.Count("record left out, it is damaged", "torch.gc_record");
    }
    collections.Append({.start = start, .dur = end - start, .process = record.I64(0)});
  });
  collections.Reorder(RowsBy(collections.Size(), [&](std::size_t row) {
    return std::pair(collections.start[row], -collections.dur[row]);
  }));
}

void ReadAllocations(const fs::path& file, const FrameworkClock& clock, Session& part) {
  constexpr std::uint16_t kRecordType = 3;
  constexpr std::size_t kSize = 77;
  const TlvFile records(file, part.issues);
  AllocatorEvents& events = part.allocations;
  events.Reserve(records.Size());
  std::vector<RowTime> rows;
  rows.reserve(records.Size());
  for (const TlvFile::Run& run : records.runs()) {
    ForEachTlv(run.bytes, [&](std::uint16_t type, std::string_view value) {
      if (type != kRecordType || value.size() < kSize) return records.CountBad(1, part.issues);
      const Record<kSize> record(value.data());
      const TimeNs time = clock.Ns(record.I64(8));
      if (time < 0 || !clock.IsPlausible(time)) return records.CountBad(1, part.issues);
      rows.push_back({time, 0, events.Size()});
      events.Append({.time = time,
                     .address = record.U64(0),
                     .bytes = record.I64(16),
                     .allocated = record.I64(24),
                     .reserved = record.I64(32),
                     .active = record.I64(40),
                     .stream = record.U64(48),
                     .device_type = static_cast<std::int8_t>(record.U8(56)),
                     .device = static_cast<std::int8_t>(record.U8(57)),
                     .component = record.U8(58),
                     .action = record.U8(59),
                     .allocator = record.U8(60),
                     .process = record.I64(69),
                     .thread = record.I64(61)});
    });
  }
  events.Reorder(InOrder(std::move(rows)));
}

}  // namespace

void ReadFramework(const fs::path& directory, const FrameworkClock& clock, Parts wanted,
                   Session& part) {
  const auto read = [&](std::string_view name, auto reader) {
    if (fs::exists(directory / name)) reader(directory / name);
  };
  if (Intersects(wanted, Parts::kFramework)) {
    read("torch.op_range", [&](const fs::path& file) { ReadOperators(file, clock, wanted, part); });
    FindSteps(part.ops, part.strings, part.steps);
    FindBackwardPairs(part.ops, part.backward);
    read("torch.op_mark", [&](const fs::path& file) { ReadTaskQueue(file, clock, part); });
    FindEnqueuingOps(part.ops, part.queue);
    ReadPythonCalls(directory, clock, part);
    read("torch.gc_record", [&](const fs::path& file) { ReadCollections(file, clock, part); });
  }
  if (Intersects(wanted, Parts::kAllocations)) {
    read("torch.memory_usage", [&](const fs::path& file) { ReadAllocations(file, clock, part); });
    read("torch.param_tensor_info", [&](const fs::path& file) { ReadListedTensors(file, part); });
  }
}

// torch.python_tracer_func: calls and returns of Python functions, replayed thread by thread.

namespace {

constexpr std::string_view kFunctions = "torch.python_tracer_func";
constexpr std::uint16_t kHashType = 4;
constexpr std::size_t kFunctionSize = 33;

enum class Tag : std::uint8_t { kCall = 0, kReturn = 1, kCallC = 2, kReturnC = 3 };

struct PythonEvent {
  TimeNs time = 0;
  std::uint64_t key = 0;  // of the function
  Tag tag{};
};

struct Thread {
  std::int64_t process = -1, id = -1;
  std::vector<PythonEvent> events{};
};

// The meaning of the numbers of functions.
class FunctionNames {
 public:
  FunctionNames(const std::filesystem::path& file, Session& part) : strings_(part.strings) {
    const TlvFile records(file, part.issues);
    for (const TlvFile::Run& run : records.runs()) {
      ForEachTlv(run.bytes, [&](std::uint16_t type, std::string_view value) {
        if (type != kHashType || value.size() < 8) return records.CountBad(1, part.issues);
        const std::uint64_t key = Record<8>(value.data()).U64(0);
        ForEachTlv(value.substr(8), [&](std::uint16_t field, std::string_view text) {
          if (field == 1) names_[key] = strings_.Intern(text);
        });
      });
    }
  }

  StringId Of(std::uint64_t key) {
    const auto [found, is_new] = names_.try_emplace(key);
    if (is_new) found->second = strings_.Intern(fmt::format("{}", key));
    return found->second;
  }

 private:
  StringPool& strings_;
  std::unordered_map<std::uint64_t, StringId> names_;
};

// Modules are recorded as "<class>######<object>" and shown as "nn.Module: <class>_<ordinal>",
// counted by class on each thread.
class Modules {
 public:
  struct Module {
    StringId name{};
    std::int64_t ordinal = -1;  // -1: the function is not a module
  };

  explicit Modules(StringPool& strings) : strings_(strings) {}

  const Module& Of(StringId function) {
    const auto [found, is_new] = modules_.try_emplace(function);
    if (is_new) found->second = Number(function);
    return found->second;
  }

 private:
  Module Number(StringId function) {
    constexpr std::string_view kDelimiter = "######";
    const std::string_view text = strings_.View(function);
    const std::size_t at = text.find(kDelimiter);
    if (at == std::string_view::npos) return {.name = function};
    const std::string_view name = text.substr(0, at);
    const auto [ordinal, is_new] = ordinals_.try_emplace(text.substr(at + kDelimiter.size()));
    if (is_new) ordinal->second = counts_[name]++;
    return {.name = strings_.Intern(fmt::format("nn.Module: {}_{}", name, ordinal->second)),
            .ordinal = ordinal->second};
  }

  StringPool& strings_;
  std::unordered_map<StringId, Module> modules_;
  std::unordered_map<std::string_view, std::int64_t> ordinals_, counts_;  // views into the pool
};

std::vector<Thread> ReadThreads(const std::filesystem::path& file, const FrameworkClock& clock,
                                Issues& issues) {
  std::vector<Thread> threads;
  std::unordered_map<std::int64_t, std::size_t> numbers;
  ForEachFixedRecord<kFunctionSize>(file, issues, [&](const Record<kFunctionSize>& record) {
    const TimeNs time = clock.Ns(record.I64(0));
    const std::int64_t id = record.I64(8);
    const std::uint8_t tag = record.U8(32);
    if (tag > 3 || time < 0 || !clock.IsPlausible(time))
      return issues.Count("record left out, it is damaged", kFunctions);
    const auto [number, is_new] = numbers.try_emplace(id, threads.size());
    if (is_new) threads.push_back({.process = record.I64(16), .id = id});
    threads[number->second].events.push_back(
        {.time = time, .key = record.U64(24), .tag = static_cast<Tag>(tag)});
  });
  return threads;
}

void Replay(Thread& thread, FunctionNames& names, Session& part) {
  PythonCalls& calls = part.python;
  const auto before = [](const PythonEvent& a, const PythonEvent& b) { return a.time < b.time; };
  if (!std::ranges::is_sorted(thread.events, before)) {
    std::ranges::stable_sort(thread.events, before);
  }
  Modules modules(part.strings);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < thread.events.size(); ++i) {
    const PythonEvent& event = thread.events[i];
    if (event.tag == Tag::kReturn || event.tag == Tag::kReturnC) {
      if (open.empty()) continue;  // of a call from before the capture
      calls.dur[open.back()] = event.time - calls.start[open.back()];
      open.pop_back();
      continue;
    }
    const StringId function = names.Of(event.key);
    const Modules::Module module =
        event.tag == Tag::kCall ? modules.Of(function) : Modules::Module{.name = function};
    const std::int64_t parent = open.empty() ? 0 : calls.id[open.back()];
    open.push_back(calls.Size());
    calls.Append(
        {{.start = event.time, .dur = thread.events.back().time - event.time, .name = module.name},
         {.process = thread.process,
          .thread = thread.id,
          .id = static_cast<std::int64_t>(i),
          .parent_id = parent,
          .module_id = module.ordinal}});
  }
}

}  // namespace

void ReadPythonCalls(const std::filesystem::path& directory, const FrameworkClock& clock,
                     Session& part) {
  const std::filesystem::path hashes = directory / "torch.python_tracer_hash";
  const std::filesystem::path functions = directory / kFunctions;
  if (!std::filesystem::exists(hashes) || !std::filesystem::exists(functions)) return;
  FunctionNames names(hashes, part);
  for (Thread& thread : ReadThreads(functions, clock, part.issues)) {
    Replay(thread, names, part);
    thread.events = {};
  }
  PythonCalls& calls = part.python;
  const std::vector<std::size_t> order = RangesInOrder(calls.start, calls.dur);
  for (std::size_t i = order.size(); i < calls.Size(); ++i) {
    part.issues.Count("Python call left out, it is too long", kFunctions);
  }
  calls.Reorder(order);
}

}  // namespace mpa::raw
