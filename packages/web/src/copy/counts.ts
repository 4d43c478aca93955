/** `1 file`, `4 files`, `2,014 events`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/** `82k`, `1.2M`, `840`. */
export function short(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** US dollars: `$0.42`; `free` for nothing at all. */
export function money(dollars: number): string {
  if (dollars > 0 && dollars < 0.005) return 'under $0.01';
  return `$${dollars.toFixed(2)}`;
}
