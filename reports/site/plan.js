// The size that a method gets within a budget, as harness/planning/size.py finds it: tested equal.
const largest = (fits, low, high) => {
  if (low === high || fits(high)) return high;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle; else high = middle;
  }
  return low;
};

const trainingShape = (method, shape, size = null, kept = null) => {
  let left = kept === null ? shape.n_unlabeled : kept;
  if (!method.uses_unlabeled) left = 0;
  else if (method.size === "n_unlabeled" && size !== null) left = size;
  if (left === shape.n_unlabeled && method.loads) return shape;
  const unseen = shape.n_test || shape.n_unlabeled - (method.loads ? left : 0);
  return replaced([shape], { n_unlabeled: left, n_test: unseen, n_scored: shape.scored, loaded: method.loads });
};

const heldBy = (method, seen, size, setting, tuned) => {
  const given = { ...(seen.n_classes ? { n_clusters: seen.n_classes } : {}), ...setting, tuned, paused: false };
  const found = method.storage(seen, size, ...method.asks.map((name) => given[name]));
  return typeof found === "number" ? { fit: found, predict: found, loads: false } : { ...peaks(found), loads: found.includes_loading };
};

// A formula above trials that were measured, as harness/planning/learned/shipped.py has it.
const shippedStorage = (kept) => (shape, size) => {
  const counts = { n: shape.n, labeled: shape.n_labeled, d: shape.n_features, size: size || 0, classes: Math.max(1, shape.n_classes), block: shape.block_rows };
  const standing = own.standing_bytes(shape, false), handed = standing + own.handed_bytes(shape);
  const held = (terms, known, besides) => {
    let sum = 0;
    for (const [factor, itemsize, ...names] of terms.map((term) => [...term].reverse())) {
      const count = names.reverse().reduce((product, name) => product * counts[name], 1);
      sum += factor * (names.length ? count * (itemsize ? shape.itemsize : 8) : 1);
    }
    const peak = (known + sum) * (1 + learning.margin);
    const noise = Math.min(learning.noise, learning.noisy * Math.max(0, peak));
    return new Map([["measured", arrays([], { all: peak + Math.max(noise, kept.unseen * peak, kept.refused * peak) - besides })]]);
  };
  const fit = held(kept.fit, shape.data_bytes + standing, standing);
  return storage([fit, held(kept.predict, handed, handed), new Arrays(), true]);
};

// Whether a count of a plan is above the largest of its kind that was measured.
const isBeyond = (method, asked, plan) => {
  const seen = trainingShape(method, asked, plan.size, plan.kept);
  const counts = [seen.n, seen.n_labeled, seen.n_features, seen.n_classes, seen.itemsize, plan.size || 0];
  return Boolean(method.largest) && counts.some((count, i) => count > learning.beyond * method.largest[i]);
};

// Bytes at the peak: points are read, fitted, searched and predicted, never two of these at once.
const needed = (method, shape, size, kept = null) => {
  const seen = trainingShape(method, shape, size, kept);
  const tuned = method.tuned;
  const all = method.settings.map((setting) => heldBy(method, seen, size, setting, tuned));
  const fit = Math.max(...all.map((held) => Math.trunc(held.fit)));
  const predict = Math.max(...all.map((held) => Math.trunc(held.predict)));
  const standing = own.standing_bytes(seen, tuned);
  const stages = [fit, predict + own.handed_bytes(seen)];
  if (!all.every((held) => held.loads)) stages.push(own.loading_bytes(seen));
  if (tuned) {
    const fitted = method.splits ? fit : Math.max(fit, predict) + own.fold_bytes(seen);
    stages.push(fitted + own.folded_bytes(seen, true));
  }
  return Math.max(...stages) + standing;
};

// Returns {size, kept, bytes, fits}; `bytes` are those of the least where nothing fits.
const planned = (method, asked, budget) => {
  const half = Math.ceil(asked.n_labeled / 2);
  const shape = replaced([asked], { n_validated: method.tuned ? half : 0 });
  const need = (size, kept = null) => needed(method, shape, size, kept);
  const fewest = Math.min(shape.n_labeled ? 1 : Math.max(1, shape.n_classes), shape.n_unlabeled);
  const subsamples = method.uses_unlabeled && method.size !== "n_unlabeled";
  const found = (size, kept = null) => ({ size, kept, bytes: need(size, kept), fits: true });
  const refused = (size) => {
    const choices = subsamples && fewest ? [null, fewest] : [null];
    return { size: null, kept: null, bytes: Math.min(...choices.map((kept) => need(size, kept))), fits: false };
  };
  if (method.size === null) {
    if (need(null) <= budget) return { ...found(null), size: null };
    const most = shape.n_unlabeled - 1;
    if (subsamples && most >= fewest && need(null, fewest) <= budget) {
      return found(null, largest((kept) => need(null, kept) <= budget, fewest, most));
    }
    return refused(null);
  }
  let low, high;
  if (method.size === "n_unlabeled") [low, high] = [1, Math.max(1, shape.n_unlabeled)];
  else [low, high] = method.sizes(trainingShape(method, shape));
  if (high < low) return { ...refused(low), bytes: need(low) };
  const useful = method.bounded ? Math.min(high, Math.max(low, method.enough)) : low;
  const withAll = () => {
    const turned = high > low;
    let top = high;
    const starts = new Set([low, ...(method.size === "n_unlabeled" ? [high] : [])]);
    for (const at of method.falls) if (turned && low < at && at <= high) starts.add(at);
    for (const start of [...starts].sort((a, b) => b - a)) {
      if (need(start) <= budget) return found(largest((size) => need(size) <= budget, start, top));
      top = turned ? start - 1 : top;
    }
    return null;
  };
  const withFewer = () => {
    const most = shape.n_unlabeled;
    const least = need(low, fewest);
    if (most <= fewest || least > budget) return [];
    const room = least + Math.floor((budget - least) / 2);
    const upTo = (size, kept) => {
      if (useful === low) return low;
      return Math.max(low, Math.min(size, method.sizes(trainingShape(method, shape, null, kept))[1]));
    };
    const fitsUseful = (kept) => need(upTo(useful, kept), kept) <= budget;
    const fewer = fitsUseful(fewest) ? [largest(fitsUseful, fewest, most - 1)] : [];
    if (useful !== low) fewer.push(largest((kept) => need(low, kept) <= room, fewest, most - 1));
    return fewer.map((kept) => found(largest((size) => need(size, kept) <= budget, low, upTo(budget, kept)), kept));
  };
  const share = (plan) => {
    const kept = plan.kept === null ? shape.n_unlabeled : plan.kept;
    return ((shape.n_labeled + kept) / Math.max(1, shape.n)) * (useful ? Math.min(1, plan.size / useful) : 1);
  };
  let best = withAll();
  if (subsamples && (best === null || best.size < useful)) {
    const tried = [...(best ? [best] : []), ...withFewer()];
    best = tried.length ? tried.reduce((a, b) => (share(b) > share(a) ? b : a)) : null;
  }
  return best || refused(low);
};
