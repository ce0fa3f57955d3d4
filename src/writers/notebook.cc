// SPDX-License-Identifier: Apache-2.0
// The form `notebook`: CSV files, and a Jupyter notebook (nbformat 4) that shows and plots them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "formats.h"
#include "markup_text.h"
#include "mpa/base/text.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

constexpr std::string_view kHelpers = R"(from pathlib import Path

import pandas as pd

try:
    import matplotlib.pyplot as plt
except ImportError:  # the tables need no plots
    plt = None


def of_rank(table, column, rank):
    """The rows of one rank."""
    return table[table[column] == rank]


def plot_boxes(table, label, columns, most=20):
    """A box for each of the first rows, from its least, quartiles and most."""
    if plt is None or table.empty:
        return
    rows = table.head(most)
    boxes = [dict(zip(("whislo", "q1", "med", "q3", "whishi"), row[columns]), label=str(row[label]), fliers=[])
             for _, row in rows.iterrows()]
    figure, axes = plt.subplots(figsize=(12, 4))
    axes.bxp(boxes, showfliers=False)
    axes.set_ylabel(columns[2])
    axes.tick_params(axis="x", rotation=60)
    plt.show()


def plot_bars(table, label, columns, most=20):
    """Bars of the first rows that have numbers."""
    rows = table.set_index(label)[columns].apply(pd.to_numeric, errors="coerce").dropna(how="all").head(most)
    if plt is None or rows.empty:
        return
    rows.plot.bar(figsize=(12, 4), subplots=len(columns) > 1)
    plt.show()
)";

bool IsRank(const Column& column) {
  return IsOneOf(ToLower(column.name), {"rank", "rankid", "rank_id", "rank id"});
}

std::string VariableOf(std::string_view stem) {
  std::string name;
  for (const char c : stem) {
    const bool known = std::isalnum(static_cast<unsigned char>(c)) != 0;
    name += known ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_';
  }
  return "table_" + name;
}

// A list of texts as Python and JSON write it.
std::string ListOf(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(writers::Quoted(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

// The call that draws the chart; empty where the file has not all of its columns.
std::string PlotOf(const Chart& chart, const std::vector<Column>& columns,
                   const std::vector<std::string>& titles, const std::string& variable) {
  const auto title = [&](const std::string& name) {
    const auto at =
        std::ranges::find_if(columns, [&](const Column& column) { return column.name == name; });
    return at == columns.end() ? "" : titles[static_cast<std::size_t>(at - columns.begin())];
  };
  const std::string label = title(chart.label);
  std::vector<std::string> values;
  for (const std::string& name : chart.values) values.push_back(title(name));
  if (label.empty() || std::ranges::find(values, "") != values.end()) return {};
  return fmt::format("plot_{}({}, {}, {})", chart.kind == Chart::Kind::kBars ? "bars" : "boxes",
                     variable, writers::Quoted(label), ListOf(values));
}

class Notebook {
 public:
  void AddText(std::string_view source) { Add("markdown", "", source); }
  void AddCode(std::string_view source) {
    Add("code", R"("execution_count": null, "outputs": [], )", source);
  }
  std::string Text() const {
    return fmt::format(
        "{{\n \"cells\": [\n{}\n ],\n \"metadata\": {{\"kernelspec\": {{\"display_name\":"
        " \"Python 3\", \"language\": \"python\", \"name\": \"python3\"}}, \"language_info\":"
        " {{\"name\": \"python\"}}}},\n \"nbformat\": 4,\n \"nbformat_minor\": 4\n}}\n",
        fmt::join(cells_, ",\n"));
  }

 private:
  void Add(std::string_view type, std::string_view more, std::string_view source) {
    std::vector<std::string> lines;
    for (std::size_t from = 0; from < source.size();) {
      const std::size_t end = std::min(source.find('\n', from), source.size() - 1) + 1;
      lines.push_back(writers::Quoted(source.substr(from, end - from)));
      from = end;
    }
    cells_.push_back(
        fmt::format("  {{\"cell_type\": \"{}\", \"metadata\": {{}}, {}\"source\": [{}]}}", type,
                    more, fmt::join(lines, ", ")));
  }

  std::vector<std::string> cells_;
};

void AddSheet(const Sheet& sheet, const std::vector<Chart>& charts, Notebook& notebook) {
  const TextFile file = writers::TextFileOf(sheet);
  std::vector<Column> columns;
  std::vector<std::string> titles;
  for (const writers::TextColumn& column : writers::TextColumns(sheet, file.unit)) {
    columns.push_back(sheet.columns[column.place]);
    titles.push_back(column.title);
  }
  std::string text = fmt::format("## {}\n", sheet.name);
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (columns[i].meaning.empty()) continue;
    text += fmt::format("\n* `{}`: {}", titles[i], columns[i].meaning);
  }
  notebook.AddText(text);
  const std::string variable = VariableOf(file.stem);
  std::string code = fmt::format("{0} = pd.read_csv(Path({1}))\n{0}", variable,
                                 writers::Quoted(file.stem + ".csv"));
  const auto rank = std::ranges::find_if(columns, IsRank);
  if (rank != columns.end()) {
    code += fmt::format("  # one rank: of_rank({}, {}, 0)", variable,
                        writers::Quoted(titles[static_cast<std::size_t>(rank - columns.begin())]));
  }
  notebook.AddCode(code);
  for (const Chart& chart : charts) {
    if (chart.sheet != sheet.name) continue;
    const std::string plot = PlotOf(chart, columns, titles, variable);
    if (!plot.empty()) notebook.AddCode(plot);
  }
}

}  // namespace

std::vector<std::filesystem::path> WriteNotebook(const Report& report,
                                                 const std::filesystem::path& directory,
                                                 std::string_view title) {
  std::vector<std::filesystem::path> paths = WriteTextFiles(report, directory, Sheets::kAll);
  Notebook notebook;
  std::string text = fmt::format("# {}\n", title);
  for (const ScreenLine& line : report.lines) text += "\n    " + line.Text();
  for (const std::string& note : report.notes) text += "\n    note: " + note;
  notebook.AddText(text);
  notebook.AddCode(kHelpers);
  const std::vector<Chart> charts = ChartsOf(report);
  for (const Sheet& sheet : report.sheets) AddSheet(sheet, charts, notebook);
  paths.push_back(directory / "stats.ipynb");
  io::ReplaceText(paths.back(), notebook.Text());
  return paths;
}

}  // namespace mpa
