// Expected scores from kept studies, as harness/advice/model.py fits them: tested equal.
const finite = (v) => v !== null;
const coordinates = (n, labeled, columns, classes, bytes) =>
  [n, labeled, columns, classes, bytes].map((v, at) => Math.log10(Math.max(1, v)) / (at === 3 ? rules.classes_scale : 1));

const shares = (scores, place, scale) => {
  const near = scores.places.map((at) =>
    Math.exp(-at.reduce((sum, v, i) => sum + (v - place[i]) ** 2, 0) / (2 * scale ** 2)));
  const total = scores.names.map(() => 0), top = scores.names.map(() => 0);
  near.forEach((w, s) => { const d = scores.datasets[s]; total[d] += w; top[d] = Math.max(top[d], w); });
  return near.map((w, s) => (w * top[scores.datasets[s]]) / Math.max(total[scores.datasets[s]], 2.3e-308));
};

const solved = (matrix, right) => {
  const n = right.length, a = matrix.map((row, i) => [...row, right[i]]);
  for (let k = 0; k < n; k += 1) {
    // symmetric and positive definite: no pivots are needed
    for (let i = k + 1; i < n; i += 1) {
      const factor = a[i][k] / a[k][k];
      if (factor !== 0) for (let j = k; j <= n; j += 1) a[i][j] -= factor * a[k][j];
    }
  }
  for (let k = n - 1; k >= 0; k -= 1) {
    for (let j = k + 1; j < n; j += 1) a[k][n] -= a[k][j] * a[j][n];
    a[k][n] /= a[k][k];
  }
  return a.map((row) => row[n]);
};

const fitEffects = (scores, weight) => {
  const n = scores.methods.length;
  const normal = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? rules.ridge : 0)));
  const right = Array(n).fill(0);
  scores.table.forEach((row, s) => {
    if (weight[s] === 0) return;
    const known = scores.known[s], level = scores.means[s];
    for (const i of known) {
      normal[i][i] += weight[s];
      right[i] += weight[s] * (row[i] - level);
      for (const j of known) normal[i][j] -= weight[s] / known.length;
    }
  });
  return solved(normal, right);
};

const reached = (levels, weight, wanted) => {
  const order = levels.map((_, i) => i).sort((a, b) => levels[a] - levels[b]);
  let sum = 0;
  for (const at of order) { sum += weight[at]; if (sum >= wanted) return levels[at]; }
  return Infinity;
};

const quantile = (values, part) => {
  const v = [...values].sort((a, b) => a - b), at = part * (v.length - 1), low = Math.floor(at);
  return v[low] + (at - low) * ((v[low + 1] ?? v[low]) - v[low]);
};

const behindEnds = (drawn) => ({ behind_low: quantile(drawn, 1 - rules.upper), behind_high: quantile(drawn, rules.upper) });

// Of rows that cannot be told apart from the first, the best of those as cheap as the cheapest, as report/cheapest.py has it.
const taken = (rows, cost) => {
  const level = rows.filter((row) => row.behind_low <= 0), most = rules.equally_cheap * Math.min(...level.map((row) => cost(row.method)));
  return level.filter((row) => cost(row.method) <= most)
    .reduce((a, b) => (b.behind < a.behind || (b.behind === a.behind && cost(b.method) < cost(a.method)) ? b : a));
};

const prepare = (scores) => {
  scores.known = scores.table.map((row) => row.flatMap((v, i) => (finite(v) ? [i] : [])));
  scores.means = scores.table.map((row, s) => scores.known[s].reduce((sum, i) => sum + row[i], 0) / scores.known[s].length);
  return scores;
};

// Rows like those of `harness advise`, the best first, and whether studies of like shape tell.
const expected = (scores, place, within) => {
  const n = scores.methods.length;
  let told = [], scale, near;
  for (scale of [rules.near, rules.far, Infinity]) {
    near = shares(scores, place, scale);
    const weight = Array(n).fill(0);
    scores.known.forEach((known, s) => known.forEach((i) => { weight[i] += near[s]; }));
    told = within.map((name) => scores.methods.indexOf(name)).filter((i) => i >= 0 && weight[i] >= rules.least_weight);
    if (told.length) break;
  }
  if (!told.length) return { rows: [], near: false, nearest: [] };
  const effect = fitEffects(scores, near);
  const best = told.reduce((a, b) => (effect[b] > effect[a] ? b : a));
  const draws = scores.draws.map((times) => fitEffects(scores, near.map((w, s) => w * times[scores.datasets[s]])));
  const levels = scores.known.map((known, s) => known.reduce((sum, i) => sum + scores.table[s][i] - effect[i], 0) / known.length);
  const far = shares(scores, place, rules.far), all = far.reduce((a, b) => a + b, 0);
  const wanted = rules.upper * (all + 1);
  const low = -reached(levels.map((v) => -v), far, wanted), high = reached(levels, far, wanted);
  const middle = reached(levels, far, all / 2);
  const [least, most] = scores.range.map((v) => (v === null ? NaN : v));
  const clip = (v) => Math.max(Number.isNaN(least) ? -Infinity : least, Math.min(Number.isNaN(most) ? Infinity : most, v));
  const rows = told.map((i) => {
    const ends = [scores.sign * (low + effect[i]), scores.sign * (high + effect[i])].sort((a, b) => a - b).map(clip);
    const seen = new Set(scores.known.flatMap((known, s) => (known.includes(i) ? [scores.datasets[s]] : [])));
    return {
      method: scores.methods[i], score: clip(scores.sign * (middle + effect[i])), low: ends[0], high: ends[1],
      behind: effect[best] - effect[i], ...behindEnds(draws.map((d) => d[best] - d[i])), datasets: seen.size,
    };
  });
  rows.sort((a, b) => a.behind - b.behind || (a.method < b.method ? -1 : 1));
  const sums = scores.names.map(() => 0);
  near.forEach((w, s) => { sums[scores.datasets[s]] += w; });
  const nearest = scores.names.map((name, i) => [Math.round(sums[i] * 1e9), name]).sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? -1 : 1)).slice(0, 3).map(([, name]) => name);
  return { rows, near: scale === rules.near, nearest };
};
