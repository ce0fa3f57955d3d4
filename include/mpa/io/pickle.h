// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace mpa::io {

enum class PickleKind : std::uint8_t {
  kNone,
  kBool,
  kInteger,
  kHuge,  ///< an integer that does not fit into 64 bits with a sign
  kReal,
  kText,
  kBytes,
  kList,
  kTuple,
  kDict,
};

/// A value of a pickle. Texts, bytes and containers are named by numbers, counted from 0 each.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  std::uint32_t number = 0;  ///< of a text, bytes or a container
  std::int64_t integer = 0;  ///< of kInteger and kBool
  double Real() const;       ///< of kReal
  bool IsContainer() const { return kind >= PickleKind::kList; }
};

/// What a consumer remembers of a container; zeros for one that it was not told of.
struct PickleNote {
  std::uint16_t kind = 0;
  std::uint32_t row = 0;
};

class Pickle;

/// Gets the contents of containers as they are read; nothing else keeps them. What is inside comes
/// before what is around it: a container is complete once it is an item of another.
class PickleConsumer {
 public:
  virtual ~PickleConsumer() = default;
  /// More items of a container: of a dict keys and values in turn. Long lists come in parts, empty
  /// containers never. Throws Error for what it cannot use.
  virtual void Add(Pickle& pickle, const PickleValue& container,
                   std::span<const PickleValue> items) = 0;
};

/// Reads the pickle in a file from its first byte to its last: plain containers, texts, numbers.
/// Nothing is imported, called or built: what asks for that is refused, as is what refers to
/// itself. Memory depends on how many containers and different texts there are, not on how often
/// they are referred to.
class Pickle {
 public:
  /// Throws Error (kInput).
  explicit Pickle(const std::filesystem::path& path);
  ~Pickle();
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  /// The outermost value. Throws Error (kCorrupt) with the position of the byte for anything else
  /// than a whole pickle of plain values.
  PickleValue Read(PickleConsumer& consumer);

  /// Of kText and kBytes. Equal texts may have several numbers.
  std::string_view Text(const PickleValue& text) const;
  PickleNote& Note(const PickleValue& container);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True when the file begins as pickles of protocol 2 and later do.
bool BeginsAsPickle(const std::filesystem::path& path);

}  // namespace mpa::io
