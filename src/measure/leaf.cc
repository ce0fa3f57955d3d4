// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/leaf.h"

#include <iterator>

namespace mpa {
namespace {

struct LeafTexts {
  std::string_view name, title;
};

// In the order of the enumeration.
constexpr LeafTexts kTexts[] = {
    {"comp.attention", "attention"},
    {"comp.conv", "convolution"},
    {"comp.matmul", "matmul"},
    {"comp.gmm", "grouped matmul"},
    {"comp.mc2", "fused with communication"},
    {"comp.vector", "vector"},
    {"comp.format", "format conversion"},
    {"comp.move", "copy kernels"},
    {"comp.aicpu", "AI CPU"},
    {"comp.other", "other kernels"},
    {"comm.transfer", "transfer"},
    {"comm.slow", "slow link"},
    {"comm.inner_wait", "waiting within"},
    {"comm.inner_idle", "idle within"},
    {"comm.unsplit", "communication"},
    {"comm.bubble", "bubble"},
    {"comm.wait_peer", "waiting for ranks"},
    {"copy.h2d", "copy to device"},
    {"copy.d2h", "copy to host"},
    {"copy.d2d", "copy on device"},
    {"free.gc", "garbage collection"},
    {"free.profiler", "profiler"},
    {"free.checkpoint", "checkpoint"},
    {"free.dataloader", "data loader"},
    {"free.sync.scalar", "scalar reads"},
    {"free.copy", "blocking copies"},
    {"free.sync.explicit", "synchronising"},
    {"free.compile", "compiling"},
    {"free.aclop", "legacy operators"},
    {"free.memory", "allocation"},
    {"free.dispatch.comm", "launching collectives"},
    {"free.dispatch.cann", "CANN calls"},
    {"free.dispatch.op", "operator calls"},
    {"free.python", "Python"},
    {"free.queue", "task queue"},
    {"free.launch_latency", "launch latency"},
    {"free.stream_wait", "waits of streams"},
    {"free.device_queue", "device queue"},
    {"free.host_idle", "idle host"},
    {"free.unrecorded", "not recorded"},
    {"free.unknown", "unknown"},
};
static_assert(std::size(kTexts) == kLeaves);

}  // namespace

std::string_view NameOf(Leaf leaf) { return kTexts[static_cast<std::size_t>(leaf)].name; }

std::string_view TitleOf(Leaf leaf) { return kTexts[static_cast<std::size_t>(leaf)].title; }

std::optional<Leaf> LeafNamed(std::string_view name) {
  for (std::size_t leaf = 0; leaf < kLeaves; ++leaf) {
    if (kTexts[leaf].name == name) return static_cast<Leaf>(leaf);
  }
  return std::nullopt;
}

}  // namespace mpa
