// SPDX-License-Identifier: Apache-2.0
// Tables that are searched, sorted and copied. Only the rows that are seen are drawn.
"use strict";
const pageTables = (function () {
  const { say, comparing, csvText, csvCell, copyText } = pageCells;
  // What rows have above and below their lines, in px, and how far beyond the view they are drawn.
  const EDGES = 6, EDGES_NARROW = 9, BEYOND = 400;

  const cellsOf = (column) => (column.of ? column.at.map((i) => column.of[i]) : column);
  // Cells of a chart's table are the numbers themselves.
  const columnOf = (cells, values) => ({ texts: cells.map((cell) => (cell == null ? "" : String(cell))),
    values: values || cells.map((cell) => (typeof cell === "number" ? cell : null)) });

  // The row that each is a part of; -1: of none.
  function parentsOf(levels, count) {
    const open = [];
    return d3.range(count).map((row) => {
      const level = levels ? levels[row] : 0;
      while (open.length && open[open.length - 1][1] >= level) open.pop();
      const parent = open.length ? open[open.length - 1][0] : -1;
      open.push([row, level]);
      return parent;
    });
  }

  function drawTable(box, table) {
    const columns = table.columns.map((cells, i) => columnOf(cellsOf(cells), table.values && table.values[i] && cellsOf(table.values[i])));
    const numbers = new Set(table.numbers || []), levels = table.levels && cellsOf(table.levels);
    const count = columns.length ? columns[0].texts.length : 0, parents = parentsOf(levels, count);
    let order = [], tops = [0], narrow = false, sorted = -1, up = true, wanted = "", drawn = 0;
    const root = d3.select(box);
    const tools = count > 12 ? root.append("div").attr("class", "tools") : null;
    const scroller = root.append("div").attr("class", "rows").attr("tabindex", 0).attr("role", "region")
      .attr("aria-label", table.title || say("As a table"));
    const shown = scroller.append("table").attr("aria-rowcount", count + 1);
    const heads = shown.append("thead").append("tr").selectAll("th").data(table.headers).enter().append("th")
      .attr("scope", "col").classed("n", (_, i) => numbers.has(i));
    // Numbers begin with the largest. The third click gives the order as written.
    heads.append("button").attr("type", "button").text((text) => text).on("click", (_, i) => {
      const first = !numbers.has(i);
      if (sorted === i && up !== first) sorted = -1;
      else { up = sorted === i ? !up : first; sorted = i; }
      arrange();
    });
    const body = shown.append("tbody");
    const note = tools && tools.append("span").attr("class", "count").attr("role", "status");
    if (tools) {
      tools.insert("input", "span").attr("type", "search").attr("placeholder", say("Search")).attr("aria-label", say("Search"))
        .on("input", function () { wanted = this.value.toLowerCase(); arrange(); });
      const button = tools.append("button").attr("type", "button").text(say("Copy as CSV"));
      button.on("click", async () => {
        const heading = table.headers.map(csvText).concat(levels ? ["level"] : []);
        const lines = order.map((row) => columns.map((column, i) => csvCell(column, numbers.has(i), row)).concat(levels ? [levels[row]] : []));
        await copyText([heading, ...lines].map((line) => line.join(",")).join("\r\n") + "\r\n");
        button.text(say("Copied"));
        setTimeout(() => button.text(say("Copy as CSV")), 1500);
      });
    }

    // Parts stay below what they are a part of.
    function inTrees(rows) {
      const parts = new Map();
      for (const row of rows) {
        const parent = parents[row];
        if (!parts.has(parent)) parts.set(parent, []);
        parts.get(parent).push(row);
      }
      const all = [];
      const add = (parent) => { for (const row of parts.get(parent) || []) { all.push(row); add(row); } };
      add(-1);
      return all;
    }

    function arrange() {
      order = d3.range(count);
      if (wanted) {
        const kept = new Set();
        for (const row of order.filter((one) => columns.some((column) => column.texts[one].toLowerCase().includes(wanted))))
          for (let of = row; of >= 0 && !kept.has(of); of = parents[of]) kept.add(of);
        order = order.filter((row) => kept.has(row));
      }
      if (sorted >= 0) {
        const compare = comparing(columns[sorted], numbers.has(sorted), up);
        order = inTrees(order.sort((a, b) => compare(a, b) || a - b));
      }
      heads.attr("aria-sort", (_, i) => (i !== sorted ? null : up ? "ascending" : "descending"));
      const all = count.toLocaleString();
      if (note) note.text(order.length === count ? say("{} rows", all) : say("{} of {} rows", order.length.toLocaleString(), all));
      scroller.node().scrollTop = 0;
      measure();
    }

    // A row is as high as its lines; in a narrow window cells are below each other.
    function measure() {
      narrow = window.matchMedia("(max-width: 640px)").matches;
      const line = Math.round(parseFloat(getComputedStyle(scroller.node()).fontSize) * 1.5);
      scroller.style("--row-line", line + "px");
      const lines = (row) => columns.reduce((most, { texts }) => {
        const text = texts[row];
        let own = narrow && text === "" ? 0 : 1;
        for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) ++own;
        return narrow ? most + own : Math.max(most, own);
      }, narrow ? 0 : 1);
      tops = new Float64Array(order.length + 1);
      order.forEach((row, i) => { tops[i + 1] = tops[i] + line * lines(row) + (narrow ? EDGES_NARROW : EDGES); });
      draw();
    }

    // Only the rows that are seen are there, between two rows as high as those that are not.
    function draw(all) {
      const view = scroller.node();
      drawn = view.scrollTop;
      const first = all ? 0 : Math.max(0, d3.bisectRight(tops, drawn - BEYOND) - 1);
      const last = Math.min(order.length, all ? 1000 : d3.bisectLeft(tops, drawn + (view.clientHeight || 500) + BEYOND));
      body.selectAll("tr").remove();
      const gap = (height) => height > 0 && body.append("tr").attr("aria-hidden", "true").append("td").attr("colspan", columns.length)
        .style("height", height + "px").style("padding", 0);
      gap(tops[first]);
      for (const row of order.slice(first, last)) {
        const cells = body.append("tr").attr("aria-rowindex", row + 2).selectAll("td").data(columns.map((column) => column.texts[row])).enter().append("td")
          .classed("n", (_, i) => numbers.has(i)).attr("title", (text) => (text.length > 40 ? text : null)).text((text) => text);
        if (narrow) cells.attr("data-head", (_, i) => table.headers[i] || null).classed("empty", (text) => text === "");
        if (levels && levels[row]) cells.filter((_, i) => i === 0).style("text-indent", 1.2 * levels[row] + "em");
      }
      gap(tops[order.length] - tops[last]);
    }

    scroller.on("scroll", () => {
      const top = scroller.node().scrollTop;
      if (Math.abs(top - drawn) > BEYOND / 4) draw();
    });
    window.addEventListener("resize", measure);
    window.addEventListener("beforeprint", () => draw(true));
    window.addEventListener("afterprint", () => draw());
    arrange();
  }

  return { drawTable };
})();
