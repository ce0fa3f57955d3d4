// SPDX-License-Identifier: Apache-2.0
// Charts over a place or over time.
"use strict";
const pageOverCharts = (function () {
  const { say } = pageCells;
  const { tint, amount, flat, canvas, drawKey, keyOfSeries, widthOf, shortNames, unitText, ticksOf, ticksOfLog, axisX, axisY, leftOfY, drawMarks } = pageDrawing;

  // Amounts over time, one above the other; lines are not part of the sum.
  function drawAreas(figure, chart) {
    const height = 260, at = chart.at;
    const [svg, width] = canvas(figure, height + 38, chart.title);
    const areas = chart.series.filter((series) => !series.line), lines = chart.series.filter((series) => series.line);
    const sums = at.map((_, i) => d3.sum(areas, (series) => series.values[i]));
    const y = d3.scaleLinear().domain([0, Math.max(d3.max(sums) || 0, d3.max(lines, (series) => d3.max(series.values)) || 0) || 1]).range([height, 20]).nice();
    const left = leftOfY(y), x = d3.scaleLinear().domain(d3.extent(at)).range([left, width - 12]);
    axisY(svg, y, left, chart.unit);
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
    drawMarks(svg, chart.marks, x, width, height);
    drawKey(figure, chart.series.map((series, i) => ({ name: series.name, colour: tint(series, series.line ? areas.length + lines.indexOf(series) : i) })));
  }

  // Values over a place, each series a line with gaps where values are missing, with a band behind them. Few values are dots, too.
  function drawLines(figure, chart) {
    const height = 260, at = chart.at, few = at.length <= 150;
    const [svg, width] = canvas(figure, height + 38, chart.title);
    const bands = chart.bands || [];
    const [least, most] = d3.extent(flat(chart.series.map((series) => series.values).concat(bands)));
    const around = most === least ? Math.abs(most) / 20 : 0;
    const y = d3.scaleLinear().domain([least > 0 && least < most / 2 ? 0 : least - around, most === 0 && least === 0 ? 1 : most + around]).range([height, 20]).nice();
    const left = leftOfY(y), x = d3.scaleLinear().domain(d3.extent(at.filter((_, i) => chart.series.some((series) => series.values[i] != null)))).range([left, width - 12]);
    axisY(svg, y, left, chart.unit);
    axisX(svg, x, height, chart.unit_x);
    if (bands.length) {
      svg.append("path").attr("class", "band").attr("d", d3.area().curve(d3.curveStep).defined((band) => band).x((_, i) => x(at[i])).y0((band) => y(band[0])).y1((band) => y(band[1]))(bands))
        .append("title").text(chart.band);
    }
    chart.series.forEach((series, s) => {
      const { values } = series;
      svg.append("path").attr("class", "line").attr("d", d3.line().defined((value) => value != null).x((_, i) => x(at[i])).y((value) => y(value))(values))
        .style("stroke", tint(series, s)).append("title").text(series.name);
      const dotted = d3.range(at.length).filter((i) => values[i] != null && (few || (values[i - 1] == null && values[i + 1] == null)));
      svg.append("g").style("fill", tint(series, s)).selectAll("circle").data(dotted).enter().append("circle").attr("class", "dot").attr("r", 3)
        .attr("cx", (i) => x(at[i])).attr("cy", (i) => y(values[i])).append("title").text((i) => `${series.name}: ${amount(values[i], chart.unit)}, ${amount(at[i], chart.unit_x)}`);
    });
    drawMarks(svg, chart.marks, x, width, height);
    keyOfSeries(figure, chart, bands.length ? [{ name: chart.band, colour: "var(--band)" }] : []);
  }

  // Both axes are logarithmic: roofs are straight lines with a corner.
  function drawScatter(figure, chart) {
    const height = 340;
    const [svg, width] = canvas(figure, height + 38, chart.title);
    const left = 64, size = chart.beside[0].values;
    const value = (i) => chart.series.map((series) => series.values[i]).find((one) => one != null);
    const values = chart.labels.map((_, i) => value(i));
    const corners = chart.roofs.filter((roof) => roof.most > 0 && roof.slope > 0).map((roof) => roof.most / roof.slope);
    const tops = chart.roofs.filter((roof) => roof.most > 0).map((roof) => roof.most);
    const around = (low, high) => [low / 1.6, high * 1.6];
    const x = d3.scaleLog().domain(around(...d3.extent(chart.at.concat(corners)))).range([left, width - 12]);
    const y = d3.scaleLog().domain(around(...d3.extent(values.concat(tops)))).range([height, 8]);
    svg.append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).tickValues(ticksOfLog(y, 9)).tickFormat(d3.format("~g")));
    unitText(svg, 2, 10, chart.unit);
    svg.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).tickValues(ticksOfLog(x, width / 60)).tickFormat(d3.format("~g")));
    unitText(svg, width - 12, height + 34, chart.unit_x).attr("text-anchor", "end");
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
    keyOfSeries(figure, chart);
  }

  // Lanes of spans over time. The wheel with Ctrl zooms, without it the page scrolls; arrows lead from who waits to whom it waits for.
  function drawTimeline(figure, chart) {
    const row = 30, top = 22, height = top + row * chart.lanes.length;
    const [svg, width] = canvas(figure, height + 34, chart.title);
    const left = Math.min(width * 0.3, 200), titles = shortNames(chart.lanes.map((lane) => lane.title), () => left - 8);
    const whole = d3.scaleLinear().domain([chart.begin, chart.end]).range([left, width - 12]);
    const id = "clip" + Math.random().toString(36).slice(2);
    svg.append("clipPath").attr("id", id).append("rect").attr("x", left).attr("y", 0).attr("width", width - 12 - left).attr("height", height);
    svg.append("g").selectAll("text").data(chart.lanes).enter().append("text").attr("x", left - 6).attr("y", (_, i) => top + row * i + 18)
      .attr("text-anchor", "end").attr("class", "label").text((_, i) => titles[i]).append("title").text((lane) => lane.title);
    const axis = svg.append("g").attr("transform", `translate(0,${height})`);
    unitText(svg, width - 12, height + 32, chart.unit).attr("text-anchor", "end");
    const plot = svg.append("g").attr("clip-path", `url(#${id})`);
    const spans = plot.append("g"), marks = plot.append("g");
    function draw(x) {
      const [ticks, format] = ticksOf(x);
      axis.call(d3.axisBottom(x).tickValues(ticks).tickFormat(format));
      spans.selectAll("*").remove();
      marks.selectAll("*").remove();
      chart.lanes.forEach((lane, l) => {
        for (const [begin, length, kind, name, label] of lane.spans) {
          const x0 = Math.max(left, x(begin)), x1 = Math.min(width - 12, x(begin + length));
          if (x1 <= x0) continue;
          const span = spans.append("g").attr("class", "span");
          span.append("rect").attr("x", x0).attr("y", top + row * l + 3).attr("width", Math.max(0.7, x1 - x0)).attr("height", row - 8)
            .style("fill", chart.kinds[kind].colour);
          span.append("title").text(say("{}: {}, from {}", name, amount(length, chart.unit), amount(begin, chart.unit)));
          const text = label || name;
          if (x1 - x0 > 6 && x1 - x0 > widthOf(text) + 6) span.append("text").attr("x", (x0 + x1) / 2).attr("y", top + row * l + 18).attr("text-anchor", "middle").text(text);
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
      .filter(() => (d3.event.type === "wheel" ? d3.event.ctrlKey || d3.event.metaKey : !d3.event.button))
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
    d3.select(figure).insert("button", "details").attr("type", "button").text(say("Whole window")).on("click", () => svg.call(zoom.transform, d3.zoomIdentity));
    d3.select(figure).insert("span", "details").attr("class", "hint").text(say("Ctrl and the wheel zoom, a drag moves; + − and arrows do both"));
    drawKey(figure, chart.kinds.filter((kind) => kind.meaning).map((kind) => ({ name: kind.meaning, colour: kind.colour })));
    draw(whole);
  }

  return { areas: drawAreas, lines: drawLines, scatter: drawScatter, timeline: drawTimeline };
})();
