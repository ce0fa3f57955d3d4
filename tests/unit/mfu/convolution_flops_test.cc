// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/mfu/flops.h"

namespace mpa {
namespace {

Flops Of(std::string_view type, std::string_view inputs, std::string_view input_formats,
         std::string_view outputs, std::string_view output_formats) {
  return FlopsOf(type, KernelTensors::Parse(inputs, input_formats, outputs, output_formats));
}

// A layer of AlexNet: 64 to 192 channels, 5 x 5, 27 x 27 positions of 32 images.
// 2 x 32 x 27 x 27 x 192 x 64 x 5 x 5
constexpr std::int64_t kSecondLayer = 14332723200;

TEST(ConvolutionFlops, CountsTheFilterAtEveryOutput) {
  EXPECT_EQ(
      Of("Conv2D", "32,64,27,27;192,64,5,5;192", "NCHW;NCHW;ND", "32,192,27,27", "NCHW").count,
      kSecondLayer);
  EXPECT_EQ(Of("Conv2DV2", "32,64,27,27;192,64,5,5", "", "32,192,27,27", "").count, kSecondLayer);
  // 54 outputs x 4 channels x 3 x 3, twice
  EXPECT_EQ(Of("Conv2D", "1,5,5,4;3,3,4,6", "NHWC;HWCN", "1,3,3,6", "NHWC").count, 3888);
  // 81 outputs x 2 channels x 2 x 2 x 2, twice
  EXPECT_EQ(Of("Conv3D", "1,2,4,4,4;3,2,2,2,2", "NCDHW;NCDHW", "1,3,3,3,3", "NCDHW").count, 2592);
}

TEST(ConvolutionFlops, CountsTheChannelsOfAGroupOnly) {
  // Two groups of 2 channels: 54 outputs x 2 x 3 x 3, twice
  EXPECT_EQ(Of("Conv2D", "1,4,5,5;6,2,3,3", "NCHW;NCHW", "1,6,3,3", "NCHW").count, 1944);
}

TEST(ConvolutionFlops, ReadsTiledChannels) {
  const Flops flops = Of("Conv2D", "\"32,8,27,27,8;200,12,16,8;192\"", "NC1HWC0;FRACTAL_Z;NCHW",
                         "\"32,24,27,27,8\"", "NC1HWC0");
  EXPECT_EQ(flops.count, kSecondLayer);
  EXPECT_TRUE(flops.padded);
  EXPECT_EQ(Of("Conv2D", "32,8,27,27,8;200,12,16,8", "", "32,24,27,27,8", "").count, kSecondLayer);
}

TEST(ConvolutionFlops, CountsPaddedInputsAsTheMostThatTheyCanBe) {
  // The first layer of AlexNet has 3 channels, rounded up to 8: 2 x 32 x 55 x 55 x 64 x 8 x 11 x 11
  EXPECT_EQ(Of("Conv2D", "32,1,224,224,8;121,4,16,8;64", "NC1HWC0;FRACTAL_Z;NCHW", "32,8,55,55,8",
               "NC1HWC0")
                .count,
            11993907200);
  // ... and where they are not rounded, x 3 instead of 8.
  EXPECT_EQ(
      Of("Conv2D", "32,3,224,224;64,3,11,11;64", "NCHW;NCHW;NCHW", "32,64,55,55", "NCHW").count,
      4497715200);
}

TEST(ConvolutionFlops, TakesOutputChannelsFromTheBias) {
  // 3 output channels, rounded up to 16: 2 x 27 positions x 3 x 16 x 2 x 2 x 2
  EXPECT_EQ(Of("Conv3DV2", "1,4,1,4,4,16;8,1,16,16;3", "NDC1HWC0;FRACTAL_Z_3D;ND", "1,3,1,3,3,16",
               "NDC1HWC0")
                .count,
            20736);
  // Without one: x 16 instead of 3.
  EXPECT_EQ(
      Of("Conv3DV2", "1,4,1,4,4,16;8,1,16,16", "NDC1HWC0;FRACTAL_Z_3D", "1,3,1,3,3,16", "NDC1HWC0")
          .count,
      110592);
}

TEST(ConvolutionFlops, IsTheSameForBothGradients) {
  EXPECT_EQ(Of("Conv2DBackpropInput", "\"4;200,12,16,8;32,24,27,27,8\"", "NCHW;FRACTAL_Z;NC1HWC0",
               "\"32,8,27,27,8\"", "NC1HWC0")
                .count,
            kSecondLayer);
  EXPECT_EQ(Of("Conv2DBackpropFilter", "\"32,8,27,27,8;4;32,24,27,27,8\"", "NC1HWC0;NCHW;NC1HWC0",
               "\"200,12,16,8\"", "FRACTAL_Z")
                .count,
            kSecondLayer);
  EXPECT_EQ(Of("Conv2DBackpropInputV2", "4;192,64,5,5;32,192,27,27", "", "32,64,27,27", "").count,
            kSecondLayer);
  EXPECT_EQ(Of("Conv2DBackpropFilterV2", "32,64,27,27;4;32,192,27,27", "", "192,64,5,5", "").count,
            kSecondLayer);
}

TEST(ConvolutionFlops, KnowsGradientsThatAreToldNoSize) {
  EXPECT_EQ(Of("Conv2DBackpropInputD", "192,64,5,5;32,192,27,27", "", "32,64,27,27", "").count,
            kSecondLayer);
  EXPECT_EQ(Of("Conv2DBackpropFilterD", "32,64,27,27;32,192,27,27", "", "192,64,5,5", "").count,
            kSecondLayer);
}

TEST(ConvolutionFlops, SaysWhyNot) {
  EXPECT_EQ(Of("Conv2D", "N/A", "", "N/A", "").gap, FlopsGap::kNoShapes);
  EXPECT_EQ(Of("Conv2D", "1,4,5,5", "", "1,6,3,3", "").gap, FlopsGap::kNoShapes);
  EXPECT_EQ(Of("Conv2DBackpropInput", "4;192,64,5,5", "", "32,64,27,27", "").gap,
            FlopsGap::kNoShapes);
  EXPECT_EQ(Of("Conv2D", "1,4,5,5;6,4,3,3", "NCHW;NCHW", "1,7,3,3", "NCHW").gap,
            FlopsGap::kMismatch);
  EXPECT_EQ(Of("Conv2D", "1,4,5,5;6,4,3,3", "NCHW;C1HWNCoC0", "1,6,3,3", "NCHW").gap,
            FlopsGap::kUnsupportedLayout);
  EXPECT_EQ(Of("Conv2D", "4,5;6,4", "", "6,3", "").gap, FlopsGap::kUnsupportedLayout);
  EXPECT_EQ(Of("Conv2D", "1,1,5,5,16;9,1,16,16", "NC1HWC0;FRACTAL_Z", "1,6,3,3", "NCHW").gap,
            FlopsGap::kUnsupportedLayout);
  EXPECT_EQ(Of("Conv2D", "1,2,5,5,16;9,1,16,16", "NC1HWC0;FRACTAL_Z", "1,1,3,3,16", "NC1HWC0").gap,
            FlopsGap::kMismatch);
  EXPECT_EQ(Of("Conv2D", "1,0,5,5,16;9,1,16,16", "", "1,1,3,3,16", "").gap, FlopsGap::kMismatch);
  EXPECT_EQ(Of("Conv2D", "1,0,5,5;0,0,3,3", "", "1,0,3,3", "").count, 0);
}

TEST(ConvolutionFlops, CountsNothingBeyond64Bits) {
  const std::string_view wide = "1,1,3000000000,3000000000";
  EXPECT_EQ(Of("Conv2D", "1,1,3000000000,3000000000;1,1,1,3", "", wide, "").gap,
            FlopsGap::kTooLarge);
  EXPECT_EQ(Of("Conv2D", "1,1,9000000000,9000000000;1,1,1,1", "", wide, "").gap,
            FlopsGap::kTooLarge);
}

}  // namespace
}  // namespace mpa
