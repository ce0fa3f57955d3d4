// SPDX-License-Identifier: Apache-2.0
// torch.param_tensor_info made by hand: the memory of parameters, gradients and states.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpa/raw/summaries.h"
#include "raw/framework_bytes.h"
#include "raw/stages.h"
#include "support/files.h"

namespace mpa::raw {
namespace {

using test::Bytes;
using test::Tlv;

using Lines = std::vector<std::string>;

// A tensor of FP32 on a device of that type.
std::string TensorText(std::uint64_t object, std::uint64_t address, std::string_view sizes,
                       int device_type = 20) {
  return fmt::format("0x{:x};{};float;4;{};1;{};0", object,
                     address == 0 ? "" : fmt::format("0x{:x}", address), sizes, device_type);
}

// A record of one class. Versions of torch_npu number the fields from 1 or from 2.
std::string ParameterBytes(std::uint16_t field, std::string_view text) {
  return Tlv(5, Bytes(std::uint64_t{99}) + Tlv(field, text));
}

class ListedTensorFile : public testing::Test {
 protected:
  /// "role name address bytes"
  Lines Read(const std::string& bytes) {
    directory_.Write("torch.param_tensor_info", bytes);
    session_ = Session();
    ReadFramework(directory_.path(), FrameworkClock{}, Parts::kAllocations, session_);
    const char* const kRoles[] = {"?", "parameter", "gradient", "state"};
    Lines lines;
    const ListedTensors& listed = session_.listed_tensors;
    for (std::size_t i = 0; i < listed.Size(); ++i) {
      lines.push_back(fmt::format("{} {} {:x} {}", kRoles[static_cast<int>(listed.role[i])],
                                  session_.strings.View(listed.name[i]), listed.address[i],
                                  listed.bytes[i]));
    }
    return lines;
  }

  test::TempDir directory_;
  Session session_;
};

// The optimizer lists the weight of the module again; its counter is on the host (type 0).
TEST_F(ListedTensorFile, ModulesAndOptimizersListEachTensorOnce) {
  const std::string weight = TensorText(1, 0x1000, "3,5"), gradient = TensorText(2, 0x2000, "3,5");
  for (const std::uint16_t first : {std::uint16_t{1}, std::uint16_t{2}}) {
    const std::string bytes =
        ParameterBytes(first, "weight)" + weight + ")" + gradient + "}bias)" +
                                  TensorText(3, 0x1800, "5") + ")") +
        ParameterBytes(static_cast<std::uint16_t>(first + 1),
                       weight + ")" + gradient + ")step>" + TensorText(4, 0x77, "", 0) +
                           "]exp_avg>" + TensorText(5, 0x3000, "3,5") + "]");
    EXPECT_EQ(Read(bytes), (Lines{"parameter weight 1000 60", "parameter bias 1800 20",
                                  "gradient weight 2000 60", "state exp_avg 3000 60"}));
    EXPECT_TRUE(session_.issues.Empty());
  }
}

// Parts of one flat storage have its address; a tensor without a size is one number.
TEST_F(ListedTensorFile, TensorsOfOneStorageAddUp) {
  const std::string bytes = ParameterBytes(
      1, "a)" + TensorText(1, 0x1000, "10") + ")}b)" + TensorText(2, 0x1000, "6") + ")}scale)" +
             TensorText(3, 0x4000, "") + ")}meta)" + TensorText(4, 0, "7") + ")");
  EXPECT_EQ(Read(bytes), (Lines{"parameter a 1000 64", "parameter scale 4000 4"}));
}

TEST_F(ListedTensorFile, DamagedParametersAreCountedAndTheOthersRead) {
  const std::string whole = "b)" + TensorText(2, 0x2000, "6") + ")";
  for (const char* const damaged :
       {"a)0x1;0x1000;float;4;-3;1;20;0)", "a)0x1;0x1000;float;4;4000000000,4000000000,8;1;20;0)",
        "a)0x1;0xzz;float;4;3;1;20;0)", "a)0x1;0x1000)", "a", "a)b)c)d"}) {
    EXPECT_EQ(Read(ParameterBytes(1, std::string(damaged) + "}" + whole)),
              (Lines{"parameter b 2000 24"}))
        << damaged;
    EXPECT_FALSE(session_.issues.Empty()) << damaged;
  }
  EXPECT_EQ(Read(Tlv(5, "short")), Lines{});
  EXPECT_FALSE(session_.issues.Empty());
}

// Which allocations they are.

class ListedMemory : public testing::Test {
 protected:
  void Event(TimeNs time, std::uint64_t address, std::int64_t action) {
    s_.allocations.Append({.time = time,
                           .address = address,
                           .bytes = action == 0 ? 512 : -512,
                           .action = action,
                           .thread = 1});
  }
  void Listed(TensorRole role, std::uint64_t address) {
    s_.listed_tensors.Append(
        {.role = role, .address = address, .bytes = 500, .name = s_.strings.Intern("weight")});
  }
  /// "allocated-released role bytes"
  Lines Lives() const {
    Lines lines;
    for (const AllocationLife& life : LivesWithRoles(s_)) {
      lines.push_back(fmt::format("{}-{} {} {}", life.allocated, life.released,
                                  static_cast<int>(life.role), life.bytes));
    }
    return lines;
  }

  Session s_;
};

TEST_F(ListedMemory, WhatNothingAllocatedIsFromBeforeTheCapture) {
  Event(10, 0xA, 0);
  Event(20, 0xC, 1);
  Listed(TensorRole::kParameter, 0xB);
  Listed(TensorRole::kOptimizerState, 0xC);  // the capture shows its release alone
  EXPECT_EQ(Lives(), (Lines{"10--1 0 512", "-1--1 1 500", "-1-20 3 500"}));
}

// An address that is used again may be something else by then.
TEST_F(ListedMemory, WhatIsHeldToTheEndIsListedAndWhatIsReleasedIsNot) {
  Event(10, 0xA, 0);
  Event(20, 0xA, 1);
  Event(30, 0xA, 0);
  Event(40, 0xB, 0);
  Event(50, 0xB, 1);
  Listed(TensorRole::kOptimizerState, 0xA);
  Listed(TensorRole::kGradient, 0xB);
  EXPECT_EQ(Lives(), (Lines{"10-20 0 512", "30--1 3 512", "40-50 0 512"}));
}

TEST_F(ListedMemory, WithoutAllocatorsNothingIsKnownOfTheMemory) {
  Listed(TensorRole::kParameter, 0xA);
  EXPECT_EQ(Lives(), Lines{});
}

}  // namespace
}  // namespace mpa::raw
