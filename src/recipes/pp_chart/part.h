// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::recipes::pp {

/// A marked piece of the forward or backward pass of a micro-batch, on the device.
struct PassBox {
  TimeNs start = 0, end = 0;
  std::int32_t step = -1;  ///< -1: in none
  bool forward = false;
};

struct PipelinePart {
  std::vector<PassBox> boxes;       ///< in order of start
  std::int64_t without_device = 0;  ///< marked pieces that were not recorded on the device
  std::string distributed_args, type;
  std::int64_t micro_batches = -1;
};

template <class Archive>
void serialize(Archive& archive, PassBox& box) {
  archive(box.start, box.end, box.step, box.forward);
}

template <class Archive>
void serialize(Archive& archive, PipelinePart& part) {
  archive(part.boxes, part.without_device, part.distributed_args, part.type, part.micro_batches);
}

using Ranks = std::vector<OfRank<PipelinePart>>;

}  // namespace mpa::recipes::pp
