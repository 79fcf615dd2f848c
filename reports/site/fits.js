// "What fits me?": reads the form, plans every method, orders them, and keeps all of it in the address.
const at = (id) => document.getElementById(id);
const fields = ["n", "d", "labeled", "budget", "classes", "metric"];
const whole = (v) => Math.round(v).toLocaleString("en-US");
const bytes = (v) => (v >= 1e9 ? `${(v / 1e9).toPrecision(3)} GB` : v >= 1e6 ? `${(v / 1e6).toPrecision(3)} MB` : `${(v / 1e3).toPrecision(3)} kB`);
const end = (v) => (Number.isFinite(v) ? v.toFixed(2) : "?");
Object.values(data).forEach(prepare);

const read = () => {
  const asked = {};
  for (const id of fields) asked[id] = id === "metric" ? at(id).value : Number(at(id).value.replaceAll(",", ""));
  return asked;
};
const wrong = (asked) => {
  for (const [id, name] of [["n", "Points"], ["d", "Columns"]]) {
    if (!(Number.isInteger(asked[id]) && asked[id] > 0)) return `${name}: give a whole number above zero`;
  }
  if (!(Number.isInteger(asked.labeled) && asked.labeled >= 0)) return "Labels: give a whole number, or 0 for clustering";
  if (!(asked.budget > 0)) return "Megabytes: give a number above zero, such as 20";
  if (!Number.isInteger(asked.classes) || asked.classes < 0 || asked.classes === 1) return "Classes: give 2 or more, or 0 for regression";
  if (asked.labeled > asked.n) return `Labels: ${whole(asked.labeled)} of ${whole(asked.n)} points; give at most ${whole(asked.n)}`;
  const least = Math.max(1, asked.classes);
  if (asked.labeled < least && taskOf(asked) !== "clustering") return `Labels: give at least ${least}${asked.classes ? ", one a class, or 0 for clustering" : ""}`;
  return "";
};

const taskOf = ({ classes, labeled }) =>
  classes === 0 ? "regression" : labeled === 0 ? "clustering" : classes === 2 ? "binary" : "multiclass";

const show = () => {
  const asked = read(), message = wrong(asked), body = at("rows").tBodies[0];
  at("wrong").textContent = message;
  body.replaceChildren();
  at("notes").replaceChildren();
  at("take").textContent = "";
  if (message) return;
  const task = taskOf(asked), budget = Math.round(asked.budget * 1e6);
  const shape = new Shape(asked.labeled, asked.n - asked.labeled, asked.d, asked.classes);
  const plans = new Map(), refused = [], failed = [];
  for (const method of methods) {
    if (method.control || !method.tasks.includes(task)) continue;
    try {
      const plan = planned(method, shape, budget);
      if (plan.fits) plans.set(method.name, { ...plan, name: method.size, about: method.largest ? "~" : "", beyond: isBeyond(method, shape, plan) });
      else refused.push(method.name);
    } catch (error) { failed.push(method.name); }
  }
  for (const [name, tasks] of Object.entries(unmeasured)) if (tasks.includes(task)) plans.set(name, null);
  const scores = data[asked.metric];
  const place = coordinates(asked.n, asked.labeled, asked.d, asked.classes, budget);
  const found = expected(scores, place, [...plans.keys()]);
  at("score").textContent = scores.label;
  const add = (cells, name) => {
    const row = body.insertRow();
    cells.forEach((text, i) => {
      const cell = row.insertCell();
      if (i === 0) { const link = document.createElement("a"); link.href = `methods/${name}.html`; link.textContent = name; cell.append(link); }
      else cell.textContent = text;
    });
  };
  const sized = (plan) => {
    if (!plan) return ["?", "not measured"];
    const kept = plan.kept === null ? "" : `, ${whole(plan.kept)} of ${whole(asked.n - asked.labeled)} unlabeled`;
    return [plan.about + bytes(plan.bytes), `${plan.size === null ? "-" : `${whole(plan.size)} ${plan.name.replace("n_", "").replaceAll("_", " ")}`}${kept}`];
  };
  found.rows.forEach((row, i) => add([row.method, row.score.toFixed(3), `${end(row.low)} .. ${end(row.high)}`, ...sized(plans.get(row.method)),
    i ? row.behind.toFixed(3) : "-", i ? Math.max(row.behind, row.behind_high).toFixed(3) : "-", row.datasets], row.method));
  const ranked = new Set(found.rows.map((row) => row.method));
  const untold = [...plans].filter(([name, plan]) => plan && !ranked.has(name));
  untold.forEach(([name, plan]) => add([name, "-", "no kept study", ...sized(plan), "", "", ""], name));
  const say = (text) => { const p = document.createElement("p"); p.textContent = text; at("notes").append(p); };
  if (!plans.size) say("Nothing fits. Give more megabytes, or fewer points or columns.");
  if (found.rows.length) say(found.near ? `Nearest data sets: ${found.nearest.join(", ")}.` : "No kept study of this shape: the order is that of all shapes.");
  if ([...plans.values()].some((plan) => plan?.about)) say("~: by a formula above trials that were measured, not counted from the code.");
  const beyond = found.rows.map((row) => row.method).filter((name) => plans.get(name)?.beyond);
  if (beyond.length) say(`Beyond what was measured, so less sure: ${beyond.join(", ")}.`);
  if (refused.length) say(`These do not fit: ${refused.join(", ")}.`);
  if (failed.length) say(`Sizes of these cannot be worked out here: ${failed.join(", ")}; ask harness advise.`);
  if (found.rows.length > 1) {
    const take = taken(found.rows, (name) => plans.get(name)?.bytes ?? Infinity);
    at("take").textContent = `Cheapest of those that cannot be told apart from the first: ${take.method}, ${sized(plans.get(take.method)).join(", ")}, ${take.score.toFixed(3)} from ${end(take.low)} to ${end(take.high)}.`;
  }
  const words = ["harness advise", `--n ${asked.n}`, `--d ${asked.d}`, `--labeled ${asked.labeled}`, `--budget ${asked.budget}MB`];
  if (asked.classes !== 2) words.push(`--classes ${asked.classes}`);
  if (asked.metric !== usual[task]) words.push(`--metric ${asked.metric}`);
  at("command").textContent = `${words.join(" ")} -o studies/try.yaml`;
  history.replaceState(null, "", `#${fields.map((id) => `${id}=${encodeURIComponent(asked[id])}`).join("&")}`);
};

const offer = () => {
  const task = taskOf(read()), before = at("metric").value;
  const names = Object.keys(data).filter((name) => applies[name].includes(task));
  at("metric").replaceChildren(...names.map((name) => new Option(data[name].label, name)));
  at("metric").value = names.includes(before) && before ? before : usual[task];
};
const follow = () => document.querySelectorAll("[data-of]").forEach((slider) => {
  slider.value = Math.log10(Number(at(slider.dataset.of).value.replaceAll(",", "")) || 1);
});
for (const part of new URLSearchParams(location.hash.slice(1))) if (fields.includes(part[0]) && part[0] !== "metric") at(part[0]).value = part[1];
offer();
const metric = new URLSearchParams(location.hash.slice(1)).get("metric");
if (metric && [...at("metric").options].some((option) => option.value === metric)) at("metric").value = metric;
document.querySelectorAll("[data-of]").forEach((slider) => {
  slider.addEventListener("input", () => {
    const value = 10 ** Number(slider.value), id = slider.dataset.of;
    at(id).value = id === "budget" ? Number(value.toPrecision(2)) : Math.max(1, Number(value.toPrecision(2)));
    if (id === "labeled") offer();
    show();
  });
});
for (const id of fields) at(id).addEventListener("input", () => { if (id === "classes" || id === "labeled") offer(); follow(); show(); });
at("asked").addEventListener("submit", (event) => event.preventDefault());
follow();
show();
