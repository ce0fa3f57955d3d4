// SPDX-License-Identifier: Apache-2.0
// Words in the language of the page, and tables that are searched, sorted and copied. Only the rows that are seen are drawn.
"use strict";
const pageTables = (function () {
  const words = {
    en: { search: "Search", copy: "Copy as CSV", copied: "Copied", rows: "rows", of: "of", table: "As a table", reset: "Whole window", all: "Whole graph",
      name: "name", value: "value", start: "start", length: "length", lane: "lane", path: "path", less: "less", more: "more" },
    zh: { search: "搜索", copy: "复制为 CSV", copied: "已复制", rows: "行", of: "/", table: "表格", reset: "全部时间", all: "全部",
      name: "名称", value: "数值", start: "开始", length: "时长", lane: "泳道", path: "路径", less: "小", more: "大" },
  }[document.documentElement.lang.slice(0, 2)] || {};
  const word = (key) => words[key] || key;
  const ROW = 26;

  const cellsOf = (column) => (column.of ? column.at.map((i) => column.of[i]) : column);
  const numberIn = (text) => {
    const found = /^[^\d+\-.]*([+\-]?[\d,]*\.?\d+(?:e[+\-]?\d+)?)/i.exec(text.replace(/\u2212/g, "-"));
    return found ? parseFloat(found[1].replace(/,/g, "")) : -Infinity;
  };
  const csvField = (text) => (/[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text);

  async function copyText(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch (error) {
      const area = document.body.appendChild(document.createElement("textarea"));
      area.value = text;
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  function drawTable(box, table) {
    const columns = table.columns.map(cellsOf);
    const numbers = new Set(table.numbers || []);
    const count = columns.length ? columns[0].length : 0;
    let order = d3.range(count), sorted = -1, up = true, wanted = "";
    const root = d3.select(box);
    const tools = count > 12 ? root.append("div").attr("class", "tools") : null;
    const scroller = root.append("div").attr("class", "rows").attr("tabindex", 0).attr("role", "region")
      .attr("aria-label", table.title || word("table"));
    const shown = scroller.append("table").attr("aria-rowcount", count + 1);
    const heads = shown.append("thead").append("tr").selectAll("th").data(table.headers).enter().append("th")
      .attr("scope", "col").classed("n", (_, i) => numbers.has(i));
    heads.append("button").attr("type", "button").text((text) => text).on("click", (_, i) => {
      up = sorted === i ? !up : !numbers.has(i);
      sorted = i;
      arrange();
    });
    const body = shown.append("tbody");
    const note = tools && tools.append("span").attr("class", "count").attr("role", "status");
    if (tools) {
      tools.insert("input", "span").attr("type", "search").attr("placeholder", word("search")).attr("aria-label", word("search"))
        .on("input", function () { wanted = this.value.toLowerCase(); arrange(); });
      const button = tools.append("button").attr("type", "button").text(word("copy"));
      button.on("click", async () => {
        const lines = [table.headers, ...order.map((row) => columns.map((column) => column[row]))];
        await copyText(lines.map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n");
        button.text(word("copied"));
        setTimeout(() => button.text(word("copy")), 1500);
      });
    }

    function arrange() {
      order = d3.range(count);
      if (wanted) order = order.filter((row) => columns.some((column) => column[row].toLowerCase().includes(wanted)));
      if (sorted >= 0) {
        const column = columns[sorted];
        const key = numbers.has(sorted) ? numberIn : (text) => text;
        const keys = new Map(order.map((row) => [row, key(column[row])]));
        order.sort((a, b) => (up ? 1 : -1) * d3.ascending(keys.get(a), keys.get(b)) || a - b);
      }
      heads.attr("aria-sort", (_, i) => (i !== sorted ? null : up ? "ascending" : "descending"));
      if (note) note.text((order.length === count ? "" : order.length.toLocaleString() + " " + word("of") + " ")
        + count.toLocaleString() + " " + word("rows"));
      scroller.node().scrollTop = 0;
      draw();
    }

    // Only the rows that are seen are there, between two rows as high as those that are not.
    function draw(all) {
      const view = scroller.node();
      const many = Math.ceil((view.clientHeight || 500) / ROW) + 20;
      const first = all ? 0 : Math.max(0, Math.floor(view.scrollTop / ROW) - 10);
      const last = all ? Math.min(order.length, 1000) : Math.min(order.length, first + many);
      body.selectAll("tr").remove();
      const gap = (height) => height > 0 && body.append("tr").attr("aria-hidden", "true").append("td").attr("colspan", columns.length)
        .style("height", height + "px").style("padding", 0);
      gap(first * ROW);
      for (const row of order.slice(first, last)) {
        body.append("tr").attr("aria-rowindex", row + 2).selectAll("td").data(columns.map((column) => column[row])).enter().append("td")
          .classed("n", (_, i) => numbers.has(i)).attr("title", (text) => (text.length > 40 ? text : null)).text((text) => text);
      }
      gap((order.length - last) * ROW);
    }

    let drawn = 0;
    scroller.on("scroll", () => {
      const top = scroller.node().scrollTop;
      if (Math.abs(top - drawn) > 5 * ROW || top === 0) { drawn = top; draw(); }
    });
    window.addEventListener("beforeprint", () => draw(true));
    window.addEventListener("afterprint", () => draw());
    arrange();
    return draw;
  }

  return { word, drawTable };
})();
