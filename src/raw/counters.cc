// SPDX-License-Identifier: Apache-2.0
// Finds the kernel of each counter record and derives the metrics of the kernels.
#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "cann_stages.h"
#include "counter_table.h"

namespace mpa::raw {
namespace {

constexpr std::string_view kPlace = "counters";

std::vector<CountedKernel> KernelsOf(const Session& session, std::int64_t device) {
  const Tasks& tasks = session.tasks;
  std::vector<CountedKernel> kernels;
  for (std::size_t i = 0; i < session.kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(session.kernels.task[i]);
    if (tasks.device[task] != device) continue;
    CountedKernel& kernel = kernels.emplace_back();
    kernel.address = {tasks.stream[task], tasks.task[task], tasks.context[task]};
    kernel.start = tasks.start[task];
    kernel.end = tasks.end[task];
    kernel.row = i;
  }
  std::sort(kernels.begin(), kernels.end(), [](const CountedKernel& a, const CountedKernel& b) {
    return std::tie(a.address, a.start, a.row) < std::tie(b.address, b.start, b.row);
  });
  return kernels;
}

using Records = std::vector<const CounterRecord*>;

// In order of address and end; of one end in the order of the file.
Records Sorted(const std::vector<CounterRecord>& records, bool blocks) {
  Records sorted;
  for (const CounterRecord& record : records) {
    if (record.block == blocks) sorted.push_back(&record);
  }
  std::sort(sorted.begin(), sorted.end(), [](const CounterRecord* a, const CounterRecord* b) {
    return std::tie(a->address, a->end, a) < std::tie(b->address, b->end, b);
  });
  return sorted;
}

// Calls match(record, kernel) for each record that ends within a kernel of its address; when it
// returns true, the kernel takes no more records.
template <typename Match>
void MatchByTime(const Records& records, std::vector<CountedKernel>& kernels, Issues& issues,
                 Match match) {
  std::size_t next = 0;
  for (const CounterRecord* record : records) {
    while (next < kernels.size() &&
           (kernels[next].address < record->address ||
            (kernels[next].address == record->address && kernels[next].end < record->end))) {
      ++next;
    }
    const bool found = next < kernels.size() && kernels[next].address == record->address &&
                       kernels[next].start <= record->end;
    if (!found) {
      issues.Count("counters left out, they belong to no kernel", kPlace);
    } else if (match(*record, kernels[next])) {
      ++next;
    }
  }
}

// Records without times belong to the kernels of their address in order. If there are too many, the
// first ones belong to kernels that ended before the collection began.
void MatchByOrder(const Records& records, std::vector<CountedKernel>& kernels) {
  std::size_t next = 0;
  for (std::size_t first = 0; first < records.size();) {
    const TaskAddress& address = records[first]->address;
    std::size_t last = first;
    while (last < records.size() && records[last]->address == address) ++last;
    while (next < kernels.size() && kernels[next].address < address) ++next;
    std::size_t end = next;
    while (end < kernels.size() && kernels[end].address == address) ++end;
    if (last - first > end - next) first = last - (end - next);
    for (; first < last; ++first, ++next) kernels[next].record = records[first];
    next = end;
  }
}

void Add(const CounterValues& part, CounterValues& sum) {
  sum.cycles += part.cycles;
  for (std::size_t i = 0; i < sum.counts.size(); ++i) sum.counts[i] += part.counts[i];
}

void MatchStars(const std::vector<CounterRecord>& records, Session& session,
                std::vector<CountedKernel>& kernels) {
  MatchByTime(Sorted(records, false), kernels, session.issues,
              [](const CounterRecord& record, CountedKernel& kernel) {
                kernel.record = &record;
                return true;
              });
  MatchByTime(Sorted(records, true), kernels, session.issues,
              [&](const CounterRecord& block, CountedKernel& kernel) {
                const bool other_core = kernel.record != nullptr && kernel.record->mixed &&
                                        kernel.record->vector != block.vector;
                if (other_core && kernel.other_blocks < session.kernels.mix_blocks[kernel.row]) {
                  ++kernel.other_blocks;
                  Add(block.values, kernel.other_cores);
                }
                return false;
              });
}

}  // namespace

void ReadCounters(const DataFiles& files, const Side& side, const Device& device, bool wide_streams,
                  Session& session) {
  if (!side.task_based) return;
  const std::vector<CounterRecord> records =
      ReadCounterRecords(files, device.generation, side, wide_streams, session.issues);
  if (records.empty()) return;
  std::vector<CountedKernel> kernels = KernelsOf(session, device.id);
  if (device.generation == Generation::kHwts) {
    MatchByOrder(Sorted(records, false), kernels);
  } else {
    MatchStars(records, session, kernels);
  }

  const CounterTable table(session, device);
  Counters& counters = session.counters;
  if (counters.names.empty()) counters = table.columns();
  if (counters.names != table.columns().names) {
    session.issues.Count("counters of a device left out, they differ from those of the first one",
                         kPlace);
    return;
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const CountedKernel& a, const CountedKernel& b) { return a.row < b.row; });
  counters.values.reserve(counters.values.size() + kernels.size() * counters.names.size());
  for (const CountedKernel& kernel : kernels) {
    if (kernel.record == nullptr) continue;
    session.kernels.counters[kernel.row] = static_cast<std::int32_t>(counters.Size());
    table.AddRow(kernel, counters.values);
  }
}

}  // namespace mpa::raw
