// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "mpa/base/error.h"
#include "mpa/base/fields.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"

/// Parts of recipes as bytes, with the library cereal. A plain struct is the list of its fields. A
/// type that is not plain, or has more to check, has a function
/// `template <class Archive> void serialize(Archive& archive, Type& value)`. Enumerations have a
/// function `constexpr Enum LastOf(Enum)` that returns their last value. Numbers are little-endian.
/// What is read is checked: no list is longer than the bytes that follow, no truth value is
/// neither, no value of an enumeration is unknown, no number is beyond all that occur. What depends
/// on the recipe, such as positions in lists, its own check looks at; see MakeRecipe().
namespace mpa {

static_assert(std::endian::native == std::endian::little);

/// Appends values to a text of bytes.
class PartWriter : public cereal::OutputArchive<PartWriter, cereal::AllowEmptyClassElision> {
 public:
  explicit PartWriter(std::string& bytes) : OutputArchive(this), bytes_(bytes) {}
  void Write(const void* data, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }

 private:
  std::string& bytes_;
};

/// Takes values from bytes. Throws Error (kCorrupt) when they end early or hold no such value.
class PartReader : public cereal::InputArchive<PartReader, cereal::AllowEmptyClassElision> {
 public:
  explicit PartReader(std::string_view bytes) : InputArchive(this), bytes_(bytes) {}
  void Read(void* data, std::size_t size) {
    Require(size);
    if (size == 0) return;  // the address of an empty list may be null
    std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  /// Fails when fewer bytes are left.
  void Require(std::uint64_t size) const {
    if (size > bytes_.size()) Fail(ErrorKind::kCorrupt, "the part ends early");
  }
  bool AtEnd() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

template <typename T>
requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(PartWriter& writer, const T& value) {
  writer.Write(&value, sizeof(value));
}

template <typename T>
requires(std::is_arithmetic_v<T> &&
         !std::same_as<T, bool>) void CEREAL_LOAD_FUNCTION_NAME(PartReader& reader, T& value) {
  reader.Read(&value, sizeof(value));
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value))
      Fail(ErrorKind::kCorrupt, "the part holds an infinite number or NaN");
  } else if constexpr (std::same_as<T, std::int64_t>) {
    // Nothing is larger than the time of an event, and differences of times do not overflow.
    if (!IsTime(value)) Fail(ErrorKind::kCorrupt, "the part holds a number that nothing has");
  }
}

inline void CEREAL_SAVE_FUNCTION_NAME(PartWriter& writer, const RankId& rank) {
  writer(rank.Number());
}
inline void CEREAL_LOAD_FUNCTION_NAME(PartReader& reader, RankId& rank) {
  std::int64_t number = 0;
  reader(number);
  rank = number;
}

inline void CEREAL_LOAD_FUNCTION_NAME(PartReader& reader, bool& value) {
  unsigned char byte = 0;
  reader.Read(&byte, 1);
  if (byte > 1) Fail(ErrorKind::kCorrupt, "the part holds a truth value of {}", byte);
  value = byte == 1;
}

/// A value of an enumeration: `archive(EnumField{row.type})`.
template <typename T>
requires std::is_enum_v<T>
struct EnumField {
  explicit EnumField(T& field) : value(field) {}
  T& value;

  void save(PartWriter& writer) const { writer.Write(&value, sizeof(value)); }
  void load(PartReader& reader) {
    std::underlying_type_t<T> number{};
    reader.Read(&number, sizeof(number));
    if (number > static_cast<std::underlying_type_t<T>>(LastOf(value))) {
      Fail(ErrorKind::kCorrupt, "the part holds an unknown value {} of an enumeration", number);
    }
    value = static_cast<T>(number);
  }
};
template <class Archive, typename T>
void SerializeField(Archive& archive, T& field) {
  if constexpr (std::is_enum_v<T>) {
    archive(EnumField{field});
  } else {
    archive(field);
  }
}

template <class Archive, PlainStruct T>
void SerializeFields(Archive& archive, T& record) {
  std::apply([&](auto&... field) { (SerializeField(archive, field), ...); }, FieldsOf(record));
}

template <class Archive, PlainStruct T>
void serialize(Archive& archive, T& record) {
  SerializeFields(archive, record);
}

// Names, which cereal's types give some of their fields, are not written.
template <class Archive, typename T>
void CEREAL_SERIALIZE_FUNCTION_NAME(Archive& archive, cereal::NameValuePair<T>& field) {
  archive(field.value);
}

template <typename T>
void CEREAL_SAVE_FUNCTION_NAME(PartWriter& writer, const cereal::SizeTag<T>& tag) {
  const auto size = static_cast<std::uint64_t>(tag.size);
  writer.Write(&size, sizeof(size));
}

template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(PartReader& reader, cereal::SizeTag<T>& tag) {
  std::uint64_t size = 0;
  reader.Read(&size, sizeof(size));
  reader.Require(size);  // an element takes a byte at least
  tag.size = static_cast<cereal::size_type>(size);
}

template <typename T>
void CEREAL_SAVE_FUNCTION_NAME(PartWriter& writer, const cereal::BinaryData<T>& data) {
  writer.Write(data.data, static_cast<std::size_t>(data.size));
}

template <typename T>
void CEREAL_LOAD_FUNCTION_NAME(PartReader& reader, cereal::BinaryData<T>& data) {
  reader.Read(data.data, static_cast<std::size_t>(data.size));
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

CEREAL_SETUP_ARCHIVE_TRAITS(mpa::PartReader, mpa::PartWriter)
