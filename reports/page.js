// Charts in the reader's colours, the legend and its choices, filters, and cells that are chosen.
{
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const printing = window.matchMedia("print");
  const holders = [...document.querySelectorAll(".chart")];
  const large = document.body.classList.contains("large");
  const drawn = new Map();
  const asked = inAddress();
  let picked = asked.get("methods")?.split("|") ?? page.picked;
  let controls = asked.get("controls") !== "no";
  let metric = asked.get("metric") ?? "";
  let cpu = "0";
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
    const key = holder.dataset.cells;
    const other = page.metrics[key]?.[metric];
    const [kind] = (holder.dataset.spec ?? "").split("-");
    const name = other && page.specs[`${kind}-${other.axes}`] ? `${kind}-${other.axes}` : holder.dataset.spec;
    const spec = structuredClone(timeline ? page.timeline : page.specs[name]);
    spec.description = holder.getAttribute("aria-label");
    if (timeline) spec.datasets = moments(timeline);
    if (key) spec.datasets = { cells: rows({ ...page.cells[key], ...other?.cells, ...page.times[key]?.[cpu] }) };
    for (const param of spec.params || []) {
      if (param.name === "picked") param.value = picked;
      if (param.name === "controls") param.value = controls;
    }
    try {
      const old = drawn.get(holder);
      const made = await vegaEmbed(holder, spec, {
        mode: "vega-lite",
        renderer: "svg",
        logLevel: 1, // errors: a layer without rows is none, and is warned of
        config: page.themes[scheme()],
        tooltip: { theme: scheme() === "dark" ? "dark" : "light" },
        actions: { export: true, source: false, compiled: false, editor: false },
        downloadFileName: holder.getAttribute("aria-label"),
      });
      if (old) old.finalize();
      describe(holder);
      drawn.set(holder, made);
    } catch (error) {
      holder.textContent = `This chart could not be drawn: ${error.message}`;
    }
  }

  // A screen reader is told what the menu is, and not of layers that hold nothing.
  function describe(holder) {
    holder.querySelector("summary")?.setAttribute("aria-label", "Save this chart");
    for (const layer of holder.querySelectorAll('[role="graphics-symbol"]:not([aria-label])')) {
      layer.removeAttribute("role");
      layer.removeAttribute("aria-roledescription");
    }
  }

  // One chart at a time, so that the page stays responsive while it fills.
  async function drawThese(wanted) {
    const mine = turn;
    for (const holder of wanted) {
      if (mine !== turn) return;
      await draw(holder);
      await new Promise((resume) => setTimeout(resume));
    }
    document.documentElement.dataset.drawn = "all";
  }
  const visible = (holder) => holder.getClientRects().length;

  // Of the hundreds of charts of a large page, those are drawn that come near the window.
  const near = new IntersectionObserver((seen) => {
    const come = seen.filter((one) => one.isIntersecting).map((one) => one.target);
    for (const holder of come) near.unobserve(holder);
    if (come.length) drawThese(come);
  }, { rootMargin: "600px 0px" });

  async function drawAll() {
    ++turn;
    if (!large) return drawThese(holders.filter(visible));
    near.disconnect();
    for (const holder of holders) near.observe(holder);
  }

  function signal(name, value) {
    for (const { view } of drawn.values()) {
      try { view.signal(name, value).runAsync(); } catch { /* a chart without this parameter */ }
    }
  }

  const keys = [...document.querySelectorAll(".legend [data-method]")];
  // On paper nothing stays on top of the page: every group of charts has the names beside it.
  const onPaper = [...document.querySelectorAll(".charts .grid:has([data-spec][data-cells])")].map((grid) => {
    const legend = Object.assign(document.createElement("p"), { className: "on-paper" });
    grid.before(legend);
    return legend;
  });
  function pick(methods) {
    picked = methods;
    for (const key of keys) key.setAttribute("aria-pressed", methods.includes(key.dataset.method));
    for (const legend of onPaper) {
      legend.replaceChildren(...keys.filter((key) => methods.includes(key.dataset.method)).map((key) => {
        const name = document.createElement("span");
        name.append(...key.cloneNode(true).childNodes);
        return name;
      }));
    }
    signal("picked", picked);
  }
  const pickAnew = (methods) => {
    pick(methods);
    toAddress({ methods: methods.join("|") });
  };
  pick(picked);
  for (const key of keys) {
    key.addEventListener("click", () => {
      const method = key.dataset.method;
      pickAnew(picked.includes(method) ? picked.filter((name) => name !== method) : [...picked, method]);
    });
  }
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.addEventListener("click", () =>
      pickAnew(button.dataset.pick === "all" ? keys.map((key) => key.dataset.method) : []));
  }
  const withControls = document.getElementById("controls");
  if (withControls) withControls.checked = controls;
  withControls?.addEventListener("change", () => {
    controls = withControls.checked;
    signal("controls", controls);
    toAddress({ controls: controls ? null : "no" });
  });
  const metrics = document.getElementById("metric");
  if (metrics) metrics.value = metric;
  metrics?.addEventListener("change", () => {
    metric = metrics.value;
    toAddress({ metric: metric || null });
    drawAll();
  });

  for (const choice of document.querySelectorAll("[name=cpu]")) {
    choice.addEventListener("change", () => {
      cpu = choice.value;
      if (chosen) choose();
      else drawAll();
    });
  }

  for (const table of document.querySelectorAll(".sortable")) makeSortable(table);
  document.getElementById("filter")?.addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.getElementById("means").tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });

  // The least peak of what reaches a wanted score; with the interval, of what may and what surely does.
  const wanted = document.getElementById("wanted");
  function least() {
    const { value: key, selectedOptions: [{ dataset: { sign, label } }] } = document.getElementById("wanted-problem");
    document.getElementById("wanted-label").textContent = label;
    const said = document.getElementById("wanted-answer");
    const target = wanted.valueAsNumber;
    if (Number.isNaN(target)) { said.textContent = ""; return; }
    const whole = rows(page.cells[key])
      .filter((cell) => !cell.control && cell.mean !== null && cell.peak !== null && /^(\d+) of \1$/.test(cell.ok))
      .sort((a, b) => a.peak - b.peak);
    const first = (end) => whole.find((cell) => sign * ((cell[end] ?? cell.mean) - target) >= 0);
    const [may, does, surely] = (sign > 0 ? ["high", "mean", "low"] : ["low", "mean", "high"]).map(first);
    const limit = (cell) => (cell.budget === "none" ? "without a limit" : `at ${cell.budget}`);
    said.textContent = !whole.length ? "No method finished every seed."
      : !does ? `No method reaches that; ${may ? `the interval of ${may.method} does, from ${bytesText(may.peak)}.` : "nor does an interval."}`
        : `${bytesText(does.peak)} (${does.method} ${limit(does)}); at least ${bytesText(may.peak)}, surely ${surely ? bytesText(surely.peak) : "not known"}.`;
  }
  for (const input of document.querySelectorAll("#wanted, #wanted-problem")) input.addEventListener("input", least);
  if (wanted) least();

  // Of thousands of cells, those are in the document that were chosen.
  const chosen = page.chosen;
  const most = 300;
  const cell = (text, value) => {
    const made = make("td", text, value === undefined ? "" : "num");
    if (value !== undefined) made.dataset.v = value ?? "";
    return made;
  };
  function fill(table, found, write) {
    const body = table.tBodies[0];
    body.replaceChildren(...found.slice(0, most).map(write));
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
  }
  const verdicts = { yes: "Yes.", no: "Not shown.", few: "Cannot tell.", alone: "No rival.", none: "No score." };
  const limit = (place) => (chosen.budgets[place] === "none" ? "no limit" : chosen.budgets[place]);

  function writeAnswer([problem, budget, cheapest, method, score, verdict, comparison, warning]) {
    const row = make("tr", undefined, `${verdict} first`);
    const take = make("td");
    take.append(make(cheapest === null ? "em" : "strong", cheapest ?? "none"));
    const told = make("td");
    told.append(make("b", verdicts[verdict], "verdict"), ` ${comparison} `);
    if (warning) told.append(make("b", warning, "mark"));
    const given = make("td", limit(budget));
    given.dataset.v = budget;
    row.append(make("td", chosen.problems[problem].name), given, take, make("td", method ?? "none"),
      cell(score, parseFloat(score)), told);
    return row;
  }

  function writeCell([problem, at]) {
    const of = { ...page.cells[problem], ...page.times[problem]?.[cpu] };
    const row = make("tr", undefined, of.control[at] ? "control" : "");
    const number = (name, scale = 1) => {
      const value = of[name][at];
      return cell(value === null ? "–" : `${Number((value / scale).toPrecision(4))}`, value);
    };
    const given = make("td", of.budget[at] === "none" ? "no limit" : of.budget[at]);
    given.dataset.v = chosen.budgets.indexOf(of.budget[at]);
    row.append(
      make("td", chosen.problems[problem].name), given, make("td", of.method[at]),
      number("mean"), number("low"), number("high"), make("td", of.ok[at]),
      number("train"), number("predict"), number("peak", 1e6));
    return row;
  }

  async function choose() {
    const problem = document.getElementById("chosen-problem").value;
    const select = document.getElementById("chosen-budget");
    if (problem === "all" && select.value === "all") select.value = "0";
    const budget = select.value;
    const wanted = chosen.answers.filter(([p, b]) =>
      (problem === "all" || p === Number(problem)) && (budget === "all" || b === Number(budget)));
    fill(document.getElementById("answers"), wanted, writeAnswer);
    const cells = wanted.flatMap(([p, b]) =>
      page.cells[p].budget.flatMap((text, at) => (text === chosen.budgets[b] ? [[p, at]] : [])));
    fill(document.getElementById("chosen-cells"), cells, writeCell);
    document.querySelector(".found").textContent =
      `${Math.min(most, wanted.length).toLocaleString("en")} of ${chosen.answers.length.toLocaleString("en")} answers`;
    const shown = problem === "all" ? 0 : Number(problem);
    const { name, axes, scored, lacking, dataset } = chosen.problems[shown];
    for (const figure of document.querySelectorAll(".follows")) {
      const holder = figure.querySelector(".chart");
      figure.querySelector("h4").textContent = name;
      figure.querySelector(".lacking").textContent = scored
        ? figure.dataset.kind === "score" && lacking.length ? `Without a score: ${lacking.join("; ")}` : ""
        : "No method has a score on this data set.";
      holder.dataset.cells = shown;
      holder.dataset.spec = `${figure.dataset.kind}-${axes}`;
      holder.setAttribute("aria-label", `${figure.dataset.title}: ${name}`);
      holder.hidden = !scored;
    }
    for (const figure of document.querySelectorAll("figure.labels"))
      figure.hidden = figure.dataset.dataset !== dataset
        || (budget !== "all" && figure.dataset.ofBudget && figure.dataset.ofBudget !== chosen.budgets[budget]);
    await drawAll();
  }

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
  const drawNew = () => large || drawThese(holders.filter((holder) => !drawn.has(holder) && visible(holder)));
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
  if (chosen) {
    for (const id of ["chosen-problem", "chosen-budget"])
      document.getElementById(id).addEventListener("change", choose);
    choose();
  } else {
    drawAll();
  }
}
