// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/rare_column.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "mpa/model/table.h"

namespace mpa {
namespace {

using Numbers = std::vector<std::int64_t>;

template <template <typename> class Of>
struct SampleFields {
  Of<std::int64_t> start{};
  Of<Rare<std::int64_t>> model = Initially{-1};
  Of<Rare<bool>> replayed{};
};
struct Samples : Table<SampleFields> {};

Samples Rows(const Numbers& models) {
  Samples rows;
  for (const std::int64_t model : models)
    rows.Append({.start = static_cast<std::int64_t>(rows.Size()), .model = model});
  return rows;
}

TEST(RareColumn, HasTheValuesThatAPlainOneHas) {
  for (const Numbers& models :
       {Numbers{}, Numbers{-1, -1, -1}, Numbers{7, 7, 7}, Numbers{-1, -1, 5, -1}, Numbers{4, 5}}) {
    const Samples rows = Rows(models);
    EXPECT_EQ(rows.model, models);
    EXPECT_EQ(rows.replayed.size(), models.size());
    for (std::size_t i = 0; i < models.size(); ++i) {
      EXPECT_EQ(rows.model[i], models[i]);
      EXPECT_EQ(rows.At(i).model, models[i]);
      EXPECT_EQ(rows.replayed[i], 0);
    }
  }
}

TEST(RareColumn, KeepsItsRowsInOtherOrders) {
  for (const Numbers& models : {Numbers{3, 3, 3, 3}, Numbers{3, 4, 5, 6}}) {
    Samples rows = Rows(models);
    rows.Reorder({3, 1});
    EXPECT_EQ(rows.model, (Numbers{models[3], models[1]}));
    rows.Append({.model = 9});
    EXPECT_EQ(rows.model, (Numbers{models[3], models[1], 9}));
  }
}

TEST(RareColumn, JoinsAnother) {
  const Numbers alike = {2, 2}, others = {3, 3}, mixed = {2, 4};
  for (const Numbers& first : {Numbers{}, alike, mixed}) {
    for (const Numbers& second : {Numbers{}, alike, others, mixed}) {
      Samples rows = Rows(first);
      rows.AppendAll(Rows(second));
      Numbers expected = first;
      expected.insert(expected.end(), second.begin(), second.end());
      EXPECT_EQ(rows.model, expected);
      EXPECT_EQ(rows.replayed.size(), expected.size());
    }
  }
}

TEST(RareColumn, IsMapped) {
  for (const Numbers& models : {Numbers{1, 1}, Numbers{1, 2}}) {
    Samples rows = Rows(models);
    rows.model.Map([](std::int64_t model) { return 10 * model; });
    EXPECT_EQ(rows.model, (Numbers{10 * models[0], 10 * models[1]}));
  }
}

TEST(RareColumn, IsChangedInPlace) {
  Samples rows = Rows({1, 1, 1});
  rows.model.Stored()[1] = 8;
  EXPECT_EQ(rows.model, (Numbers{1, 8, 1}));
  rows.model.resize(5);
  EXPECT_EQ(rows.model, (Numbers{1, 8, 1, 0, 0}));
  RareColumn<std::int64_t> column(-1);
  column.resize(2);
  EXPECT_EQ(column, (Numbers{0, 0}));
  Samples later;
  Numbers& models = later.model.Stored();
  later.Append({.model = 6});
  models[0] = 5;
  EXPECT_EQ(later.model, Numbers{5});
}

}  // namespace
}  // namespace mpa
