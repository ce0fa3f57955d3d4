// SPDX-License-Identifier: Apache-2.0
// The summary of a job, to which others write, too.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "markup_text.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/writers/writers.h"

namespace mpa {

namespace fs = std::filesystem;

void CheckGateSummary(const fs::path& path) {
  std::error_code error;
  const fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  if (fs::is_directory(path, error)) {
    Fail(ErrorKind::kOutput, "{}: a directory has this name", path.string());
  }
  if (access(fs::exists(path, error) ? path.c_str() : parent.c_str(), W_OK) != 0) {
    Fail(ErrorKind::kOutput, "{}: cannot write there: {}", path.string(), std::strerror(errno));
  }
}

void AppendGateSummary(const GateReport& report, const fs::path& path) {
  const std::string text = FormatGateMarkdown(report);
  std::FILE* file = std::fopen(path.c_str(), "ab");
  bool written = file != nullptr;
  if (written) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = std::fclose(file) == 0 && written;
  }
  if (!written) Fail(ErrorKind::kOutput, "{}: {}", path.string(), std::strerror(errno));
}

// A gate as a comment on a change.

namespace {

using writers::EscapedMarkdown;

constexpr std::size_t kMaxBytes = 64 * 1024;
constexpr std::size_t kMaxRows = 50;

// Text that stays within the limit: lines beyond it are left out, and the end says so.
class Document {
 public:
  void Add(const std::string& line) {
    constexpr std::string_view kEnd = "\nThe rest is left out.\n";
    if (full_) return;
    if (text_.size() + line.size() + 1 + kEnd.size() > kMaxBytes) {
      full_ = true;
      text_ += kEnd;
      return;
    }
    text_ += line + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool full_ = false;
};

// A name without end would be the whole document.
std::string Name(const std::string& name) {
  constexpr std::size_t kMaxCharacters = 200;
  return EscapedMarkdown(name.size() > kMaxCharacters ? name.substr(0, kMaxCharacters) + "..."
                                                      : name);
}

struct Header {
  const char* title;
  bool right = false;  // of numbers
};

// A table without the columns that have no text in any row.
void AddTable(const std::vector<Header>& headers, const std::vector<std::vector<std::string>>& rows,
              Document& document) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (std::ranges::any_of(rows, [&](const auto& row) { return !row[i].empty(); }))
      shown.push_back(i);
  }
  const auto line = [&](auto cell) {
    std::string text = "|";
    for (const std::size_t i : shown) text += fmt::format(" {} |", cell(i));
    document.Add(text);
  };
  line([&](std::size_t i) { return Translated(headers[i].title); });
  line([&](std::size_t i) { return headers[i].right ? "---:" : "---"; });
  for (const auto& row : rows) line([&](std::size_t i) { return row[i]; });
}

void AddMetrics(const std::vector<GateMetric>& metrics, Document& document) {
  if (metrics.empty()) return;
  document.Add("");
  std::vector<std::vector<std::string>> rows;
  for (const GateMetric& metric : metrics) {
    const auto percent = metric.ChangePercent();
    const bool measured = metric.IsMeasured();
    const bool judged = metric.verdict != GateVerdict::kInconclusive;
    const auto amount = [&](std::int64_t value) {
      return measured ? AmountText(metric.quantity, value) : "";
    };
    rows.push_back(
        {Name(metric.name), std::string(Translated(VerdictName(metric.verdict))),
         amount(metric.base),
         amount(metric.comparison),
         percent && measured ? fmt::format("{:+.1f} %", *percent) : amount(metric.Change()),
         metric.limit,
         judged && metric.quantity != Quantity::kCount
             ? AmountText(metric.quantity, static_cast<std::int64_t>(metric.noise))
             : ""});
  }
  AddTable({{"Metric"}, {"Verdict"}, {"Base"}, {"Comparison"}, {"Change"}, {"Limit"}, {"Noise"}},
           rows, document);
}

void AddParts(std::string_view title, const std::vector<ChangeNode>& parts, Document& document) {
  const bool all_noise =
      std::ranges::all_of(parts, [](const ChangeNode& part) { return part.is_noise; });
  if (all_noise) return;
  document.Add(fmt::format("\n### {}\n", title));
  std::vector<std::vector<std::string>> rows;
  std::int64_t folded = 0;
  std::size_t count = 0;
  const auto amount = [](std::int64_t time) { return AmountText(Quantity::kTime, time); };
  const auto signed_amount = [&](std::int64_t change) {
    return (change < 0 ? "" : "+") + amount(change);
  };
  const auto add_folded = [&] {
    if (folded != 0)
      rows.push_back({signed_amount(folded), Counted(count, "smaller change"), "", "", ""});
    folded = 0;
    count = 0;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ChangeNode& part = parts[i];
    if (part.is_noise || (i >= kMaxRows && part.kind != "remainder")) {
      folded += part.Change();
      ++count;
      continue;
    }
    add_folded();
    const std::string calls =
        part.base_count == part.comparison_count
            ? ""
            : Say("{} instead of {}", part.comparison_count, part.base_count);
    rows.push_back({signed_amount(part.Change()), Name(std::string(Translated(part.name))),
                    amount(part.base),
                    amount(part.comparison), calls});
  }
  add_folded();
  AddTable({{"Change", true}, {"What"}, {"Base", true}, {"Comparison", true}, {"Calls"}}, rows,
           document);
}

// The causes of a job, each with the place where it shows.
std::vector<ChangeNode> CausesWithPlaces(const GateReport& report) {
  std::vector<ChangeNode> causes = CategoriesOf(report.causes);
  for (ChangeNode& cause : causes) {
    if (!cause.cause.empty()) cause.name = Say("{} ({})", cause.name, cause.cause);
  }
  return causes;
}

// The heading says what was decided on which metric; the numbers are a paragraph, which wraps.
void AddVerdict(std::string_view headline, Document& document) {
  constexpr std::size_t kMaxCharacters = 4000;
  headline = headline.substr(0, kMaxCharacters);
  const std::size_t end = headline.find(": ");
  document.Add(fmt::format("## {}", EscapedMarkdown(headline.substr(0, end))));
  if (end != std::string_view::npos) document.Add('\n' + EscapedMarkdown(headline.substr(end + 2)));
}

void AddList(const char* title, const std::vector<std::string>& items, Document& document) {
  if (items.empty()) return;
  document.Add(fmt::format("\n### {}\n", Translated(title)));
  for (std::size_t i = 0; i < items.size() && i < kMaxRows; ++i) {
    document.Add("- " + Name(items[i]));
  }
  if (items.size() > kMaxRows) document.Add(Say("- and {} more", items.size() - kMaxRows));
}

}  // namespace

std::string FormatGateMarkdown(const GateReport& report) {
  Document document;
  AddVerdict(report.headline, document);
  if (report.partial) {
    document.Add('\n' + std::string(Translated(
                            "Judged on partial data: parts of the input were left out.")));
  }
  AddMetrics(report.metrics, document);
  std::vector<std::string> open;
  for (const GateMetric& metric : report.metrics) {
    const bool decided =
        metric.verdict != GateVerdict::kUndecided && metric.verdict != GateVerdict::kInconclusive;
    if (!decided && &metric != report.Leading()) open.push_back(metric.name + ": " + metric.reason);
  }
  AddList("Not decided", open, document);
  if (const std::string settings = SettingsLine(report.settings); !settings.empty())
    document.Add('\n' + EscapedMarkdown(settings));
  std::vector<std::string> watched;
  for (const GateMetric& metric : report.metrics) {
    if (metric.limit.empty() && metric.verdict == GateVerdict::kOk && !metric.reason.empty())
      watched.push_back(metric.reason);
  }
  AddList("Besides the median", watched, document);
  if (!report.hint.empty()) document.Add('\n' + Say("Hint: {}", report.hint));
  std::vector<std::string> taken_off;
  if (report.warmup) taken_off.push_back(WarmupText(*report.warmup));
  for (const GateMetric& metric : report.metrics) {
    if (metric.drift) taken_off.push_back(metric.name + ": " + DriftText(*metric.drift));
  }
  AddList("Left out or subtracted", taken_off, document);
  std::vector<std::string> mismatches;
  for (const GateMismatch& mismatch : report.mismatches) {
    std::string text =
        fmt::format("{}: {} / {}", mismatch.field, mismatch.base, mismatch.comparison);
    mismatches.push_back(mismatch.allowed ? Say("{} (allowed)", text) : std::move(text));
  }
  AddList("Collected differently", mismatches, document);
  if (!report.causes.children.empty())
    AddParts(Translated("What changed it, over all ranks"), CausesWithPlaces(report), document);
  AddParts(Say("What the difference of {} is made of", Translated(report.change.name)),
           CategoriesOf(report.change), document);
  AddParts(Translated("On the host while free time grew"), report.host_calls, document);
  AddParts(Translated("Device time by operator that launched it"), report.operators, document);
  AddList("Only in the comparison", report.added, document);
  AddList("Only in the base", report.removed, document);
  AddList("Notes", report.notes, document);
  return document.text();
}

}  // namespace mpa
