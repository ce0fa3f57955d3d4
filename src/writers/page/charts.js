// SPDX-License-Identifier: Apache-2.0
// Charts of a row for each label.
"use strict";
const pageCharts = (function () {
  const { say } = pageCells;
  const { tint, amount, flat, canvas, keyOfSeries, leftOf, axisX, rowName, rowLabels } = pageDrawing;

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
    rowName(svg, chart.label, left, height);
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
    keyOfSeries(figure, chart);
  }

  // The least, the quartiles, the most of each label.
  function drawBoxes(figure, chart) {
    const many = chart.labels.length, height = Math.max(8, Math.min(26, 700 / many)) * many;
    const [svg, width] = canvas(figure, height + 34, chart.title);
    const left = leftOf(chart.labels, width), of = chart.series.map((series) => series.values);
    const y = d3.scaleBand().domain(d3.range(many)).range([0, height]).padding(0.3);
    // Durations of very different length would be a line each.
    const least = d3.min(of[0]), most = d3.max(of[4]), logarithmic = least > 0 && most > 50 * least;
    const x = (logarithmic ? d3.scaleLog() : d3.scaleLinear()).domain([least, most]).range([left, width - 12]).nice();
    rowLabels(svg, chart.labels, y, left);
    rowName(svg, chart.label, left, height);
    axisX(svg, x, height, logarithmic ? say("{}, logarithmic", chart.unit) : chart.unit);
    const box = svg.append("g").selectAll("g").data(d3.range(many)).enter().append("g").attr("class", "bar");
    const middle = (i) => y(i) + y.bandwidth() / 2;
    box.append("line").attr("x1", (i) => x(of[0][i])).attr("x2", (i) => x(of[4][i])).attr("y1", middle).attr("y2", middle).style("stroke", "var(--dim)");
    box.append("rect").attr("x", (i) => x(of[1][i])).attr("width", (i) => Math.max(1, x(of[3][i]) - x(of[1][i]))).attr("y", (i) => y(i))
      .attr("height", y.bandwidth()).style("fill", "var(--t0)").style("fill-opacity", 0.6).style("stroke", "var(--t0)");
    box.append("line").attr("x1", (i) => x(of[2][i])).attr("x2", (i) => x(of[2][i])).attr("y1", (i) => y(i)).attr("y2", (i) => y(i) + y.bandwidth())
      .style("stroke", "var(--text)").style("stroke-width", 2);
    box.append("title").text((i) => chart.labels[i] + ": " + chart.series.map((series) => `${series.name} ${amount(series.values[i], chart.unit)}`).join(", "));
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
    rowName(svg, chart.label, left, height);
    axisX(svg, x, height, cut > 0 ? say("{} (from {})", chart.unit, amount(cut)) : chart.unit);
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
    rowName(svg, chart.label, left, height);
    const all = flat(chart.series.map((series) => flat(series.dots)).concat([chart.limits, flat(chart.bands)]));
    const x = d3.scaleLinear().domain(d3.extent(all)).range([left + 8, width - 16]).nice();
    axisX(svg, x, height, chart.unit);
    chart.bands.forEach((band, i) => band && svg.append("rect").attr("x", x(band[0])).attr("width", Math.max(1, x(band[1]) - x(band[0]))).attr("y", y(i))
      .attr("height", y.bandwidth()).attr("class", "band").append("title").text(chart.band));
    chart.limits.forEach((limit, i) => limit != null && svg.append("line").attr("class", "limit").attr("x1", x(limit)).attr("x2", x(limit))
      .attr("y1", y(i)).attr("y2", y(i) + y.bandwidth()).append("title").text(`${chart.limit} ${amount(limit, chart.unit)}`));
    chart.series.forEach((series, s) => series.dots.forEach((dots, i) => svg.append("g").style("fill", tint(series, s)).selectAll("circle").data(dots).enter()
      .append("circle").attr("class", "dot").attr("r", 4.5).attr("cx", (value) => x(value)).attr("cy", y(i) + y.bandwidth() * (s + 1) / (chart.series.length + 1))
      .style("fill-opacity", 0.8).append("title").text((value) => `${chart.labels[i]}, ${series.name}: ${amount(value, chart.unit)}`)));
    const more = [{ name: chart.band, colour: "var(--band)", seen: flat(chart.bands).length },
      { name: say("limit"), colour: "repeating-linear-gradient(90deg, var(--worse) 0 4px, transparent 4px 7px)", seen: flat([chart.limits]).length }];
    keyOfSeries(figure, chart, more.filter((entry) => entry.seen));
  }

  return { bars: (figure, chart) => drawBars(figure, chart, false), stacked: (figure, chart) => drawBars(figure, chart, true),
    boxes: drawBoxes, waterfall: drawWaterfall, dots: drawDots };
})();
