// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/diagnosis/part/part.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

KernelRow KernelOf(std::string name, TimeNs dur) {
  KernelRow kernel;
  kernel.name = std::move(name);
  kernel.dur = dur;
  return kernel;
}

TEST(TuningListTest, NamesKernelsOfAllRanksOnceAndTheLongestFirst) {
  RankDiagnosis first, second;
  first.analyzers.on_some_cores.rows = {KernelOf("MatMul", 30), KernelOf("Add", 10)};
  second.analyzers.on_some_cores.rows = {KernelOf("Cast", 20), KernelOf("MatMul", 5)};
  second.analyzers.without_bound.rows = {KernelOf("Mul", 90), KernelOf("Add", 80)};
  EXPECT_EQ(TuningList({{0, &first}, {1, &second}}),
            "{\"tune_ops_name\":[\"MatMul\",\"Cast\",\"Add\",\"Mul\"]}\n");
}

TEST(TuningListTest, HasTenNamesOfEitherKind) {
  RankDiagnosis rank;
  for (int i = 0; i < 12; ++i)
    rank.analyzers.without_bound.rows.push_back(
        KernelOf(std::string(1, static_cast<char>('a' + i)), 100 - i));
  EXPECT_EQ(TuningList({{0, &rank}}),
            R"({"tune_ops_name":["a","b","c","d","e","f","g","h","i","j"]})"
            "\n");
}

TEST(TuningListTest, IsEmptyWithoutSuchKernels) {
  const RankDiagnosis rank;
  EXPECT_EQ(TuningList({{0, &rank}}), "");
}

}  // namespace
}  // namespace mpa
