// Filters the settings of all kept studies, and ranks methods over them.
const at = (id) => document.getElementById(id);
Object.values(data).forEach(prepare);
at("metric").replaceChildren(...Object.keys(data).map((name) => new Option(data[name].label, name)));

const show = () => {
  const whole = data[at("metric").value];
  const [fewest, most] = at("labels").value.split(",").map(Number), [least, largest] = at("budget").value.split(",").map(Number);
  const kept = whole.table.flatMap((_, s) =>
    (at("generated").checked || !generated.includes(whole.names[whole.datasets[s]])) &&
    whole.settings.n_labeled[s] >= fewest && whole.settings.n_labeled[s] <= most &&
    whole.settings.bytes[s] >= least && whole.settings.bytes[s] <= largest ? [s] : []);
  const some = prepare({ ...whole, table: kept.map((s) => whole.table[s]), places: kept.map((s) => whole.places[s]), datasets: kept.map((s) => whole.datasets[s]) });
  const body = at("rows").tBodies[0];
  body.replaceChildren();
  const sets = new Set(some.datasets);
  at("told").textContent = `${kept.length} settings of ${sets.size} data sets.`;
  if (!kept.length) return;
  const weight = shares(some, [0, 0, 0, 0, 0], Infinity), effect = fitEffects(some, weight);
  const sums = some.methods.map(() => ({ rank: 0, weight: 0, first: 0, settings: 0, sets: new Set() }));
  some.known.forEach((known, s) => {
    const order = [...known].sort((a, b) => some.table[s][b] - some.table[s][a]);
    order.forEach((i, position) => {
      const score = some.table[s][i], alike = order.filter((j) => some.table[s][j] === score).length;
      const first = order.findIndex((j) => some.table[s][j] === score), rank = (first + (alike - 1) / 2) / (order.length - 1);
      const sum = sums[i];
      sum.rank += weight[s] * rank; sum.weight += weight[s]; sum.settings += 1; sum.first += first === 0 ? 1 : 0;
      sum.sets.add(some.datasets[s]);
    });
  });
  const rows = some.methods.flatMap((name, i) => (sums[i].settings ? [{ name, add: effect[i], ...sums[i] }] : []));
  rows.sort((a, b) => b.add - a.add);
  for (const row of rows) {
    const line = body.insertRow(), link = document.createElement("a");
    link.href = `methods/${row.name}.html`;
    link.textContent = row.name;
    line.insertCell().append(link);
    const added = whole.sign * row.add;
    for (const text of [(added >= 0 ? "+" : "") + added.toFixed(4), (row.rank / row.weight).toFixed(2), row.first, row.settings, row.sets.size]) line.insertCell().textContent = text;
  }
  history.replaceState(null, "", `#${["metric", "labels", "budget"].map((id) => `${id}=${encodeURIComponent(at(id).value)}`).join("&")}`);
};
for (const [id, value] of new URLSearchParams(location.hash.slice(1))) {
  const select = document.getElementById(id);
  if (select instanceof HTMLSelectElement && [...select.options].some((option) => option.value === value)) select.value = value;
}
for (const id of ["metric", "labels", "budget", "generated"]) at(id).addEventListener("input", show);
show();
