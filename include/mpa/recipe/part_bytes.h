// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/fields.h"

/// Parts of recipes as bytes. A plain struct is the list of its fields. A type that is not plain,
/// or has more to check, has a function `template <class Archive> void serialize(Archive& archive,
/// Type& value)`, or a member of that name, which names its fields: `archive(value.first,
/// value.second)`. Enumerations have a function `constexpr Enum LastOf(Enum)` that returns their
/// last value. Numbers are little-endian. What is read is checked: no list is longer than the bytes
/// that follow, no truth value is neither, no value of an enumeration is unknown.
namespace mpa {

static_assert(std::endian::native == std::endian::little);

namespace part_bytes {

template <typename T, template <typename...> class Template>
inline constexpr bool kIs = false;
template <typename... Arguments, template <typename...> class Template>
inline constexpr bool kIs<Template<Arguments...>, Template> = true;

/// A value that is a block of its own bytes.
template <typename T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

template <class Archive, typename T>
void Pass(Archive& archive, T& value);

}  // namespace part_bytes

/// Appends values to a text of bytes.
class PartWriter {
 public:
  explicit PartWriter(std::string& bytes) : bytes_(bytes) {}
  template <typename... T>
  void operator()(const T&... values) {
    // serialize() of a type is one function for both archives; with this one it changes nothing.
    (part_bytes::Pass(*this, const_cast<T&>(values)), ...);
  }

  void Block(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }
  template <typename T>
  void Scalar(T value) {
    Block(&value, sizeof(value));
  }
  template <typename T>
  void Optional(const std::optional<T>& value) {
    Scalar(!value);
    if (value) (*this)(*value);
  }
  template <typename List>
  void Size(const List& list) {
    Scalar(std::uint64_t{list.size()});
  }
  template <typename... Types>
  void Map(const std::map<Types...>& map) {
    Size(map);
    for (const auto& [key, value] : map) (*this)(key, value);
  }
  void Bools(const std::vector<bool>& list) {
    Size(list);
    for (const bool value : list) Scalar(value);
  }

 private:
  std::string& bytes_;
};

/// Takes values from bytes. Throws Error (kCorrupt) when they end early or hold no such value.
class PartReader {
 public:
  explicit PartReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename... T>
  void operator()(T&... values) {
    (part_bytes::Pass(*this, values), ...);
  }
  bool AtEnd() const { return bytes_.empty(); }

  void Block(void* data, std::size_t size) {
    Require(size);
    if (size == 0) return;  // the address of an empty list may be null
    std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  template <typename T>
  void Scalar(T& value) {
    if constexpr (part_bytes::kIsNumber<T>) {
      Block(&value, sizeof(value));
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      Block(&number, sizeof(number));
      if (number > static_cast<std::underlying_type_t<T>>(LastOf(value))) {
        Fail(ErrorKind::kCorrupt, "the part holds an unknown value {} of an enumeration", number);
      }
      value = static_cast<T>(number);
    } else {
      value = Bool();
    }
  }
  template <typename T>
  void Optional(std::optional<T>& value) {
    if (Bool()) {
      value.reset();
    } else {
      (*this)(value.emplace());
    }
  }
  template <typename List>
  void Size(List& list) {
    list.resize(Count());
  }
  template <typename Key, typename Value, typename... Types>
  void Map(std::map<Key, Value, Types...>& map) {
    map.clear();
    for (std::size_t left = Count(); left > 0; --left) {
      std::pair<Key, Value> entry;
      (*this)(entry);
      map.insert(map.end(), std::move(entry));
    }
  }
  void Bools(std::vector<bool>& list) {
    list.clear();
    for (std::size_t left = Count(); left > 0; --left) list.push_back(Bool());
  }

 private:
  /// Fails when fewer bytes are left.
  void Require(std::uint64_t size) const {
    if (size > bytes_.size()) Fail(ErrorKind::kCorrupt, "the part ends early");
  }
  std::size_t Count() {
    std::uint64_t count = 0;
    Block(&count, sizeof(count));
    Require(count);  // an element takes a byte at least
    return count;
  }
  bool Bool() {
    unsigned char byte = 0;
    Block(&byte, 1);
    if (byte > 1) Fail(ErrorKind::kCorrupt, "the part holds a truth value of {}", byte);
    return byte == 1;
  }

  std::string_view bytes_;
};

template <class Archive, PlainStruct T>
void SerializeFields(Archive& archive, T& record) {
  std::apply(archive, FieldsOf(record));
}

namespace part_bytes {

/// A std::vector, std::string or std::array whose size is right.
template <class Archive, typename List>
void PassElements(Archive& archive, List& list) {
  using Element = typename List::value_type;
  if constexpr (kIsNumber<Element>) {
    archive.Block(list.data(), list.size() * sizeof(Element));
  } else {
    for (Element& element : list) Pass(archive, element);
  }
}

template <class Archive, typename T>
void Pass(Archive& archive, T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    archive.Scalar(value);
  } else if constexpr (requires { value.serialize(archive); }) {
    value.serialize(archive);
  } else if constexpr (requires { serialize(archive, value); }) {
    serialize(archive, value);
  } else if constexpr (kIs<T, std::optional>) {
    archive.Optional(value);
  } else if constexpr (kIs<T, std::map>) {
    archive.Map(value);
  } else if constexpr (kIs<T, std::pair> || kIs<T, std::tuple>) {
    std::apply(archive, value);
  } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
    archive.Bools(value);
  } else if constexpr (kIs<T, std::vector> || std::is_same_v<T, std::string>) {
    archive.Size(value);
    PassElements(archive, value);
  } else if constexpr (fields::kIsArray<T>) {
    PassElements(archive, value);
  } else if constexpr (!std::is_empty_v<T>) {
    SerializeFields(archive, value);
  }
}

}  // namespace part_bytes

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
