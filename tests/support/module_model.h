// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/measure/module_tree.h"
#include "support/rank_builder.h"

namespace mpa::test {

// Net_0 calls Linear_0 and Linear_1, each with a matmul; Net_0 itself adds, between them.
//
//   0 ........................................... 100   nn.Module: Net_0
//      10 ............ 40                               nn.Module: Linear_0
//         12 mm 30                                      one kernel of 5 ns
//                          45 add 50                    one kernel of 2 ns
//                                   60 ......... 90     nn.Module: Linear_1
//                                      62 mm 80         two kernels of 7 and 8 ns
class ModuleModel {
 public:
  explicit ModuleModel(TimeNs first_linear = 5) {
    Module("nn.Module: Net_0", 0, 100);
    Module("nn.Module: Linear_0", 10, 40);
    Module("nn.Module: Linear_1", 60, 90);
    rank.Op("mm", 12, 30, thread);
    rank.LaunchedKernel(12, thread, first_linear, "MatMul");
    rank.Op("add", 45, 50, thread);
    rank.LaunchedKernel(45, thread, 2, "Add");
    rank.Op("mm", 62, 80, thread);
    rank.LaunchedKernel(62, thread, 7, "MatMul");
    rank.LaunchedKernel(70, thread, 8, "MatMul");
  }
  void Module(std::string_view name, TimeNs start, TimeNs end) {
    rank.trace.python_calls.Append(
        {.start = start, .dur = end - start, .name = rank.Text(name), .track = thread});
  }
  ModuleTrees Trees() const { return BuildModuleTrees(OpTree(rank.trace)); }

  RankBuilder rank;
  std::int32_t thread = rank.Thread(1);
};

}  // namespace mpa::test
