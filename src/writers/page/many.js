// SPDX-License-Identifier: Apache-2.0
// Charts of many labels: heat maps, distributions and histograms.
"use strict";
const pageManyCharts = (function () {
  const { say } = pageCells;
  const { tint, amount, flat, roomIn, canvas, drawKey, keyOfSeries, widthOf, shortNames, unitText, axisX, axisY, leftOfY, leftOf, rowName, rowLabels } = pageDrawing;

  // Of the labels that share a row the one that deviates most from the median: a maximum would hide who waits for nobody.
  function farthest(row, values, median) {
    const known = row.filter((i) => values[i] != null);
    return known.length ? known[d3.scan(known, (a, b) => Math.abs(values[b] - median) - Math.abs(values[a] - median))] : null;
  }

  // A cell for each label and series, the darker the more. Of many labels neighbours share a row.
  function drawHeat(figure, chart) {
    // Ten thousand cells are drawn at once.
    const most = Math.max(64, Math.min(400, Math.floor(10000 / chart.series.length))), all = chart.labels.length, share = Math.ceil(all / most), many = Math.ceil(all / share);
    const rows = d3.range(many).map((i) => d3.range(i * share, Math.min(all, (i + 1) * share)));
    const labels = rows.map((row) => chart.labels[row[0]] + (row.length > 1 ? "\u2013" + chart.labels[row[row.length - 1]] : ""));
    const width = roomIn(figure), left = leftOf(labels, width);
    const x = d3.scaleBand().domain(d3.range(chart.series.length)).range([left, width - 12]).padding(0.03);
    const names = chart.series.map((series) => series.name), turned = d3.max(names, widthOf) > x.bandwidth(), above = chart.across ? 16 : 0, top = above + (turned ? 78 : 22);
    const height = Math.max(3, Math.min(22, 640 / many)) * many;
    const [svg] = canvas(figure, height + top + (chart.label ? 24 : 8), chart.title);
    if (chart.across) unitText(svg, width - 12, 10, chart.across).attr("text-anchor", "end");
    const y = d3.scaleBand().domain(d3.range(many)).range([0, height]).padding(many > 60 ? 0 : 0.06);
    const largest = d3.max(chart.series, (series) => d3.max(series.values)) || 1;
    const hatch = "hatch" + Math.random().toString(36).slice(2);
    svg.append("pattern").attr("id", hatch).attr("width", 6).attr("height", 6).attr("patternUnits", "userSpaceOnUse").attr("patternTransform", "rotate(45)")
      .append("rect").attr("class", "hatch").attr("width", 1).attr("height", 6);
    const plot = svg.append("g").attr("transform", `translate(0,${top})`);
    rowLabels(plot, labels, y, left);
    rowName(plot, chart.label, left, height, 16);
    const every = turned ? Math.ceil(14 / x.step()) : 1, cut = shortNames(names, () => (turned ? 76 : x.step() * every - 2));
    svg.append("g").selectAll("text").data(chart.series).enter().append("text").attr("class", "label").text((_, i) => (i % every ? "" : cut[i]))
      .attr("transform", (_, i) => `translate(${x(i) + x.bandwidth() / 2},${top - 6})` + (turned ? " rotate(-60)" : ""))
      .attr("text-anchor", turned ? "start" : "middle").append("title").text((series) => series.name);
    chart.series.forEach((series, s) => {
      const median = d3.median(flat([series.values])), whole = chart.own_scale ? d3.max(series.values) || 1 : largest;
      const shown = rows.map((row) => farthest(row, series.values, median));
      const title = (i, row) => (i == null ? `${labels[row]}: ${series.name} ${say("no data")}` : `${chart.labels[i]}: ${series.name} ${amount(series.values[i], chart.unit)}`
        + (share > 1 ? say(" ({}; median {})", labels[row], amount(median, chart.unit)) : ""));
      plot.append("g").style("fill", tint(series, 0)).selectAll("rect").data(shown).enter().append("rect").attr("class", (i) => (i == null ? "none" : "cell")).attr("x", x(s))
        .attr("y", (_, row) => y(row)).attr("width", x.bandwidth()).attr("height", Math.max(1, y.bandwidth()))
        .style("fill", (i) => (i == null ? `url(#${hatch})` : null))
        .style("fill-opacity", (i) => (i == null ? null : 0.1 + 0.9 * Math.max(0, series.values[i]) / whole))
        .append("title").text(title);
      // Shades tell little of amounts that differ by less than half.
      const told = shown.map((i) => (i == null ? "" : amount(series.values[i])));
      if (y.bandwidth() >= 14 && d3.max(told, widthOf) + 6 <= x.bandwidth()) {
        plot.append("g").selectAll("text").data(told).enter().append("text").attr("class", "amount").attr("x", x(s) + x.bandwidth() / 2)
          .attr("y", (_, row) => y(row) + y.bandwidth() / 2 + 4).attr("text-anchor", "middle").text((text) => text);
      }
    });
    drawKey(figure, [{ name: chart.own_scale ? say("each column: 0 – its largest") : `0 \u2013 ${amount(largest, chart.unit)}`, colour: tint(chart.series[0] || {}, 0) }]
      .concat(chart.series.some((series) => series.values.some((value) => value == null)) ? [{ name: say("no data"), colour: "repeating-linear-gradient(45deg, var(--hatch) 0 1px, transparent 1px 4px)" }] : []));
  }

  // Texts beside their dots, so that none covers another.
  function placeTexts(texts, top, bottom) {
    texts.sort((a, b) => a.y - b.y);
    texts.forEach((text, i) => { text.y = Math.max(top, text.y, i ? texts[i - 1].y + 14 : top); });
    for (let i = texts.length - 1, most = bottom; i >= 0; most = texts[i].y - 14, --i) texts[i].y = Math.min(texts[i].y, most);
  }

  // Of each series the values in their order, the middle half as a band. Those outside by more than 1.5 times the band are named.
  function drawDistribution(figure, chart) {
    const height = 210, step = height + 58, named = 8;
    const [svg, width] = canvas(figure, step * chart.series.length, chart.title);
    chart.series.forEach((series, s) => {
      const plot = svg.append("g").attr("transform", `translate(0,${step * s + 8})`);
      const order = d3.range(series.values.length).filter((i) => series.values[i] != null).sort((a, b) => series.values[a] - series.values[b] || a - b);
      const sorted = order.map((i) => series.values[i]), [low, median, high] = [0.25, 0.5, 0.75].map((part) => d3.quantile(sorted, part));
      const outside = (value) => Math.max(low - 1.5 * (high - low) - value, value - high - 1.5 * (high - low));
      const least = sorted[0], most = sorted[sorted.length - 1];
      const y = d3.scaleLinear().domain([least > 0 && least < most / 2 ? 0 : least, most === least ? most + 1 : most]).range([height, 20]).nice();
      const left = leftOfY(y), x = d3.scaleLinear().domain([0, Math.max(1, sorted.length - 1)]).range([left + 8, width - 20]);
      axisY(plot, y, left, chart.unit);
      unitText(plot, width - 12, height + 18, say("in order of the values")).attr("text-anchor", "end");
      if (chart.series.length > 1) plot.append("text").attr("class", "label").attr("x", left + 8).attr("y", height + 18).text(series.name);
      plot.append("rect").attr("class", "band").attr("x", left).attr("width", width - 12 - left).attr("y", y(high)).attr("height", Math.max(1, y(low) - y(high)))
        .append("title").text(`${say("the middle half")}: ${amount(low, chart.unit)} \u2013 ${amount(high, chart.unit)}`);
      plot.append("line").attr("class", "middle").attr("x1", left).attr("x2", width - 12).attr("y1", y(median)).attr("y2", y(median))
        .append("title").text(say("median {}", amount(median, chart.unit)));
      plot.append("g").style("fill", tint(series, s)).selectAll("circle").data(order).enter().append("circle").attr("r", 3)
        .attr("class", (i) => "dot" + (outside(series.values[i]) > 0 ? " outlier" : "")).attr("cx", (_, place) => x(place)).attr("cy", (i) => y(series.values[i]))
        .append("title").text((i) => `${chart.labels[i]}: ${amount(series.values[i], chart.unit)}`);
      const outliers = order.map((i, place) => ({ i, before: x(place) > width / 2, x: x(place), y: y(series.values[i]) + 4, far: outside(series.values[i]) }))
        .filter((one) => one.far > 0).sort((a, b) => b.far - a.far).slice(0, named);
      for (const before of [false, true]) {
        const texts = outliers.filter((one) => one.before === before), cut = shortNames(texts.map(({ i }) => `${chart.labels[i]} (${amount(series.values[i], chart.unit)})`), () => width * 0.4);
        texts.forEach((one, i) => { one.text = cut[i]; });
        placeTexts(texts, 12, height);
        plot.append("g").selectAll("text").data(texts).enter().append("text").attr("class", "outlier").attr("x", ({ x: at }) => at + (before ? -8 : 8)).attr("y", ({ y: at }) => at)
          .attr("text-anchor", before ? "end" : "start").text(({ text }) => text).append("title").text(({ i }) => chart.labels[i]);
      }
    });
    drawKey(figure, [{ name: say("the middle half"), colour: "var(--band)" }, { name: say("median"), colour: "var(--text)" }, { name: say("outside"), colour: "var(--worse)" }]);
  }

  // Counts between `at` and the next of it, one more than there are bins. Bins of different widths are drawn equally wide, with a tick at each end.
  function drawHistogram(figure, chart) {
    const height = 220, top = 34, edges = chart.at, bins = edges.length - 1;
    const [svg, width] = canvas(figure, height + 40, chart.title);
    const y = d3.scaleLinear().domain([0, d3.max(chart.series, (series) => d3.max(series.values)) || 1]).range([height, top]).nice();
    const left = leftOfY(y), step = (width - 24 - left) / bins;
    const equal = d3.range(bins).every((i) => Math.abs((edges[i + 1] - edges[i]) / (edges[1] - edges[0]) - 1) < 1e-6);
    const x = equal ? d3.scaleLinear().domain([edges[0], edges[bins]]).range([left, width - 24])
      : d3.scaleLinear().domain(edges).range(edges.map((_, i) => left + i * step));
    axisY(svg, y, left, chart.unit);
    if (equal) axisX(svg, x, height, chart.unit_x);
    else {
      const widest = 12 + d3.max(edges, (edge) => widthOf(amount(edge))), every = Math.max(1, Math.ceil(widest / step));
      svg.append("g").attr("transform", `translate(0,${height})`).call(d3.axisBottom(x).tickValues(edges.filter((_, i) => i % every === 0)).tickFormat((edge) => amount(edge)).tickSizeOuter(0));
      unitText(svg, width - 24, height + 34, chart.unit_x).attr("text-anchor", "end");
    }
    const groups = chart.series.length;
    chart.series.forEach((series, s) => svg.append("g").style("fill", tint(series, s)).selectAll("rect").data(series.values).enter().append("rect").attr("class", "bin")
      .attr("x", (_, i) => x(edges[i]) + (x(edges[i + 1]) - x(edges[i])) * s / groups + 0.5).attr("width", (_, i) => Math.max(0.5, (x(edges[i + 1]) - x(edges[i])) / groups - 1))
      .attr("y", (count) => y(count || 0)).attr("height", (count) => height - y(count || 0))
      .append("title").text((count, i) => `${amount(edges[i])} \u2013 ${amount(edges[i + 1], chart.unit_x)}: ${groups > 1 ? series.name + " " : ""}${amount(count, chart.unit)}`));
    const outliers = (chart.marks || []).map((mark) => ({ mark, x: x(Math.min(edges[bins], Math.max(edges[0], mark.at))) })).sort((a, b) => a.x - b.x);
    const lines = [];  // where the last text of each line of texts ends
    const names = shortNames(outliers.map(({ mark }) => `${mark.label} (${amount(mark.at, chart.unit_x)})`), () => width * 0.4);
    outliers.forEach((one, i) => {
      svg.append("path").attr("class", "outlier").attr("d", `M${one.x},${height}l-5,-9h10z`).append("title").text(`${one.mark.label}: ${amount(one.mark.at, chart.unit_x)}`);
      const length = widthOf(names[i]) * 1.05, end = Math.min(width, Math.max(length, one.x + length / 2));
      let line = lines.findIndex((last) => last + 8 < end - length);
      if (line < 0 && lines.length < 6) line = lines.push(0) - 1;
      if (line < 0) return;
      lines[line] = end;
      svg.append("line").attr("class", "lead").attr("x1", one.x).attr("x2", one.x).attr("y1", 14 + 14 * line).attr("y2", height - 9);
      svg.append("text").attr("class", "outlier").attr("x", end).attr("y", 11 + 14 * line).attr("text-anchor", "end").text(names[i]).append("title").text(one.mark.label);
    });
    if (groups > 1) keyOfSeries(figure, chart);
  }

  return { heat: drawHeat, distribution: drawDistribution, histogram: drawHistogram };
})();
