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

}  // namespace mpa
