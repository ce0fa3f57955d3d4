// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/leaf.h"

namespace mpa {

std::string_view NameOf(Leaf leaf) {
  constexpr std::array<std::string_view, kLeaves> kNames = {"comp.attention",
                                                            "comp.conv",
                                                            "comp.matmul",
                                                            "comp.gmm",
                                                            "comp.mc2",
                                                            "comp.vector",
                                                            "comp.format",
                                                            "comp.move",
                                                            "comp.aicpu",
                                                            "comp.other",
                                                            "comm.transfer",
                                                            "comm.slow",
                                                            "comm.inner_wait",
                                                            "comm.inner_idle",
                                                            "comm.unsplit",
                                                            "comm.bubble",
                                                            "comm.wait_peer",
                                                            "copy.h2d",
                                                            "copy.d2h",
                                                            "copy.d2d",
                                                            "free.gc",
                                                            "free.checkpoint",
                                                            "free.dataloader",
                                                            "free.sync.scalar",
                                                            "free.copy",
                                                            "free.sync.explicit",
                                                            "free.compile",
                                                            "free.aclop",
                                                            "free.memory",
                                                            "free.dispatch.comm",
                                                            "free.dispatch.cann",
                                                            "free.dispatch.op",
                                                            "free.python",
                                                            "free.queue",
                                                            "free.launch_latency",
                                                            "free.stream_wait",
                                                            "free.device_queue",
                                                            "free.host_idle",
                                                            "free.unrecorded",
                                                            "free.unknown"};
  return kNames[static_cast<std::size_t>(leaf)];
}

std::optional<Leaf> LeafNamed(std::string_view name) {
  for (std::size_t leaf = 0; leaf < kLeaves; ++leaf) {
    if (NameOf(static_cast<Leaf>(leaf)) == name) return static_cast<Leaf>(leaf);
  }
  return std::nullopt;
}

std::string_view TitleOf(Leaf leaf) {
  constexpr std::array<std::string_view, kLeaves> kTitles = {"attention",
                                                             "convolution",
                                                             "matmul",
                                                             "grouped matmul",
                                                             "fused with communication",
                                                             "vector",
                                                             "format conversion",
                                                             "copy kernels",
                                                             "AI CPU",
                                                             "other kernels",
                                                             "transfer",
                                                             "slow link",
                                                             "waiting within",
                                                             "idle within",
                                                             "communication",
                                                             "bubble",
                                                             "waiting for ranks",
                                                             "copy to device",
                                                             "copy to host",
                                                             "copy on device",
                                                             "garbage collection",
                                                             "checkpoint",
                                                             "data loader",
                                                             "scalar reads",
                                                             "blocking copies",
                                                             "synchronising",
                                                             "compiling",
                                                             "legacy operators",
                                                             "allocation",
                                                             "launching collectives",
                                                             "CANN calls",
                                                             "operator calls",
                                                             "Python",
                                                             "task queue",
                                                             "launch latency",
                                                             "waits of streams",
                                                             "device queue",
                                                             "idle host",
                                                             "not recorded",
                                                             "unknown"};
  return kTitles[static_cast<std::size_t>(leaf)];
}

}  // namespace mpa
