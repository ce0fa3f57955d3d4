// SPDX-License-Identifier: Apache-2.0
// Flame graphs: what is called stands on its caller.
"use strict";
const pageFlame = (function () {
  const { say } = pageCells;
  const { amount, canvas, shortNames } = pageDrawing;
  const ROW = 19, LEVELS = 60, PYTHON = /\.pyx?\(\d+\)/;

  const frame = (name, parent, tint) => ({ name, parent, tint, value: 0, children: [], named: new Map() });
  // The frame of a name within `parent`.
  function within(parent, name, tint) {
    if (!parent.named.has(name)) {
      parent.named.set(name, frame(name, parent, tint));
      parent.children.push(parent.named.get(name));
    }
    return parent.named.get(name);
  }
  const depth = (node) => 1 + (d3.max(node.children, depth) || 0);

  // The frames of a chart: [parent, label, and of work of the device its tint], parents first. Their values are those without the frames within them.
  function frameTree(chart) {
    const root = frame(chart.label || "all", null), own = chart.series[0].values;
    const nodes = [];
    chart.frames.forEach(([parent, label, tint]) => {
      const node = frame(chart.labels[label], parent < 0 ? root : nodes[parent], tint);
      node.parent.children.push(node);
      nodes.push(node);
    });
    for (let i = nodes.length - 1; i >= 0; --i) {
      nodes[i].value += own[i] || 0;
      nodes[i].parent.value += nodes[i].value;
    }
    return root;
  }

  // The same with Python frames that call each other as one.
  function withoutPython(root) {
    const copy = (from, into) => from.children.forEach((child) => {
      const python = PYTHON.test(child.name), same = python && into.python, target = same ? into : within(into, python ? "[Python]" : child.name, child.tint);
      target.python = python;
      if (!same) target.value += child.value;
      copy(child, target);
    });
    const all = frame(root.name, null);
    all.value = root.value;
    copy(root, all);
    return all;
  }

  // The frames that are wanted and within none that is wanted.
  function outermost(root, isWanted) {
    return root.children.reduce((all, child) => all.concat(isWanted(child) ? child : outermost(child, isWanted)), []);
  }

  // All frames of a name as one, with what they call, and below what calls them. A frame within itself is counted once.
  function around(root, name) {
    const wantedFrames = outermost(root, (one) => one.name === name), tint = (wantedFrames[0] || {}).tint;
    const callees = frame(name, null, tint), callers = frame(name, null);
    const add = (into, nodes) => nodes.forEach((node) => {
      const target = within(into, node.name, node.tint);
      target.value += node.value;
      add(target, node.children);
    });
    for (const node of wantedFrames) {
      callees.value += node.value;
      add(callees, node.children);
      let target = callers;
      for (let caller = node.parent; caller && caller.parent; caller = caller.parent) {
        target = within(target, caller.name, caller.tint);
        target.value += node.value;
      }
    }
    callers.value = callees.value;
    return { callees, callers };
  }

  // A click or Enter widens a frame; on the widest one it goes back to its caller.
  function drawFlame(figure, chart) {
    const full = frameTree(chart);
    let root = full, chosen = root, middle = null, wanted = "";
    const tools = d3.select(figure).insert("div", "details").attr("class", "tools");
    const [svg, width] = canvas(figure, ROW, chart.title);
    const hash = (name) => { let sum = 0; for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 997; return sum % 9; };
    const colour = ({ name, tint }) => `var(--${tint || "t" + hash(name)})`;
    const share = (value) => `${amount(value, chart.unit)} (${d3.format(".2%")(value / full.value)})`;

    tools.append("input").attr("type", "search").attr("placeholder", say("Search")).attr("aria-label", say("Search"))
      .on("input", function () { wanted = this.value.toLowerCase(); show(); });
    const found = tools.append("span").attr("class", "count").attr("role", "status");
    const sandwich = tools.append("button").attr("type", "button").text(say("Callers and callees")).on("click", () => { middle = chosen.name; show(); });
    tools.append("button").attr("type", "button").text(say("Whole graph")).on("click", () => { chosen = root; middle = null; show(); });
    if (chart.labels.some((name) => PYTHON.test(name))) {
      const label = tools.append("label");
      label.append("input").attr("type", "checkbox").property("checked", true).on("change", function () {
        chosen = root = this.checked ? full : withoutPython(full);
        middle = null;
        show();
      });
      label.append("span").text(" " + say("Python frames"));
    }

    // The frames to draw from `node` on, a level up or down for each call.
    function place(node, x0, x1, level, to, most, all) {
      if (x1 - x0 < 0.6 || most < 1) return;
      all.push({ node, x0, x1, level });
      let x = x0;
      for (const child of node.children.slice().sort((a, b) => b.value - a.value)) {
        const w = (x1 - x0) * child.value / node.value;
        place(child, x, x + w, level + to, to, most - 1, all);
        x += w;
      }
    }

    function framesAround() {
      const { callees, callers } = around(root, middle), all = [], below = [];
      place(callees, 0, width, 0, 1, LEVELS, all);
      place(callers, 0, width, 0, -1, LEVELS, below);
      return all.concat(below.slice(1));
    }

    function framesOfChosen() {
      const all = [], callers = [];
      for (let node = chosen.parent; node && callers.length < LEVELS / 3; node = node.parent) callers.unshift(node);
      callers.forEach((node, level) => all.push({ node, x0: 0, x1: width, level, caller: true }));
      place(chosen, 0, width, callers.length, 1, LEVELS - callers.length, all);
      return all;
    }

    function show(focused) {
      svg.selectAll("*").remove();
      const isWanted = (node) => wanted !== "" && node.name.toLowerCase().includes(wanted);
      const timeOf = (isOne) => share(d3.sum(outermost(root, isOne), (node) => node.value));
      found.text(wanted ? timeOf(isWanted) : middle != null ? `${middle}: ${timeOf((node) => node.name === middle)}` : "");
      sandwich.property("disabled", chosen === root || middle != null);
      const all = middle == null ? framesOfChosen() : framesAround(), top = d3.max(all, ({ level }) => level);
      svg.attr("viewBox", `0 0 ${width} ${ROW * (top + 1 - Math.min(0, d3.min(all, ({ level }) => level)))}`);
      const widen = ({ node }, focus) => {
        if (middle != null) middle = node.name;
        else chosen = node === chosen && node.parent ? node.parent : node;
        show(focus);
      };
      const drawn = svg.selectAll("g").data(all).enter().append("g").attr("tabindex", ({ x0, x1 }) => (x1 - x0 > 40 ? 0 : null))
        .attr("class", ({ node, caller, level }) => "frame" + (caller ? " caller" : "") + (middle != null && level === 0 ? " chosen" : "") + (isWanted(node) ? " found" : wanted ? " beside" : ""))
        .on("click", (one) => widen(one)).on("keydown", (one) => d3.event.key === "Enter" && widen(one, true));
      const y = ({ level }) => ROW * (top - level);
      drawn.append("rect").attr("x", ({ x0 }) => x0).attr("y", y).attr("width", ({ x0, x1 }) => Math.max(0.4, x1 - x0 - 0.6)).attr("height", ROW - 1)
        .style("color", ({ node, caller }) => (caller ? "var(--dim)" : colour(node)));
      drawn.append("title").text(({ node }) => `${node.name}\n${share(node.value)}`);
      const wide = drawn.filter(({ x0, x1 }) => x1 - x0 > 64), texts = wide.data();
      const names = shortNames(texts.map(({ node }) => node.name), (i) => texts[i].x1 - texts[i].x0 - 8);
      wide.append("text").attr("x", ({ x0 }) => x0 + 4).attr("y", (one) => y(one) + 13).text((_, i) => names[i]);
      if (focused) drawn.filter(({ node, level }) => (middle == null ? node === chosen : level === 0)).node().focus();
    }
    show();
  }

  return { flame: drawFlame };
})();
