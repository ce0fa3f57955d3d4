// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/io/input_text.h"
#include "mpa/model/string_pool.h"
#include "slices.h"

namespace mpa::raw {

/// The texts behind the numbers of the records: hash_dic and type_info_dic. Texts are added to the
/// pool on first use.
class Dictionary {
 public:
  /// `strings` must outlive the dictionary.
  Dictionary(const DataFiles& host, StringPool& strings);

  /// The text of a hash; the number itself in decimal if no text was recorded.
  StringId Text(std::uint64_t hash);
  /// Counts files that were overwritten or cut.
  void CountDamage(Issues& issues) const;
  /// The name of a type of a level: "launch", "KERNEL_AICORE"; the number where it is not listed.
  StringId TypeName(std::uint32_t level, std::uint32_t type);
  /// The name that the type dictionary lists; empty: none.
  std::string_view ListedType(std::uint32_t level, std::uint32_t type) const {
    const auto found = types_.find(TypeKey(level, type));
    return found == types_.end() ? std::string_view() : found->second.text;
  }

 private:
  struct Entry {
    std::string_view text;
    StringId id = StringId::kEmpty;  // until it is asked for
  };
  using Entries = std::unordered_map<std::uint64_t, Entry>;
  using Ids = std::unordered_map<std::uint64_t, StringId>;

  static std::uint64_t TypeKey(std::uint32_t level, std::uint32_t type) {
    return std::uint64_t{level} << 32 | type;
  }
  std::string_view Open(const Slice& slice);
  void ReadTypes(std::string_view text);
  void ReadTexts(std::string_view text);
  StringId Find(Entries& known, Ids& unknown, std::uint64_t key, std::uint64_t number);

  StringPool& strings_;
  std::deque<io::InputText> files_;  // the texts of the entries
  std::vector<Slice> damaged_;
  Entries texts_, types_;
  Ids unknown_texts_, unknown_types_;
};

}  // namespace mpa::raw
