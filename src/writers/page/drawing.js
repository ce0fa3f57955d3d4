// SPDX-License-Identifier: Apache-2.0
// What charts have in common: room, colours, axes, keys, and names that are cut to fit.
"use strict";
const pageDrawing = (function () {
  const tint = (series, i) => "var(--" + (series.tint || "t" + ((series.place == null ? i : series.place) % 9)) + ")";
  const amount = (value, unit) => (value == null ? "" : d3.format(Math.abs(value) >= 1000 ? ",.0f" : ".4~g")(value) + (unit ? " " + unit : ""));
  const flat = (lists) => [].concat(...lists).filter((value) => value != null);

  // Charts grow with the letters of the page, which are larger on large screens.
  const roomIn = (figure) => Math.max(280, figure.clientWidth / Math.max(1, parseFloat(getComputedStyle(figure).fontSize) / 15));

  function canvas(figure, height, label) {
    const width = roomIn(figure);
    return [d3.select(figure).insert("svg", "details").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label), width];
  }

  // Above the chart, where it is seen with the first bar.
  function drawKey(figure, entries) {
    const key = d3.select(figure).insert("div", ":scope > svg, :scope > details").attr("class", "key");
    const one = key.selectAll("span").data(entries).enter().append("span");
    one.append("i").style("background", (entry) => entry.colour);
    one.append("span").text((entry) => entry.name);
  }
  const keyOfSeries = (figure, chart, more) => drawKey(figure, chart.series.map((series, i) => ({ name: series.name, colour: tint(series, i) })).concat(more || []));

  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "12px system-ui, \"Noto Sans CJK SC\", \"Microsoft YaHei\", sans-serif";
  const widthOf = (text) => pen.measureText(text).width;
  const letterOf = (text) => widthOf(text.slice(0, 300)) / Math.min(300, text.length || 1);
  const shorten = (text, letters) => (text.length <= letters ? text
    : text.slice(0, Math.ceil(letters / 2) - 1) + "\u2026" + text.slice(text.length - Math.floor(letters / 2)));

  // Keeps what tells a name from those that have the first `same` and the last `alike` letters in common with it, and some beside it.
  function aroundDifference(name, same, alike, letters) {
    const beside = Math.max(0, Math.min(6, Math.floor((letters - 2 - name.length + same + alike) / 4)));
    const begin = Math.max(0, same - beside), end = Math.max(0, alike - beside);
    const core = shorten(name.slice(begin, name.length - end), letters - 2), rest = Math.max(0, letters - 2 - core.length);
    const head = Math.min(begin, Math.ceil(rest / 2)), tail = Math.min(end, rest - head);
    return name.slice(0, head) + (begin > head ? "\u2026" : "") + core + (end > tail ? "\u2026" : "") + name.slice(name.length - tail);
  }

  // Names cut to the room that each has, so that different ones stay different.
  function shortNames(names, roomOf) {
    const fits = names.map((name, i) => letterOf(name) * name.length <= roomOf(i));
    const widest = d3.max(names, (name, i) => (fits[i] ? 0 : letterOf(name)));
    const letters = names.map((name, i) => (fits[i] ? name.length : Math.max(3, Math.floor(0.95 * roomOf(i) / widest))));
    const cut = names.map((name, i) => shorten(name, letters[i]));
    const groups = new Map();
    cut.forEach((text, i) => groups.set(text, (groups.get(text) || []).concat(i)));
    for (const group of groups.values()) {
      const different = [...new Set(group.map((i) => names[i]))], first = different[0];
      if (different.length < 2) continue;
      const least = d3.min(different, (name) => name.length);
      let begin = 0, end = 0;
      while (begin < least && different.every((name) => name[begin] === first[begin])) ++begin;
      while (end < least - begin && different.every((name) => name[name.length - 1 - end] === first[first.length - 1 - end])) ++end;
      for (const i of group) cut[i] = aroundDifference(names[i], begin, end, letters[i]);
    }
    // What is still the same is numbered.
    const owner = new Map();
    return cut.map((text, i) => {
      let shown = text;
      for (let n = 2; owner.has(shown) && owner.get(shown) !== names[i]; ++n) {
        const number = "~" + n;
        shown = shorten(names[i], Math.max(3, letters[i] - number.length)) + number;
      }
      owner.set(shown, names[i]);
      return shown;
    });
  }

  const unitText = (svg, x, y, unit) => svg.append("text").attr("class", "unit").attr("x", x).attr("y", y).text(unit);

  // As many ticks as there is room for their texts.
  function ticksOf(scale) {
    const room = Math.abs(scale.range()[1] - scale.range()[0]);
    for (let count = 8; count > 1; --count) {
      const ticks = scale.ticks(count), format = scale.tickFormat(count);
      if (d3.sum(ticks, (tick) => widthOf(format(tick)) + 14) <= room) return [ticks, format];
    }
    return [scale.domain(), (value) => amount(value)];
  }

  // Of a logarithmic scale as many of its ticks as have room.
  const ticksOfLog = (scale, most) => [[1, 2, 3, 5, 7], [1, 2, 5], [1]].map((starts) => scale.ticks().filter((tick) => starts.includes(+tick.toExponential()[0])))
    .find((ticks) => ticks.length <= most) || [];

  function axisX(svg, scale, y, unit) {
    const [first, last] = scale.range();
    const [ticks, format] = scale.base ? [ticksOfLog(scale, (last - first) / 60), d3.format("~g")] : ticksOf(scale);
    svg.append("g").attr("transform", `translate(0,${y})`).call(d3.axisBottom(scale).tickValues(ticks).tickFormat(format).tickSizeOuter(0));
    if (unit) unitText(svg, scale.range()[1], y + 32, unit).attr("text-anchor", "end");
  }

  // On the left, with the unit above. Returns what is left of the scale's range.
  function axisY(svg, scale, left, unit) {
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(scale).ticks(6));
    unitText(svg, 2, 10, unit);
  }
  const leftOfY = (scale) => 16 + d3.max(scale.ticks(6), (tick) => widthOf(scale.tickFormat(6)(tick)));

  const leftOf = (labels, width) => Math.min(width * 0.36, 12 + (d3.max(labels, (label) => widthOf(label.slice(0, 300))) || 0));

  // What the labels are, below them, or where they are too narrow in a line of its own.
  function rowName(svg, name, left, y, below = 32) {
    const beside = left - 24, fits = widthOf(name || "") <= beside;  // of the first tick's text
    if (name) unitText(svg, fits ? beside : 0, y + (fits ? 16 : below), name).attr("text-anchor", fits ? "end" : "start");
  }

  function rowLabels(svg, labels, y, left) {
    const every = Math.ceil(labels.length / (y.range()[1] / 14)), cut = shortNames(labels, () => left - 8);
    svg.append("g").selectAll("text").data(labels).enter().filter((_, i) => i % every === 0).append("text").attr("class", "label").attr("x", left - 6)
      .attr("y", (_, i) => y(i * every) + y.bandwidth() / 2 + 4).attr("text-anchor", "end").text((_, i) => cut[i * every])
      .append("title").text((label) => label);
  }

  // Places on the lower axis that matter.
  function drawMarks(svg, marks, x, width, height) {
    for (const mark of marks || []) {
      const place = x(mark.at), before = place > width * 0.7;
      svg.append("line").attr("class", "mark").attr("x1", place).attr("x2", place).attr("y1", 0).attr("y2", height);
      svg.append("text").attr("class", "marked").attr("x", place + (before ? -5 : 5)).attr("y", 9).attr("text-anchor", before ? "end" : "start").text(mark.label);
    }
  }

  return { tint, amount, flat, roomIn, canvas, drawKey, keyOfSeries, widthOf, shortNames, unitText, ticksOf, axisX, axisY, leftOfY, leftOf, rowName, rowLabels, ticksOfLog, drawMarks };
})();
