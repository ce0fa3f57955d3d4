// SPDX-License-Identifier: Apache-2.0
// Draws the charts and tables of a page from the data that stand in it. Every chart has its table.
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const drawings = { ...pageCharts, ...pageManyCharts, ...pageOverCharts, ...pageFlame };
  const { say } = pageCells;
  const { drawTable } = pageTables;

  // What a chart shows, as a table.
  function tableOfChart(chart) {
    const title = (series) => series.name + (chart.unit ? ` (${chart.unit})` : "");
    if (chart.kind === "timeline") {
      const rows = [].concat(...chart.lanes.map((lane) => lane.spans.map((span) => [lane.title, span[3], span[0], span[1]])));
      return { headers: [say("lane"), say("name"), `${say("start")} (${chart.unit})`, `${say("length")} (${chart.unit})`], numbers: [2, 3],
        columns: d3.range(4).map((i) => rows.map((row) => row[i])) };
    }
    if (chart.kind === "flame") {
      const paths = [];
      chart.frames.forEach(([parent, label]) => paths.push((parent < 0 ? "" : paths[parent] + ";") + chart.labels[label]));
      const own = chart.series[0].values, shown = d3.range(paths.length).filter((i) => own[i] > 0).sort((a, b) => own[b] - own[a]);
      return { headers: [say("path"), title(chart.series[0])], numbers: [1], columns: [shown.map((i) => paths[i]), shown.map((i) => own[i])] };
    }
    if (chart.kind === "histogram") {
      const bins = d3.range(chart.at.length - 1), names = chart.marks.map((mark) => mark.label);
      return { headers: [say("from"), say("to"), ...chart.series.map(title), ...(names.length ? [say("outside")] : [])].map((head, i) => (i < 2 ? `${head} (${chart.unit_x})` : head)),
        numbers: d3.range(2 + chart.series.length), columns: [chart.at.slice(0, -1), chart.at.slice(1), ...chart.series.map((series) => series.values),
          ...(names.length ? [bins.map((i) => chart.marks.filter((mark) => binOf(chart.at, mark.at) === i).map((mark) => `${mark.label}: ${mark.at}`).join("\n"))] : [])] };
    }
    if (chart.kind === "scatter") {
      return { headers: [chart.label, chart.unit_x, ...chart.series.map(title), ...chart.beside.map((series) => series.name)],
        numbers: d3.range(1, 2 + chart.series.length + chart.beside.length),
        columns: [chart.labels, chart.at, ...chart.series.concat(chart.beside).map((series) => series.values)] };
    }
    const values = (series) => (series.dots ? series.dots.map((dots) => dots.join(" ")) : series.values);
    const edges = chart.bands && chart.at ? [say("from"), say("to")].map((edge) => `${chart.band}, ${edge} (${chart.unit})`) : [];
    return { headers: [chart.label || (chart.labels ? say("name") : chart.unit_x), ...chart.series.map(title), ...edges],
      numbers: d3.range(chart.labels ? 1 : 0, chart.series.length + 1 + edges.length),
      columns: [chart.labels || chart.at, ...chart.series.map(values), ...edges.map((_, end) => chart.bands.map((band) => band && band[end]))] };
  }
  // The first and the last one have what lies beyond them, too.
  const binOf = (edges, value) => Math.max(0, Math.min(edges.length - 2, d3.bisectRight(edges, value) - 1));

  document.querySelectorAll("figure[data-chart]").forEach((figure) => {
    const chart = data.charts[+figure.dataset.chart];
    const details = d3.select(figure).append("details");
    details.append("summary").text(say("As a table"));
    details.on("toggle", function () {
      if (this.open && !this.dataset.drawn) { this.dataset.drawn = 1; drawTable(this, tableOfChart(chart)); }
    });
    let width = 0;
    const draw = () => {
      if (!figure.clientWidth || figure.clientWidth === width) return;
      width = figure.clientWidth;
      d3.select(figure).selectAll(":scope > svg, :scope > .key, :scope > button, :scope > .hint, :scope > .tools").remove();
      drawings[chart.kind](figure, chart);
    };
    draw();
    window.addEventListener("resize", draw);
    const folded = figure.parentElement.closest("details");  // has no width while it is closed
    if (folded) folded.addEventListener("toggle", draw);
  });
  document.querySelectorAll("[data-table]").forEach((box) => {
    const table = data.tables[+box.dataset.table];
    const details = box.closest("details");
    if (!details) { drawTable(box, table); return; }
    details.addEventListener("toggle", () => {
      if (details.open && !box.dataset.drawn) { box.dataset.drawn = 1; drawTable(box, table); }
    });
    window.addEventListener("beforeprint", () => { details.open = true; });
  });
  document.documentElement.dataset.drawn = "yes";
})();
