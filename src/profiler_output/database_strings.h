// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "database_writer.h"
#include "mpa/model/string_pool.h"

namespace mpa::profiler_output {

/// The table STRING_IDS in the making: texts of the session keep their numbers there, texts made
/// for the database get numbers after those. Only texts that were asked for are written.
class DatabaseStrings {
 public:
  explicit DatabaseStrings(const StringPool& session) : session_(session), used_(session.Size()) {}

  std::int64_t Id(StringId text) {
    used_[Index(text)] = 1;
    return static_cast<std::int64_t>(Index(text));
  }
  std::int64_t Id(std::string_view made) {
    if (made.empty()) return Id(StringId::kEmpty);
    return static_cast<std::int64_t>(session_.Size() + Index(made_.Intern(made)));
  }
  std::string_view View(StringId text) const { return session_.View(text); }
  const StringPool& session() const { return session_; }

  void Write(DatabaseWriter& database) const;

 private:
  const StringPool& session_;
  std::vector<std::uint8_t> used_;  ///< by number of the session's text
  StringPool made_;
};

/// Texts that are made of texts of the session, each made once.
class DerivedTexts {
 public:
  using Make = std::string (*)(std::string_view);

  DerivedTexts(DatabaseStrings& strings, Make make)
      : strings_(strings), make_(make), ids_(strings.session().Size(), kNotMade) {}

  std::int64_t Id(StringId source) {
    std::int64_t& id = ids_[Index(source)];
    if (id == kNotMade) id = strings_.Id(make_(strings_.View(source)));
    return id;
  }

 private:
  static constexpr std::int64_t kNotMade = -1;

  DatabaseStrings& strings_;
  Make make_;
  std::vector<std::int64_t> ids_;
};

}  // namespace mpa::profiler_output
