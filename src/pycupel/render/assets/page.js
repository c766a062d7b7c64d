"use strict";
/* The script of every page: reports, pages of panels, and the playground. It needs no framework and no build step.

   It reads the JSON in #data and fills #app. Data becomes text nodes and numeric attributes, never markup. */

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

  // ---------------------------------------------------------------- elements

  /** Create an element: `el("p", {class: "quiet"}, "text", child)`. Properties that begin with `on` are listeners. */
  function el(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name === "value") node.value = value;
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  }

  function svg(tag, attributes = {}, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  let cards = 0;

  function card(title, note, ...children) {
    const id = `heading-${++cards}`;
    const header = el("header", {}, el("h2", { id }, visible(title)), note ? el("p", { class: "quiet" }, note) : null);
    return el("section", { class: "card", "aria-labelledby": id }, header, ...children);
  }

  // ---------------------------------------------------------------- texts and numbers

  const grouped = new Intl.NumberFormat("en");
  const num = (value) => (typeof value === "string" ? Number(value) : value);
  const finite = (value) => (Number.isFinite(value) ? value : 0);

  /** Format a count. Numbers that are too large for JavaScript arrive as strings. */
  const count = (value) => (typeof value === "string" ? value : grouped.format(value));
  const plural = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

  function score(value) {
    if (value === null || value === undefined) return "";
    const number = num(value);
    if (!Number.isFinite(number)) return String(value);
    const size = Math.abs(number);
    if (size === 0) return "0.00";
    if (size >= 0.01 && size < 1000) return number.toFixed(2);
    return size >= 1000 && size < 1e6 ? grouped.format(Math.round(number)) : number.toPrecision(2);
  }

  function percent(part, whole) {
    const share = (100 * num(part)) / num(whole);
    return Number.isFinite(share) ? `${share.toFixed(1)}%` : "\u2013";
  }

  const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

  /** Show control characters and direction marks by their codes: a browser would obey or hide them. */
  function visible(text) {
    return text.replace(CONTROL, (c) => {
      const code = c.charCodeAt(0);
      return code < 32 ? String.fromCharCode(0x2400 + code) : `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
    });
  }

  const oneLine = (text) =>
    visible(text.slice(0, 400).replace(/\s+/g, " ").trim() + (text.length > 400 ? "\u2026" : "")) || "(blank)";

  /** Return what of a text has room in a picture; "" if that would be too little to recognise. */
  function fitting(text, pixels) {
    const room = Math.floor(pixels / 7);
    if (text.length <= room) return text;
    return room < 5 ? "" : `${text.slice(0, room - 1)}\u2026`;
  }

  // ---------------------------------------------------------------- colours

  const COLORS = 12;
  const printing = matchMedia("print");
  // The colours of the report's kinds, the same on every page; others are grey.
  let kindColors = [];
  const colorOf = (index) => `k${kindColors[index] ?? COLORS - 1}`;
  const swatch = (className) => el("span", { class: `swatch ${className}`, "aria-hidden": "true" });

  function themeButton(view = {}) {
    const themes = ["auto", "light", "dark"];
    const button = el("button", { class: "plain", type: "button", onclick: () => show((view.theme || 0) + 1) });
    function show(next) {
      view.theme = next % themes.length;
      document.documentElement.dataset.theme = themes[view.theme];
      button.textContent = `Theme: ${themes[view.theme]}`;
    }
    show(view.theme || 0);
    return button;
  }

  // ---------------------------------------------------------------- a table with only the visible rows

  /**
   * columns: {key, title, width, numeric, cell(row): Node | string, sort(row): number | string}
   * The rows are indices; `show` sets which ones, in their natural order. A row is rebuilt only if its stamp has
   * changed, so that moving the slider costs no more than the rows it changes.
   */
  class VirtualTable {
    constructor({ label, columns, onOpen = null, className = "", stamp = () => "" }) {
      this.columns = columns;
      this.onOpen = onOpen;
      this.stamp = stamp;
      this.height = 32;
      this.rows = [];
      this.natural = [];
      this.sorting = null;
      this.active = 0;
      this.selected = null;
      this.heads = columns.map((column, i) => {
        const button = el("button", { type: "button", onclick: () => this.sortBy(i) }, column.title);
        return el("th", { scope: "col", role: "columnheader", class: this.className(column) }, button);
      });
      this.body = el("tbody");
      const cols = el(
        "colgroup",
        {},
        columns.map((column) => {
          const col = el("col");
          if (column.width) col.style.width = `${column.width}px`;
          return col;
        }),
      );
      this.table = el(
        "table",
        { role: "grid", "aria-label": label },
        cols,
        el("thead", {}, el("tr", { role: "row", "aria-rowindex": "1" }, this.heads)),
        this.body,
      );
      // Without a minimum, columns with a fixed width would leave no room for the others.
      this.table.style.minWidth = `${columns.reduce((sum, column) => sum + (column.width || 130), 0)}px`;
      this.empty = el("p", { class: "nothing", hidden: true }, "No matches.");
      this.node = el("div", { class: `scroll ${className}`, tabindex: "-1" }, this.table, this.empty);
      this.node.addEventListener("scroll", () => (this.draw(), this.mark()), { passive: true });
      this.body.addEventListener("click", (event) => {
        const line = event.target.closest("tr[data-i]");
        if (line) this.open(Number(line.dataset.i));
      });
      this.body.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => this.measure()).observe(this.node);
      // On paper, nobody can scroll.
      printing.addEventListener("change", () => this.draw(true));
    }

    measure() {
      const first = this.body.querySelector("tr[data-i]");
      this.height = (first && first.offsetHeight) || this.height;
      this.room = this.node.clientHeight;
      this.draw(true);
      this.mark();
    }

    /** A shadow shows that there are more columns to the right: scroll bars may be hidden. */
    mark() {
      const { scrollLeft, clientWidth, scrollWidth } = this.node;
      this.node.classList.toggle("more", scrollLeft + clientWidth < scrollWidth - 1);
    }

    className(column) {
      return `c-${column.key}${column.numeric ? " num" : ""}`;
    }

    show(rows) {
      this.natural = rows;
      this.rows = rows;
      if (this.sorting) this.sort();
      this.active = Math.max(0, Math.min(this.active, rows.length - 1));
      this.table.setAttribute("aria-rowcount", String(rows.length + 1));
      this.empty.hidden = rows.length > 0;
      this.draw(true);
    }

    sortBy(i) {
      const up = this.columns[i].numeric ? "descending" : "ascending";
      const down = up === "ascending" ? "descending" : "ascending";
      const now = this.sorting && this.sorting.i === i ? this.sorting.direction : null;
      this.sorting = now === null ? { i, direction: up } : now === up ? { i, direction: down } : null;
      this.heads.forEach((head, k) => {
        if (this.sorting && this.sorting.i === k) head.setAttribute("aria-sort", this.sorting.direction);
        else head.removeAttribute("aria-sort");
      });
      this.node.scrollTop = 0;
      this.active = 0;
      this.show(this.natural);
    }

    sort() {
      const { i, direction } = this.sorting;
      const sign = direction === "ascending" ? 1 : -1;
      const value = this.columns[i].sort;
      const keys = new Map(this.natural.map((row) => [row, value(row)]));
      const missing = (key) => key === null || key === undefined || Number.isNaN(key);
      // Rows without a value come last in both directions; rows with equal values keep their natural order.
      this.rows = [...this.natural].sort((a, b) => {
        const x = keys.get(a);
        const y = keys.get(b);
        if (missing(x) || missing(y)) return missing(x) - missing(y);
        return x < y ? -sign : x > y ? sign : 0;
      });
    }

    draw(force = false) {
      const height = this.height;
      const all = printing.matches;
      const first = all ? 0 : Math.max(0, Math.floor(this.node.scrollTop / height) - 8);
      const last = all ? this.rows.length : Math.min(this.rows.length, first + Math.ceil((this.room || 520) / height) + 16);
      if (!force && first === this.first && last === this.last) return;
      this.first = first;
      this.last = last;
      const focused = this.body.contains(document.activeElement);
      const lines = [];
      for (let i = first; i < last; i++) lines.push(this.line(i));
      const built = [this.spacer(first * height), ...lines, this.spacer((this.rows.length - last) * height)];
      // Replacing nodes that have not changed would cost a layout of the whole table.
      const present = [...this.body.children];
      if (present.length !== built.length) this.body.replaceChildren(...built);
      else built.forEach((line, k) => line !== present[k] && present[k].replaceWith(line));
      this.lines = new Map(lines.map((line) => [line.dataset.key, line]));
      if (focused) this.focus();
    }

    spacer(height) {
      const line = el("tr", { class: "spacer", "aria-hidden": "true" }, el("td", { colspan: this.columns.length }));
      line.style.height = `${height}px`;
      return line;
    }

    line(i) {
      const row = this.rows[i];
      const key = `${i} ${row} ${i === this.active} ${row === this.selected} ${this.stamp(row)}`;
      const built = this.lines && this.lines.get(key);
      if (built) return built;
      const cells = this.columns.map((column) =>
        el("td", { role: "gridcell", class: this.className(column), "data-name": column.title }, column.cell(row)),
      );
      return el(
        "tr",
        {
          role: "row",
          "data-key": key,
          "data-i": i,
          "data-row": row,
          "aria-rowindex": i + 2,
          tabindex: i === this.active ? "0" : "-1",
          "aria-selected": this.onOpen ? String(row === this.selected) : null,
        },
        cells,
      );
    }

    key(event) {
      const page = Math.max(1, Math.floor(this.node.clientHeight / this.height) - 1);
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (event.key in steps) {
        event.preventDefault();
        this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + steps[event.key]));
        this.reveal(this.active);
        this.focus();
      } else if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.open(this.active);
      }
    }

    reveal(i) {
      const height = this.height;
      const head = this.table.tHead.offsetHeight;
      const top = i * height;
      if (top < this.node.scrollTop) this.node.scrollTop = top;
      else if (top + height + head > this.node.scrollTop + this.node.clientHeight) {
        this.node.scrollTop = top + height + head - this.node.clientHeight;
      }
      this.draw(true);
    }

    focus() {
      const line = this.body.querySelector(`tr[data-i="${this.active}"]`);
      if (line) line.focus({ preventScroll: true });
    }

    open(i) {
      this.active = i;
      this.select(this.rows[i]);
      this.focus();
      if (this.onOpen) this.onOpen(this.rows[i]);
    }

    select(row) {
      this.selected = row;
      this.draw(true);
    }
  }

  /** Return a search box with a count of the matching rows, and the table. */
  function searchable(table, rows, textOf, noun) {
    const total = el("span", { class: "count", role: "status" });
    const box = el("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": `Search ${noun}s`,
      oninput: update,
    });
    function update() {
      const word = box.value.trim().toLowerCase();
      const found = word ? rows.filter((row) => textOf(row).includes(word)) : rows;
      total.textContent = word ? `${count(found.length)} of ${plural(rows.length, noun)}` : plural(rows.length, noun);
      table.show(found);
    }
    update();
    return [el("div", { class: "tools" }, box, total), table.node];
  }

  // ---------------------------------------------------------------- pictures

  /** Create a picture that is redrawn when its width changes. */
  function picture(label, height, draw) {
    const image = svg("svg", { role: "img", "aria-label": label });
    const tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    const live = el("div", { class: "sr", role: "status" });
    const node = el("div", { class: "picture" }, image, tip, live);
    let width = 0;
    function redraw() {
      width = node.clientWidth;
      if (!width) return;
      image.setAttribute("viewBox", `0 0 ${width} ${height}`);
      image.replaceChildren(...draw(width, height));
    }
    function tell(event, text) {
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      const box = node.getBoundingClientRect();
      const x = event.clientX - box.left;
      tip.style.left = `${Math.max(0, Math.min(x + 12, width - tip.offsetWidth))}px`;
      tip.style.top = `${Math.max(0, event.clientY - box.top - tip.offsetHeight - 10)}px`;
    }
    /** Let the arrow keys walk through what the picture shows: `at(i)` says where the i-th is, and what it is. */
    function keys(size, at, open) {
      let current = -1;
      const show = () => {
        const { x, y, text } = current < 0 ? { x: 0, y: 0, text: "" } : at(current);
        const box = image.getBoundingClientRect();
        tell({ clientX: box.left + x, clientY: box.top + y }, text);
        live.textContent = text;
      };
      image.setAttribute("tabindex", "0");
      image.addEventListener("keydown", (event) => {
        const last = size() - 1;
        const next = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: last, Escape: -1 }[event.key];
        if (event.key === "Enter" && open && current >= 0) open(current);
        else if (next === undefined || last < 0) return;
        else current = event.key === "Escape" ? -1 : Math.max(0, Math.min(next, last));
        event.preventDefault();
        show();
      });
      image.addEventListener("blur", () => {
        current = -1;
        show();
      });
    }
    /** Say what is under the pointer; `leave` undoes what else was done about it. */
    function hover(textOf, leave = () => {}) {
      image.addEventListener("pointermove", (event) => tell(event, textOf(event)));
      for (const name of ["pointerleave", "blur"])
        image.addEventListener(name, (event) => (leave(), tell(event, "")));
    }
    new ResizeObserver(redraw).observe(node);
    return { node, image, redraw, tell, keys, hover, name: (text) => image.setAttribute("aria-label", text) };
  }

  /** Return three to five round numbers from 0 up to the largest value. */
  function ticks(largest) {
    if (!(largest > 0) || !Number.isFinite(largest)) return [0];
    const magnitude = 10 ** Math.floor(Math.log10(largest));
    const step = [0.2, 0.25, 0.5, 1, 2].map((factor) => factor * magnitude).find((each) => largest / each <= 4.5);
    return Array.from({ length: Math.floor(largest / step + 1e-9) + 1 }, (_, i) => i * step);
  }

  const short = (value) =>
    value >= 1e6
      ? `${+(value / 1e6).toFixed(1)}M`
      : value >= 1e4
        ? `${+(value / 1e3).toFixed(1)}k`
        : grouped.format(value);

  function frame(width, height, largest, left, top, bottom, label) {
    const y = (value) => height - bottom - (finite(value / largest) || 0) * (height - top - bottom);
    const lines = ticks(largest).flatMap((tick) => [
      svg("line", { class: "axis", x1: left, x2: width, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, label(tick)),
    ]);
    return { y, lines };
  }

  /** The colours of groups, and what else a picture has to explain. */
  function legend(colors, ...more) {
    const groups = [...colors].map(([group, color]) => el("li", {}, swatch(color), visible(group)));
    return el("ul", { class: "legend" }, groups, more.flat());
  }

  /** A part of a bar, as wide as its share of the whole. */
  function segment(className, value, whole) {
    const part = el("i", { class: className });
    part.style.width = `${Math.max(0, Math.min(100, finite((100 * value) / whole)))}%`;
    return part;
  }

  /** A line across a bar at a value, with its name on the side that has room. */
  function barMark(className, value, whole, text) {
    const node = el("div", { class: `mark ${className}${value > 0.5 * whole ? " left" : ""}` }, el("span", {}, text));
    node.style.left = `${Math.max(0, Math.min(100, finite((100 * value) / whole)))}%`;
    return node;
  }

  /** A table with a bar for each row, whose track is the whole: all of it, or the largest value if there is no whole. */
  function meters(rows, heads, whole = Math.max(...rows.map((row) => finite(num(row.value))), 0)) {
    const lines = rows.map((row) => {
      const fill = el("i", row.color ? { class: row.color } : {});
      fill.style.width = `${100 * finite(num(row.value) / whole) || 0}%`;
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, row.label),
        row.cells.map((cell) => el("td", { class: "num" }, cell)),
        el("td", { class: "wide" }, el("span", { class: "meter", "aria-hidden": "true" }, fill)),
      );
    });
    const head = el(
      "thead",
      { class: "sr" },
      el(
        "tr",
        {},
        heads.map((title) => el("th", { scope: "col" }, title)),
        el("td"),
      ),
    );
    return el("table", { class: "meters" }, head, el("tbody", {}, lines));
  }

  // ---------------------------------------------------------------- the report

  class Report {
    constructor(data) {
      this.names = data.names || ["this report", "the other"];
      this.set(data);
    }

    set(data) {
      const report = data.report;
      this.report = report;
      kindColors = report.colors || [];
      this.sweep = data.sweep;
      this.rows = report.rows;
      this.size = report.size;
      // Typed arrays, because moving the slider touches all rows.
      this.base = Uint8Array.from({ length: this.size }, (_, row) => (this.rows.in && this.rows.in[row]) || 0);
      this.now = Uint8Array.from(this.base);
      this.texts = null;
      this.point = this.hasSweep ? this.sweep.start : null;
      this.swept = null;
      if (this.hasSweep) this.prepareSweep();
    }

    get hasSweep() {
      return Boolean(this.sweep && this.sweep.points);
    }

    value(column, row) {
      const values = this.rows[column];
      const value = values ? values[row] : null;
      return value === undefined ? null : value;
    }

    /** The number of an item in the report, from 1: selected items come first, and not all of them may have a row. */
    number(row) {
      return row + 1 + (this.value("in", row) === 1 ? 0 : this.report.skipped);
    }

    kindName(row) {
      return this.report.kinds[this.rows.kind[row]];
    }

    /** Find the rows that change at each point, and the first point that selects each row. */
    prepareSweep() {
      this.flips = this.sweep.flips.map((deltas) => {
        let row = 0;
        return deltas.map((delta) => (row += delta));
      });
      this.first = new Int16Array(this.size).fill(-1);
      this.leavesAgain = new Uint8Array(this.size);
      const state = new Uint8Array(this.size);
      this.flips.forEach((rows, point) => {
        for (const row of rows) {
          state[row] ^= 1;
          if (state[row] && this.first[row] < 0) this.first[row] = point;
          if (!state[row]) this.leavesAgain[row] = 1;
        }
      });
      // An item may enter, and leave again, between two steps.
      for (let row = 0; row < this.size; row++) {
        const target = this.enters(row);
        if (target === null) continue;
        const step = this.sweep.points.findIndex((point) => num(point.target) >= target);
        if (step !== this.first[row]) this.leavesAgain[row] = 1;
        this.first[row] = step;
      }
      this.swept = new Uint8Array(this.size);
      this.at = -1;
      this.seek(this.sweep.start);
      this.agrees = this.swept.every((value, row) => value === this.base[row]);
      this.places = null;
      if (this.sweep.order) {
        this.places = new Int32Array(this.size).fill(-1);
        this.sweep.order.forEach((row, place) => (this.places[row] = place));
      }
    }

    /** Update `swept` to the selection at a point, by applying the changes in between. */
    seek(point) {
      while (this.at < point) for (const row of this.flips[++this.at]) this.swept[row] ^= 1;
      while (this.at > point) for (const row of this.flips[this.at--]) this.swept[row] ^= 1;
    }

    /** The smallest target that selects a row; null if only the steps around it are known. */
    enters(row) {
      return this.sweep.enters ? this.sweep.enters[row] : null;
    }

    /** The two steps around the target at which what a point has anew enters, in words. */
    between(point) {
      const { points } = this.sweep;
      return point ? `between ${count(points[point - 1].target)} and ${count(points[point].target)}` : `at ${count(points[0].target)}`;
    }

    moveTo(point) {
      this.point = point;
      if (point === this.sweep.start) this.now = Uint8Array.from(this.base);
      else {
        this.seek(point);
        this.now = Uint8Array.from(this.swept);
      }
    }

    get moved() {
      return this.hasSweep && this.point !== this.sweep.start;
    }

    get use() {
      return this.moved ? this.sweep.points[this.point].use : this.report.use;
    }

    get budget() {
      const budget = this.report.budget;
      if (!this.moved) return budget;
      const point = this.sweep.points[this.point];
      return { ...(budget || {}), target: point.target, max: point.max };
    }

    /** The selected rows in the order in which the model reads them, or in the report's order if that is unknown. */
    get order() {
      const rows = [];
      for (let row = 0; row < this.size; row++) if (this.now[row]) rows.push(row);
      if (this.moved && this.places) rows.sort((a, b) => this.places[a] - this.places[b]);
      return rows;
    }

    state(row) {
      if (this.value("in", row) === null) return "\u2013";
      if (this.now[row] === this.base[row]) return this.now[row] ? "in" : "out";
      return this.now[row] ? "enters" : "leaves";
    }

    otherState(row, k) {
      const there = this.value(`other${k}_in`, row);
      return there === null ? "\u2013" : there ? "in" : "out";
    }

    differs(row) {
      if (this.now[row] !== this.base[row]) return true;
      return this.report.others.some((_, k) => (this.value("in", row) || 0) !== (this.value(`other${k}_in`, row) || 0));
    }

    text(row) {
      const text = this.value("text", row);
      return text === null ? "(content left out)" : text;
    }

    searchText(row) {
      if (!this.texts) this.texts = new Array(this.size);
      if (this.texts[row] === undefined) {
        const parts = [
          this.value("text", row),
          this.kindName(row),
          this.value("source", row),
          this.value("tags", row),
          this.report.reasons[this.value("reason", row)],
          this.value("why", row),
        ];
        this.texts[row] = parts.filter(Boolean).join("\n").toLowerCase();
      }
      return this.texts[row];
    }
  }

  // ---------------------------------------------------------------- panels of the report

  function figuresPanel(list) {
    return el(
      "dl",
      { class: "card figures" },
      list.map(({ label, value, note }) =>
        el("div", {}, el("dt", {}, label), el("dd", { class: "num" }, value, note ? el("small", {}, note) : null)),
      ),
    );
  }

  function reportFigures(model) {
    const { report } = model;
    const { use, budget } = model;
    const out = report.candidates - use.items;
    const outTokens = typeof report.considered === "string" ? null : report.considered - num(use.tokens);
    const figures = [
      {
        label: titled(model, "Selected"),
        value: count(use.items),
        note: `of ${plural(report.candidates, "item")}${use.shortened ? `, ${count(use.shortened)} shortened` : ""}`,
      },
      {
        label: "Tokens",
        value: count(use.tokens),
        note: budget
          ? `${percent(use.tokens, budget.target)} of the target`
          : `of ${count(report.considered)} considered`,
      },
      { label: "Left out", value: count(out), note: outTokens === null ? "" : plural(outTokens, "token") },
    ];
    if (budget) {
      const kept = [
        ["output", budget.reserve],
        ["slots", budget.slots],
      ].filter(([, value]) => num(value) > 0);
      const held = kept
        .map(([name, value]) => `${count(value)} for ${name}`)
        .concat(budget.margin ? [`${budget.margin}% margin`] : []);
      figures.push({
        label: "Target",
        value: count(budget.target),
        note: [`of max ${count(budget.max)}`, ...held].join(", "),
      });
    }
    return figuresPanel(figures);
  }

  function budgetBar(use, budget, label, kinds) {
    const used = num(use.tokens);
    const target = budget ? num(budget.target) : used;
    const max = budget ? num(budget.max) : used;
    // If the window is much larger than the target, cut the bar off: most of it would be empty.
    const whole = Math.max(used, target, max <= 1.6 * Math.max(used, target) ? max : 1.04 * target) || 1;
    const free = Math.max(0, target - used - num(use.held));
    const bar = el(
      "div",
      { class: "bar", role: "img", "aria-label": label },
      use.kinds.map(([tokens], i) => (num(tokens) > 0 ? segment(colorOf(i), num(tokens), whole) : null)),
      num(use.held) > 0 ? segment("held", num(use.held), whole) : null,
      free > 0 ? segment("free", free, whole) : null,
    );
    const mark = (className, value, text) =>
      barMark(className, value, whole, value > whole ? `${text} \u2192` : text);
    const marks = [];
    if (budget) {
      marks.push(mark("target", target, `target ${count(budget.target)}`));
      if (max !== target && !(max > whole && target > 0.5 * whole))
        marks.push(mark("max", max, `max ${count(budget.max)}`));
    }
    const legend = el(
      "ul",
      { class: "legend" },
      use.kinds.map(([tokens, items], i) =>
        items
          ? el(
              "li",
              {},
              swatch(colorOf(i)),
              el("b", {}, i === COLORS - 1 && kinds.length > COLORS ? "other kinds" : visible(kinds[i])),
              ` ${count(tokens)} `,
              el(
                "span",
                { class: "quiet" },
                `${budget ? percent(tokens, budget.target) : percent(tokens, use.tokens)}, ${plural(items, "item")}`,
              ),
            )
          : null,
      ),
      num(use.held) > 0 ? el("li", {}, swatch("held"), el("b", {}, "held back"), ` ${count(use.held)}`) : null,
      budget && free > 0 ? el("li", {}, swatch("free"), el("b", {}, "free"), ` ${count(free)}`) : null,
      budget && used > target ? el("li", { class: "minus" }, `over the target by ${count(used - target)}`) : null,
    );
    return el("div", {}, el("div", { class: "budget" }, bar, ...marks), legend);
  }

  /** The title of a panel about one selection, which names it if there are others beside it. */
  const titled = ({ report, names }, title) => (report.others.length ? `${title}: ${names[0]}` : title);

  const MISSING_SWEEP =
    "To see what other budgets would select, pass the pipeline and the items: report.to_html(path, pipeline=pipeline, items=items).";

  function budgetPanel(app) {
    const { model } = app;
    const place = el("div");
    const section = card(titled(model, "Where the budget goes"), "", place);
    app.onchange(() => {
      const label = model.use.kinds.map(([tokens], i) => `${model.report.kinds[i]} ${count(tokens)}`).join(", ");
      place.replaceChildren(
        budgetBar(model.use, model.budget, `Tokens by kind: ${label || "none"}`, model.report.kinds),
      );
    });
    section.append(model.hasSweep ? slider(app) : hint(app));
    return section;
  }

  function hint(app) {
    const { sweep } = app.model;
    if (app.playing) return "";
    const text = sweep && sweep.failed ? `Other budgets could not be tried: ${sweep.failed}` : MISSING_SWEEP;
    return el("p", { class: "whatif quiet" }, el("span", {}, text));
  }

  function slider(app) {
    const { model } = app;
    const { points, start } = model.sweep;
    const input = el("input", {
      type: "range",
      id: "budget-slider",
      min: 0,
      max: points.length - 1,
      step: 1,
      value: start,
    });
    const result = el("output", { for: "budget-slider", "aria-live": "polite" });
    const reset = el(
      "button",
      {
        type: "button",
        onclick: () => app.back(),
      },
      "Back to the report",
    );
    app.back = () => {
      input.value = start;
      move();
    };
    function move() {
      model.moveTo(Number(input.value));
      app.changed();
    }
    input.addEventListener("input", move);
    app.onchange(() => {
      const point = points[model.point];
      reset.disabled = !model.moved;
      let entered = 0;
      let left = 0;
      for (let row = 0; row < model.size; row++) {
        if (model.now[row] > model.base[row]) entered++;
        else if (model.now[row] < model.base[row]) left++;
      }
      const what = point.ok
        ? `${plural(model.use.items, "item")}, ${plural(num(model.use.tokens), "token")}`
        : "too small for the pinned and required items";
      input.setAttribute("aria-valuetext", `target ${count(point.target)}: ${what}`);
      result.replaceChildren(
        el("b", { class: "num" }, `Target ${count(point.target)}`),
        `: ${what}. `,
        ...(entered ? [el("span", { class: "plus" }, `+${count(entered)} enter `)] : []),
        ...(left ? [el("span", { class: "minus" }, `\u2212${count(left)} leave`)] : []),
        ...(model.moved
          ? []
          : [
              el(
                "span",
                { class: "quiet" },
                model.agrees
                  ? "This is the report."
                  : "This is the report. For the same budget, the given pipeline selects other items: " +
                    "was the run made with a query? Then pass pipeline.for_query(query).",
              ),
            ]),
      );
    });
    return el(
      "div",
      {},
      el(
        "div",
        { class: "whatif" },
        el("label", { for: "budget-slider" }, "What if the budget changed?"),
        input,
        reset,
        result,
      ),
      budgetCurve(app),
    );
  }

  /** Tokens and score against the budget, below the slider, with a dot for each item where it first enters. */
  function budgetCurve(app) {
    const { model } = app;
    const { points } = model.sweep;
    const last = Math.max(1, points.length - 1);
    const tokens = points.map((point) => finite(num(point.use.tokens)));
    const scores = points.map((point) => Math.max(0, finite(num(point.score))));
    const [mostTokens, mostScore] = [Math.max(1, ...tokens), Math.max(...scores) || 1];
    const entering = points.map(() => []);
    for (let row = 0; row < model.size; row++) if (model.first[row] >= 0) entering[model.first[row]].push(row);
    /** Where an item enters: at its exact target if that is known, else at the step that first has it. */
    const place = (row) => {
      const [i, target] = [model.first[row], model.enters(row)];
      if (target === null || !i) return i;
      const [before, after] = [num(points[i - 1].target), num(points[i].target)];
      return i - (after - target) / (after - before);
    };
    const left = 44;
    let cursor = null;
    const at = (i, width) => left + (i / last) * (width - left - 8);
    const label = `Tokens and score of the selection for ${plural(points.length, "budget")}. The table below has the same numbers.`;
    const plot = picture(label, 150, (width, height) => {
      const { y, lines } = frame(width, height, mostTokens, left, 8, 20, short);
      const line = (values, most) =>
        values
          .map((value, i) => `${i ? "L" : "M"}${at(i, width).toFixed(1)} ${y((value / most) * mostTokens).toFixed(1)}`)
          .join("");
      const dots = entering.flatMap((rows, i) => {
        // As many as there is room for, one above the other.
        const room = Math.max(1, Math.floor((height - 32) / 6));
        return rows.slice(0, room).map((row, k) =>
          svg("circle", {
            class: `dot ${colorOf(model.rows.kind[row])}${model.leavesAgain[row] ? " hollow" : ""}`,
            cx: at(place(row), width),
            cy: height - 23 - 6 * k,
            r: 2.5,
          }),
        );
      });
      cursor = svg("line", { class: "cursor", y1: 8, y2: height - 20 });
      mark(width);
      const names = width < 500 ? 2 : 4;
      const scale = Array.from({ length: names + 1 }, (_, k) => Math.round((last * k) / names)).map((i, k) =>
        svg(
          "text",
          { x: at(i, width), y: height - 4, "text-anchor": k ? (k < names ? "middle" : "end") : "start" },
          `${k ? "" : "target "}${short(num(points[i].target))}`,
        ),
      );
      return [
        ...lines,
        ...dots,
        svg("path", { class: "total", d: line(tokens, mostTokens) }),
        svg("path", { class: "total score", d: line(scores, mostScore) }),
        ...scale,
        cursor,
      ];
    });
    function mark(width) {
      if (!cursor) return;
      cursor.setAttribute("x1", at(model.point, width));
      cursor.setAttribute("x2", at(model.point, width));
    }
    app.onchange(() => mark(plot.node.clientWidth));
    const describe = (i) => {
      const point = points[i];
      if (!point) return "";
      const first = entering[i][0];
      return (
        `target ${count(point.target)}: ${plural(num(point.use.tokens), "token")}, score ${score(point.score)}` +
        (entering[i].length
          ? `; ${plural(entering[i].length, "item")} first enter ${model.between(i)}, such as ${oneLine(model.text(first)).slice(0, 60)}${model.enters(first) === null ? "" : ` at ${count(model.enters(first))}`}`
          : "")
      );
    };
    plot.hover((event) => {
      const box = plot.image.getBoundingClientRect();
      return describe(Math.round(((event.clientX - box.left - left) / (box.width - left - 8)) * last));
    });
    plot.keys(
      () => points.length,
      (i) => ({ x: at(i, plot.node.clientWidth), y: 40, text: describe(i) }),
    );
    const heads = ["Target", "Items", "Tokens", "Score", "First enter"];
    const cells = (point, i) => [
      count(point.target),
      point.ok ? count(point.use.items) : "too small",
      count(point.use.tokens),
      score(point.score),
      count(entering[i].length),
    ];
    const numbers = el(
      "details",
      { class: "numbers" },
      el("summary", {}, "The numbers of this chart"),
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
        el(
          "tbody",
          {},
          points.map((point, i) => el("tr", {}, cells(point, i).map((cell) => el("td", { class: "num" }, cell)))),
        ),
      ),
    );
    // As in `_targets`, which makes them.
    const near = 2 * num(points[model.sweep.start].target);
    const isEven = !(near < num(points[points.length - 1].target));
    const uneven = isEven ? "" : ` The steps are those of the slider: even up to ${count(near)}, then growing.`;
    // What is closed is not printed.
    addEventListener("beforeprint", () => (numbers.open = true));
    return el(
      "figure",
      { class: "curve" },
      plot.node,
      el(
        "figcaption",
        { class: "quiet" },
        `The line is the tokens, the dashed one the score, up to ${score(mostScore)}, each against the target. A dot is an item where it first enters; a hollow one leaves again with a larger budget.${uneven}`,
      ),
      numbers,
    );
  }

  function orderPanel(app) {
    const { model } = app;
    const left = 44;
    let order = [];
    let x = () => 0;
    let edges = [0];
    let cursor = null;
    const plot = picture("", 150, (width, height) => {
      order = model.order;
      const values = order.map((row) => finite(num(model.value("score", row))));
      // A pinned item has a score of 1 by definition, so it still sets the scale.
      const largest =
        Math.max(
          ...ticks(1),
          ...values.slice(0, 1),
          values.reduce((a, b) => Math.max(a, b), 0),
        ) || 1;
      const smallest = values.reduce((a, b) => Math.min(a, b), 0);
      const { y, lines } = frame(width, height, largest, left, 8, 20, score);
      // As wide as its tokens; an item without any still gets a bar that can be seen.
      const tokens = order.map((row) => Math.max(0, finite(num(model.value("tokens", row)))));
      const least = tokens.reduce((a, b) => a + b, 0) * 0.004 || 1;
      edges = [0];
      for (const each of tokens) edges.push(edges[edges.length - 1] + Math.max(least, each));
      const scale = (width - left) / (edges[edges.length - 1] || 1);
      const at = (i) => left + edges[i] * scale;
      x = (i) => (at(i) + at(i + 1)) / 2;
      const paths = new Map();
      // If there are more items than pixels, each bar shows the best of a few neighbours.
      const few = Math.max(1, Math.ceil((2 * order.length) / (width - left)));
      for (let start = 0; start < order.length; start += few) {
        let i = start;
        for (let k = start + 1; k < Math.min(start + few, order.length); k++) if (values[k] > values[i]) i = k;
        const color = colorOf(model.rows.kind[order[i]]);
        const value = Math.max(values[i], smallest < 0 ? -largest : 0);
        // A score of 0 still gets a visible bar.
        const end = value === 0 ? y(0) - 2 : y(value);
        const last = at(Math.min(start + few, order.length));
        const bar = `M${at(start).toFixed(1)} ${y(0).toFixed(1)}V${end.toFixed(1)}H${last.toFixed(1)}V${y(0).toFixed(1)}Z`;
        paths.set(color, `${paths.get(color) || ""}${bar}`);
      }
      const bars = [...paths].map(([color, path]) => svg("path", { class: `k band thick ${color}`, d: path }));
      cursor = svg("line", { class: "cursor", y1: 8, y2: height - 20, visibility: "hidden" });
      const names = order.length
        ? [
            [1, left, "start"],
            [order.length, width, "end"],
          ].map(([text, at, anchor]) =>
            svg(
              "text",
              { x: at, y: height - 4, "text-anchor": anchor },
              `${anchor === "start" ? "first read" : `last read (${count(text)})`}`,
            ),
          )
        : [];
      return [...lines, ...bars, ...names, cursor];
    });
    const nearest = (event) => {
      const box = plot.image.getBoundingClientRect();
      const place = ((event.clientX - box.left - left) / (box.width - left)) * edges[edges.length - 1];
      return place < 0 ? -1 : edges.findIndex((edge) => edge > place) - 1;
    };
    const describe = (i) => {
      const row = order[i];
      cursor.setAttribute("visibility", i < 0 ? "hidden" : "visible");
      if (i < 0) return "";
      cursor.setAttribute("x1", x(i));
      cursor.setAttribute("x2", x(i));
      return `${i + 1}. ${model.kindName(row)}, ${plural(model.value("tokens", row), "token")}, score ${score(model.value("score", row))}: ${oneLine(model.text(row)).slice(0, 90)}`;
    };
    plot.hover(
      (event) => describe(nearest(event)),
      () => cursor && cursor.setAttribute("visibility", "hidden"),
    );
    plot.keys(
      () => order.length,
      (i) => ({ x: x(i), y: 40, text: describe(i) }),
      (i) => app.open(order[i]),
    );
    plot.image.addEventListener("click", (event) => {
      const i = nearest(event);
      if (i >= 0) app.open(order[i]);
    });
    const note = el("p", { class: "quiet" });
    const section = card(titled(model, "Order and score"), "", plot.node);
    section.firstChild.append(note);
    app.onchange(() => {
      plot.name(
        `Score by position of ${plural(model.use.items, "selected item")}, in the order in which the model reads them. The table below has the same data.`,
      );
      const shown = model.order.length;
      note.textContent =
        shown === 0
          ? "Nothing is selected."
          : model.moved && !model.places
            ? "Each bar is a selected item, as wide as its tokens, in the order of the report. With another budget, this placer may choose another order."
            : `Each bar is a selected item, as wide as its tokens and as high as its score, in the order in which the model reads them.${shown < num(model.use.items) ? ` The first ${count(shown)} are shown.` : ""}`;
      plot.redraw();
    });
    return section;
  }

  function itemsPanel(app) {
    const { model } = app;
    const { report } = model;
    const compare = report.others.length > 0;
    const narrow = report.others.length > 1 ? 78 : 112;
    const columns = [
      { key: "number", title: "#", width: 52, numeric: true, cell: (row) => count(model.number(row)), sort: (row) => -row },
      {
        key: "state",
        title: compare ? model.names[0] : "State",
        width: compare ? narrow : 84,
        cell: (row) => stateCell(model.state(row)),
        sort: (row) => ["in", "enters", "leaves", "out", "\u2013"].indexOf(model.state(row)),
      },
      ...report.others.map((_, k) => ({
        key: `other${k}`,
        title: model.names[k + 1],
        width: narrow,
        cell: (row) => stateCell(model.otherState(row, k)),
        sort: (row) => ["in", "out", "\u2013"].indexOf(model.otherState(row, k)),
      })),
      {
        key: "kind",
        title: "Kind",
        width: 136,
        cell: (row) => [swatch(colorOf(model.rows.kind[row])), visible(model.kindName(row))],
        sort: (row) => model.kindName(row).toLowerCase(),
      },
      {
        key: "tokens",
        title: "Tokens",
        width: 84,
        numeric: true,
        cell: (row) => tokensCell(model, row),
        sort: (row) => num(model.value("tokens", row)),
      },
      {
        key: "score",
        title: "Score",
        width: 66,
        numeric: true,
        cell: (row) => score(model.value("score", row)),
        sort: (row) => num(model.value("score", row)),
      },
      {
        key: "reason",
        title: "Reason",
        width: report.others.length > 3 ? 140 : 172,
        cell: (row) => reasonText(model, row),
        sort: (row) => reasonText(model, row),
      },
      {
        key: "text",
        title: "Content",
        cell: (row) => el("bdi", {}, oneLine(model.text(row))),
        sort: (row) => model.text(row).toLowerCase(),
      },
    ];
    const detail = el("aside", { class: "detail", "aria-label": "Details of the item", tabindex: "-1" });
    const table = new VirtualTable({
      label: "Items",
      columns,
      className: compare ? "items compare" : "items",
      stamp: (row) => `${model.state(row)} ${model.point}`,
      onOpen: (row) => app.open(row),
    });
    const split = el("div", { class: "split alone" }, table.node, detail);
    app.open = (row) => {
      app.chosen = row;
      view.chosen = model.value("input", row);
      split.classList.remove("alone");
      table.select(row);
      showDetail(detail, app, row);
    };
    app.close = () => {
      app.chosen = null;
      delete view.chosen;
      split.classList.add("alone");
      table.select(null);
      table.focus();
    };
    split.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && app.chosen !== null) app.close();
    });

    const everything = Array.from({ length: model.size }, (_, row) => row);
    const tabs = [
      ["all", "All"],
      ["in", "In"],
      ["out", "Out"],
      ["differs", compare ? "Differs" : "Moved"],
    ];
    const { view } = app;
    let tab = view.tab || "all";
    const buttons = tabs.map(([key, title]) =>
      el(
        "button",
        {
          type: "button",
          "aria-pressed": String(key === tab),
          "data-tab": key,
          onclick: () => {
            tab = key;
            update();
          },
        },
        title,
      ),
    );
    const box = el("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": "Search items",
      value: view.word || "",
      oninput: () => update(),
    });
    const kindBox = choice("Kind", "All kinds", report.kinds.map(visible), () => update());
    const reasonBox = choice("Reason", "All reasons", report.reasons.map(visible), () => update());
    const total = el("span", { class: "count", role: "status" });
    const away = el("p", { class: "away", hidden: true });
    if (model.hasSweep) {
      const target = count(model.sweep.points[model.sweep.start].target);
      away.append(
        `Reasons and times are those of the report, for ${target} tokens. `,
        el("button", { type: "button", onclick: () => app.back() }, `Back to ${target} tokens`),
      );
    }
    function update() {
      const word = box.value.trim().toLowerCase();
      view.word = box.value;
      view.tab = tab;
      const kind = kindBox.value === "" ? null : Number(kindBox.value);
      const reason = reasonBox.value === "" || model.moved ? null : Number(reasonBox.value);
      const rows = everything.filter(
        (row) =>
          (tab === "all" || (tab === "differs" ? model.differs(row) : Boolean(model.now[row]) === (tab === "in"))) &&
          (kind === null || model.rows.kind[row] === kind) &&
          (reason === null || model.value("reason", row) === reason) &&
          (!word || model.searchText(row).includes(word)),
      );
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(tabs[i][0] === tab)));
      total.textContent =
        rows.length === model.size
          ? plural(model.size, "item")
          : `${count(rows.length)} of ${plural(model.size, "item")}`;
      table.show(rows);
    }
    app.showReason = (reason) => {
      tab = "out";
      reasonBox.value = String(reason);
      update();
      section.scrollIntoView();
    };
    app.onchange(() => {
      buttons[3].hidden = !compare && !model.moved && !app.playing;
      if (buttons[3].hidden && tab === "differs") tab = "all";
      away.hidden = !model.moved;
      reasonBox.hidden = model.moved;
      update();
      if (app.chosen !== null && app.chosen < model.size) showDetail(detail, app, app.chosen);
    });
    const hidden = report.hidden
      ? `${count(report.hidden)} more items are not on this page, which shows at most ${count(model.size)}; all totals include them.`
      : model.size
        ? "Choose an item to see its content, its score by scorer and the reason."
        : "There are no items.";
    const section = card(
      "Items",
      hidden,
      el(
        "div",
        { class: "tools" },
        el("div", { class: "tabs", role: "group", "aria-label": "Which items" }, buttons),
        box,
        kindBox,
        reasonBox,
        total,
      ),
      away,
      split,
    );
    section.id = "items";
    app.table = table;
    // Reopen the item that was open before the last change in the playground, if it is still there.
    const again = view.chosen === undefined ? -1 : (model.rows.input || []).indexOf(view.chosen);
    if (again >= 0) app.open(again);
    return section;
  }

  function choice(label, all, options, onchange) {
    return el(
      "select",
      { "aria-label": label, onchange },
      el("option", { value: "" }, all),
      options.map((text, i) => el("option", { value: i }, text.length > 60 ? `${text.slice(0, 59)}\u2026` : text)),
    );
  }

  const SIGNS = { in: "\u25cf in", out: "\u25cb out", enters: "+ enters", leaves: "\u2212 leaves", "\u2013": "\u2013" };
  const stateCell = (state) => el("span", { class: `state ${state === "\u2013" ? "out" : state}` }, SIGNS[state]);

  function tokensCell(model, row) {
    const original = model.value("original", row);
    const tokens = count(model.value("tokens", row));
    return original === null
      ? tokens
      : [
          el("span", { class: "was", title: `${count(original)} before it was shortened` }, count(original)),
          ` ${tokens}`,
        ];
  }

  /** What a row does when the slider is away from the report, whose reasons are not those of another budget. */
  function moveText(model, row) {
    const now = count(model.sweep.points[model.point].target);
    const then = count(model.sweep.points[model.sweep.start].target);
    const state = model.state(row);
    return state === "enters" || state === "leaves" ? `${state}: ${then} \u2192 ${now}` : "";
  }

  function reasonText(model, row) {
    if (model.moved) return moveText(model, row);
    const there = model.report.others.findIndex((_, k) => model.value(`other${k}_reason`, row) !== null);
    const prefix = model.value("reason", row) === null ? `other${there}_` : "";
    const title = model.report.reasons[model.value(`${prefix}reason`, row)];
    const why = model.value(`${prefix}why`, row);
    return visible(why || title.replace(/ \(\w+\)$/, ""));
  }

  function showDetail(node, app, row) {
    const { model } = app;
    const { report } = model;
    const facts = [];
    const fact = (name, ...value) => facts.push(el("dt", {}, name), el("dd", {}, ...value));
    const why = (prefix) => {
      const title = visible(report.reasons[model.value(`${prefix}reason`, row)]);
      const words = model.value(`${prefix}why`, row);
      return words ? `${title}: ${visible(words)}` : title;
    };
    fact(report.others.length ? model.names[0] : "State", stateCell(model.state(row)));
    if (model.moved) fact("Reason", moveText(model, row) || `as at ${count(model.sweep.points[model.sweep.start].target)}`);
    else if (model.value("in", row) !== null) fact("Reason", why(""));
    report.others.forEach((_, k) => {
      fact(model.names[k + 1], stateCell(model.otherState(row, k)));
      if (model.value(`other${k}_in`, row) !== null)
        fact("Reason there", `${why(`other${k}_`)}, score ${score(model.value(`other${k}_score`, row))}`);
    });
    fact("Kind", swatch(colorOf(model.rows.kind[row])), visible(model.kindName(row)));
    fact("Source", visible(model.value("source", row)));
    const original = model.value("original", row);
    fact(
      "Tokens",
      original === null
        ? count(model.value("tokens", row))
        : `${count(model.value("tokens", row))}, shortened from ${count(original)}`,
    );
    if (model.value("score", row) !== null) fact("Score", score(model.value("score", row)));
    if (model.hasSweep) {
      const first = model.first[row];
      fact(
        "Budget",
        first < 0
          ? `selected at none of the ${count(model.sweep.points.length)} targets tried`
          : model.enters(row) === null
            ? `first selected ${model.between(first)}`
            : `first selected at a target of ${count(model.enters(row))}`,
      );
    }
    if (model.value("time", row) !== null) fact("Time", model.value("time", row));
    if (model.value("tags", row) !== null) fact("Tags", visible(model.value("tags", row)));
    for (const [key, value] of model.value("metadata", row) || []) fact(visible(key), el("code", {}, visible(value)));

    const close = el(
      "button",
      {
        class: "close",
        type: "button",
        onclick: () => app.close(),
      },
      "Close",
    );
    const parts = model.value("parts", row);
    const more = model.value("more", row);
    node.replaceChildren(
      el("header", {}, el("h2", {}, `Item ${count(model.number(row))}`), close),
      el("dl", {}, facts),
      parts ? el("div", {}, el("h3", {}, "Score by scorer"), partsTable(report.scorers, parts)) : "",
      el("h3", {}, "Content"),
      report.text
        ? el("pre", { dir: "auto", tabindex: "0", "aria-label": "Content" }, visible(model.text(row)))
        : el("p", { class: "quiet" }, "Left out of this page (text=False)."),
      more ? el("p", { class: "quiet" }, `\u2026 and ${plural(more, "more character")}`) : "",
    );
    node.scrollTop = 0;
  }

  function partsTable(scorers, parts) {
    return meters(
      scorers.map(([name, weight], i) => ({
        label: name.replace(/Scorer$/, ""),
        value: finite(weight * num(parts[i])),
        cells: [`${score(parts[i])} \u00d7 ${weight.toFixed(2)}`],
      })),
      ["Scorer", "Score and weight"],
      // The weights add up to 1, and so do the parts of a perfect score.
      1,
    );
  }

  /** What was left out, by reason; each reason shows its items. */
  function whyOutPanel(app) {
    const { model } = app;
    const groups = new Map();
    for (let row = 0; row < model.size; row++) {
      if (model.value("in", row) !== 0) continue;
      const reason = model.value("reason", row);
      const group = groups.get(reason) || { items: 0, tokens: 0 };
      group.items++;
      group.tokens += finite(num(model.value("tokens", row)));
      groups.set(reason, group);
    }
    if (!groups.size) return null;
    const sorted = [...groups].sort(([, a], [, b]) => b.tokens - a.tokens);
    const whole = sorted.reduce((sum, [, { tokens }]) => sum + tokens, 0);
    const rows = sorted.map(([reason, { items, tokens }]) => ({
      label: el(
        "button",
        { type: "button", class: "link", onclick: () => app.showReason(reason) },
        visible(model.report.reasons[reason]),
      ),
      // An invalid count may be negative.
      value: Math.max(0, tokens),
      cells: [plural(items, "item"), plural(tokens, "token"), tokens > 0 ? percent(tokens, whole) : ""],
    }));
    return card(titled(model, "Why out"), "Choose a reason to see its items.", meters(rows, ["Reason", "Items", "Tokens", "Share"], whole));
  }

  function timesPanel(model) {
    const { report } = model;
    const known = report.times.reduce((sum, [, , ms]) => sum + finite(num(ms)), 0);
    const rows = report.times.map(([stage, items, ms]) => ({
      label: stage,
      value: ms,
      cells: [plural(items, "item"), `${num(ms).toFixed(3)} ms`],
    }));
    return card(
      titled(model, "Time"),
      `${known.toFixed(3)} ms in ${plural(rows.length, "stage")}`,
      meters(rows, ["Stage", "Items", "Time"], known),
    );
  }

  function shortfallPanel(shortfalls) {
    const rows = shortfalls.map(([kind, required, found]) =>
      el("li", {}, `${visible(kind)}: ${count(found)} of ${count(required)} required`),
    );
    return card("Count requirements that were not met", "", el("ul", {}, rows));
  }

  function comparePanel(app) {
    const { model } = app;
    const { report } = model;
    const summaries = [report, ...report.others];
    const columns = summaries.map((_, n) => (n ? `other${n - 1}_in` : "in"));
    const side = (name, summary, n) => {
      let only = 0;
      for (let row = 0; row < model.size; row++)
        only += columns.every((column, k) => Boolean(model.value(column, row)) === (k === n));
      return el(
        "div",
        {},
        el("h3", {}, name),
        el(
          "p",
          { class: "num" },
          el("b", {}, plural(summary.use.items, "item")),
          `, ${plural(num(summary.use.tokens), "token")}; `,
          `${count(only)} only here`,
        ),
        budgetBar(summary.use, summary.budget, `Tokens by kind of ${name}`, report.kinds),
      );
    };
    // What each of them reads, one below the other; what not all of them have is marked.
    const most = 100;
    const list = (name, n) => {
      // The first report's rows are in its order.
      const order = n ? report.orders[n - 1] : [...model.now.keys()].filter((row) => model.value("in", row));
      const items = order.slice(0, most).map((row) => {
        const shared = columns.every((column) => model.value(column, row));
        return el(
          "li",
          { class: shared ? "" : "differs" },
          swatch(colorOf(model.rows.kind[row])),
          el("button", { type: "button", class: "link", onclick: () => app.open(row) }, oneLine(model.text(row))),
          el("span", { class: "quiet num" }, ` ${count(model.value("tokens", row))}${shared ? "" : ", not in all"}`),
        );
      });
      const rest = order.length > most ? el("p", { class: "quiet" }, `and ${count(order.length - most)} more`) : "";
      return el("div", {}, el("h3", {}, name), el("ol", { class: "reading" }, items), rest);
    };
    return card(
      "Side by side",
      "",
      el(
        "div",
        { class: "pair" },
        summaries.map((summary, n) => side(model.names[n], summary, n)),
      ),
      el("h3", {}, "In the order in which the model reads them"),
      el(
        "div",
        { class: "columns" },
        summaries.map((_, n) => list(model.names[n], n)),
      ),
    );
  }

  function notesPanel(lines, title = "Notes") {
    return card(
      title,
      "",
      el(
        "ul",
        { class: "notes" },
        lines.map((line) => el("li", { class: "note" }, visible(line))),
      ),
    );
  }

  /** A model and the panels that show it. All panels are notified when the model changes. */
  class App {
    constructor(model, view = {}, playing = false) {
      this.model = model;
      this.view = view;
      this.playing = playing;
      this.listeners = [];
      this.chosen = null;
    }

    onchange(listener) {
      this.listeners.push(listener);
    }

    changed() {
      for (const listener of this.listeners) listener();
    }

    panels() {
      const { report } = this.model;
      const figures = el("div");
      this.onchange(() => figures.replaceChildren(reportFigures(this.model)));
      // What the run of the report said about itself does not hold for another budget.
      const ofReport = (panel) => {
        this.onchange(() => (panel.hidden = this.model.moved));
        return panel;
      };
      const panels = [
        figures,
        ...[whyOutPanel(this)].filter(Boolean).map(ofReport),
        report.notes.length ? ofReport(notesPanel(report.notes)) : null,
        budgetPanel(this),
        report.others.length ? comparePanel(this) : null,
        orderPanel(this),
        itemsPanel(this),
        report.shortfalls.length ? ofReport(shortfallPanel(report.shortfalls)) : null,
        report.times.length ? ofReport(timesPanel(this.model)) : null,
      ];
      this.changed();
      return panels.filter(Boolean);
    }
  }

  // ---------------------------------------------------------------- panels from plain rows

  // A group has the same colour on every page.
  function groupColors(names) {
    return new Map(names.map((name) => [name, `k${data.colors[name] ?? COLORS - 1}`]));
  }

  const panelMakers = {
    figures: (panel) =>
      figuresPanel(
        panel.figures.map(([label, value, note]) => ({
          label: visible(label),
          value: typeof value === "string" ? visible(value) : count(value),
          note: visible(note),
        })),
      ),

    notes: (panel) => notesPanel(panel.lines, panel.title),

    bars(panel) {
      const whole = panel.bars.reduce((sum, [, value]) => sum + finite(num(value)), 0);
      const colors = groupColors(panel.bars.map(([label, , , group]) => group || label));
      const rows = panel.bars.map(([label, value, note, group]) => ({
        label: [
          swatch(colors.get(group || label)),
          visible(label),
          note ? el("span", { class: "quiet" }, ` ${visible(note)}`) : "",
        ],
        value,
        color: colors.get(group || label),
        cells: panel.shares ? [count(value), percent(value, whole)] : [count(value)],
      }));
      const total = panel.shares ? plural(whole, panel.unit.replace(/s$/, "")) : "";
      return card(
        panel.title,
        visible(panel.note) || total,
        panel.shares ? meters(rows, ["Part", panel.unit, "Share"], whole) : meters(rows, ["Name", panel.unit]),
      );
    },

    windowgauge(panel) {
      const colors = groupColors(panel.bars.map(([label, , , group]) => group || label));
      const [limit, reserve] = [num(panel.limit), num(panel.reserve)];
      const used = panel.bars.reduce((sum, [, value]) => sum + finite(num(value)), 0);
      const whole = Math.max(used, limit + reserve) || 1;
      const free = Math.max(0, limit - used);
      const rows = [
        ...panel.bars.map(([label, value, , group]) => [colors.get(group || label), visible(label), value]),
        ...(free ? [["free", "free", free]] : []),
        ...(reserve ? [["held", "for the reply", reserve]] : []),
      ];
      const label = rows.map(([, name, value]) => `${name} ${count(value)}`).join(", ");
      const explained = rows.map(([color, name, value]) =>
        el(
          "li",
          {},
          swatch(color),
          el("b", {}, name),
          ` ${count(value)} `,
          color === "held" ? "" : el("span", { class: "quiet" }, percent(value, limit)),
        ),
      );
      if (used > limit) explained.push(el("li", { class: "minus" }, `over the limit by ${count(used - limit)}`));
      return card(
        panel.title,
        visible(panel.note),
        el(
          "div",
          { class: "budget" },
          el(
            "div",
            { class: "bar", role: "img", "aria-label": label },
            rows.map(([color, , value]) => segment(color, num(value), whole)),
          ),
          barMark("target", limit, whole, `limit ${count(panel.limit)}`),
        ),
        el("ul", { class: "legend" }, explained),
      );
    },

    growthchart: growthPanel,

    treemap: treemapPanel,

    rows(panel) {
      const table = new VirtualTable({
        label: panel.title,
        columns: panel.columns.map((title, i) =>
          plainColumn(
            title,
            panel.rows.map((cells) => cells[i]),
            i,
            panel.alarms.includes(i),
          ),
        ),
      });
      const rows = panel.rows.map((_, row) => row);
      const textOf = (row) => panel.rows[row].join("\n").toLowerCase();
      const body = panel.rows.length > 12 ? searchable(table, rows, textOf, "row") : (table.show(rows), [table.node]);
      table.node.classList.toggle("short", panel.rows.length <= 12);
      return card(panel.title, visible(panel.note), ...body);
    },
  };

  const NUMBER = /^[\d.,]+%?$/;

  /** Create a column of plain values: numbers and percentages are right-aligned, short texts get narrow columns. */
  function plainColumn(title, values, i, isAlarm) {
    const numeric = values.every((value) => typeof value !== "string" || NUMBER.test(value));
    const shown = (value) => (typeof value === "string" ? value : Number.isInteger(value) ? count(value) : score(value));
    const longest = values.reduce((most, value) => Math.max(most, value === null ? 1 : shown(value).length), 0);
    return {
      key: `c${i}`,
      title,
      numeric,
      // The titles are smaller than the values, and alarms are bold.
      width: numeric || longest < 24 ? (isAlarm ? 30 : 22) + Math.max(8 * Math.min(longest, 24), 7.7 * title.length) : null,
      cell: (row) => {
        const value = values[row];
        if (value === null) return "\u2013";
        // In bold, too, because not everybody sees red.
        if (isAlarm && parseFloat(value) > 0) return el("b", { class: "minus" }, shown(value));
        return numeric ? shown(value) : el("bdi", { title: oneLine(shown(value)) }, oneLine(shown(value)));
      },
      sort: (row) =>
        typeof values[row] !== "string" ? values[row] : numeric ? parseFloat(values[row]) : values[row].toLowerCase(),
    };
  }

  /** A stacked chart: a band for each part, from its first point to its last, and a line for the total. */
  function growthPanel(panel) {
    const points = panel.totals.length;
    const parts = panel.bands.map(([label, group, start, end, size]) => ({
      label,
      group,
      start,
      end,
      size: finite(num(size)),
    }));
    const colors = groupColors(parts.map((band) => band.group));
    const base = new Float64Array(points);
    // The lower edge of each band at each point, because the bands below it may begin and end.
    for (const band of parts) {
      band.low = [];
      for (let i = band.start; i <= Math.min(band.end, points - 1); i++) {
        band.low.push(base[i]);
        base[i] += band.size;
      }
    }
    const highest = Math.max(1, ...base, ...panel.totals.map((total) => finite(num(total === null ? 0 : total))));
    // A limit that is far above everything would leave no room for the bands.
    const isNear = ([, value]) => num(value) <= 1.6 * highest;
    const levels = panel.levels.filter(isNear);
    const largest = Math.max(highest, ...levels.map(([, value]) => num(value)));
    const left = 52;
    const height = 300;
    const plot = picture(
      `${panel.title}: ${plural(points, panel.point)}, at most ${count(Math.round(largest))} ${panel.unit}. The table below lists the parts.`,
      height,
      (width) => {
        // Above the plot, the names of events need a line of their own.
        const { y, lines } = frame(width, height, largest, left, panel.marks.length ? 30 : 14, 22, short);
        const step = (width - left) / Math.max(1, points);
        const at = (i) => left + i * step;
        const bands = parts.map((band, k) => {
          const thick = y(0) - y(band.size) > 4 ? " thick" : "";
          return svg("path", {
            class: `band ${colors.get(band.group)}${thick}`,
            d: bandPath(band, at, y),
            "data-k": k,
          });
        });
        const known = panel.totals
          .map((total, i) =>
            total === null
              ? ""
              : `${i && panel.totals[i - 1] !== null ? "H" : `M${at(i).toFixed(1)} ${y(num(total)).toFixed(1)}H`}${at(i).toFixed(1)}V${y(num(total)).toFixed(1)}H${at(i + 1).toFixed(1)}`,
          )
          .join("");
        let named = -Infinity;
        const marks = panel.marks.flatMap(([index, label], k) => {
          const isBad = label === "refused";
          const x = at(index) + (isBad ? step / 2 : 0);
          const line = svg("line", { class: `event${isBad ? " bad" : ""}`, x1: x, x2: x, y1: 16, y2: height - 22 });
          // Of a run, the first is named. Names that would cover each other are left out: the table has all of them.
          const [before, same] = k ? panel.marks[k - 1] : [];
          const room = 7 * label.length + 8;
          const from = Math.min(x, width - room);
          if (from < named || (before === index - 1 && same === label)) return [line];
          named = from + room;
          return [line, svg("text", { x: from, y: 12 }, visible(label))];
        });
        const across = levels.flatMap(([label, value]) => [
          svg("line", { class: "level", x1: left, x2: width, y1: y(num(value)), y2: y(num(value)) }),
          svg(
            "text",
            { class: "on", x: left + 4, y: Math.max(10, y(num(value)) - 4) },
            `${visible(label)} ${count(value)}`,
          ),
        ]);
        // Name the bands that are high enough for a line of text.
        const names = parts.flatMap((band) => {
          const last = band.low.length - 1;
          const high = y(0) - y(band.size);
          const wide = (last + 1) * step;
          if (high < 13 || wide < 120) return [];
          const text = fitting(oneLine(band.label), wide - 12);
          const bottom = y(band.low[last]);
          let middle = bottom - high / 2 + 4;
          // Not across a line.
          const near = levels.map(([, value]) => y(num(value))).find((line) => Math.abs(line - middle + 4) < 9);
          if (near !== undefined) middle = near - 4;
          return svg("text", { class: "name", x: at(band.start) + wide - 6, y: middle, "text-anchor": "end" }, text);
        });
        return [
          ...lines,
          ...bands,
          ...names,
          known ? svg("path", { class: "total", d: known }) : svg("g"),
          ...across,
          ...marks,
          svg("text", { x: left, y: height - 4 }, `${panel.point} 1`),
          svg("text", { x: width, y: height - 4, "text-anchor": "end" }, `${panel.point} ${count(points)}`),
        ];
      },
    );
    plot.keys(
      () => points,
      (i) => {
        const alive = parts.filter((band) => band.start <= i && i <= band.end).sort((a, b) => b.size - a.size);
        const events = panel.marks.filter(([index]) => index === i).map(([, label]) => `, ${visible(label)}`);
        const total = panel.totals[i] === null ? base[i] : num(panel.totals[i]);
        const most = alive.slice(0, 2).map((band) => `${oneLine(band.label).slice(0, 60)} ${count(band.size)}`);
        const width = plot.node.clientWidth;
        return {
          x: left + ((i + 0.5) * (width - left)) / Math.max(1, points),
          y: 40,
          text: `${panel.point} ${i + 1}${events.join("")}: ${count(total)} ${panel.unit}${most.length ? `, most of it ${most.join(" and ")}` : ""}`,
        };
      },
    );
    const highlight = (k) =>
      plot.image
        .querySelectorAll(".band")
        .forEach((band) => band.classList.toggle("dim", k !== null && band.dataset.k !== k));
    plot.hover(
      (event) => {
        const k = event.target.dataset ? event.target.dataset.k || null : null;
        highlight(k);
        const band = k === null ? null : parts[Number(k)];
        return band
          ? `${visible(band.group)}: ${oneLine(band.label).slice(0, 120)}, ${count(band.size)} ${panel.unit}, ${panel.point} ${band.start + 1} to ${band.end + 1}`
          : "";
      },
      () => highlight(null),
    );
    const far = panel.levels.filter((level) => !isNear(level));
    const above = far.map(([label, value]) => el("li", { class: "quiet" }, `${visible(label)} ${count(value)}, far above`));
    return card(panel.title, visible(panel.note), plot.node, legend(colors, above));
  }

  /** Fill a rectangle with areas in proportion, the largest first, in rows that keep them as square as possible. */
  function squarified(sizes, box) {
    const boxes = [];
    let { x, y, width, height } = box;
    let left = sizes.reduce((sum, size) => sum + size, 0);
    for (let start = 0; start < sizes.length; ) {
      const side = Math.min(width, height);
      const scale = (width * height) / left;
      // The worst ratio of sides in a row of these areas.
      const worst = (sum, from, to) => {
        const thick = (sum * scale) / side;
        const ratios = [sizes[from], sizes[to]].map((size) => (size * scale) / thick / thick);
        return Math.max(...ratios.map((ratio) => Math.max(ratio, 1 / ratio)));
      };
      let end = start;
      let sum = sizes[start];
      while (end + 1 < sizes.length && worst(sum + sizes[end + 1], start, end + 1) <= worst(sum, start, end))
        sum += sizes[++end];
      const thick = (sum * scale) / side;
      let along = 0;
      for (let i = start; i <= end; i++) {
        const long = (sizes[i] * scale) / thick;
        boxes.push(
          width >= height
            ? { x, y: y + along, width: thick, height: long }
            : { x: x + along, y, width: long, height: thick },
        );
        along += long;
      }
      if (width >= height) [x, width] = [x + thick, width - thick];
      else [y, height] = [y + thick, height - thick];
      left -= sum;
      start = end + 1;
    }
    return boxes;
  }

  /** Parallel lines across a rectangle. */
  function hatching({ x, y, width, height }) {
    const lines = [];
    for (let d = 4; d < width + height; d += 6) {
      const [right, down] = [Math.min(d, width), Math.min(d, height)];
      lines.push(`M${(x + right).toFixed(1)} ${(y + d - right).toFixed(1)}L${(x + d - down).toFixed(1)} ${(y + down).toFixed(1)}`);
    }
    return lines.join("");
  }

  /** Areas by group, and by part within each group; what is redundant of a part is hatched. */
  function treemapPanel(panel) {
    const groups = new Map();
    for (const [group, label, size, redundant] of panel.tiles) {
      const tile = { group, label, size: finite(num(size)), redundant: finite(num(redundant)) };
      if (tile.size > 0) groups.set(group, [...(groups.get(group) || []), tile]);
    }
    const sum = (tiles) => tiles.reduce((total, tile) => total + tile.size, 0);
    const sorted = [...groups.values()].sort((a, b) => sum(b) - sum(a));
    const tiles = sorted.flatMap((each) => each.sort((a, b) => b.size - a.size));
    const whole = sum(tiles);
    const colors = groupColors(tiles.map((tile) => tile.group));
    const describe = (tile) =>
      `${visible(tile.group)}: ${oneLine(tile.label).slice(0, 120)}, ${count(tile.size)} ${panel.unit}, ${percent(tile.size, whole)}` +
      (tile.redundant ? `, ${count(tile.redundant)} of them redundant` : "");
    const plot = picture(
      `${panel.title}: ${plural(tiles.length, "area")} for ${count(whole)} ${panel.unit}. The table below has the same numbers.`,
      280,
      (width, height) => {
        const around = squarified(sorted.map(sum), { x: 0, y: 0, width, height });
        const boxes = around.flatMap((box, i) => {
          // A line for the name of the group, where it has room.
          const head = box.height > 44 && box.width > 60 ? 15 : 0;
          const inner = { ...box, y: box.y + head, height: box.height - head };
          return squarified(sorted[i].map((tile) => tile.size), inner);
        });
        boxes.forEach((box, k) => (tiles[k].box = box));
        const drawn = tiles.flatMap((tile, k) => {
          const { x, y, width: wide, height: high } = tile.box;
          const area = { x: x + 0.5, y: y + 0.5, height: Math.max(0, high - 1), "data-k": k };
          const room = Math.max(0, wide - 1);
          const parts = [svg("rect", { ...area, class: `tile ${colors.get(tile.group)}`, width: room })];
          if (tile.redundant) {
            const part = { x: area.x, y: area.y, width: (room * tile.redundant) / tile.size, height: area.height };
            parts.push(svg("path", { class: "hatched", d: hatching(part) }));
          }
          const text = high > 16 ? fitting(oneLine(tile.label).split("/").slice(-2).join("/"), wide - 8) : "";
          if (text) parts.push(svg("text", { class: `name halo ${colors.get(tile.group)}`, x: x + 5, y: y + 14 }, text));
          return parts;
        });
        const heads = around.flatMap((box, i) =>
          box.height > 44 && box.width > 60
            ? svg(
                "text",
                { x: box.x + 3, y: box.y + 11 },
                fitting(`${visible(sorted[i][0].group)} ${count(sum(sorted[i]))}`, box.width),
              )
            : [],
        );
        return [...drawn, ...heads, svg("rect", { class: "chosen", visibility: "hidden" })];
      },
    );
    const choose = (tile) => {
      const frame = plot.image.querySelector(".chosen");
      if (!frame) return;
      frame.setAttribute("visibility", tile ? "visible" : "hidden");
      if (tile) for (const [name, value] of Object.entries(tile.box)) frame.setAttribute(name, value);
    };
    plot.keys(
      () => tiles.length,
      (i) => {
        choose(tiles[i]);
        return { x: tiles[i].box.x, y: tiles[i].box.y + 20, text: describe(tiles[i]) };
      },
    );
    plot.hover(
      (event) => {
        const k = event.target.dataset && event.target.dataset.k;
        choose(k ? tiles[Number(k)] : null);
        return k ? describe(tiles[Number(k)]) : "";
      },
      () => choose(null),
    );
    const isHatched = tiles.some((tile) => tile.redundant);
    const hatched = isHatched ? el("li", {}, el("i", { class: "swatch stripes" }), "redundant") : "";
    return card(panel.title, visible(panel.note), plot.node, legend(colors, hatched));
  }

  function bandPath(band, at, y) {
    const top = [];
    const bottom = [];
    band.low.forEach((low, k) => {
      const before = band.low[k - 1];
      const after = band.low[k + 1];
      const [x1, x2] = [at(band.start + k).toFixed(1), at(band.start + k + 1).toFixed(1)];
      if (before !== low)
        (top.push(`${x1} ${y(low + band.size).toFixed(1)}`), bottom.push(`${x1} ${y(low).toFixed(1)}`));
      if (after !== low)
        (top.push(`${x2} ${y(low + band.size).toFixed(1)}`), bottom.push(`${x2} ${y(low).toFixed(1)}`));
    });
    return top.length ? `M${top.join("L")}L${bottom.reverse().join("L")}Z` : "";
  }

  // ---------------------------------------------------------------- the playground

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  /** Return the slicer of a policy document as an object, even if flat fields describe it. */
  function slicerOf(policy) {
    if (policy.slicer) return policy.slicer;
    const inner = { type: policy.slicerType || "greedy" };
    if (policy.knapsackBucketSize) inner.bucketSize = policy.knapsackBucketSize;
    if (policy.streamBatchSize) inner.batchSize = policy.streamBatchSize;
    return policy.quotas ? { type: "quota", entries: policy.quotas, inner } : inner;
  }

  const placerOf = (policy) => policy.placer || { type: policy.placerType || "chronological" };

  /** Return the settings as the server accepts them: without scorers of weight 0. */
  function sendable(settings) {
    const scorers = settings.policy.scorers.filter((scorer) => scorer.weight !== 0);
    return { ...settings, policy: { ...settings.policy, scorers } };
  }

  /** The playground: every change of the settings is sent to the server, and the panels show the result. */
  class Play {
    constructor(data) {
      this.offer = data.play;
      this.view = {};
      this.sent = 0;
      this.selected = null;
      this.kept = null;
      this.settings = { policy: this.offer.policy, budget: { ...this.offer.budget }, query: this.offer.query };
      this.form = el("div");
      this.problem = el("p", { class: "error", role: "alert" });
      this.news = el("p", { class: "quiet", role: "status" });
      this.side = el("aside", { class: "card knobs", "aria-label": "Settings" }, this.form);
      this.main = el("main", { class: "page", id: "app" }, this.problem);
      this.node = el("div", { class: "bench" }, this.side, this.main);
      this.drawForm();
      this.show(data);
      this.acceptFiles();
    }

    // ---- requests to the server

    change(redraw = false) {
      if (redraw) this.drawForm();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(), 120);
    }

    async ask() {
      const number = ++this.sent;
      this.main.classList.add("busy");
      const answer = await this.post("select", { ...sendable(this.settings), other: this.kept && sendable(this.kept) });
      // Ignore the answers to all but the latest request.
      if (number === this.sent) this.show(answer);
    }

    async post(name, body) {
      try {
        const response = await fetch(name, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        const text = await response.text();
        return response.ok ? JSON.parse(text) : { error: text };
      } catch {
        return { error: "The playground is not responding. Is it still running in the terminal?" };
      }
    }

    show(data) {
      this.main.classList.remove("busy");
      this.problem.textContent = data.error ? visible(data.error) : "";
      document.documentElement.dataset.answers = String(this.sent);
      if (!data.report) return;
      this.texts = data.policy;
      const model = new Report(data);
      const inputs = model.rows.input || [];
      const now = new Set(inputs.filter((_, row) => model.base[row]));
      if (this.selected) {
        inputs.forEach((input, row) => (model.base[row] = this.selected.has(input) ? 1 : 0));
        const entered = [...now].filter((input) => !this.selected.has(input)).length;
        const left = [...this.selected].filter((input) => !now.has(input)).length;
        this.news.replaceChildren(
          "Last change: ",
          el("span", { class: "plus" }, `+${count(entered)} enter`),
          " ",
          el("span", { class: "minus" }, `\u2212${count(left)} leave`),
        );
      } else this.news.replaceChildren();
      this.selected = now;
      const header = el("header", { class: "top" }, el("h1", {}, "Playground"), this.news, themeButton(this.view));
      const table = this.main.querySelector("#items .scroll");
      const top = table ? table.scrollTop : 0;
      this.main.replaceChildren(header, this.problem, ...new App(model, this.view, true).panels());
      this.main.querySelector("#items .scroll").scrollTop = top;
    }

    // ---- the settings

    set(changes) {
      this.settings.policy = { ...this.settings.policy, ...changes };
    }

    setSlicer(slicer) {
      const { slicerType, knapsackBucketSize, streamBatchSize, quotas, ...rest } = this.settings.policy;
      this.settings.policy = { ...rest, slicer };
    }

    setPlacer(placer) {
      const { placerType, ...rest } = this.settings.policy;
      this.settings.policy = { ...rest, placer };
    }

    drawForm() {
      const focus = document.activeElement && document.activeElement.id;
      this.form.replaceChildren(
        this.fileField(),
        this.policyField(),
        this.slicerField(),
        this.placerField(),
        this.queryField(),
        this.budgetField(),
        this.compareField(),
        this.textField(),
      );
      if (focus && document.getElementById(focus)) document.getElementById(focus).focus();
    }

    fileField() {
      const input = el("input", {
        type: "file",
        class: "sr",
        id: "open-file",
        tabindex: "-1",
        "aria-label": "A file with items",
        onchange: () => input.files[0] && this.useFile(input.files[0]),
      });
      return el(
        "fieldset",
        {},
        el("legend", {}, visible(this.offer.name)),
        el(
          "p",
          { class: "quiet" },
          `${plural(this.offer.items, "item")}, ${plural(num(this.offer.tokens), "token")}. Drop another file onto the page, or `,
          el("button", { type: "button", class: "plain", id: "open-button", onclick: () => input.click() }, "open one"),
          input,
        ),
      );
    }

    policyField() {
      const { presets, scorers } = this.offer;
      const chosen = Object.keys(presets).find((name) => same(presets[name], this.settings.policy)) || "";
      const preset = el(
        "select",
        {
          id: "preset",
          onchange: () => {
            if (preset.value) {
              this.settings.policy = presets[preset.value];
              this.change(true);
            }
          },
        },
        el("option", { value: "" }, "custom settings"),
        Object.keys(presets).map((name) => el("option", { value: name }, name)),
      );
      preset.value = chosen;
      const rows = this.settings.policy.scorers.map((scorer, i) => this.scorerRow(scorer, i));
      const add = el(
        "select",
        {
          id: "add-scorer",
          "aria-label": "Add a scorer",
          onchange: () => {
            this.set({ scorers: [...this.settings.policy.scorers, { type: add.value, weight: 1 }] });
            this.change(true);
          },
        },
        el("option", { value: "" }, "Add a scorer \u2026"),
        scorers.map((name) => el("option", { value: name }, name)),
      );
      return el("fieldset", {}, el("legend", {}, "Scorers and weights"), el("label", {}, "Policy", preset), rows, add);
    }

    scorerRow(scorer, i) {
      const update = (weight) => {
        const list = this.settings.policy.scorers.map((each, k) => (k === i ? { ...each, weight } : each));
        this.set({ scorers: list });
        this.change();
      };
      const most = Math.max(10, scorer.weight);
      const range = el("input", {
        type: "range",
        id: `weight-${i}`,
        min: 0,
        max: most,
        step: 0.05,
        "aria-label": `Weight of ${scorer.type}`,
        oninput: () => {
          number.value = range.value;
          update(Number(range.value));
        },
      });
      range.value = scorer.weight;
      const number = el("input", {
        type: "number",
        min: 0,
        step: "any",
        "aria-label": `Weight of ${scorer.type} as a number`,
        oninput: () => {
          range.value = number.value;
          update(Number(number.value));
        },
      });
      number.value = scorer.weight;
      const remove = el(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-label": `Remove ${scorer.type}`,
          disabled: this.settings.policy.scorers.length < 2,
          onclick: () => {
            this.set({ scorers: this.settings.policy.scorers.filter((_, k) => k !== i) });
            this.change(true);
          },
        },
        "\u00d7",
      );
      return el(
        "div",
        {},
        el("span", { class: "quiet" }, visible(scorer.type)),
        el("div", { class: "row" }, range, number, remove),
      );
    }

    /** Create a choice among named documents. If the current one is none of them, it is kept as it is. */
    documentSelect(id, label, documents, current, onchoose) {
      const names = Object.keys(documents);
      const chosen = names.find((name) => same(documents[name], current));
      const select = el(
        "select",
        {
          id,
          onchange: () => {
            if (documents[select.value]) {
              onchoose(documents[select.value]);
              this.change(true);
            }
          },
        },
        chosen ? null : el("option", { value: "" }, `as in the policy (${current.type})`),
        names.map((name) => el("option", { value: name }, name)),
      );
      select.value = chosen || "";
      return el("label", {}, label, select);
    }

    slicerField() {
      const slicer = slicerOf(this.settings.policy);
      const isQuota = slicer.type === "quota";
      const inner = isQuota ? slicer.inner || { type: "greedy" } : slicer;
      const entries = isQuota ? slicer.entries : [];
      const put = (newInner, newEntries) =>
        this.setSlicer(
          newEntries.length
            ? { ...(isQuota ? slicer : {}), type: "quota", entries: newEntries, inner: newInner }
            : newInner,
        );
      const rows = entries.map((entry, i) => {
        const field = (key, title) => {
          const input = el("input", {
            type: "number",
            min: 0,
            max: 100,
            id: `quota-${i}-${key}`,
            placeholder: title,
            "aria-label": `${title} percent of ${entry.kind}`,
            oninput: () => {
              const changed = { ...entry };
              delete changed[key];
              if (input.value !== "") changed[key] = Number(input.value);
              Object.assign(entry, changed);
              put(
                inner,
                entries.map((each, k) => (k === i ? changed : each)),
              );
              this.change();
            },
          });
          input.value = entry[key] === undefined || entry[key] === null ? "" : entry[key];
          return input;
        };
        return el(
          "div",
          { class: "row three" },
          el("span", {}, visible(entry.kind)),
          field("minPercent", "min"),
          field("maxPercent", "max"),
          el(
            "button",
            {
              type: "button",
              class: "plain",
              "aria-label": `Remove the quota of ${entry.kind}`,
              onclick: () => {
                put(
                  inner,
                  entries.filter((_, k) => k !== i),
                );
                this.change(true);
              },
            },
            "\u00d7",
          ),
        );
      });
      const free = this.offer.kinds.filter(
        (kind) => !entries.some((entry) => entry.kind.toLowerCase() === kind.toLowerCase()),
      );
      const add = el(
        "select",
        {
          id: "add-quota",
          "aria-label": "Add a quota",
          onchange: () => {
            put(inner, [...entries, { kind: add.value, minPercent: 0, maxPercent: 50 }]);
            this.change(true);
          },
        },
        el("option", { value: "" }, "Add a quota for \u2026"),
        free.map((kind) => el("option", { value: kind }, visible(kind))),
      );
      return el(
        "fieldset",
        {},
        el("legend", {}, "Slicer and quotas"),
        this.documentSelect("slicer", "Slicer", this.offer.slicers, inner, (chosen) => put(chosen, entries)),
        rows,
        free.length ? add : null,
      );
    }

    placerField() {
      const dedupe = el("input", {
        type: "checkbox",
        id: "dedupe",
        onchange: () => {
          this.set({ deduplicationEnabled: dedupe.checked });
          this.change();
        },
      });
      dedupe.checked = this.settings.policy.deduplicationEnabled !== false;
      return el(
        "fieldset",
        {},
        el("legend", {}, "Order and duplicates"),
        this.documentSelect("placer", "Placer", this.offer.placers, placerOf(this.settings.policy), (chosen) =>
          this.setPlacer(chosen),
        ),
        el("p", {}, dedupe, " ", el("label", { for: "dedupe", class: "inline" }, "exclude duplicates")),
      );
    }

    queryField() {
      const input = el("input", {
        type: "text",
        id: "query",
        placeholder: "What should the context answer?",
        oninput: () => {
          this.settings.query = input.value;
          this.change();
        },
      });
      input.value = this.settings.query;
      return el("fieldset", {}, el("legend", {}, "Query"), el("label", {}, "For scorers that use a query", input));
    }

    budgetField() {
      const { budget } = this.settings;
      const most = Math.max(num(this.offer.tokens), budget.max, 1);
      const inputs = {};
      const update = (key, value) => {
        budget[key] = Math.max(0, Math.round(Number(value) || 0));
        if (key === "target" && budget.target > budget.max) budget.max = budget.target;
        if (key === "max" && budget.target > budget.max) budget.target = budget.max;
        for (const [name, input] of Object.entries(inputs))
          if (document.activeElement !== input) input.value = budget[name === "slide" ? "target" : name];
        this.change();
      };
      const field = (key, title) => {
        inputs[key] = el("input", {
          type: "number",
          min: 0,
          id: `budget-${key}`,
          oninput: () => update(key, inputs[key].value),
        });
        inputs[key].value = budget[key];
        return el("label", {}, title, inputs[key]);
      };
      inputs.slide = el("input", {
        type: "range",
        id: "budget-slide",
        min: 0,
        max: most,
        step: Math.max(1, Math.round(most / 400)),
        "aria-label": "Target in tokens",
        oninput: () => update("target", inputs.slide.value),
      });
      inputs.slide.value = budget.target;
      return el(
        "fieldset",
        {},
        el("legend", {}, "Budget"),
        inputs.slide,
        el("div", { class: "row equal" }, field("target", "Target"), field("max", "Max"), field("reserve", "Output")),
      );
    }

    compareField() {
      const keep = el(
        "button",
        {
          type: "button",
          id: "keep",
          onclick: () => {
            this.kept = this.kept ? null : JSON.parse(JSON.stringify(this.settings));
            this.change(true);
          },
        },
        this.kept ? "Stop comparing" : "Keep and compare",
      );
      return el(
        "fieldset",
        {},
        el("legend", {}, "Compare"),
        el(
          "p",
          { class: "quiet" },
          this.kept
            ? "The kept settings are shown beside the current ones."
            : "Keep these settings, then change some to see both results side by side.",
        ),
        el("div", { class: "buttons" }, keep),
      );
    }

    textField() {
      const area = el("textarea", { id: "policy-text", spellcheck: "false", "aria-label": "The policy as JSON" });
      area.value = JSON.stringify(this.settings.policy, null, 2);
      const apply = () => {
        try {
          this.settings.policy = JSON.parse(area.value);
        } catch (error) {
          this.problem.textContent = `Not valid JSON: ${error.message}`;
          return;
        }
        if (!Array.isArray(this.settings.policy.scorers)) this.settings.policy.scorers = [];
        this.change(true);
      };
      const copy = (format, title) =>
        el(
          "button",
          { type: "button", id: `copy-${format}`, onclick: (event) => this.copy(event.target, format, title, area) },
          title,
        );
      const details = el(
        "details",
        { ontoggle: () => (this.view.editing = details.open) },
        el("summary", {}, "Edit as JSON"),
        area,
        el("button", { type: "button", class: "primary", id: "apply", onclick: apply }, "Apply"),
      );
      details.open = Boolean(this.view.editing);
      return el(
        "fieldset",
        {},
        el("legend", {}, "Copy or edit the policy"),
        el("div", { class: "buttons" }, copy("json", "Copy as JSON"), copy("toml", "Copy as TOML")),
        details,
      );
    }

    async copy(button, format, title, area) {
      try {
        await navigator.clipboard.writeText(this.texts[format]);
        button.textContent = "Copied";
      } catch {
        // Without clipboard permission, show the text so that it can be copied by hand.
        area.closest("details").open = true;
        area.value = this.texts[format];
        area.select();
      }
      setTimeout(() => (button.textContent = title), 1500);
    }

    // ---- files

    acceptFiles() {
      document.addEventListener("dragover", (event) => {
        event.preventDefault();
        document.body.classList.add("drop");
      });
      document.addEventListener("dragleave", (event) => {
        if (!event.relatedTarget) document.body.classList.remove("drop");
      });
      document.addEventListener("drop", (event) => {
        event.preventDefault();
        document.body.classList.remove("drop");
        if (event.dataTransfer.files[0]) this.useFile(event.dataTransfer.files[0]);
      });
    }

    async useFile(file) {
      const answer = await this.post("items", { name: file.name, text: await file.text() });
      if (answer.error) {
        this.problem.textContent = visible(answer.error);
        return;
      }
      this.offer = answer.play;
      this.settings.budget = { ...answer.play.budget };
      this.selected = null;
      this.kept = null;
      this.change(true);
    }
  }

  // ---------------------------------------------------------------- start

  function makePage() {
    if (data.play) return new Play(data).node;
    const header = el("header", { class: "top" }, el("h1", {}, visible(data.title)), themeButton());
    const subtitle = data.subtitle ? el("p", { class: "quiet" }, visible(data.subtitle)) : "";
    const panels = data.panels
      ? data.panels.map((panel) => panelMakers[panel.type](panel))
      : new App(new Report(data)).panels();
    return el("main", { class: "page", id: "app" }, header, subtitle, ...panels);
  }

  document.getElementById("app").replaceWith(makePage());
  document.documentElement.dataset.ready = "true";
})();
