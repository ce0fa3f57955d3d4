// SPDX-License-Identifier: Apache-2.0
// The order in which findings are told.
#include <algorithm>
#include <functional>
#include <utility>

#include "diagnose.h"
#include "mpa/base/stable_sort.h"

namespace mpa {

std::vector<std::size_t> OrderOfFindings(const std::vector<FoundCause>& findings) {
  // Two that pay only together stand together, where the larger of them does.
  struct Block {
    std::vector<std::size_t> findings;
    TimeNs gain = 0;
  };
  std::vector<Block> blocks;
  bool joins = false;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!joins) blocks.emplace_back();
    blocks.back().findings.push_back(i);
    blocks.back().gain = std::max(blocks.back().gain, findings[i].gain);
    joins = findings[i].with_next;
  }
  StableSort(blocks, std::greater{}, &Block::gain);
  std::vector<std::size_t> order;
  for (const Block& block : blocks)
    order.insert(order.end(), block.findings.begin(), block.findings.end());
  return order;
}

}  // namespace mpa
