// SPDX-License-Identifier: Apache-2.0
// Charts by their kind, and the table of what a chart shows.
"use strict";
const pageCharts = (function () {
  const { word } = pageTables;

  const tint = (series, i) => "var(--" + (series.tint || "t" + ((series.place == null ? i : series.place) % 9)) + ")";
  const shorten = (text, letters) => (text.length <= letters ? text
    : text.slice(0, Math.ceil(letters / 2) - 1) + "\u2026" + text.slice(-Math.floor(letters / 2)));
  const amount = (value, unit) => (value == null ? "" : d3.format(Math.abs(value) >= 1000 ? ",.0f" : ".4~g")(value) + (unit ? " " + unit : ""));

  function canvas(figure, height, label) {
    const width = Math.max(320, figure.clientWidth);
    return [d3.select(figure).insert("svg", "details").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label), width];
  }

  function drawKey(figure, entries) {
    const key = d3.select(figure).insert("div", "details").attr("class", "key");
    const one = key.selectAll("span").data(entries).enter().append("span");
    one.append("i").style("background", (entry) => entry.colour);
    one.append("span").text((entry) => entry.name);
  }

  function axisX(svg, scale, y, unit, count) {
    svg.append("g").attr("transform", `translate(0,${y})`).call(d3.axisBottom(scale).ticks(count || 6).tickSizeOuter(0));
    if (unit) svg.append("text").attr("x", scale.range()[1]).attr("y", y + 30).attr("text-anchor", "end").style("fill", "var(--dim)").text(unit);
  }

  const leftOf = (labels, width) => Math.min(width * 0.36, 12 + 6.6 * (d3.max(labels, (label) => label.length) || 0));

  function rowLabels(svg, labels, y, left) {
    const letters = Math.floor((left - 8) / 6.4), every = Math.ceil(labels.length / (y.range()[1] / 13));
    svg.append("g").selectAll("text").data(labels).enter().filter((_, i) => i % every === 0).append("text").attr("x", left - 6)
      .attr("y", (label, i) => y(i * every) + y.bandwidth() / 2 + 4).attr("text-anchor", "end").text((label) => shorten(label, letters))
      .append("title").text((label) => label);
  }

  // For each label one bar, stacked from the parts of a whole; or a bar for each series, side by side.
  function drawBars(figure, of, stacked) {
    // A part keeps its colour where others are left out.
    const parts = of.series.map((series, place) => ({ ...series, place })).filter((series) => series.values.some((value) => value > 0));
    const chart = stacked ? { ...of, series: parts } : of;
    const many = chart.labels.length, groups = stacked ? 1 : chart.series.length;
    const row = Math.max(stacked ? 3 : 4, Math.min(26, 700 / many)) * (stacked ? 1 : Math.max(1, groups * 0.7));
    const height = row * many;
    const [svg, width] = canvas(figure, height + 34, chart.title);
    const left = leftOf(chart.labels, width);
    const y = d3.scaleBand().domain(d3.range(many)).range([0, height]).padding(many > 60 ? 0 : 0.2);
    const whole = (i) => d3.sum(chart.series, (series) => Math.max(0, series.values[i] || 0));
    const most = stacked ? d3.max(d3.range(many), whole) : d3.max(chart.series, (series) => d3.max(series.values));
    const least = stacked ? 0 : Math.min(0, d3.min(chart.series, (series) => d3.min(series.values)) || 0);
    const x = d3.scaleLinear().domain([least, most || 1]).range([left, width - 12]).nice();
    rowLabels(svg, chart.labels, y, left);
    axisX(svg, x, height, chart.unit);
    const reached = new Array(many).fill(0);
    chart.series.forEach((series, s) => {
      const inner = stacked ? y.bandwidth() : y.bandwidth() / groups;
      svg.append("g").style("fill", tint(series, s)).selectAll("rect").data(series.values).enter().append("rect").attr("class", "bar")
        .attr("x", (value, i) => (stacked ? x(reached[i]) : x(Math.min(0, value || 0))))
        .attr("y", (_, i) => y(i) + (stacked ? 0 : s * inner)).attr("height", Math.max(1, inner))
        .attr("width", (value, i) => {
          const from = stacked ? reached[i] : 0;
          reached[i] += Math.max(0, value || 0);
          return Math.abs(x(from + (value || 0)) - x(from));
        }).append("title").text((value, i) => `${chart.labels[i]}: ${series.name} ${amount(value, chart.unit)}`
          + (stacked && whole(i) > 0 ? ` (${d3.format(".1%")(value / whole(i))})` : ""));
    });
    drawKey(figure, chart.series.map((series, i) => ({ name: series.name, colour: tint(series, i) })));
  }

  // The least, the quartiles, the most of each label.
  function drawBoxes(figure, chart) {
    const many = chart.labels.length, height = Math.max(8, Math.min(26, 700 / many)) * many;
    const [svg, width] = canvas(figure, height + 34, chart.title);
    const left = leftOf(chart.labels, width), of = chart.series.map((series) => series.values);
    const y = d3.scaleBand().domain(d3.range(many)).range([0, height]).padding(0.3);
    const x = d3.scaleLinear().domain([d3.min(of[0]), d3.max(of[4])]).range([left, width - 12]).nice();
    rowLabels(svg, chart.labels, y, left);
    axisX(svg, x, height, chart.unit);
    const box = svg.append("g").selectAll("g").data(d3.range(many)).enter().append("g").attr("class", "bar");
    const middle = (i) => y(i) + y.bandwidth() / 2;
    box.append("line").attr("x1", (i) => x(of[0][i])).attr("x2", (i) => x(of[4][i])).attr("y1", middle).attr("y2", middle).style("stroke", "var(--dim)");
    box.append("rect").attr("x", (i) => x(of[1][i])).attr("width", (i) => Math.max(1, x(of[3][i]) - x(of[1][i]))).attr("y", (i) => y(i))
      .attr("height", y.bandwidth()).style("fill", "var(--t0)").style("fill-opacity", 0.6);
    box.append("line").attr("x1", (i) => x(of[2][i])).attr("x2", (i) => x(of[2][i])).attr("y1", (i) => y(i)).attr("y2", (i) => y(i) + y.bandwidth())
      .style("stroke", "var(--text)").style("stroke-width", 2);
    box.append("title").text((i) => chart.labels[i] + ": " + chart.series.map((series) => `${series.name} ${amount(series.values[i], chart.unit)}`).join(", "));
  }

  // A cell for each label and series, the darker the more. Of many labels neighbours share a row: the largest is shown.
  function drawHeat(figure, chart) {
    // Ten thousand cells are drawn at once.
    const most = Math.max(64, Math.min(400, Math.floor(10000 / chart.series.length))), all = chart.labels.length, share = Math.ceil(all / most), many = Math.ceil(all / share);
    const rows = d3.range(many).map((i) => d3.range(i * share, Math.min(all, (i + 1) * share)));
    const labels = rows.map((row) => chart.labels[row[0]]);
    const longest = d3.max(chart.series, (series) => series.name.length) || 0;
    const room = (figure.clientWidth - leftOf(labels, figure.clientWidth) - 12) / chart.series.length;
    const turned = Math.max(3, Math.floor(room * 0.97 / 6.4)) < longest, top = turned ? 74 : 22;
    const height = Math.max(3, Math.min(22, 640 / many)) * many;
    const [svg, width] = canvas(figure, height + top + 8, chart.title);
    const left = leftOf(labels, width);
    const y = d3.scaleBand().domain(d3.range(many)).range([0, height]).padding(many > 60 ? 0 : 0.06);
    const x = d3.scaleBand().domain(d3.range(chart.series.length)).range([left, width - 12]).padding(0.03);
    const largest = d3.max(chart.series, (series) => d3.max(series.values)) || 1;
    const letters = Math.max(3, Math.floor(x.bandwidth() / 6.4));
    const plot = svg.append("g").attr("transform", `translate(0,${top})`);
    rowLabels(plot, labels, y, left);
    const every = turned ? Math.ceil(13 / x.step()) : 1;
    svg.append("g").selectAll("text").data(chart.series).enter().append("text").text((series, i) => (i % every ? "" : shorten(series.name, turned ? 11 : letters)))
      .attr("transform", (_, i) => `translate(${x(i) + x.bandwidth() / 2},${top - 6})` + (turned ? " rotate(-60)" : ""))
      .attr("text-anchor", turned ? "start" : "middle").append("title").text((series) => series.name);
    chart.series.forEach((series, s) => {
      plot.append("g").style("fill", tint(series, 0)).selectAll("rect").data(rows).enter().append("rect").attr("class", "cell").attr("x", x(s))
        .attr("y", (_, i) => y(i)).attr("width", x.bandwidth()).attr("height", Math.max(1, y.bandwidth()))
        .style("fill-opacity", (row) => { const value = d3.max(row, (i) => series.values[i]); return value == null ? 0 : 0.06 + 0.94 * Math.max(0, value) / largest; })
        .append("title").text((row) => row.slice(0, 8).map((i) => `${chart.labels[i]}: ${series.name} ${amount(series.values[i], chart.unit)}`).join("\n"));
    });
    drawKey(figure, [{ name: `0 \u2013 ${amount(largest, chart.unit)}`, colour: tint(chart.series[0] || {}, 0) }]);
  }

  // From the first total by changes to the last total.
  function drawWaterfall(figure, chart) {
    const values = chart.series[0].values, many = values.length, height = 26 * many;
    const [svg, width] = canvas(figure, height + 34, chart.title);
    const left = leftOf(chart.labels, width);
    let at = 0;
    const spans = values.map((value, i) => {
      const total = i === 0 || i === many - 1;
      const span = { from: total ? 0 : at, to: total ? value : at + value, total, value };
      at = span.to;
      return span;
    });
    const ends = spans.filter((span, i) => i > 0).map((span) => Math.min(span.total ? Infinity : span.from, span.to)).concat(values[0]);
    const low = d3.min(ends), high = d3.max(spans, (span) => Math.max(span.from, span.to));
    const cut = low - (high - low) * 0.6 > 0.3 * high ? low - (high - low) * 0.6 : 0;
    const y = d3.scaleBand().domain(d3.range(many)).range([0, height]).padding(0.25);
    const x = d3.scaleLinear().domain([cut, high || 1]).range([left, width - 90]);
    rowLabels(svg, chart.labels, y, left);
    axisX(svg, x, height, chart.unit + (cut > 0 ? ` (from ${amount(cut)})` : ""));
    const bar = svg.append("g").selectAll("g").data(spans).enter().append("g").attr("class", "bar");
    bar.append("rect").attr("x", (span) => x(Math.max(cut, Math.min(span.from, span.to)))).attr("y", (_, i) => y(i)).attr("height", y.bandwidth())
      .attr("width", (span) => Math.max(1, x(Math.max(span.from, span.to)) - x(Math.max(cut, Math.min(span.from, span.to)))))
      .style("fill", (span) => `var(--${span.total ? "base" : span.value > 0 ? "worse" : "better"})`)
      .append("title").text((span, i) => `${chart.labels[i]}: ${amount(span.value, chart.unit)}`);
    bar.append("text").attr("x", (span) => x(Math.max(span.from, span.to)) + 5).attr("y", (_, i) => y(i) + y.bandwidth() / 2 + 4)
      .text((span) => (span.total || span.value <= 0 ? "" : "+") + amount(span.value, chart.unit));
  }

  // A dot for each value of each series in the row of its label, with a limit.
  function drawDots(figure, chart) {
    const many = chart.labels.length, height = 34 * many;
    const [svg, width] = canvas(figure, height + 34, chart.title);
    const left = leftOf(chart.labels, width);
    const y = d3.scaleBand().domain(d3.range(many)).range([0, height]).padding(0.2);
    rowLabels(svg, chart.labels, y, left);
    const flat = chart.series.reduce((all, series) => all.concat(...series.dots), chart.limits.filter((limit) => limit != null));
    const x = d3.scaleLinear().domain(d3.extent(flat)).range([left + 8, width - 16]).nice();
    axisX(svg, x, height, chart.unit);
    chart.bands.forEach((band, i) => band && svg.append("rect").attr("x", x(band[0])).attr("width", Math.max(1, x(band[1]) - x(band[0]))).attr("y", y(i))
      .attr("height", y.bandwidth()).style("fill", "var(--base)").style("fill-opacity", 0.2).append("title").text(chart.band));
    chart.limits.forEach((limit, i) => limit != null && svg.append("line").attr("class", "limit").attr("x1", x(limit)).attr("x2", x(limit))
      .attr("y1", y(i)).attr("y2", y(i) + y.bandwidth()).append("title").text(`${chart.limit} ${amount(limit, chart.unit)}`));
    chart.series.forEach((series, s) => series.dots.forEach((dots, i) => svg.append("g").style("fill", tint(series, s)).selectAll("circle").data(dots).enter()
      .append("circle").attr("class", "dot").attr("r", 4.5).attr("cx", (value) => x(value)).attr("cy", y(i) + y.bandwidth() * (s + 1) / (chart.series.length + 1))
      .style("fill-opacity", 0.8).append("title").text((value) => `${chart.labels[i]}, ${series.name}: ${amount(value, chart.unit)}`)));
    drawKey(figure, chart.series.map((series, i) => ({ name: series.name, colour: tint(series, i) })));
  }

  // Amounts over time, one above the other; lines are not part of the sum.
  function drawAreas(figure, chart) {
    const height = 260;
    const [svg, width] = canvas(figure, height + 36, chart.title);
    const left = 64, at = chart.at;
    const areas = chart.series.filter((series) => !series.line), lines = chart.series.filter((series) => series.line);
    const x = d3.scaleLinear().domain(d3.extent(at)).range([left, width - 12]);
    const sums = at.map((_, i) => d3.sum(areas, (series) => series.values[i]));
    const y = d3.scaleLinear().domain([0, Math.max(d3.max(sums) || 0, d3.max(lines, (series) => d3.max(series.values)) || 0) || 1]).range([height, 20]).nice();
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(6));
    svg.append("text").attr("x", 2).attr("y", 10).style("fill", "var(--dim)").text(chart.unit);
    axisX(svg, x, height, chart.unit_x);
    const below = at.map(() => 0);
    areas.forEach((series, s) => {
      const from = below.slice();
      series.values.forEach((value, i) => { below[i] += value; });
      const to = below.slice();
      svg.append("path").attr("class", "area").attr("d", d3.area().curve(d3.curveStepAfter).x((i) => x(at[i])).y0((i) => y(from[i])).y1((i) => y(to[i]))(d3.range(at.length)))
        .style("fill", tint(series, s)).style("fill-opacity", 0.85).append("title").text(series.name);
    });
    lines.forEach((series, s) => svg.append("path").attr("class", "area").attr("d", d3.line().curve(d3.curveStepAfter)
      .defined((value) => value != null).x((_, i) => x(at[i])).y((value) => y(value))(series.values))
      .style("fill", "none").style("stroke", tint(series, areas.length + s)).style("stroke-width", 1.5).append("title").text(series.name));
    for (const mark of chart.marks) {
      const place = x(mark.at), before = place > width * 0.7;
      svg.append("line").attr("class", "mark").attr("x1", place).attr("x2", place).attr("y1", 0).attr("y2", height);
      svg.append("text").attr("class", "marked").attr("x", place + (before ? -5 : 5)).attr("y", 9).attr("text-anchor", before ? "end" : "start").text(mark.label);
    }
    drawKey(figure, chart.series.map((series, i) => ({ name: series.name, colour: tint(series, series.line ? areas.length + lines.indexOf(series) : i) })));
  }

  // Both axes are logarithmic: roofs are straight lines with a corner.
  function drawScatter(figure, chart) {
    const height = 340;
    const [svg, width] = canvas(figure, height + 36, chart.title);
    const left = 64, size = chart.beside[0].values;
    const value = (i) => chart.series.map((series) => series.values[i]).find((one) => one != null);
    const values = chart.labels.map((_, i) => value(i));
    const corners = chart.roofs.filter((roof) => roof.most > 0 && roof.slope > 0).map((roof) => roof.most / roof.slope);
    const tops = chart.roofs.filter((roof) => roof.most > 0).map((roof) => roof.most);
    const around = (low, high) => [low / 1.6, high * 1.6];
    const x = d3.scaleLog().domain(around(...d3.extent(chart.at.concat(corners)))).range([left, width - 12]);
    const y = d3.scaleLog().domain(around(...d3.extent(values.concat(tops)))).range([height, 8]);
    const few = (scale, most) => [[1, 2, 3, 5, 7], [1, 2, 5], [1]].map((starts) => scale.ticks().filter((tick) => starts.includes(+tick.toExponential()[0])))
      .find((ticks) => ticks.length <= most) || [];
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).tickValues(few(y, 9)).tickFormat(d3.format("~g")));
    svg.append("text").attr("x", 2).attr("y", 10).style("fill", "var(--dim)").text(chart.unit);
    svg.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).tickValues(few(x, width / 55)).tickFormat(d3.format("~g")));
    svg.append("text").attr("x", width - 12).attr("y", height + 32).attr("text-anchor", "end").style("fill", "var(--dim)").text(chart.unit_x);
    const [first, last] = x.domain(), lowest = y.domain()[0];
    const colour = (name) => { const s = chart.series.findIndex((series) => series.name === name); return tint(chart.series[s] || {}, Math.max(0, s)); };
    chart.roofs.forEach((roof, r) => {
      const at = (place) => Math.min(roof.most || Infinity, roof.slope ? roof.slope * place : Infinity);
      const from = roof.slope ? Math.max(first, lowest / roof.slope) : first;
      const places = [from, last].concat(roof.most && roof.slope ? [Math.min(last, Math.max(from, roof.most / roof.slope))] : []).sort(d3.ascending);
      svg.append("path").attr("class", "roof").attr("d", d3.line().x((place) => x(place)).y((place) => y(at(place)))(places)).style("fill", "none")
        .style("stroke", colour(chart.series[r] && chart.series[r].name)).style("stroke-width", 1.5).append("title").text(roof.name);
      svg.append("text").attr("class", "roofed").attr("x", width - 14).attr("y", y(at(last)) - 5).attr("text-anchor", "end").text(roof.name);
    });
    const radius = d3.scaleSqrt().domain([0, d3.max(size) || 1]).range([3, 13]);
    d3.range(values.length).sort((a, b) => size[b] - size[a]).forEach((i) => {
      const s = chart.series.findIndex((series) => series.values[i] != null);
      svg.append("circle").attr("class", "dot").attr("cx", x(chart.at[i])).attr("cy", y(values[i])).attr("r", radius(size[i])).style("fill", tint(chart.series[s], s))
        .style("fill-opacity", 0.6).style("stroke", "var(--page)").append("title").text(`${chart.labels[i]}\n${amount(values[i], chart.unit)}, ${amount(chart.at[i], chart.unit_x)}\n`
          + chart.beside.map((series) => `${series.name} ${amount(series.values[i])}`).join(", "));
    });
    drawKey(figure, chart.series.map((series, i) => ({ name: series.name, colour: tint(series, i) })));
  }

  // The frames of a flame graph: [parent, label], parents first. Their values are those without the frames within them.
  function frameTree(chart) {
    const root = { name: chart.label || "all", value: 0, children: [] };
    const nodes = chart.frames.map(([, label], i) => ({ name: chart.labels[label], value: chart.series[0].values[i], children: [] }));
    for (let i = nodes.length - 1; i >= 0; --i) {
      const parent = chart.frames[i][0] < 0 ? root : nodes[chart.frames[i][0]];
      nodes[i].parent = parent;
      parent.value += nodes[i].value;
      parent.children.push(nodes[i]);
    }
    return root;
  }

  // What is called stands on its caller. A click or Enter widens a frame; on the widest one it goes back to its caller.
  function drawFlame(figure, chart) {
    const root = frameTree(chart);
    const depth = (node) => 1 + (d3.max(node.children, depth) || 0);
    const levels = Math.min(60, depth(root)), row = 19, height = row * levels;
    const [svg, width] = canvas(figure, height, chart.title);
    const hash = (name) => { let sum = 0; for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 997; return sum % 6; };
    function show(chosen, focused) {
      svg.selectAll("*").remove();
      const widen = (node, focus) => show(node === chosen && node.parent ? node.parent : node, focus);
      const place = (node, x0, x1, level) => {
        if (x1 - x0 < 0.6 || level >= levels) return;
        const frame = svg.append("g").attr("class", "frame").attr("tabindex", x1 - x0 > 40 ? 0 : null).style("cursor", "pointer")
          .on("click", () => widen(node)).on("keydown", () => d3.event.key === "Enter" && widen(node, true));
        frame.append("rect").attr("x", x0).attr("y", height - row * (level + 1)).attr("width", Math.max(0.4, x1 - x0 - 0.6)).attr("height", row - 1)
          .style("fill", `var(--t${hash(node.name)})`).style("fill-opacity", 0.55);
        frame.append("title").text(`${node.name}\n${amount(node.value, chart.unit)} (${d3.format(".2%")(node.value / root.value)})`);
        if (x1 - x0 > 24) frame.append("text").attr("x", x0 + 4).attr("y", height - row * level - 6).text(shorten(node.name, Math.floor((x1 - x0 - 6) / 7)));
        let x = x0;
        for (const child of node.children.slice().sort((a, b) => b.value - a.value)) {
          const w = (x1 - x0) * child.value / node.value;
          place(child, x, x + w, level + 1);
          x += w;
        }
      };
      const callers = [];
      for (let node = chosen.parent; node && callers.length < levels / 3; node = node.parent) callers.unshift(node);
      callers.forEach((node, level) => {
        const frame = svg.append("g").attr("class", "frame").attr("tabindex", 0).style("cursor", "pointer").on("click", () => show(node))
          .on("keydown", () => d3.event.key === "Enter" && show(node, true));
        frame.append("rect").attr("x", 0).attr("y", height - row * (level + 1)).attr("width", width).attr("height", row - 1).style("fill", "var(--free)").style("fill-opacity", 0.4);
        frame.append("text").attr("x", 4).attr("y", height - row * level - 6).text(shorten(node.name, 80));
      });
      const before = callers.length;
      place(chosen, 0, width, before);
      if (focused) svg.selectAll(".frame").filter((_, i) => i === before).node().focus();
    }
    show(root);
    d3.select(figure).insert("button", "details").attr("type", "button").text(word("all")).on("click", () => show(root));
  }

  // Lanes of spans over time. The wheel and a drag zoom; arrows lead from who waits to whom it waits for.
  function drawTimeline(figure, chart) {
    const row = 30, top = 22, height = top + row * chart.lanes.length;
    const [svg, width] = canvas(figure, height + 34, chart.title);
    const left = Math.min(width * 0.3, 180);
    const whole = d3.scaleLinear().domain([chart.begin, chart.end]).range([left, width - 12]);
    const id = "clip" + Math.random().toString(36).slice(2);
    svg.append("clipPath").attr("id", id).append("rect").attr("x", left).attr("y", 0).attr("width", width - 12 - left).attr("height", height);
    svg.append("g").selectAll("text").data(chart.lanes).enter().append("text").attr("x", left - 6).attr("y", (_, i) => top + row * i + 18)
      .attr("text-anchor", "end").text((lane) => shorten(lane.title, Math.floor((left - 8) / 6.4))).append("title").text((lane) => lane.title);
    const axis = svg.append("g").attr("transform", `translate(0,${height})`);
    svg.append("text").attr("x", width - 12).attr("y", height + 30).attr("text-anchor", "end").style("fill", "var(--dim)").text(chart.unit);
    const plot = svg.append("g").attr("clip-path", `url(#${id})`);
    const spans = plot.append("g"), marks = plot.append("g");
    function draw(x) {
      axis.call(d3.axisBottom(x).ticks(8));
      spans.selectAll("*").remove();
      marks.selectAll("*").remove();
      chart.lanes.forEach((lane, l) => {
        for (const [begin, length, kind, name, label] of lane.spans) {
          const x0 = Math.max(left, x(begin)), x1 = Math.min(width - 12, x(begin + length));
          if (x1 <= x0) continue;
          const span = spans.append("g").attr("class", "span");
          span.append("rect").attr("x", x0).attr("y", top + row * l + 3).attr("width", Math.max(0.7, x1 - x0)).attr("height", row - 8)
            .style("fill", chart.kinds[kind].colour);
          span.append("title").text(`${name}: ${amount(length, chart.unit)}, from ${amount(begin, chart.unit)}`);
          const text = label || name;
          if (x1 - x0 > 7 * text.length + 6) span.append("text").attr("x", (x0 + x1) / 2).attr("y", top + row * l + 18).attr("text-anchor", "middle").text(text);
        }
      });
      for (const mark of chart.marks) {
        marks.append("line").attr("class", "mark").attr("x1", x(mark.at)).attr("x2", x(mark.at)).attr("y1", 14).attr("y2", height)
          .style("stroke-dasharray", mark.guess ? "5 4" : null);
        marks.append("text").attr("x", x(mark.at) + (x(mark.at) > width * 0.8 ? -4 : 4)).attr("y", 11)
          .attr("text-anchor", x(mark.at) > width * 0.8 ? "end" : "start").style("fill", "var(--worse)").text(mark.label);
      }
      for (const arrow of chart.arrows) {
        const y0 = top + row * arrow.from + 12, y1 = top + row * arrow.to + 12, x0 = x(arrow.at), x1 = x(arrow.until);
        marks.append("path").attr("class", "arrow").attr("d", `M${x0},${y0}C${x0},${(y0 + y1) / 2} ${x1},${(y0 + y1) / 2} ${x1},${y1}`)
          .style("fill", "none").style("stroke", "var(--wait)").style("stroke-width", 1.5).append("title").text(arrow.label);
        const tip = y1 > y0 ? -7 : 7;
        marks.append("path").attr("d", `M${x1},${y1}l-4,${tip}h8z`).style("fill", "var(--wait)");
      }
    }
    const zoom = d3.zoom().scaleExtent([1, 5000]).translateExtent([[left, 0], [width - 12, height]]).extent([[left, 0], [width - 12, height]])
      .on("zoom", () => draw(d3.event.transform.rescaleX(whole)));
    svg.call(zoom);
    const keys = {
      "+": () => zoom.scaleBy(svg, 1.5), "=": () => zoom.scaleBy(svg, 1.5), "-": () => zoom.scaleBy(svg, 1 / 1.5), Home: () => svg.call(zoom.transform, d3.zoomIdentity),
      ArrowLeft: () => pan(1), ArrowRight: () => pan(-1), ArrowUp: () => zoom.scaleBy(svg, 1.5), ArrowDown: () => zoom.scaleBy(svg, 1 / 1.5),
    };
    const pan = (to) => zoom.translateBy(svg, to * (width - left) / 5 / d3.zoomTransform(svg.node()).k, 0);
    svg.attr("tabindex", 0).on("keydown", () => {
      const act = !d3.event.ctrlKey && !d3.event.metaKey && keys[d3.event.key];
      if (act) { d3.event.preventDefault(); act(); }
    });
    d3.select(figure).insert("button", "details").attr("type", "button").text(word("reset")).on("click", () => svg.call(zoom.transform, d3.zoomIdentity));
    drawKey(figure, chart.kinds.filter((kind) => kind.meaning).map((kind) => ({ name: kind.meaning, colour: kind.colour })));
    draw(whole);
  }

  const drawings = {
    bars: (figure, chart) => drawBars(figure, chart, false), stacked: (figure, chart) => drawBars(figure, chart, true), boxes: drawBoxes,
    heat: drawHeat, waterfall: drawWaterfall, dots: drawDots, areas: drawAreas, flame: drawFlame, scatter: drawScatter, timeline: drawTimeline,
  };

  // What a chart shows, as a table.
  function tableOfChart(chart) {
    const text = (value) => (value == null ? "" : String(value));
    const title = (series) => series.name + (chart.unit ? ` (${chart.unit})` : "");
    if (chart.kind === "timeline") {
      const rows = [].concat(...chart.lanes.map((lane) => lane.spans.map((span) => [lane.title, span[3], text(span[0]), text(span[1])])));
      return { headers: [word("lane"), word("name"), `${word("start")} (${chart.unit})`, `${word("length")} (${chart.unit})`], numbers: [2, 3],
        columns: d3.range(4).map((i) => rows.map((row) => row[i])) };
    }
    if (chart.kind === "flame") {
      const paths = [];
      chart.frames.forEach(([parent, label]) => paths.push((parent < 0 ? "" : paths[parent] + ";") + chart.labels[label]));
      const own = chart.series[0].values, shown = d3.range(paths.length).filter((i) => own[i] > 0).sort((a, b) => own[b] - own[a]);
      return { headers: [word("path"), title(chart.series[0])], numbers: [1], columns: [shown.map((i) => paths[i]), shown.map((i) => text(own[i]))] };
    }
    const labels = chart.labels || chart.at.map(text);
    if (chart.kind === "scatter") {
      return { headers: [chart.label, chart.unit_x, ...chart.series.map(title), ...chart.beside.map((series) => series.name)],
        numbers: d3.range(1, 2 + chart.series.length + chart.beside.length),
        columns: [labels, chart.at.map(text), ...chart.series.concat(chart.beside).map((series) => series.values.map(text))] };
    }
    const values = (series) => (series.dots ? series.dots.map((dots) => dots.join(" ")) : series.values.map(text));
    return { headers: [chart.label || word("name"), ...chart.series.map(title)], numbers: d3.range(1, chart.series.length + 1),
      columns: [labels, ...chart.series.map(values)] };
  }

  return { drawings, tableOfChart };
})();
