// SPDX-License-Identifier: Apache-2.0
#include "op_name_map.h"

#include <cstddef>

#include "mpa/base/error.h"

namespace mpa {
namespace {

constexpr std::size_t kLongestName = 200;  // bytes

class NameMapParser {
 public:
  explicit NameMapParser(std::string_view text) : text_(text) {}

  std::map<std::string, std::string, std::less<>> Read() {
    std::map<std::string, std::string, std::less<>> names;
    Expect('{');
    while (!Take('}')) {
      std::string from = Name();
      Expect(':');
      names[std::move(from)] = Name();
      if (Take('}')) break;
      Expect(',');
    }
    SkipBlanks();
    if (at_ != text_.size()) Complain("the end");
    return names;
  }

 private:
  [[noreturn]] void Complain(std::string_view expected) const {
    Fail(ErrorKind::kUsage,
         "--op_name_map: expected {} at character {}; give a dictionary such as "
         "{{'aten::add': 'aten::add_'}}",
         expected, at_ + 1);
  }

  void SkipBlanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos) {
      ++at_;
    }
  }

  bool Take(char wanted) {
    SkipBlanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void Expect(char wanted) {
    if (!Take(wanted)) Complain(std::string("'") + wanted + "'");
  }

  std::string Name() {
    SkipBlanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') Complain("a name in quotes");
    std::string name;
    for (++at_;; ++at_) {
      if (at_ == text_.size()) Complain("the closing quote");
      char c = text_[at_];
      if (c == quote) break;
      if (c == '\\' && at_ + 1 < text_.size())
        c = text_[++at_];  // names hold no control characters
      name += c;
    }
    ++at_;
    if (name.size() > kLongestName) {
      Fail(ErrorKind::kUsage, "--op_name_map: a name is longer than {} characters: {}...",
           kLongestName, name.substr(0, 40));
    }
    return name;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::map<std::string, std::string, std::less<>> ParseOpNameMap(std::string_view text) {
  return NameMapParser(text).Read();
}

}  // namespace mpa
