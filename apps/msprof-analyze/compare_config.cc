// SPDX-License-Identifier: Apache-2.0
#include "compare_config.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"

namespace mpa {
namespace {

constexpr std::string_view kSection = "OP_MASK";

struct Key {
  std::string_view name;
  std::vector<std::string> KernelMasks::*mask;
};
constexpr Key kKeys[] = {
    {"FA_MASK", &KernelMasks::flash_attention}, {"CONV_MASK", &KernelMasks::convolution},
    {"MATMUL_MASK", &KernelMasks::matmul},      {"CUBE_MASK", &KernelMasks::cube},
    {"TRANS_MASK", &KernelMasks::trans},        {"MC2_KERNEL", &KernelMasks::mc2},
    {"COMM_MASK", &KernelMasks::communication}};
// The last key is ours: files made for the Python tool lack it.
constexpr std::size_t kNeeded = std::size(kKeys) - 1;

class Parser {
 public:
  explicit Parser(std::string name) : name_(std::move(name)) {}

  KernelMasks Read(std::string_view text) {
    text = WithoutByteOrderMark(text);
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      ReadLine(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (section_line_ == 0) Complain(std::max(line_, 1), "the section [{}] is missing", kSection);
    for (std::size_t i = 0; i < kNeeded; ++i) {
      if (key_lines_[i] == 0) {
        Complain(section_line_, "the section [{}] lacks the key {}", kSection, kKeys[i].name);
      }
    }
    return std::move(masks_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void Complain(int line, fmt::format_string<Args...> format, Args&&... args) const {
    Fail(ErrorKind::kUsage, "{}:{}: {}", name_, line, Say(format, std::forward<Args>(args)...));
  }

  void ReadLine(std::string_view line) {
    const std::string_view content = Trim(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') return;
    // What stands further right than its key goes on with the value.
    const std::size_t indent = line.find_first_not_of(" \t");
    if (key_ != nullptr && indent > key_indent_) {
      AddWords(content);
      return;
    }
    key_indent_ = indent;
    if (content.front() == '[') {
      ReadSection(content);
    } else {
      ReadKey(content);
    }
  }

  void ReadSection(std::string_view content) {
    const std::size_t end = content.rfind(']');
    if (end == std::string_view::npos) Complain(line_, "a ']' is missing");
    const std::string_view section = content.substr(1, end - 1);
    if (section != kSection) {
      Complain(line_, "unknown section [{}]; the only section is [{}]", Shown(section), kSection);
    }
    if (section_line_ != 0) Complain(line_, "[{}] is already in line {}", kSection, section_line_);
    section_line_ = line_;
    key_ = nullptr;
  }

  void ReadKey(std::string_view content) {
    const std::size_t delimiter = content.find_first_of("=:");
    if (delimiter == std::string_view::npos) {
      Complain(line_, "expected a key with its masks, such as CONV_MASK = aten::conv");
    }
    const std::string_view name = Trim(content.substr(0, delimiter));
    if (section_line_ == 0) Complain(line_, "expected [{}] before the keys", kSection);
    key_ = std::ranges::find_if(
        kKeys, [&](const Key& known) { return EqualsIgnoringCase(name, ToLower(known.name)); });
    if (key_ == std::end(kKeys)) Complain(line_, "unknown key '{}'", Shown(name));
    int& key_line = key_lines_[static_cast<std::size_t>(key_ - kKeys)];
    if (key_line != 0) Complain(line_, "{} is already in line {}", key_->name, key_line);
    key_line = line_;
    (masks_.*key_->mask).clear();
    AddWords(content.substr(delimiter + 1));
  }

  // The end of a line ends a word like a comma.
  void AddWords(std::string_view list) {
    for (const std::string_view piece : Split(list, ',')) {
      const std::string_view word = Trim(piece);
      if (!word.empty()) (masks_.*key_->mask).push_back(ToLower(word));
    }
  }

  static std::string_view Shown(std::string_view text) {
    constexpr std::size_t kMaxCharacters = 40;
    return text.substr(0, kMaxCharacters);
  }

  const std::string name_;
  KernelMasks masks_;
  int line_ = 0, section_line_ = 0;
  std::array<int, std::size(kKeys)> key_lines_{};
  const Key* key_ = nullptr;  // the last one read, which may go on
  std::size_t key_indent_ = 0;
};

}  // namespace

KernelMasks ParseCompareConfig(std::string_view text, const std::string& name) {
  return Parser(name).Read(text);
}

KernelMasks ReadCompareConfig(const std::filesystem::path& file) {
  std::optional<io::InputText> input;
  try {
    input.emplace(file, io::Content::kAsIs);
  } catch (const Error& error) {  // an option is wrong, not a capture
    Fail(ErrorKind::kUsage, "{}", error.what());
  }
  return ParseCompareConfig(input->text(), file.string());
}

std::string DefaultCompareConfig() {
  const KernelMasks masks;
  std::string text = fmt::format("[{}]\n", kSection);
  for (const Key& key : kKeys) {
    text += fmt::format("{} = {}\n", key.name, fmt::join(masks.*key.mask, ","));
  }
  return text;
}

namespace {

constexpr std::size_t kMaxNameLength = 200;  // bytes

class NameMapParser {
 public:
  explicit NameMapParser(std::string_view text) : text_(text) {}

  OpNames Read() {
    OpNames names;
    Expect('{');
    while (!Take('}')) {
      std::string from = Name();
      Expect(':');
      names[std::move(from)] = Name();
      if (Take('}')) break;
      Expect(',');
    }
    SkipBlanks();
    if (at_ != text_.size()) Complain(Translated("the end"));
    return names;
  }

 private:
  [[noreturn]] void Complain(std::string_view expected) const {
    Fail(ErrorKind::kUsage,
         "--op_name_map: expected {} at character {}; give a dictionary such as"
         " {{'aten::add': 'aten::add_'}}",
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
    if (quote != '\'' && quote != '"') Complain(Translated("a name in quotes"));
    std::string name;
    for (++at_;; ++at_) {
      if (at_ == text_.size()) Complain(Translated("the closing quote"));
      char c = text_[at_];
      if (c == quote) break;
      if (c == '\\' && at_ + 1 < text_.size())
        c = text_[++at_];  // names hold no control characters
      name += c;
    }
    ++at_;
    if (name.size() > kMaxNameLength) {
      Fail(ErrorKind::kUsage, "--op_name_map: a name is longer than {} characters: {}...",
           kMaxNameLength, name.substr(0, 40));
    }
    return name;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

OpNames ParseOpNameMap(std::string_view text) { return NameMapParser(text).Read(); }

}  // namespace mpa
