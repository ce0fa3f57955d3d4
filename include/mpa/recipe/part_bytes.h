// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/fields.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"

/// Parts of recipes as bytes. A plain struct is the list of its fields; lists, maps and texts begin
/// with their size. Lists of integers, and of RowInColumns, are packed column by column: see
/// part_bytes::Pack(). A type that is not plain, or has more to check, has a function `template
/// <class Archive> void serialize(Archive& archive, Type& value)` or a member `serialize(archive)`,
/// for both directions. Enumerations have a function `constexpr Enum LastOf(Enum)` that returns
/// their last value. Numbers are little-endian. What is read is checked: no list is longer than the
/// bytes that follow can hold, no truth value is neither, no value of an enumeration is unknown, no
/// number is beyond all that occur. What depends on the recipe, such as positions in lists, its own
/// check looks at; see MakeRecipe().
namespace mpa {

static_assert(std::endian::native == std::endian::little);

namespace part_bytes {

template <typename T, template <typename...> class Template>
inline constexpr bool kIs = false;
template <template <typename...> class Template, typename... Arguments>
inline constexpr bool kIs<Template<Arguments...>, Template> = true;

/// Lists of these are copied in one go.
template <typename T>
concept Copied = std::floating_point<T> ||
    (std::integral<T> && sizeof(T) == 1 && !std::same_as<T, bool>);

/// Lists of these are packed.
template <typename T>
concept Packed = std::integral<T> &&(sizeof(T) > 1);

/// Appends the numbers in blocks of kBlock, which begin with a byte: how many bits each number of
/// the block takes, and whether they are differences to the one before.
void Pack(const std::vector<std::uint64_t>& numbers, std::string& bytes);
/// Takes as many numbers as there is room for. Throws Error (kCorrupt) for what Pack() does not
/// make.
void Unpack(std::string_view& bytes, std::vector<std::uint64_t>& numbers);
inline constexpr std::size_t kBlock = 32;

}  // namespace part_bytes

/// The rows of long lists: structs of numbers, truth values, enumerations and such structs, which
/// say `static constexpr bool kInColumns = true`. They have no serialize() of their own.
template <typename T>
concept RowInColumns = requires {
  requires T::kInColumns;
};

template <class Archive, PlainStruct T>
void SerializeFields(Archive& archive, T& record) {
  VisitFields(record, [&](auto&... fields) { archive(fields...); });
}

template <class Archive, PlainStruct T>
void serialize(Archive& archive, T& record) {
  SerializeFields(archive, record);
}

/// Appends values to a text of bytes.
class PartWriter {
 public:
  explicit PartWriter(std::string& bytes) : bytes_(bytes) {}

  // serialize() takes what it may change, for the reader; a writer changes nothing.
  template <typename... T>
  void operator()(const T&... values) {
    (Put(const_cast<T&>(values)), ...);
  }

 private:
  template <typename T>
  void Put(T& value);
  void Write(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }
  void WriteSize(std::uint64_t size);
  template <typename Row, typename FieldOf>
  void PutColumn(const std::vector<Row>& rows, FieldOf field_of);

  std::string& bytes_;
  std::vector<std::uint64_t> column_;
};

/// Takes values from bytes. Throws Error (kCorrupt) when they end early or hold no such value.
class PartReader {
 public:
  explicit PartReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename... T>
  void operator()(T&... values) {
    (Take(values), ...);
  }
  bool AtEnd() const { return bytes_.empty(); }
  /// Fails when fewer bytes are left.
  void Require(std::uint64_t size) const;

 private:
  template <typename T>
  void Take(T& value);
  void Read(void* data, std::size_t size);
  bool ReadTruth();
  /// Of a list of which so many items are not shorter than so many bytes.
  std::size_t ReadSize(std::size_t items = 1, std::size_t bytes = 1);
  template <typename Row, typename FieldOf>
  void TakeColumn(std::vector<Row>& rows, FieldOf field_of);
  void TakeNumbers(std::size_t count) {
    column_.resize(count);
    part_bytes::Unpack(bytes_, column_);
  }
  /// Fails, or returns false, for a number that the field cannot have.
  template <typename T>
  static bool Assign(std::uint64_t number, T& value);
  template <typename T>
  static bool AssignNumber(std::uint64_t number, T& value);
  /// Fails when `number` is larger.
  static void CheckEnum(std::uint64_t number, std::uint64_t last);
  static void CheckFinite(double value);
  static void CheckTime(std::int64_t value);
  static void CheckTruth(std::uint64_t number);
  static void CheckRange(bool is_in_range);

  std::string_view bytes_;
  std::vector<std::uint64_t> column_;
};

namespace part_bytes {

/// A field of rows in columns: its bits, or those of the number that it stands for.
template <typename T>
std::uint64_t BitsOf(const T& value) {
  if constexpr (std::floating_point<T>)
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  else if constexpr (std::same_as<T, RankId>)
    return static_cast<std::uint64_t>(value.Number());
  else
    return static_cast<std::uint64_t>(value);
}

template <typename T>
concept Field = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, RankId>;

/// Calls `visit` with a function for each field of the rows that `row_of` gives, which returns it.
template <typename Struct, typename RowOf, typename Visit>
void ForEachField(RowOf row_of, Visit visit) {
  [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
    (visit([row_of](auto& row) -> auto& { return std::get<kAt>(FieldsOf(row_of(row))); }), ...);
  }
  (std::make_index_sequence<kFields<Struct>>());
}

}  // namespace part_bytes

template <typename Row, typename FieldOf>
void PartWriter::PutColumn(const std::vector<Row>& rows, FieldOf field_of) {
  using T = std::remove_cvref_t<decltype(field_of(rows[0]))>;
  if constexpr (part_bytes::Field<T>) {
    column_.clear();
    for (const Row& row : rows) column_.push_back(part_bytes::BitsOf(field_of(row)));
    part_bytes::Pack(column_, bytes_);
  } else {
    part_bytes::ForEachField<T>(field_of, [&](auto inner) { PutColumn(rows, inner); });
  }
}

template <typename Row, typename FieldOf>
void PartReader::TakeColumn(std::vector<Row>& rows, FieldOf field_of) {
  using T = std::remove_cvref_t<decltype(field_of(rows[0]))>;
  if constexpr (part_bytes::Field<T>) {
    TakeNumbers(rows.size());
    bool is_in_range = true;
    for (std::size_t i = 0; i < rows.size(); ++i)
      is_in_range &= Assign(column_[i], field_of(rows[i]));
    CheckRange(is_in_range);
  } else {
    part_bytes::ForEachField<T>(field_of, [&](auto inner) { TakeColumn(rows, inner); });
  }
}

template <typename T>
bool PartReader::Assign(std::uint64_t number, T& value) {
  if constexpr (std::same_as<T, bool>) {
    CheckTruth(number);
    value = number == 1;
  } else if constexpr (std::is_enum_v<T>) {
    CheckEnum(number, static_cast<std::uint64_t>(LastOf(value)));
    value = static_cast<T>(number);
  } else if constexpr (std::floating_point<T>) {
    CheckFinite(std::bit_cast<double>(number));
    value = static_cast<T>(std::bit_cast<double>(number));
  } else if constexpr (std::same_as<T, RankId>) {
    CheckTime(static_cast<std::int64_t>(number));
    value = static_cast<std::int64_t>(number);
  } else {
    bool is_in_range = AssignNumber(number, value);
    if constexpr (std::same_as<T, std::int64_t>) is_in_range = IsTime(value);
    return is_in_range;
  }
  return true;
}

template <typename T>
bool PartReader::AssignNumber(std::uint64_t number, T& value) {
  value = static_cast<T>(number);
  return sizeof(T) == sizeof(number) || std::in_range<T>(static_cast<std::int64_t>(number));
}

template <typename T>
void PartWriter::Put(T& value) {
  using part_bytes::kIs;
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    Write(&value, sizeof(value));
  } else if constexpr (std::same_as<T, RankId>) {
    (*this)(value.Number());
  } else if constexpr (std::same_as<T, std::string>) {
    WriteSize(value.size());
    Write(value.data(), value.size());
  } else if constexpr (kIs<T, std::vector>) {
    using Item = typename T::value_type;
    WriteSize(value.size());
    if constexpr (part_bytes::Copied<Item>) {
      Write(value.data(), value.size() * sizeof(value[0]));
    } else if constexpr (part_bytes::Packed<Item> || RowInColumns<Item>) {
      PutColumn(
          value, [](auto& row) -> auto& { return row; });
    } else {
      for (auto&& item : value) (*this)(static_cast<const Item&>(item));
    }
  } else if constexpr (kIs<T, std::map>) {
    WriteSize(value.size());
    for (auto& [key, item] : value) (*this)(key, item);
  } else if constexpr (kIs<T, std::set>) {
    WriteSize(value.size());
    for (const auto& item : value) (*this)(item);
  } else if constexpr (kIs<T, std::optional>) {
    (*this)(!value.has_value());
    if (value) Put(*value);
  } else if constexpr (kIs<T, std::pair>) {
    (*this)(value.first, value.second);
  } else if constexpr (kIs<T, std::tuple>) {
    std::apply(*this, value);
  } else if constexpr (fields::kIsArray<T>) {
    for (auto& item : value) Put(item);
  } else if constexpr (requires { value.serialize(*this); }) {
    value.serialize(*this);
  } else {
    serialize(*this, value);
  }
}

template <typename T>
void PartReader::Take(T& value) {
  using part_bytes::kIs;
  if constexpr (std::same_as<T, bool>) {
    value = ReadTruth();
  } else if constexpr (std::is_arithmetic_v<T>) {
    Read(&value, sizeof(value));
    if constexpr (std::is_floating_point_v<T>) CheckFinite(value);
    if constexpr (std::same_as<T, std::int64_t>) CheckTime(value);
  } else if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> number{};
    Read(&number, sizeof(number));
    CheckEnum(static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(LastOf(value)));
    value = static_cast<T>(number);
  } else if constexpr (std::same_as<T, RankId>) {
    std::int64_t number = 0;
    Take(number);
    value = number;
  } else if constexpr (std::same_as<T, std::string>) {
    value.resize(ReadSize());
    Read(value.data(), value.size());
  } else if constexpr (std::same_as<T, std::vector<bool>>) {
    value.resize(ReadSize());
    for (auto&& item : value) item = ReadTruth();
  } else if constexpr (kIs<T, std::vector>) {
    using Item = typename T::value_type;
    if constexpr (part_bytes::Copied<Item>) {
      value.resize(ReadSize(1, sizeof(Item)));
      Read(value.data(), value.size() * sizeof(Item));
    } else if constexpr (part_bytes::Packed<Item>) {
      value.resize(ReadSize(part_bytes::kBlock));
      TakeNumbers(value.size());
      bool is_in_range = true;
      for (std::size_t i = 0; i < value.size(); ++i)
        is_in_range &= AssignNumber(column_[i], value[i]);
      CheckRange(is_in_range);
    } else if constexpr (RowInColumns<Item>) {
      value.resize(ReadSize(part_bytes::kBlock));
      TakeColumn(
          value, [](auto& row) -> auto& { return row; });
    } else {
      value.resize(ReadSize());
      for (Item& item : value) Take(item);
    }
  } else if constexpr (kIs<T, std::map>) {
    value.clear();
    for (std::size_t left = ReadSize(); left > 0; --left) {
      typename T::key_type key{};
      typename T::mapped_type item{};
      (*this)(key, item);
      value.emplace_hint(value.end(), std::move(key), std::move(item));
    }
  } else if constexpr (kIs<T, std::set>) {
    value.clear();
    for (std::size_t left = ReadSize(); left > 0; --left) {
      typename T::key_type key{};
      Take(key);
      value.emplace_hint(value.end(), std::move(key));
    }
  } else if constexpr (kIs<T, std::optional>) {
    value.reset();
    if (!ReadTruth()) Take(value.emplace());
  } else if constexpr (kIs<T, std::pair>) {
    (*this)(value.first, value.second);
  } else if constexpr (kIs<T, std::tuple>) {
    std::apply(*this, value);
  } else if constexpr (fields::kIsArray<T>) {
    for (auto& item : value) Take(item);
  } else if constexpr (requires { value.serialize(*this); }) {
    value.serialize(*this);
  } else {
    serialize(*this, value);
  }
}

template <typename T>
std::string ToBytes(const T& value) {
  std::string bytes;
  PartWriter writer(bytes);
  writer(value);
  return bytes;
}

template <typename T>
T FromBytes(std::string_view bytes) {
  T value;
  PartReader reader(bytes);
  reader(value);
  if (!reader.AtEnd()) Fail(ErrorKind::kCorrupt, "bytes follow the part");
  return value;
}

}  // namespace mpa
