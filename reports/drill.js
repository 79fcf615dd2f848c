// From a cell of a table to its seeds, from a method to its source, from a count to its trials. What
// is open stands behind # in the address, so that a link leads there and the back button closes it.
{
  const dialog = document.getElementById("drill");
  const packed = page.rows;
  let unfolded;

  // Unfolded once, when something is first asked for: a page that is only read pays nothing.
  function columns() {
    unfolded ??= (async () => {
      const coded = Uint8Array.from(atob(packed.bytes), (letter) => letter.charCodeAt(0));
      const stream = new Blob([coded]).stream().pipeThrough(new DecompressionStream("gzip"));
      const content = await new Response(stream).arrayBuffer();
      return Object.fromEntries(packed.columns.map(([name, type, at]) =>
        [name, new globalThis[type](content, at, packed.n)]));
    })();
    return unfolded;
  }

  const budget = (text) => (text === "none" ? "no limit" : text);
  const numeric = { size: ["size"], planned_bytes: ["planned", "bytes"], peak_bytes: ["peak", "bytes"],
    train_s: ["training", "time"], predict_s: ["prediction", "time"] };
  const write = {
    bytes: bytesText,
    time: (s) => (s < 0.01 ? `${Number((1000 * s).toPrecision(2))} ms` : s < 1 ? `${Math.round(1000 * s)} ms` : `${Number(s.toPrecision(3))} s`),
  };
  const figure = (value, kind, places) => {
    const text = kind ? write[kind](value) : places === undefined ? `${Number(value.toPrecision(5))}` : value.toFixed(places);
    const made = make("td", Number.isNaN(value) ? "–" : text, "num");
    made.dataset.v = Number.isNaN(value) ? "" : value;
    return made;
  };

  function rerun(of, seed, row) {
    const block = packed.cells[of][4];
    return `harness reproduce ${page.study} ${block ? `${block}-${seed}` : row}`;
  }

  function list(data, found, withCell) {
    const empty = packed.metrics.filter((name) => found.every(([, at]) => Number.isNaN(data[name][at])));
    const metrics = packed.metrics.filter((name) => !empty.includes(name));
    // equal places in a column: four of a share, fewer of what is larger, more of what is small altogether
    const places = Object.fromEntries(metrics.map((name) => {
      const most = Math.max(...found.map(([, at]) => Math.abs(data[name][at])).filter((value) => !Number.isNaN(value)));
      const power = Math.floor(Math.log10(most || 1));
      return [name, power < -2 ? 3 - power : Math.max(0, 4 - Math.max(0, power))];
    }));
    const told = found.some(([, at]) => packed.reasons[data.reason[at]]);
    const heads = [...(withCell ? ["data set", "budget", "method"] : []), "seed", "outcome",
      ...metrics.map((name) => page.labels[name] ?? name), ...Object.values(numeric).map(([text]) => text),
      ...(data.cpu ? ["CPU"] : []), ...(told ? ["reason"] : []), "to run it again"];
    const numbers = new Set(["seed", ...metrics.map((name) => page.labels[name] ?? name), ...Object.values(numeric).map(([text]) => text)]);
    const table = make("table", undefined, "sortable");
    table.createTHead().insertRow().append(...heads.map((head) => make("th", head, numbers.has(head) ? "num" : "")));
    const body = table.createTBody();
    for (const [of, at] of found) {
      const row = body.insertRow();
      if (withCell) row.append(...packed.cells[of].slice(0, 3).map((text, i) => make("td", i === 1 ? budget(text) : text)));
      const outcome = packed.outcomes[data.outcome[at]];
      row.append(make("td", data.seed[at], "num"), make("td", outcome, `outcome ${outcome}`));
      row.append(...metrics.map((name) => figure(data[name][at], undefined, places[name])));
      row.append(...Object.entries(numeric).map(([name, [, kind]]) => figure(data[name][at], kind)));
      if (data.cpu) row.append(make("td", `CPU ${data.cpu[at] + 1}`));
      const again = make("td");
      again.append(make("code", rerun(of, data.seed[at], data.row[at])));
      if (told) row.append(make("td", packed.reasons[data.reason[at]], "reason"));
      row.append(again);
    }
    makeSortable(table);
    const box = make("div", undefined, "scroll");
    box.append(table);
    return box;
  }

  const facts = (pairs) => {
    const made = make("dl");
    for (const [name, value] of pairs.filter(([, value]) => value))
      made.append(make("dt", name), value instanceof Node ? value : make("dd", value));
    return made;
  };
  const link = (text, address) => {
    const made = make("a", text);
    made.href = address;
    return made;
  };
  const inside = (...nodes) => {
    const made = make("dd");
    made.append(...nodes);
    return made;
  };
  const span = (of) => [packed.starts[of], packed.starts[of + 1] ?? packed.n];

  async function cell(id) {
    const of = packed.ids.indexOf(Number(id));
    if (of < 0) return null;
    const [problem, given, method, label, block] = packed.cells[of];
    const data = await columns();
    const [from, to] = span(of);
    const logs = (page.logs[block] ?? []).flatMap((path) => [link(path, path), " "]);
    const seeds = Array.from({ length: to - from }, (_, i) => [of, from + i]);
    seeds.sort(([, a], [, b]) => data.seed[a] - data.seed[b]);
    return [`${method} on ${problem}, ${budget(given)}`,
      facts([["method", inside(link(label, `#method=${encodeURIComponent(method)}`))],
        ["logs", logs.length ? inside(...logs) : "what trials printed is in logs/ of the results, where they are kept"]]),
      list(data, seeds, false)];
  }

  function method(name) {
    const known = page.methods[name];
    if (!known) return null;
    const own = packed ? packed.cells.flatMap(([problem, given, of], i) => (of === name ? [[problem, given, i]] : [])) : [];
    const cells = make("p");
    for (const [problem, given, i] of own.slice(0, 300))
      cells.append(link(`${problem}, ${budget(given)}`, `#cell=${packed.ids[i]}`), "; ");
    return [name, facts([["method of the plugin", known.name], ["source", known.path], ["sha256", known.sha256],
      ["paper", known.reference], ["all about it", `harness methods ${known.name}`]]),
    own.length ? make("h3", "Its trials, by data set and budget") : "", cells];
  }

  async function outcome(name, asked) {
    const data = await columns();
    const code = packed.outcomes.indexOf(name);
    const of = asked === undefined ? null : packed.ids.indexOf(Number(asked));
    const found = [];
    let n = 0;
    packed.cells.forEach((_, i) => {
      if (of !== null && of !== i) return;
      const [from, to] = span(i);
      for (let at = from; at < to; at += 1)
        if (data.outcome[at] === code) { n += 1; if (found.length < 1000) found.push([i, at]); }
    });
    const told = n > found.length ? `The first ${found.length} of ${n.toLocaleString("en")} trials.` : `${n} trials.`;
    return [`Trials that ended ${name.replaceAll("_", " ")}`, make("p", told, "caption"), list(data, found, true)];
  }

  const views = { cell, method, outcome };
  async function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const view = Object.keys(views).find((name) => asked.has(name));
    if (!view) { if (dialog.open) dialog.close(); return; }
    let content;
    try {
      content = packed || view === "method" ? await views[view](asked.get(view), asked.get("of") ?? undefined) : null;
    } catch (error) {
      content = ["This browser cannot unfold the trials", make("p", `${error.message}. They are in tables/rows.parquet.`)];
    }
    const [title, ...rest] = content ?? ["There is no such thing on this page", make("p",
      packed ? "" : `The trials of this study are too many to be in its page: harness show ${page.study}, or tables/rows.parquet.`)];
    dialog.querySelector("h2").textContent = title;
    dialog.querySelector(".content").replaceChildren(...rest);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    document.documentElement.dataset.drilled = title;
  }
  dialog.addEventListener("close", () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (!Object.keys(views).some((name) => asked.has(name))) return;
    for (const name of [...Object.keys(views), "of"]) asked.delete(name);
    history.replaceState(null, "", `#${asked}`);
  });
  dialog.querySelector("button").addEventListener("click", () => dialog.close());
  addEventListener("hashchange", follow);
  follow();
}
