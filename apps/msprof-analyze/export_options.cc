// SPDX-License-Identifier: Apache-2.0
// The forms in which reports are written.
#include "export_options.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "choices.h"
#include "mpa/base/columns.h"
#include "mpa/base/console.h"
#include "mpa/base/enum_name.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/writers/writers.h"
#include "printing.h"

namespace mpa {
namespace {

// What reports of one of these kinds can be written as.
std::vector<std::string_view> NamesOf(const std::vector<ReportKind>& kinds) {
  std::vector<std::string_view> names;
  for (const ExportType& type : AllExportTypes()) {
    if (std::ranges::any_of(kinds, [&](ReportKind kind) { return type.IsFor(kind); }))
      names.push_back(type.name);
  }
  return names;
}

std::string TextOfNames(ReportKind kind) {
  return fmt::format("{}", fmt::join(NamesOf({kind}), ", "));
}

const ExportType* FindType(std::string_view name) {
  const auto& all = AllExportTypes();
  const auto found =
      std::ranges::find_if(all, [&](const ExportType& type) { return type.name == name; });
  return found != all.end() ? &*found : nullptr;
}

std::string_view NameOf(ReportKind kind) {
  return EnumName<ReportKind::kHistory>(kind, {"comparison", "gate", "recipe", "history"});
}

// A verdict among the lines of other programs is short; the rest with --verbose.
constexpr std::size_t kGateLines = 12;
// A gate's screen: as many lines as there is room for; the others with --verbose.
struct GateLines {
  std::vector<std::string> shown;
  std::size_t headline = 0;  // so many of them
};

// Programs that search the output line by line find the verdict in one: `brief`.
GateLines LinesOf(const GateReport& report, std::size_t width, bool brief) {
  GateLines lines;
  for (const std::string& line : FormatGateText(report, brief, width)) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size()) + 4;
    const std::size_t longest = brief && lines.headline == 0 ? kShortHeadline : width;
    for (std::string& piece : Wrapped(Printable(line), indent, longest))
      lines.shown.push_back(std::move(piece));
    if (lines.headline == 0) lines.headline = lines.shown.size();
  }
  const std::size_t all = lines.shown.size();
  if (!LogEnabled(LogLevel::kInfo) && all > kGateLines) {
    lines.shown.resize(kGateLines - 1);
    lines.shown.push_back(Say("... {} more lines with -v", all - lines.shown.size()));
  }
  return lines;
}

void PrintGate(const GateReport& report) {
  std::string color;
  if (UseColor(stdout)) {
    const bool passed =
        report.verdict == GateVerdict::kOk || report.verdict == GateVerdict::kImproved;
    color = passed ? "32" : report.exit_code == 1 ? "31" : "33";
  }
  const GateLines lines = LinesOf(report, ScreenWidth(stdout), !HasScreenWidth(stdout));
  for (std::size_t i = 0; i < lines.shown.size(); ++i) {
    const bool colored = i < lines.headline && !color.empty();
    Print(colored ? fmt::format("\x1b[{}m{}\x1b[0m\n", color, lines.shown[i])
                  : lines.shown[i] + '\n');
  }
}

}  // namespace

void ExportOptions::AddTo(CLI::App& command, const std::vector<ReportKind>& kinds,
                          std::string_view standard) {
  const std::string first = TextOfNames(kinds.front());
  const std::string help =
      kinds.size() == 1 ? Say("Files to write, a list of {} [default: {}]", first, standard)
                        : Say("Files to write, a list of {} [default: {}]; of a gate {} [default:"
                              " none]",
                              first, standard, TextOfNames(ReportKind::kGate));
  command.add_option("--export_type", types_, help)
      ->join(',')  // given twice is one list
      ->type_name("LIST")
      ->check(SuggestedList(NamesOf(kinds)));
  command.add_flag(
      "--json", json_,
      "Print the report as one JSON document; write only the files that --export_type lists");
}

std::vector<std::string> ExportOptions::Names() const {
  std::vector<std::string> names;
  if (types_.empty()) return names;
  for (const std::string_view piece : Split(types_, ',')) {
    std::string name = ToLower(Trim(piece));
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

std::vector<ExportType> ExportOptions::Types(ReportKind kind, std::string_view standard) const {
  std::vector<ExportType> types;
  if (types_.empty()) {
    if (!json_ && !standard.empty()) types.push_back(*FindType(standard));
    return types;
  }
  for (const std::string& name : Names()) {
    const ExportType* type = FindType(name);
    if (type == nullptr) {
      Fail(ErrorKind::kUsage, "--export_type: unknown type '{}'; available: {}", name,
           TextOfNames(kind));
    }
    if (!type->IsFor(kind)) {
      Fail(ErrorKind::kUsage, "--export_type: a {} cannot be written as '{}'; available: {}",
           Translated(NameOf(kind)), name, TextOfNames(kind));
    }
    if (json_ && type->ending.empty()) {
      Fail(ErrorKind::kUsage, "--export_type {} and --json both print; give --export_type json,{}",
           name, name);
    }
    types.push_back(*type);
  }
  return types;
}

void ExportOptions::Show(const Report& report) const {
  if (json_) {
    PrintJson(report, stdout);
  } else if (report.gate) {
    PrintGate(*report.gate);
  } else {
    for (const std::string& line : ScreenOf(report)) Print(line + "\n");
  }
}

std::vector<std::string> ScreenOf(const Report& report) {
  if (report.gate) return LinesOf(*report.gate, ScreenColumns(), true).shown;
  std::vector<std::string> lines = FewLines(report.preface);
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& line : more) lines.push_back(Printable(line));
  };
  for (const ScreenTable& screen : report.screens) {
    std::string table = FormatTable(screen);
    table.pop_back();  // the end of its last line
    for (const std::string_view line : Split(table, '\n')) lines.emplace_back(line);
  }
  for (const ScreenLine& line : report.lines) {
    const std::string& text = line.Text();
    add(Wrapped(text, std::min(text.find_first_not_of(' '), text.size()) + 4));
  }
  add(report.story);
  if (report.settings && !report.settings->differing.empty())
    add(Wrapped(Printable(SettingsLine(*report.settings)), 4));
  return lines;
}

}  // namespace mpa
