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


def labelled(table, labels, columns, kind, same, order, most):
    """The columns by what the labels say: rows of one label as their sum or mean, the largest first if asked for."""
    rows = table[columns].apply(pd.to_numeric, errors="coerce")
    rows.index = table[labels].astype(str).agg(", ".join, axis=1)
    if same != "never":
        rows = rows.groupby(level=0, sort=False).agg(same)
    rows = rows.dropna(how="all")
    if order == "largest":
        size = rows[columns[2]] if kind == "boxes" else rows.sum(axis=1)
        rows = rows.loc[size.sort_values(ascending=False, kind="stable").index]
    elif order == "farthest":
        rows = rows.loc[(rows - rows.median()).abs().sum(axis=1).sort_values(ascending=False, kind="stable").index]
    return rows.head(most)


def plot(table, title, labels, columns, unit, kind="bars", same="never", order="written", most=40):
    """A chart of the table. kind: bars, stacked, or boxes of five columns (least, quartiles, most)."""
    rows = labelled(table, labels, columns, kind, same, order, most)
    if plt is None or rows.empty:
        return
    if kind == "boxes":
        figure, axes = plt.subplots(figsize=(10, 1 + 0.3 * len(rows)))
        names = ("whislo", "q1", "med", "q3", "whishi")
        axes.bxp([dict(zip(names, row), label=label, fliers=[]) for label, row in zip(rows.index, rows.values)],
                 showfliers=False, vert=False)
    else:
        axes = rows.plot.barh(figsize=(10, 1 + 0.3 * len(rows)), stacked=kind == "stacked")
    axes.invert_yaxis()
    axes.set_title(title)
    axes.set_xlabel(unit)
    plt.show()


def plot_heat(table, title, label, across, column, unit, same="mean"):
    """A cell for each label and each value of the column `across`."""
    cells = table.pivot_table(index=label, columns=across, values=column, aggfunc=same)
    if plt is None or cells.empty:
        return
    figure, axes = plt.subplots(figsize=(8, 6))
    figure.colorbar(axes.imshow(cells, aspect="auto"), label=unit)
    axes.set_xticks(range(len(cells.columns)), cells.columns)
    axes.set_yticks(range(len(cells.index)), cells.index)
    axes.set_title(title)
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

// The unit of the numbers in the file, which has some columns of ns in another one.
std::string_view UnitInFile(Measured measured, const std::string& title) {
  if (title.ends_with("(Us)")) return "us";
  if (title.ends_with("(Ms)")) return "ms";
  return NameOf(measured);
}

// The call that draws the chart; empty where the file has not all of its columns.
std::string PlotOf(const Chart& chart, const std::vector<Column>& columns,
                   const std::vector<std::string>& titles, const std::string& variable) {
  bool has_all = true;
  const auto title = [&](const std::string& name) {
    const auto at = std::ranges::find(columns, name, &Column::name);
    if (at != columns.end()) return titles[static_cast<std::size_t>(at - columns.begin())];
    has_all = false;
    return std::string();
  };
  std::vector<std::string> labels, values;
  for (const std::string& name : chart.labels) labels.push_back(title(name));
  for (const ChartedColumn& value : chart.values) values.push_back(title(value.name));
  const std::string across = chart.across.empty() ? "" : title(chart.across);
  if (!has_all) return {};
  const std::string unit = writers::Quoted(chart.measured == Measured::kCount
                                               ? std::string_view(chart.counted)
                                               : UnitInFile(chart.measured, values.front()));
  std::string table = variable;
  if (!chart.only_in.empty())
    table = fmt::format("{0}[{0}[{1}] == {2}]", variable, writers::Quoted(title(chart.only_in)),
                        writers::Quoted(chart.only));
  const std::string what = fmt::format("{}, {}", table, writers::Quoted(Translated(chart.title)));
  if (chart.kind == Chart::Kind::kHeat) {
    return fmt::format("plot_heat({}, {}, {}, {}, {}, same=\"{}\")", what,
                       writers::Quoted(labels.front()), writers::Quoted(across),
                       writers::Quoted(values.front()), unit, NameOf(chart.same));
  }
  return fmt::format("plot({}, {}, {}, {}, kind=\"{}\", same=\"{}\", order=\"{}\")", what,
                     ListOf(labels), ListOf(values), unit, NameOf(chart.kind), NameOf(chart.same),
                     NameOf(chart.order));
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

void AddSheet(const Sheet& sheet, Notebook& notebook) {
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
    text += fmt::format("\n* `{}`: {}", titles[i], Translated(columns[i].meaning));
  }
  notebook.AddText(text);
  const std::string variable = VariableOf(file.stem);
  std::string code = fmt::format("{0} = pd.read_csv(Path({1}))\n{0}", variable,
                                 writers::Quoted(file.stem + ".csv"));
  const auto rank = std::ranges::find_if(columns, IsRank);
  if (rank != columns.end()) {
    code += fmt::format("  # {}: of_rank({}, {}, 0)", Translated("one rank"), variable,
                        writers::Quoted(titles[static_cast<std::size_t>(rank - columns.begin())]));
  }
  notebook.AddCode(code);
  for (const Chart& chart : sheet.charts) {
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
  for (const std::string& note : report.notes) text += "\n    " + Say("note: {}", note);
  notebook.AddText(text);
  notebook.AddCode(kHelpers);
  for (const Sheet& sheet : report.sheets) AddSheet(sheet, notebook);
  paths.push_back(directory / "stats.ipynb");
  io::ReplaceText(paths.back(), notebook.Text());
  return paths;
}

}  // namespace mpa
