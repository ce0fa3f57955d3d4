// SPDX-License-Identifier: Apache-2.0
#include "python_text.h"

#include <algorithm>

#include "mpa/base/text.h"

namespace mpa::readers {
namespace {

// The end of the JSON string whose opening quote is at `at`, behind its closing quote.
std::size_t EndOfString(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

std::size_t EndOfWord(std::string_view json, std::size_t at) {
  return std::min(json.find_first_of("[],: \t\r\n\"", at), json.size());
}

std::string_view PythonWord(std::string_view word) {
  if (word == "null") return "None";
  if (word == "true") return "True";
  return word == "false" ? "False" : word;
}

}  // namespace

std::string PythonText(std::string_view json) {
  json = Trim(json);
  if (!json.starts_with('[')) return std::string(json);
  std::string text;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') {
      const std::size_t end = EndOfString(json, at);
      text += '\'';
      if (end > at + 2) text += json.substr(at + 1, end - at - 2);
      text += '\'';
      at = end;
    } else if (c == ',') {
      text += ", ";
      ++at;
    } else if (c == '[' || c == ']' || c == ':') {
      text += c;
      ++at;
    } else if (IsOneOf(json.substr(at, 1), {" ", "\t", "\r", "\n"})) {
      ++at;
    } else {
      const std::size_t end = EndOfWord(json, at);
      text += PythonWord(json.substr(at, end - at));
      at = end;
    }
  }
  return text;
}

}  // namespace mpa::readers
