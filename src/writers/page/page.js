// SPDX-License-Identifier: Apache-2.0
// Draws the charts and tables of a page from the data that stand in it. Every chart has its table.
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { drawings, tableOfChart } = pageCharts;
  const { word, drawTable } = pageTables;

  document.querySelectorAll("figure[data-chart]").forEach((figure) => {
    const chart = data.charts[+figure.dataset.chart];
    const details = d3.select(figure).append("details");
    details.append("summary").text(word("table"));
    details.on("toggle", function () {
      if (this.open && !this.dataset.drawn) { this.dataset.drawn = 1; drawTable(this, tableOfChart(chart)); }
    });
    let width = 0;
    const draw = () => {
      if (figure.clientWidth === width) return;
      width = figure.clientWidth;
      d3.select(figure).selectAll(":scope > svg, :scope > .key, :scope > button").remove();
      drawings[chart.kind](figure, chart);
    };
    draw();
    window.addEventListener("resize", draw);
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
