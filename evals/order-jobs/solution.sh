cat > order.mjs <<'END'
export function orderOf(jobs) {
  const left = new Map(Object.entries(jobs).map(([name, needs]) => [name, new Set(needs)]));
  for (const needs of left.values()) for (const name of needs) if (!left.has(name)) throw new Error(`there is no job ${name}`);
  const order = [];
  while (left.size > 0) {
    const ready = [...left.keys()].filter((name) => left.get(name).size === 0).sort()[0];
    if (ready === undefined) throw new Error(cycleIn(left));
    order.push(ready);
    left.delete(ready);
    for (const needs of left.values()) needs.delete(ready);
  }
  return order;
}

/** Every job that is left needs one that is left, so going on leads into a cycle. */
function cycleIn(left) {
  const path = [[...left.keys()].sort()[0]];
  for (;;) {
    const next = [...left.get(path.at(-1))].sort()[0];
    const at = path.indexOf(next);
    if (at < 0) path.push(next);
    else return named(path.slice(at));
  }
}

function named(cycle) {
  const first = cycle.indexOf([...cycle].sort()[0]);
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
  return [...turned, turned[0]].join(' -> ');
}
END
