"use strict";
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const printing = window.matchMedia("print");
  const holders = [...document.querySelectorAll(".chart")];
  const drawn = new Map();
  let picked = page.picked;
  let controls = true;
  let turn = 0;

  // Cells travel as columns, a third of the bytes of a list of objects.
  const rows = (columns) =>
    columns.method.map((_, i) =>
      Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[i]])));

  const scheme = () => (dark.matches && !printing.matches ? "dark" : "light");

  const moments = ({ s, b, stages, peak, span, limit }) => ({
    samples: s.map((at, i) => ({ s: at, b: b[i] })),
    stages: Object.entries(stages).map(([stage, [from, to]]) => ({ stage, from, to })),
    marks: [{ kind: "budget", b: limit }, { kind: "peak", b: peak, from: span[0], to: span[1] }]
      .filter((mark) => mark.b !== null),
  });

  async function draw(holder) {
    const timeline = page.timelines[holder.dataset.timeline];
    const spec = structuredClone(timeline ? page.timeline : page.specs[holder.dataset.spec]);
    if (timeline) spec.datasets = moments(timeline);
    if (holder.dataset.cells) spec.datasets = { cells: rows(page.cells[holder.dataset.cells]) };
    for (const param of spec.params || []) {
      if (param.name === "picked") param.value = picked;
      if (param.name === "controls") param.value = controls;
    }
    try {
      const old = drawn.get(holder);
      const made = await vegaEmbed(holder, spec, {
        mode: "vega-lite",
        renderer: "svg",
        config: page.themes[scheme()],
        tooltip: { theme: scheme() === "dark" ? "dark" : "light" },
        actions: { export: true, source: false, compiled: false, editor: false },
        downloadFileName: holder.getAttribute("aria-label"),
      });
      if (old) old.finalize();
      drawn.set(holder, made);
    } catch (error) {
      holder.textContent = `This chart could not be drawn: ${error.message}`;
    }
  }

  // One chart at a time, so that a page of a hundred stays responsive while it fills.
  async function drawAll() {
    const mine = ++turn;
    for (const holder of holders) {
      if (mine !== turn) return;
      if (!holder.getClientRects().length) continue;
      await draw(holder);
      await new Promise((resume) => setTimeout(resume));
    }
    document.documentElement.dataset.drawn = "all";
  }

  function signal(name, value) {
    for (const { view } of drawn.values()) {
      try { view.signal(name, value).runAsync(); } catch { /* a chart without this parameter */ }
    }
  }

  const keys = [...document.querySelectorAll(".legend [data-method]")];
  function pick(methods) {
    picked = methods;
    for (const key of keys) key.setAttribute("aria-pressed", methods.includes(key.dataset.method));
    signal("picked", picked);
  }
  for (const key of keys) {
    key.addEventListener("click", () => {
      const method = key.dataset.method;
      pick(picked.includes(method) ? picked.filter((name) => name !== method) : [...picked, method]);
    });
  }
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.addEventListener("click", () =>
      pick(button.dataset.pick === "all" ? keys.map((key) => key.dataset.method) : []));
  }
  document.getElementById("controls")?.addEventListener("change", (event) => {
    controls = event.target.checked;
    signal("controls", controls);
  });

  // What has no number sorts last, whichever way.
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent.trim();
    const number = Number(text);
    return text === "" || text === "–" || text === "nan" ? null : Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  for (const table of document.querySelectorAll(".sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const sort = (head, column) => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const keyed = [...body.rows].map((row) => [value(row, column), row]);
      keyed.sort(([a], [b]) =>
        a === null || b === null ? (a === null) - (b === null) : (down ? -1 : 1) * compare(a, b));
      body.append(...keyed.map(([, row]) => row));
    };
    heads.forEach((head, column) => {
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(head, column));
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(head, column); }
      });
    });
  }
  document.getElementById("filter")?.addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.getElementById("means").tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    for (const frame of document.querySelectorAll("iframe")) {
      const fit = () => {
        const inner = frame.contentDocument?.documentElement;
        if (inner) frame.style.height = `${inner.scrollHeight + 4}px`;
      };
      frame.addEventListener("load", fit);
      fit();
    }
  });

  // What is folded away is drawn when it is unfolded.
  const drawNew = async () => {
    for (const holder of holders)
      if (!drawn.has(holder) && holder.getClientRects().length) await draw(holder);
  };
  for (const fold of document.querySelectorAll("details")) fold.addEventListener("toggle", drawNew);
  for (const choice of document.querySelectorAll("[name$=-budget]")) {
    choice.addEventListener("change", () => {
      for (const group of choice.closest("section").querySelectorAll("[data-budget]"))
        group.hidden = group.dataset.budget !== choice.value;
      drawNew();
    });
  }

  dark.addEventListener("change", drawAll);
  printing.addEventListener("change", drawAll);
  drawAll();
})();
