// SPDX-License-Identifier: Apache-2.0
// How fast kernels that memory holds up move their tensors, beside what the counter of the memory
// says of their time.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/unit_loads.h"
#include "mpa/mfu/roofline.h"
#include "mpa/mfu/shapes.h"
#include "part.h"

namespace mpa::recipes::hardware {
namespace {

constexpr std::size_t kMostKernels = 50;

// Kernels of one type with the same tensors.
using Key = std::tuple<StringId, StringId, StringId, StringId>;  // type, shapes, types, outputs

struct Calls {
  std::size_t first_row = 0;
  std::int64_t count = 0;
  TimeNs time = 0;
  TimeNs measured = 0;   // with loads of units
  TimeNs by_memory = 0;  // of it, those to and from the memory are the greatest
};

class BoundKernels {
 public:
  BoundKernels(const RankTrace& trace, const Track& memory)
      : trace_(trace), kernels_(trace.kernels), memory_(memory) {}

  std::vector<MemoryKernels> Find() && {
    Collect();
    std::vector<std::pair<Key, MemoryKernels>> found;
    for (const auto& [key, calls] : calls_) {
      MemoryKernels kernels = Describe(calls);
      if (IsBound(calls, kernels)) found.emplace_back(key, std::move(kernels));
    }
    StableSort(found, std::greater{}, [](const auto& kernels) { return kernels.second.time; });
    if (found.size() > kMostKernels) found.resize(kMostKernels);
    AddCounter(found);
    std::vector<MemoryKernels> list;
    for (auto& [key, kernels] : found) list.push_back(std::move(kernels));
    return list;
  }

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }
  Key KeyOf(std::size_t row) const {
    return {kernels_.op_type[row], kernels_.shapes[row], kernels_.input_types[row],
            kernels_.output_shapes[row]};
  }

  void Collect() {
    const KernelLoads& loads = trace_.kernel_loads;
    for (std::size_t row = 0; row < kernels_.Size(); ++row) {
      if (kernels_.dur[row] <= 0) continue;
      const auto [found, is_new] = calls_.try_emplace(KeyOf(row), Calls{.first_row = row});
      Calls& calls = found->second;
      ++calls.count;
      calls.time += kernels_.dur[row];
      if (row >= loads.Size()) continue;
      const UnitLoads units = LoadsOf(loads, row);
      const std::int16_t most = BusiestLoad(units);
      if (most <= 0) continue;
      calls.measured += kernels_.dur[row];
      // The other units that move data do so between buffers of the core.
      if (std::max(units.mte2, units.mte3) == most) calls.by_memory += kernels_.dur[row];
    }
  }

  MemoryKernels Describe(const Calls& calls) const {
    const std::size_t row = calls.first_row;
    const StringId type = kernels_.op_type[row];
    const KernelTensors tensors =
        KernelTensors::Parse(View(kernels_.shapes[row]), View(kernels_.input_formats[row]),
                             View(kernels_.output_shapes[row]), View(kernels_.output_formats[row]));
    const std::int64_t bytes =
        BytesOf(tensors, ParseTensorNames(View(kernels_.input_types[row]))).all;
    return {.type = std::string(View(type != StringId::kEmpty ? type : kernels_.name[row])),
            .shapes = std::string(WithoutQuotes(View(kernels_.shapes[row]))),
            .count = calls.count,
            .time = calls.time,
            .bytes = static_cast<double>(bytes) * static_cast<double>(calls.count)};
  }

  // Measured loads decide. Without them a kernel counts if it moves its tensors at half the peak of
  // the memory or more: nothing else can hold it up much.
  bool IsBound(const Calls& calls, MemoryKernels& kernels) const {
    kernels.measured = calls.measured > 0;
    if (kernels.measured) return 2 * calls.by_memory >= calls.measured;
    constexpr double kMuch = 0.5;
    return memory_.limit > 0 && kernels.Rate() >= kMuch * memory_.limit;
  }

  // Samples are longer than most kernels: how much of their time these took says whether the
  // counter speaks of them.
  void AddCounter(std::vector<std::pair<Key, MemoryKernels>>& found) const {
    struct Seen {
      MemoryKernels* kernels = nullptr;
      std::size_t next = 0;  // the first sample that has not been counted
      TimeNs samples = 0;
    };
    std::map<Key, Seen> seen;
    for (auto& [key, kernels] : found) seen[key].kernels = &kernels;
    for (const std::size_t row : kernels_.RowsByStart()) {
      const auto place = seen.find(KeyOf(row));
      if (place == seen.end()) continue;
      Seen& own = place->second;
      const TimeNs begin = kernels_.start[row], end = kernels_.End(row);
      const auto first =
          std::partition_point(memory_.samples.begin(), memory_.samples.end(),
                               [&](const Sample& sample) { return sample.End() <= begin; });
      for (auto i = static_cast<std::size_t>(first - memory_.samples.begin());
           i < memory_.samples.size() && memory_.samples[i].start < end; ++i) {
        const Sample& sample = memory_.samples[i];
        const TimeNs overlap = std::min(end, sample.End()) - std::max(begin, sample.start);
        if (overlap <= 0) continue;
        own.kernels->counted += overlap;
        own.kernels->counter += sample.value * static_cast<double>(overlap);
        if (i < own.next) continue;
        own.next = i + 1;
        own.samples += sample.dur;
      }
    }
    for (auto& [key, own] : seen) {
      MemoryKernels& kernels = *own.kernels;
      if (kernels.counted == 0) continue;
      kernels.counter /= static_cast<double>(kernels.counted);
      kernels.of_samples = static_cast<double>(kernels.counted) / static_cast<double>(own.samples);
    }
  }

  const RankTrace& trace_;
  const Kernels& kernels_;
  const Track& memory_;
  std::map<Key, Calls> calls_;
};

}  // namespace

std::vector<MemoryKernels> KernelsBoundByMemory(const RankTrace& trace,
                                                const std::vector<Track>& tracks) {
  const auto memory = std::ranges::find_if(tracks, [](const Track& track) {
    return track.group == "HBM" && track.name == kReadAndWrite;
  });
  if (memory == tracks.end()) return {};
  return BoundKernels(trace, *memory).Find();
}

}  // namespace mpa::recipes::hardware
