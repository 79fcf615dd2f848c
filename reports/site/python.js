// What translated storage models call: the part of Python that they are written in.
const truth = (v) => (v instanceof Map || v instanceof Set ? v.size > 0 : Array.isArray(v) ? v.length > 0 : Boolean(v));
const items = (v) => (v instanceof Map ? [...v.keys()] : [...v]);
const items_of = (v) => [...v.entries()];
const values_of = (v) => [...v.values()];
const got = (v, key, other = null) => (v.has(key) ? v.get(key) : other);
const named = (v) => Object.fromEntries(v.entries());
const contains = (v, key) => (v instanceof Map || v instanceof Set ? v.has(key) : v.includes(key));
const attribute = (v, name, other) => (v !== null && v !== undefined && v[name] !== undefined ? v[name] : other);
const item = (v, at) => (v instanceof Map ? v.get(at) : v.at(at));
const mod = (a, b) => ((a % b) + b) % b;
const floordiv = (a, b) => (Number.isInteger(a) && Number.isInteger(b) ? (a - mod(a, b)) / b : Math.floor(a / b));
const isqrt = (n) => { let r = Math.floor(Math.sqrt(n)); while (r * r > n) r -= 1; while ((r + 1) * (r + 1) <= n) r += 1; return r; };
const target_type = (n) => ({ itemsize: Math.max(1, n) <= 128 ? 1 : n <= 32768 ? 2 : 4 });
const divmod = (a, b) => [floordiv(a, b), mod(a, b)];
const dtype = (name) => (typeof name !== "string" ? name : name === "float64" ? { itemsize: 8, eps: 2 ** -52 } : { itemsize: 4, eps: 2 ** -23 });
const finfo = (type) => ({ eps: type.eps });
const untranslated = (why) => { throw new Error(why); };
const py_int = ([v]) => Math.trunc(v);
const py_float = ([v]) => Number(v);
const py_bool = ([v]) => truth(v);
const py_abs = ([v]) => Math.abs(v);
const py_len = ([v]) => (v instanceof Map || v instanceof Set ? v.size : v.length);
const py_sum = ([v]) => items(v).reduce((a, b) => a + b, 0);
const py_dict = ([v = []]) => new Map(v);
const py_tuple = ([v = []]) => items(v);
const py_list = py_tuple;
const py_sorted = ([v]) => items(v).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
const py_range = ([a, b]) => (b === undefined ? [...Array(a).keys()] : [...Array(b - a).keys()].map((i) => a + i));
const extreme = (better) => (given, { key = (v) => v, default: other } = {}) => {
  const all = given.length === 1 ? items(given[0]) : given;
  if (all.length === 0) { if (other === undefined) throw new Error("no values"); return other; }
  let best = all[0];
  for (const v of all) if (better(key(v), key(best))) best = v;
  return best;
};
const py_max = extreme((a, b) => a > b);
const py_min = extreme((a, b) => a < b);

class Arrays extends Map {
  get bytes() { return values_of(this).reduce((a, b) => a + b, 0); }
}
const arrays = ([first], more = {}) => new Arrays([...(first ? items_of(first) : []), ...Object.entries(more)]);
const add = (a, b) => {
  if (a instanceof Map) {
    for (const name of b.keys()) if (a.has(name)) throw new Error(`${name} is named twice`);
    return new Arrays([...a, ...b]);
  }
  return Array.isArray(a) ? [...a, ...b] : a + b;
};
const merge = (a, b) => (a instanceof Map ? new Map([...a, ...b]) : a | b);
const most = (phases) => Math.max(...values_of(phases).map((held) => held.bytes));
const storage = (given, more) => {
  const [fit, predict = null, held = new Arrays(), includes_loading = false] = given;
  return { fit, predict, held, includes_loading, ...more };
};
const peaks = (held) => {
  const fit = most(held.fit);
  const predict = held.predict == null ? fit : most(held.predict);
  return { fit: held.held.bytes + fit, predict: held.held.bytes + predict };
};
const replaced = ([value], changed) => Object.assign(Object.create(Object.getPrototypeOf(value)), value, changed);
