// SPDX-License-Identifier: Apache-2.0
#include "mpa/raw/labels.h"

#include <gtest/gtest.h>

namespace mpa::raw {
namespace {

TEST(Enumerations, NumbersHaveNames) {
  EXPECT_EQ(NameOf(CommunicationDataTypes(), 11), "BFP16");
  EXPECT_EQ(NameOf(LinkTypes(), 5), "HCCS_SW");
  EXPECT_EQ(NameOf(TransportTypes(), 255), "RESERVED");
  EXPECT_EQ(NameOf(Modules(), 7), "RUNTIME");
  EXPECT_EQ(NameOf(RdmaTypes(), 65535), "INVALID_TYPE");
}

TEST(Enumerations, NumbersThatAreNotListedHaveNone) {
  EXPECT_EQ(NameOf(CommunicationDataTypes(), 13), "");
  EXPECT_EQ(NameOf(LinkTypes(), -1), "");
  EXPECT_EQ(NameOf(RdmaTypes(), 0xFFFFFFFF), "");
}

TEST(Enumerations, AreInOrderOfTheirNumbers) {
  for (const auto table :
       {CommunicationDataTypes(), LinkTypes(), TransportTypes(), RdmaTypes(), CopyDirections(),
        Modules(), ApiLevels(), MarkTypes(), ActivityTypes()}) {
    for (std::size_t i = 1; i < table.size(); ++i) EXPECT_LT(table[i - 1].number, table[i].number);
  }
}

TEST(Enumerations, NumberANameBehindTheOneBeforeIt) {
  constexpr std::span<const NamedNumber> kNames = kNumbered<"3: THREE, FOUR, 70: N/A">;
  ASSERT_EQ(kNames.size(), 3u);
  EXPECT_EQ(NameOf(kNames, 3), "THREE");
  EXPECT_EQ(NameOf(kNames, 4), "FOUR");
  EXPECT_EQ(NameOf(kNames, 5), "");
  EXPECT_EQ(NameOf(kNames, 70), "N/A");
}

}  // namespace
}  // namespace mpa::raw
