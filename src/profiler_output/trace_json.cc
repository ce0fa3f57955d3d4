// SPDX-License-Identifier: Apache-2.0
#include "trace_json.h"

#include "mpa/base/utf8.h"

namespace mpa::profiler_output {
namespace {

bool IsPlain(unsigned char byte) {
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

std::size_t PlainLength(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && IsPlain(static_cast<unsigned char>(text[length]))) ++length;
  return length;
}

void AppendControl(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (byte) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
  }
}

}  // namespace

void AppendEscaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t plain = PlainLength(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    const auto byte = static_cast<unsigned char>(text.front());
    std::size_t length = 1;
    if (byte < 0x20) {
      AppendControl(out, byte);
    } else if (byte < 0x80) {
      out += '\\';
      out += text.front();
    } else if (length = Utf8Length(text); length > 0) {
      out += text.substr(0, length);
    } else {
      out += "\xEF\xBF\xBD";
      length = 1;
    }
    text.remove_prefix(length);
  }
}

void AppendEscapedList(std::string& out, std::string_view list) {
  while (true) {
    const std::size_t end = list.find(';');
    AppendEscaped(out, list.substr(0, end));
    if (end == std::string_view::npos) return;
    out += R"(;\r\n)";
    list.remove_prefix(end + 1);
  }
}

JsonTexts::JsonTexts(const StringPool& strings) {
  views_.reserve(strings.Size());
  for (std::uint32_t id = 0; id < strings.Size(); ++id) {
    const std::string_view text = strings.View(StringId{id});
    if (PlainLength(text) == text.size()) {
      views_.push_back(text);
    } else {
      AppendEscaped(escaped_.emplace_back(), text);
      views_.push_back(escaped_.back());
    }
  }
}

std::uint64_t TraceProcess(std::int64_t process, Layer layer, std::int64_t device) {
  // Bits of their own for layer and device; numbers of 32 bits, as viewers expect them.
  return (static_cast<std::uint64_t>(process) << 10 | static_cast<std::uint64_t>(layer) << 5 |
          static_cast<std::uint64_t>(device)) &
         0xFFFFFFFF;
}

void PutLaunchArrow(std::string& out, char phase, std::uint64_t connection,
                    const TracePlace& place) {
  const std::uint64_t id = connection << 32;
  Put(out, R"(, {"ph": ")", std::string_view(&phase, 1), R"(", )");
  // Only the end tells that it belongs to the event around it, not to the next one.
  if (phase == 'f') out += R"("bp": "e", )";
  Put(out, R"("name": "HostToDevice)", id, R"(", "id": ")", id, R"(", "pid": )", place.process,
      R"(, "tid": )", place.thread, R"(, "ts": ")", Micros{place.time},
      R"(", "cat": "HostToDevice"})");
}

void PutProcess(std::string& out, std::uint64_t process, std::string_view name,
                std::string_view label, Layer layer) {
  std::string escaped;
  AppendEscaped(escaped, name);
  Put(out, R"(, {"ph": "M", "name": "process_name", "pid": )", process,
      R"(, "tid": 0, "args": {"name": ")", escaped, R"("}})");
  Put(out, R"(, {"ph": "M", "name": "process_labels", "pid": )", process,
      R"(, "tid": 0, "args": {"labels": ")", label, R"("}})");
  Put(out, R"(, {"ph": "M", "name": "process_sort_index", "pid": )", process,
      R"(, "tid": 0, "args": {"sort_index": )", static_cast<std::uint32_t>(layer), "}}");
}

void PutThread(std::string& out, std::uint64_t process, std::int64_t thread, std::string_view name,
               std::int64_t order) {
  std::string escaped;
  AppendEscaped(escaped, name);
  Put(out, R"(, {"ph": "M", "name": "thread_name", "pid": )", process, R"(, "tid": )", thread,
      R"(, "args": {"name": ")", escaped, R"("}})");
  Put(out, R"(, {"ph": "M", "name": "thread_sort_index", "pid": )", process, R"(, "tid": )", thread,
      R"(, "args": {"sort_index": )", order, "}}");
}

std::string DeviceLabel(std::int64_t device) { return "NPU " + std::to_string(device); }

}  // namespace mpa::profiler_output
