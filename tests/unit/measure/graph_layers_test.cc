// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/graph_layers.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace mpa {
namespace {

// Each letter is the name of a kernel.
std::optional<LayerPattern> LayersOf(std::string_view kernels) {
  const std::vector<std::uint32_t> names(kernels.begin(), kernels.end());
  return FindLayers(names);
}

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(GraphLayers, WhatRepeatsIsALayer) {
  const auto layers = LayersOf("E" + Repeated("RGTA", 24) + "NG");
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->begin, 1u);
  EXPECT_EQ(layers->length, 4u);
  EXPECT_EQ(layers->covered, 96u);
  EXPECT_EQ(layers->layers_in_it, 1u);
  EXPECT_EQ(layers->Layers(), 24u);
  EXPECT_EQ(layers->same, 1);
  EXPECT_EQ(layers->PlaceOf(0), std::nullopt);
  EXPECT_EQ(layers->PlaceOf(1), 0u);
  EXPECT_EQ(layers->PlaceOf(96), 3u);
  EXPECT_EQ(layers->PlaceOf(97), std::nullopt);
}

TEST(GraphLayers, KernelsThatOccurSeveralTimesInALayerDoNotSplitIt) {
  const auto layers = LayersOf(Repeated("RGROGATRGSG", 12));
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->length, 11u);
  EXPECT_EQ(layers->Layers(), 12u);
}

TEST(GraphLayers, OneKernelOfManyThatTakesTurnsIsTolerated) {
  const auto layers = LayersOf(Repeated("abcdefghijk2mnopqabcdefghijk3mnopq", 12));
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->length, 17u);
  EXPECT_EQ(layers->Layers(), 24u);
  EXPECT_EQ(layers->begin, 0u);
  EXPECT_EQ(layers->covered, 24u * 17);
  EXPECT_NEAR(layers->same, 16.0 / 17, 0.005);
}

TEST(GraphLayers, AnEarlyKernelThatTakesTurnsBelongsToTheFirstLayer) {
  const auto layers = LayersOf("E" + Repeated("ab2defghijklmnopqab3defghijklmnopq", 12) + "N");
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->begin, 1u);
  EXPECT_EQ(layers->covered, 24u * 17);
}

TEST(GraphLayers, LayersOfDifferentLengthThatTakeTurnsAreOnePattern) {
  const auto layers = LayersOf("E" + Repeated("abcd2efgabcd34efg", 12) + "N");
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->length, 17u);
  EXPECT_EQ(layers->layers_in_it, 2u);
  EXPECT_EQ(layers->Layers(), 24u);
  EXPECT_EQ(layers->KernelsInLayer(), 8.5);
}

TEST(GraphLayers, TheLastLayerMayLackItsEnd) {
  const auto layers = LayersOf("E" + Repeated("abcdefghij", 12).substr(0, 118));
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->covered, 118u);
  EXPECT_EQ(layers->Layers(), 12u);
}

TEST(GraphLayers, OtherLayersBeforeThemAreLeftOut) {
  const auto layers = LayersOf(Repeated("xyz", 3) + Repeated("abcdef", 20));
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->begin, 9u);
  EXPECT_EQ(layers->length, 6u);
  EXPECT_EQ(layers->Layers(), 20u);
}

TEST(GraphLayers, WithoutRepetitionThereAreNone) {
  EXPECT_EQ(LayersOf(""), std::nullopt);
  EXPECT_EQ(LayersOf("a"), std::nullopt);
  EXPECT_EQ(LayersOf("abcdefghijklmnop"), std::nullopt);
  EXPECT_EQ(LayersOf("abcdefghijkabmnopqrs"), std::nullopt);
}

TEST(GraphLayers, ManyKernelsTakeTimeInProportion) {
  std::vector<std::uint32_t> names;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) names.push_back(i % 50'000);  // 20 layers
  const auto layers = FindLayers(names);
  ASSERT_TRUE(layers.has_value());
  EXPECT_EQ(layers->length, 50'000u);
  EXPECT_EQ(layers->Layers(), 20u);
  const std::vector<std::uint32_t> one_name(1'000'000, 7);
  ASSERT_TRUE(FindLayers(one_name).has_value());
  EXPECT_EQ(FindLayers(one_name)->length, 1u);
}

}  // namespace
}  // namespace mpa
