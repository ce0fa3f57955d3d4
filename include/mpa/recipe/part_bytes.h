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
/// with their size. A type that is not plain, or has more to check, has a function `template <class
/// Archive> void serialize(Archive& archive, Type& value)` or a member `serialize(archive)`, for
/// both directions. Enumerations have a function `constexpr Enum LastOf(Enum)` that returns their
/// last value. Numbers are little-endian. What is read is checked: no list is longer than the bytes
/// that follow, no truth value is neither, no value of an enumeration is unknown, no number is
/// beyond all that occur. What depends on the recipe, such as positions in lists, its own check
/// looks at; see MakeRecipe().
namespace mpa {

static_assert(std::endian::native == std::endian::little);

namespace part_bytes {

template <typename T, template <typename...> class Template>
inline constexpr bool kIs = false;
template <template <typename...> class Template, typename... Arguments>
inline constexpr bool kIs<Template<Arguments...>, Template> = true;

/// Lists of these are copied in one go.
template <typename T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

}  // namespace part_bytes

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
  void WriteSize(std::uint64_t size) { Write(&size, sizeof(size)); }

  std::string& bytes_;
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
  /// Of a list of items that are not shorter than `item`.
  std::size_t ReadSize(std::size_t item = 1);
  /// Fails when `number` is larger.
  static void CheckEnum(std::uint64_t number, std::uint64_t last);
  static void CheckFinite(double value);
  static void CheckTime(std::int64_t value);

  std::string_view bytes_;
};

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
    WriteSize(value.size());
    if constexpr (part_bytes::Number<typename T::value_type>) {
      Write(value.data(), value.size() * sizeof(value[0]));
    } else {
      for (auto&& item : value) (*this)(static_cast<const typename T::value_type&>(item));
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
    value.resize(ReadSize(part_bytes::Number<Item> ? sizeof(Item) : 1));
    if constexpr (part_bytes::Number<Item>) {
      Read(value.data(), value.size() * sizeof(Item));
    } else {
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
