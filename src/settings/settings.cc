// SPDX-License-Identifier: Apache-2.0
// How settings are kept, and which of them differ in every run.
#include "mpa/settings/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "mpa/base/enum_name.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The words of the last part of a name, in lower case: "trainer.startTime" -> start, time.
std::vector<std::string> WordsOf(std::string_view name) {
  name.remove_prefix(name.rfind('.') + 1);
  std::vector<std::string> words(1);
  char before = '_';
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z', lower = before >= 'a' && before <= 'z';
    const bool is_part = upper || (c >= 'a' && c <= 'z') || IsDigit(c);
    if ((!is_part || (upper && lower)) && !words.back().empty()) words.emplace_back();
    if (is_part) words.back() += c;
    before = c;
  }
  if (words.size() > 1 && words.back().empty()) words.pop_back();
  for (std::string& word : words) word = ToLower(word);
  return words;
}

bool HasWord(const std::vector<std::string>& words, std::initializer_list<std::string_view> any) {
  return std::ranges::any_of(words, [&](const std::string& word) { return IsOneOf(word, any); });
}

// Secrets. Rather mask too many than one too few: their values do not help a diagnosis.

constexpr const char* kHidden = "(hidden)";

bool IsNameOfSecret(std::string_view name) {
  const std::vector<std::string> words = WordsOf(name);
  const std::string& last = words.back();
  if (HasWord(words, {"secret", "password", "passwd", "passphrase", "credential", "credentials",
                      "apikey"}))
    return true;
  return last == "token" ||
         (last == "key" && HasWord(words, {"api", "access", "private", "auth", "license"}));
}

bool LooksSecret(std::string_view value) {
  constexpr std::size_t kShortest = 16;
  constexpr std::array<std::string_view, 11> kStarts = {"sk-",    "ghp_", "gho_",   "github_pat_",
                                                        "glpat-", "hf_",  "xoxb-",  "xoxp-",
                                                        "AKIA",   "eyJ",  "Bearer "};
  const auto starts = [&](std::string_view start) { return value.starts_with(start); };
  if (value.size() >= kShortest && std::ranges::any_of(kStarts, starts)) return true;
  if (ContainsAny(ToLower(value),
                  {"password=", "secret=", "api_key=", "apikey=", "_token=", "-----begin "}))
    return true;
  const std::size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  // A user with a password in a URL.
  const std::string_view place = value.substr(scheme + 3, value.find('/', scheme + 3) - scheme - 3);
  const std::size_t at = place.find('@');
  return at != std::string_view::npos && place.substr(0, at).find(':') != std::string_view::npos;
}

// FNV-1a: the same on every machine, because values are kept in files.
std::uint32_t HashOf(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

std::string Kept(std::string_view name, std::string value) {
  if (value.empty()) return value;
  if (IsNameOfSecret(name) || LooksSecret(value)) return kHidden;
  constexpr std::size_t kMost = 200, kStart = 160;
  if (value.size() <= kMost) return value;
  std::size_t end = kStart;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;  // UTF-8
  return fmt::format("{}... ({} bytes, {:08x})", value.substr(0, end), value.size(), HashOf(value));
}

// Values that differ in every run.

bool AllOf(std::string_view text, bool (*holds)(char)) {
  return !text.empty() && std::ranges::all_of(text, holds);
}

bool LooksLikePath(std::string_view value) {
  const bool on_drive =
      value.size() > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/');
  return on_drive || value.starts_with('/') || value.starts_with("~/") || value.starts_with("./") ||
         value.starts_with("../") || value.find("://") != std::string_view::npos;
}

// "0000-00-00" for a value that begins with a date.
std::string ShapeOf(std::string_view value) {
  std::string shape(value.substr(0, 16));
  std::ranges::replace_if(shape, IsDigit, '0');
  return shape;
}

bool LooksLikeTime(std::string_view value, bool is_named_so) {
  const std::string shape = ShapeOf(value);
  if (shape.starts_with("0000-00-00") || shape.starts_with("0000/00/00") ||
      shape.starts_with("00000000_000000") || shape.starts_with("00000000-000000") ||
      shape.starts_with("00000000T000000"))
    return true;
  // Since 1970, from 2010 to 2099: seconds, and their parts of a thousand.
  const std::string_view whole = value.substr(0, value.find('.'));
  const bool is_epoch = AllOf(whole, IsDigit) && whole.substr(0, 10) >= "1262304000" &&
                        whole.substr(0, 10) < "4102444800";
  if (!is_epoch) return false;
  return whole.size() == 13 || whole.size() == 16 || whole.size() == 19 ||
         (whole.size() == 10 && is_named_so);
}

bool LooksLikeAddress(std::string_view value) {
  // Four numbers with dots; what follows is a port, an interface or a mask.
  std::string_view rest = value;
  int numbers = 0;
  while (numbers < 4) {
    const std::size_t digits =
        rest.size() - std::string_view(rest)
                          .substr(std::min(rest.find_first_not_of("0123456789"), rest.size()))
                          .size();
    if (digits == 0 || digits > 3) break;
    ++numbers;
    rest.remove_prefix(digits);
    if (numbers < 4 && !rest.starts_with('.')) break;
    if (numbers < 4) rest.remove_prefix(1);
  }
  if (numbers == 4 &&
      (rest.empty() || std::string_view(":%/,; ").find(rest[0]) != std::string_view::npos))
    return true;
  const auto colons = std::ranges::count(value, ':');
  return colons >= 2 && AllOf(value, [](char c) { return IsHex(c) || c == ':' || c == '.'; }) &&
         (colons >= 5 || value.find("::") != std::string_view::npos);
}

bool LooksLikeId(std::string_view value) {
  constexpr std::string_view kShape = "00000000-0000-0000-0000-000000000000";
  if (value.size() == 32) return AllOf(value, IsHex);
  if (value.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (kShape[i] == '-' ? value[i] != '-' : !IsHex(value[i])) return false;
  }
  return true;
}

// "rank" and "tensor_model_parallel_rank" number processes, "lora_rank" does not.
bool IsNameOfRank(const std::vector<std::string>& words) {
  if (words.front() == "rank") return words.size() == 1 || words.back() == "id";
  return words.back() == "rank" &&
         IsOneOf(words.front(), {"local", "global", "group", "node", "world", "process", "worker",
                                 "dp", "tp", "pp", "cp", "ep", "mp", "tensor", "pipeline", "data",
                                 "context", "expert", "model"});
}

bool IsNameOfOneRun(const std::vector<std::string>& words) {
  const std::string& last = words.back();
  if (IsOneOf(last, {"host", "hostname", "node", "nodename", "nodelist", "addr", "address", "ip",
                     "port", "pid", "ppid", "tid", "uuid", "guid", "date", "datetime", "timestamp",
                     "user", "username"}))
    return true;
  if (IsOneOf(words.front(), {"created", "started", "launched", "finished"})) return true;
  if (last == "time" && HasWord(words, {"start", "end", "begin", "stop", "finish", "launch",
                                        "create", "creation", "run", "wall", "current"}))
    return true;
  return last == "id" &&
         HasWord(words, {"run", "job", "task", "process", "trace", "session", "request",
                         "experiment", "container", "pod", "host", "device", "node", "worker",
                         "thread", "instance", "launch"});
}

}  // namespace

std::string_view NameOf(SettingKind kind) {
  return EnumName<SettingKind::kMetadata>(kind, {"environment", "profiler", "version", "metadata"});
}

bool AddSetting(SettingKind kind, const std::string& name, std::string value,
                RecordedSettings& settings) {
  SettingValues& values = settings[kind];
  constexpr std::size_t kLongestName = 200;
  if (name.empty() || name.size() > kLongestName) return name.empty();
  if (values.size() >= kMaxSettings && !values.contains(name)) return false;
  values[name] = Kept(name, std::move(value));
  return true;
}

bool DiffersByNature(std::string_view name, std::string_view value) {
  const std::vector<std::string> words = WordsOf(name);
  if (IsNameOfRank(words) || IsNameOfOneRun(words)) return true;
  if (LooksLikePath(value) || LooksLikeId(value) || value.find(" at 0x") != std::string_view::npos)
    return true;
  if (value.find('/') != std::string_view::npos &&
      IsOneOf(words.back(), {"path", "dir", "directory", "folder", "file", "filename"}))
    return true;
  // Versions can be dates, or four numbers.
  if (HasWord(words, {"version"})) return false;
  const bool of_time = HasWord(words, {"time", "start", "end", "begin"});
  return LooksLikeTime(value, of_time) || LooksLikeAddress(value);
}

RecordedSettings JoinSettings(const std::vector<const RecordedSettings*>& captures) {
  std::map<SettingKind, std::map<std::string, std::set<std::string>>> all;
  for (const RecordedSettings* capture : captures) {
    for (const auto& [kind, values] : *capture) {
      auto& of_kind = all[kind];
      for (const auto& [name, value] : values) of_kind[name].insert(value);
    }
  }
  RecordedSettings joined;
  for (const auto& [kind, names] : all) {
    SettingValues& of_kind = joined[kind];
    for (const auto& [name, values] : names) {
      constexpr std::size_t kShown = 3;
      std::string& text = of_kind[name];
      std::size_t count = 0;
      for (const std::string& value : values) {
        if (++count > kShown) break;
        text += fmt::format("{}{}", count > 1 ? ", " : "",
                            value.empty() && values.size() > 1 ? "not set" : value);
      }
      if (values.size() > kShown) text += fmt::format(" and {} more", values.size() - kShown);
    }
  }
  return joined;
}

SettingValues FlatSettings(const RecordedSettings& settings) {
  SettingValues flat;
  for (const auto& [kind, values] : settings) {
    flat[fmt::format("{}:", NameOf(kind))];
    for (const auto& [name, value] : values) flat[fmt::format("{}:{}", NameOf(kind), name)] = value;
  }
  return flat;
}

RecordedSettings SettingsFromFlat(const SettingValues& flat) {
  RecordedSettings settings;
  for (const auto& [name, value] : flat) {
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos) continue;
    for (const SettingKind kind : kSettingKinds) {
      if (NameOf(kind) != std::string_view(name).substr(0, colon)) continue;
      SettingValues& values = settings[kind];
      if (colon + 1 < name.size()) values[name.substr(colon + 1)] = value;
    }
  }
  return settings;
}

}  // namespace mpa
