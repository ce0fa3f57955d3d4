// SPDX-License-Identifier: Apache-2.0
// Events of Chrome traces, parsed lazily with simdjson On-Demand.
#include "trace_events.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "mpa/base/error.h"
#include "mpa/base/progress.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"

namespace mpa::readers {
namespace {

namespace od = simdjson::ondemand;

// A copy of a text in brackets of choice, with the bytes behind it that simdjson may read.
class PaddedCopy {
 public:
  std::string_view Set(std::string_view open, std::string_view text, std::string_view close) {
    const std::size_t size = open.size() + text.size() + close.size();
    if (size + simdjson::SIMDJSON_PADDING > capacity_) {
      capacity_ = size + simdjson::SIMDJSON_PADDING;
      bytes_.reset(new char[capacity_]);
    }
    char* at = bytes_.get();
    for (const std::string_view part : {open, text, close}) {
      at = std::copy(part.begin(), part.end(), at);
    }
    std::memset(at, ' ', simdjson::SIMDJSON_PADDING);
    return {bytes_.get(), size};
  }
  std::size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
};

bool IsNumber(std::string_view token) {
  return !token.empty() && (token[0] == '-' || (token[0] >= '0' && token[0] <= '9'));
}

// False for a bare word that JSON does not know; simdjson passes over values that nobody asks for.
bool IsJsonValue(std::string_view token) {
  return IsNumber(token) || (!token.empty() && ContainsAny("\"{[", {token.substr(0, 1)})) ||
         IsOneOf(token, {"null", "true", "false"});
}

// The text of a number, or of a string without its quotes; empty for other values.
std::optional<std::string_view> ScalarText(od::value value) {
  std::string_view token = Trim(value.raw_json_token());
  if (IsNumber(token)) return token;
  if (token.empty() || token[0] != '"') return std::nullopt;
  if (token.size() < 2) return std::nullopt;
  if (std::memchr(token.data(), '\\', token.size()) == nullptr) {
    return token.substr(1, token.size() - 2);
  }
  std::string_view unescaped;
  if (value.get_string().get(unescaped) != simdjson::SUCCESS) return std::nullopt;
  return unescaped;
}

// The member of TraceEvent that a key names; null for keys that nobody reads.
std::string_view TraceEvent::*MemberOf(std::string_view key) {
  if (key == "ph") return &TraceEvent::ph;
  if (key == "cat") return &TraceEvent::cat;
  if (key == "name") return &TraceEvent::name;
  if (key == "pid") return &TraceEvent::pid;
  if (key == "tid") return &TraceEvent::tid;
  if (key == "ts") return &TraceEvent::ts;
  if (key == "dur") return &TraceEvent::dur;
  if (key == "id") return &TraceEvent::id;
  if (key == "args") return &TraceEvent::args;
  return nullptr;
}

// Fills `event`, whose args point into `copy` afterwards; false for broken JSON.
bool ReadEvent(simdjson::simdjson_result<od::object> object, TraceEvent& event) {
  od::object members;
  if (std::move(object).get(members) != simdjson::SUCCESS) return false;
  for (auto field : members) {
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    const auto member = MemberOf(key);
    if (member == nullptr) continue;
    od::value value;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    if (!IsJsonValue(Trim(value.raw_json_token()))) return false;
    if (member == &TraceEvent::args) {
      od::object args;
      if (value.get_object().get(args) != simdjson::SUCCESS) continue;  // null, or a text
      if (args.raw_json().get(event.args) != simdjson::SUCCESS) return false;
    } else {
      event.*member = ScalarText(value).value_or("");
    }
  }
  return true;
}

// Parses all of `text`, a list of objects, calling on_event with args moved from the copy back to
// the text. Returns how many events were delivered before an error, or empty when there was none.
std::optional<std::size_t> ParseEvents(std::string_view text, od::parser& parser, PaddedCopy& copy,
                                       const std::function<void(const TraceEvent&)>& on_event) {
  const std::string_view wrapped = copy.Set("[", text, "]");
  std::size_t delivered = 0;
  od::document document;
  od::array events;
  if (parser.iterate(wrapped.data(), wrapped.size(), copy.capacity()).get(document) !=
          simdjson::SUCCESS ||
      document.get_array().get(events) != simdjson::SUCCESS) {
    return delivered;
  }
  for (auto element : events) {
    TraceEvent event;
    if (!ReadEvent(element.get_object(), event)) return delivered;
    if (!event.args.empty()) {
      const auto offset = static_cast<std::size_t>(event.args.data() - wrapped.data()) - 1;
      event.args = Trim(text.substr(offset, event.args.size()));
    }
    on_event(event);
    ++delivered;
  }
  return std::nullopt;
}

}  // namespace

void ForEachEvent(std::string_view piece, std::string_view file_name, Issues& issues,
                  const std::function<void(const TraceEvent&)>& on_event) {
  od::parser parser;
  PaddedCopy copy;
  if (const auto delivered = ParseEvents(piece, parser, copy, on_event)) {
    // One event is broken. Events are cut out one by one from there on, so that only it is lost.
    const auto objects = io::SplitObjects(piece);
    for (std::size_t i = *delivered; i < objects.size(); ++i) {
      if (ParseEvents(objects[i], parser, copy, on_event)) {
        issues.Count("event left out, it is not valid JSON",
                     fmt::format("{}: \"{}\"", file_name, objects[i].substr(0, 60)));
      }
    }
  }
  AddProgress(static_cast<std::int64_t>(piece.size()));
}

void ForEachMember(std::string_view object,
                   const std::function<void(std::string_view, std::string_view)>& on_member) {
  thread_local od::parser parser;
  thread_local PaddedCopy copy;
  const std::string_view text = copy.Set("", object, "");
  od::document document;
  od::object members;
  if (parser.iterate(text.data(), text.size(), copy.capacity()).get(document) !=
          simdjson::SUCCESS ||
      document.get_object().get(members) != simdjson::SUCCESS) {
    return;
  }
  for (auto field : members) {
    std::string_view key;
    od::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
        field.value().get(value) != simdjson::SUCCESS) {
      return;
    }
    od::array array;
    std::string_view json;
    if (const auto scalar = ScalarText(value)) {
      on_member(key, *scalar);
    } else if (value.get_array().get(array) == simdjson::SUCCESS) {
      if (array.raw_json().get(json) != simdjson::SUCCESS) return;
      on_member(key, json);
    }
  }
}

std::string MemberText(std::string_view object, std::string_view name) {
  std::string text;
  ForEachMember(object, [&](std::string_view key, std::string_view value) {
    if (key == name) text = value;
  });
  return text;
}

std::int64_t IdFrom(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto number = io::ParseInt(text)) return *number;
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return -static_cast<std::int64_t>(hash >> 1) - 1;
}

io::CutArray CutEvents(const CaptureFile& file, std::string_view text, Issues& issues) {
  io::CutArray cut =
      InContext(file.path.string(), [&] { return io::CutEventArray(text, kPieceBytes); });
  if (cut.cut_off_at != std::string_view::npos) {
    issues.Count("the trace breaks off, the end of the run is missing",
                 fmt::format("{}: byte {}", file.path.filename().string(), cut.cut_off_at));
  }
  return cut;
}

}  // namespace mpa::readers
