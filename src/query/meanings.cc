// SPDX-License-Identifier: Apache-2.0
// Reads the comments of declarations of tables.
#include "meanings.h"

#include <cstddef>

#include "embedded/query.h"
#include "mpa/base/packed.h"
#include "mpa/base/text.h"
#include "reflection.h"

namespace mpa::query {
namespace {

// Without what -1 means, which statements see as NULL.
std::string WithoutMissing(std::string_view comment) {
  std::string text;
  for (std::string_view rest = comment; !rest.empty();) {
    const std::size_t end = std::min({rest.find("; "), rest.find(". "), rest.find(", see ")});
    const std::string_view part = Trim(rest.substr(0, end));
    const bool is_missing = part.starts_with("-1") || part.starts_with("see ") ||
                            part.starts_with("See ") || part.starts_with("Numbers: -1") ||
                            part.starts_with("Missing values");
    const char between = end == std::string_view::npos ? ' ' : rest[end];
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 2);
    if (is_missing && between == '.' && text.ends_with("; "))
      text.replace(text.size() - 2, 2, ". ");
    if (is_missing) continue;
    text += part;
    if (between != ' ') text += std::string(1, between) + ' ';
  }
  std::string_view trimmed = Trim(text);
  while (!trimmed.empty() && (trimmed.back() == ';' || trimmed.back() == ','))
    trimmed.remove_suffix(1);
  return std::string(trimmed);
}

std::string_view FirstWord(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && IsOfWord(text[end])) ++end;
  return text.substr(0, end);
}

// "Of<Rare<TimeNs>> a = Initially{-1}, b{}": the type, and the names that commas of its own level
// separate.
void AddFields(std::string_view statement, const std::string& comment, Meanings& meanings) {
  constexpr std::string_view kOf = "Of<";
  if (!statement.starts_with(kOf)) return;
  int depth = 0;
  std::size_t end_of_type = 0;
  bool begins = false;
  for (std::size_t i = kOf.size() - 1; i < statement.size(); ++i) {
    const char c = statement[i];
    depth += c == '<' || c == '{' ? 1 : 0;
    depth -= c == '>' || c == '}' ? 1 : 0;
    if (end_of_type == 0 && depth == 0) end_of_type = i;
    if (end_of_type == 0 || depth > 0) continue;
    if (c == ',' || i == end_of_type) {
      begins = true;
    } else if (begins && IsOfWord(c)) {
      begins = false;
      meanings.fields[std::string(FirstWord(statement.substr(i)))] = {
          std::string(statement.substr(kOf.size(), end_of_type - kOf.size())),
          WithoutMissing(comment)};
    }
  }
}

void Append(std::string& text, std::string_view more) {
  if (!text.empty()) text += ' ';
  text += Trim(more);
}

using ByDeclaration = std::map<std::string, Meanings, std::less<>>;

void ReadHeader(std::string_view header, ByDeclaration& all) {
  constexpr std::string_view kDoc = "///", kBehind = "///<", kStruct = "struct ";
  std::string doc, of_table, statement;
  Meanings* table = nullptr;
  for (std::string_view line : Split(header, '\n')) {
    line = Trim(line);
    if (line.starts_with(kDoc) && !line.starts_with(kBehind)) {
      Append(doc, line.substr(kDoc.size()));
      continue;
    }
    std::string comment = std::move(doc);
    doc.clear();
    if (const std::size_t at = line.find("//"); at != std::string_view::npos) {
      if (line.substr(at).starts_with(kBehind)) comment = Trim(line.substr(at + kBehind.size()));
      line = Trim(line.substr(0, at));
    }
    if (line.starts_with("template <template")) {
      of_table = WithoutMissing(comment);
    } else if (line.starts_with(kStruct) && line.ends_with("Fields {")) {
      table = &all[std::string(FirstWord(line.substr(kStruct.size())))];
      table->table = of_table;
    } else if (line == "};") {
      table = nullptr;
    } else if (table != nullptr) {
      Append(statement, line);
      if (!line.ends_with(';')) {
        doc = comment;  // of the whole statement
        continue;
      }
      AddFields(statement, comment, *table);
      statement.clear();
    }
  }
}

const ByDeclaration& AllMeanings() {
  static const ByDeclaration all = [] {
    ByDeclaration read;
    ReadHeader(Unpacked(embedded::kModelHeaders).value(), read);
    ReadHeader(embedded::kComputedTables, read);
    return read;
  }();
  return all;
}

}  // namespace

std::string Meanings::Of(std::string_view field) const {
  // What needs no words beside the declaration.
  static const std::map<std::string_view, std::string_view> usual = {
      {"start", "when it began"},
      {"time", "when it was"},
      {"dur", "how long it took"},
      {"track", "id of its thread among the tracks"},
      {"link", "number that its launch and its work share"},
      {"stream", "number of the stream of the device"},
      {"device", "number of the device"},
      {"dur_rest", "the fraction of a nanosecond that `dur` leaves out"},
      {"pid", "number of the process"},
      {"tid", "number of the thread"},
      {"name", "its name"},
      {"op_type", "type of the operator"},
      {"core", "kind of core that ran it"},
      {"connection", "number that a call of the runtime and its work share"},
      {"group", "id of its group"},
      {"model", "number of the compiled model"},
      {"task_id", "number of the task, as the device counts them"},
      {"op_id", "number of the operation, as the capture counts them"},
      {"plane", "number of the plane of communication"},
      {"blocks", "blocks that it runs in"},
      {"mix_blocks", "the same of the other kind of core"},
      {"bytes", "size"},
      {"mhz", "clock"},
      {"step", "number of the step"},
      {"end", "when it ended"},
      {"count", "how many"},
      {"message", "what the program wrote"},
      {"kernel", "name of the kernel"}};
  const auto found = fields.find(field);
  if (found == fields.end()) return "";
  const std::string& meaning = found->second.meaning;
  const auto words = usual.find(field);
  return !meaning.empty() || words == usual.end() ? meaning : std::string(words->second);
}

std::string Meanings::UnitOf(std::string_view field) const {
  const auto found = fields.find(field);
  if (found == fields.end()) return "";
  if (found->second.type.find("TimeNs") != std::string::npos || field == "dur_rest") return "ns";
  if (field.ends_with("bytes") || IsOneOf(field, {"requested", "max_split"})) return "bytes";
  if (field.ends_with("mhz")) return "MHz";
  return found->second.type.find("int16_t") != std::string::npos ? "1/1000" : "";
}

const Meanings& MeaningsOf(std::string_view declaration) {
  static const Meanings none;
  const auto found = AllMeanings().find(declaration);
  return found == AllMeanings().end() ? none : found->second;
}

}  // namespace mpa::query
