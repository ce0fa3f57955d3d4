// SPDX-License-Identifier: Apache-2.0
// Texts in the language of the page, and what a cell of a table is: how it is sorted, and what the clipboard gets of it.
"use strict";
const pageCells = (function () {
  const chinese = document.getElementById("texts"), texts = chinese ? JSON.parse(chinese.textContent) : {};
  // The text in the language of the page, with values in the place of its fields.
  function say(text, ...values) {
    let next = 0;
    return (texts[text] || text).replace(/\{(\d*)\}/g, (_, place) => values[place === "" ? next++ : +place]);
  }

  // In seconds or bytes. A rate is sorted like the amount of a second.
  const UNITS = { ns: 1e-9, us: 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12,
    kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40, "%": 1 };
  const ENDLESS = /^([+-]?)(?:inf|infinity|\u221e)$/i;
  const UNKNOWN = /^(?:|-|\u2013|\/|n\/?a|nan|unknown)$/i;
  const AMOUNT = /^[<>~\u2248]?\s*[+-]?(?:\d[\d,]*)?\.?\d+(?:e[+-]?\d+)?\s*(%|[a-z\u00b5\u03bc]*)(?:\/s)?$/i;
  const RANKS = /^\d+(?:-\d+)?(?:, ?\d+(?:-\d+)?)*$/;
  const PLAIN = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

  const trimmed = (text) => text.trim().replace(/\u2212/g, "-");

  // NaN: unknown. Of "0-7" the first.
  function numberIn(text) {
    const one = trimmed(text), endless = ENDLESS.exec(one);
    if (endless) return endless[1] === "-" ? -Infinity : Infinity;
    const found = /^[^\d+\-.]*([+-]?(?:\d[\d,]*)?\.?\d+(?:e[+-]?\d+)?)\s*(%|[a-z\u00b5\u03bc]+)?/i.exec(one);
    return found ? parseFloat(found[1].replace(/,/g, "")) * (UNITS[(found[2] || "").toLowerCase()] || 1) : NaN;
  }

  function isAmount(text) {
    const one = trimmed(text), found = AMOUNT.exec(one);
    return (found && (!found[1] || found[1].toLowerCase() in UNITS)) || RANKS.test(one) || ENDLESS.test(one) || UNKNOWN.test(one);
  }

  // How two rows compare in a column. What is unknown is last, up and down.
  function comparing(column, isNumber, up) {
    const sign = up ? 1 : -1, inOrder = new Intl.Collator(undefined, { numeric: true }).compare;
    if (!isNumber && !column.texts.every(isAmount)) return (a, b) => sign * inOrder(column.texts[a], column.texts[b]);
    const keys = column.texts.map((text, row) => (typeof column.values[row] === "number" ? column.values[row] : numberIn(column.values[row] || text)));
    return (a, b) => {
      const x = keys[a], y = keys[b];
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
      return sign * (x === y ? inOrder(column.texts[a], column.texts[b]) : x < y ? -1 : 1);
    };
  }

  // As CsvCell() writes texts of a capture into files: hidden characters are seen, and nothing is a formula.
  function csvText(text) {
    let shown = text.replace(/\r\n|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (one) => {
      const code = one.charCodeAt(0).toString(16);
      return one === "\r\n" ? one : code.length > 2 ? "\\u" + code.padStart(4, "0") : "\\x" + code.padStart(2, "0");
    });
    if (shown.length > 1 && "=+-@\t\r\n".includes(shown[0])) shown = "'" + shown;
    return /[",\r\n]/.test(shown) ? '"' + shown.replace(/"/g, '""') + '"' : shown;
  }

  // The value where the page has one beside the text; numbers with all digits, without commas.
  function csvCell(column, isNumber, row) {
    const value = column.values[row], text = value == null ? column.texts[row] : String(value);
    return typeof value === "number" ? text : isNumber && PLAIN.test(text) ? text.replace(/,/g, "") : csvText(text);
  }

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

  return { say, comparing, csvText, csvCell, copyText };
})();
