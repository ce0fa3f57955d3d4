// SPDX-License-Identifier: Apache-2.0
// Events of Chrome traces, parsed with simdjson On-Demand.
#include "trace_events.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <string>

#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"

namespace mpa::readers {
namespace {

namespace od = simdjson::ondemand;

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool StartsNumber(char c) { return c == '-' || (c >= '0' && c <= '9'); }

// A token without the blanks behind it.
std::string_view WithoutBlanks(std::string_view token) {
  while (!token.empty() && IsBlank(token.back())) token.remove_suffix(1);
  return token;
}

bool HasEscapes(std::string_view text) {
  return std::memchr(text.data(), '\\', text.size()) != nullptr;
}

// The contents between the quotes of a string token, which may be followed by blanks.
std::string_view WithoutQuotes(std::string_view token) {
  const std::size_t last = token.rfind('"');
  return last == 0 ? std::string_view() : token.substr(1, last - 1);
}

// Any token except a bare word that is invalid in JSON; simdjson skips values that are not
// requested.
bool IsJsonWord(std::string_view token) {
  return IsOneOf(WithoutBlanks(token), {"null", "true", "false"});
}

// The text of a number or a string in `text`, empty for other values; false for broken JSON.
bool ReadScalar(od::value value, std::string_view& text) {
  const std::string_view token = value.raw_json_token();
  text = {};
  if (token.empty()) return false;
  if (token[0] == '"') {
    text = WithoutQuotes(token);
    return !HasEscapes(text) || value.get_string().get(text) == simdjson::SUCCESS;
  }
  if (StartsNumber(token[0])) {
    text = WithoutBlanks(token);
    return true;
  }
  return token[0] == '{' || token[0] == '[' || IsJsonWord(token);
}

// The member of TraceEvent that a key names; null for keys that are not read.
std::string_view TraceEvent::*ScalarOf(std::string_view key) {
  if (Is(key, "ph")) return &TraceEvent::ph;
  if (Is(key, "cat")) return &TraceEvent::cat;
  if (Is(key, "name")) return &TraceEvent::name;
  if (Is(key, "pid")) return &TraceEvent::pid;
  if (Is(key, "tid")) return &TraceEvent::tid;
  if (Is(key, "ts")) return &TraceEvent::ts;
  if (Is(key, "dur")) return &TraceEvent::dur;
  if (Is(key, "id")) return &TraceEvent::id;
  return nullptr;
}

// The key as it is written, unescaped where that differs.
bool ReadKey(od::field& field, std::string_view& key) {
  const char* const raw = field.key().raw();
  const char* end = raw;
  while (*end != '"' && *end != '\\') ++end;
  key = {raw, static_cast<std::size_t>(end - raw)};
  return *end == '"' || field.unescaped_key().get(key) == simdjson::SUCCESS;
}

// The number of an arrow: {"local": "0x5"} or {"global": "0x5"}. False for broken JSON.
bool ReadScopedId(od::value value, std::string_view& id) {
  od::object scopes;
  if (value.get_object().get(scopes) != simdjson::SUCCESS) return ReadScalar(value, id);
  for (auto member : scopes) {
    od::field field;
    std::string_view key;
    if (std::move(member).get(field) != simdjson::SUCCESS || !ReadKey(field, key)) return false;
    const bool is_number = Is(key, "local") || Is(key, "global");
    std::string_view unused;
    if (!ReadScalar(field.value(), is_number ? id : unused)) return false;
  }
  return true;
}

bool ReadArgs(od::object args, std::vector<EventArg>& found) {
  for (auto member : args) {
    od::field field;
    EventArg arg;
    if (std::move(member).get(field) != simdjson::SUCCESS || !ReadKey(field, arg.key)) return false;
    od::value value = field.value();
    const std::string_view token = value.raw_json_token();
    if (token.empty()) return false;
    if (token[0] == '"') {
      arg.value = WithoutQuotes(token);
      arg.escaped = HasEscapes(arg.value);
    } else if (StartsNumber(token[0])) {
      arg.value = WithoutBlanks(token);
    } else if (token[0] == '[') {
      od::array array;
      if (value.get_array().get(array) != simdjson::SUCCESS ||
          array.raw_json().get(arg.value) != simdjson::SUCCESS) {
        return false;
      }
    } else {
      continue;
    }
    found.push_back(arg);
  }
  return true;
}

// False for broken JSON.
bool ReadEvent(od::object members, TraceEvent& event) {
  for (auto member : members) {
    od::field field;
    std::string_view key;
    if (std::move(member).get(field) != simdjson::SUCCESS || !ReadKey(field, key)) return false;
    od::value value = field.value();
    if (Is(key, "args")) {
      od::object args;
      if (value.get_object().get(args) != simdjson::SUCCESS) {  // null, or a text
        std::string_view unused;
        if (!ReadScalar(value, unused)) return false;
      } else if (!ReadArgs(args, event.args)) {
        return false;
      }
    } else if (Is(key, "id2")) {
      if (!ReadScopedId(value, event.id)) return false;
    } else if (const auto scalar = ScalarOf(key)) {
      if (!ReadScalar(value, event.*scalar)) return false;
    }
  }
  return true;
}

// An object as an array of its own, with the bytes behind it that simdjson may read.
std::string PaddedArray(std::string_view object) {
  std::string array = fmt::format("[{}]", object);
  array.append(simdjson::SIMDJSON_PADDING, ' ');
  return array;
}

// Unescapes the contents of a string; empty for escapes that are invalid in JSON.
std::string Unescaped(std::string_view text) {
  const std::string array = PaddedArray(fmt::format("\"{}\"", text));
  thread_local od::parser parser;  // making one costs more than using it
  od::document document;
  std::string_view unescaped;
  if (parser.iterate(array.data(), array.size() - simdjson::SIMDJSON_PADDING, array.size())
              .get(document) != simdjson::SUCCESS ||
      document.at(0).get_string().get(unescaped) != simdjson::SUCCESS) {
    return {};
  }
  return std::string(unescaped);
}

}  // namespace

const EventArg* TraceEvent::FindArg(std::string_view key) const {
  const auto found =
      std::find_if(args.rbegin(), args.rend(), [&](const EventArg& arg) { return arg.key == key; });
  return found == args.rend() ? nullptr : &*found;
}

std::string_view TraceEvent::Arg(std::string_view key) const {
  const EventArg* arg = FindArg(key);
  return arg == nullptr ? std::string_view() : arg->value;
}

std::optional<SpanTimes> TimesOf(const TraceEvent& event, std::string_view file_name,
                                 Issues& issues) {
  const auto left_out = [&](std::string_view what) {
    issues.Count(what, Say("{}: \"{}\" at {} us", file_name, Printable(event.name),
                           event.ts.empty() ? "unknown" : event.ts));
    return std::nullopt;
  };
  if (event.name.data() == nullptr) return left_out("event left out, it has no name");
  if (event.dur.empty()) return left_out("event left out, its duration is missing");
  const auto start = io::NsFromMicros(event.ts);
  const auto dur = io::NsFromMicros(event.dur);
  if (!start || !dur || !IsDuration(*dur)) return left_out(kInvalidTimes);
  return SpanTimes{*start, *dur};
}

struct EventParser::State {
  od::parser parser;
  TraceEvent event;

  // Parses an array of events. Returns how many were given before an error, or empty when there was
  // none.
  std::optional<std::size_t> ParseArray(const char* json, std::size_t size, std::size_t readable,
                                        const std::function<void(const TraceEvent&)>& on_event) {
    std::size_t given = 0;
    od::document document;
    od::array events;
    if (parser.iterate(json, size, readable).get(document) != simdjson::SUCCESS ||
        document.get_array().get(events) != simdjson::SUCCESS) {
      return given;
    }
    for (auto element : events) {
      od::object members;
      Clear(event);
      if (element.get_object().get(members) != simdjson::SUCCESS || !ReadEvent(members, event)) {
        return given;
      }
      on_event(event);
      ++given;
    }
    // Nothing may follow the array.
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) return given;
    return std::nullopt;
  }

  static void Clear(TraceEvent& event) {
    std::vector<EventArg> args = std::move(event.args);  // keeps its memory
    args.clear();
    event = TraceEvent();
    event.args = std::move(args);
  }
};

EventParser::EventParser() : state_(std::make_unique<State>()) {}

EventParser::~EventParser() = default;

bool EventParser::Parse(const io::EventPiece& piece, std::string_view file_name, Issues& issues,
                        const std::function<void(const TraceEvent&)>& on_event) {
  const std::string_view array = piece.array();
  const auto given = state_->ParseArray(array.data(), array.size(), piece.readable(), on_event);
  if (!given) return true;
  if (!piece.exact()) return false;
  // One event is broken. Events are cut out one by one from there on, so that only it is lost.
  const auto objects = io::SplitObjects(array);
  for (std::size_t i = *given; i < objects.size(); ++i) {
    const std::string alone = PaddedArray(objects[i]);
    if (state_->ParseArray(alone.data(), alone.size() - simdjson::SIMDJSON_PADDING, alone.size(),
                           on_event)) {
      const auto at = static_cast<std::size_t>(objects[i].data() - array.data()) - 1;
      issues.Count("event left out, it is not valid JSON",
                   Say("{}: byte {}: \"{}\"", file_name, piece.offset() + at,
                       Printable(objects[i].substr(0, 60))));
    }
  }
  return true;
}

StringId EscapedTexts::Intern(const EventArg& arg) {
  if (!arg.escaped) return pool_.Intern(arg.value);
  const StringId written = written_.Intern(arg.value);
  if (Index(written) >= meaning_.size()) {
    meaning_.resize(Index(written) + 1);
    meaning_[Index(written)] = pool_.Intern(Unescaped(arg.value));
  }
  return meaning_[Index(written)];
}

std::optional<std::int64_t> NumberFrom(std::string_view text) {
  const std::size_t point = text.find('.');
  const bool is_whole = point != std::string_view::npos && point + 1 < text.size() &&
                        text.find_first_not_of('0', point + 1) == std::string_view::npos;
  return io::ParseInt(is_whole ? text.substr(0, point) : text);
}

std::int64_t IdFrom(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto number = NumberFrom(text)) return *number;
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return -static_cast<std::int64_t>(hash >> 1) - 1;
}

}  // namespace mpa::readers
