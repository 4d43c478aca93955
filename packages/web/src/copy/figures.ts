const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `10:38`, in the reader's zone; empty for what is no time. */
export function clock(iso: string, locale?: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  let format = clocks.get(locale);
  if (!format) clocks.set(locale, (format = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })));
  return format.format(date);
}

/** A formatter costs more to make than to use a thousand times. */
const clocks = new Map<string | undefined, Intl.DateTimeFormat>();
const grouped = new Intl.NumberFormat('en');

/** `1 min 04 s`, `3.1 s`, `48 s`. `ms` in milliseconds. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  return elapsed(ms);
}

/** As `duration`, in whole seconds: for what still runs. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** `28 Nov, 10:38`, in the reader's zone; empty for what is no time. */
export function dayAndClock(iso: string, locale?: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.toLocaleDateString(locale, { day: 'numeric', month: 'short' })}, ${clock(iso, locale)}`;
}

/** How long ago in a list: `now`, `38 min`, `09:12`, `yesterday`, `Wed`, `3 Mar`. */
export function ago(iso: string, now: number, locale?: string): string {
  const at = new Date(iso).getTime();
  if (Number.isNaN(at)) return '';
  const past = now - at;
  if (past < MINUTE) return 'now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`;
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (at >= midnight) return clock(iso, locale);
  if (at >= midnight - DAY) return 'yesterday';
  if (at >= midnight - 6 * DAY) return new Date(at).toLocaleDateString(locale, { weekday: 'short' });
  return new Date(at).toLocaleDateString(locale, { day: 'numeric', month: 'short' });
}

/** Milliseconds between two ISO times; `undefined` when either is none. */
export function between(from: string | undefined, to: string | undefined): number | undefined {
  const span = Date.parse(to ?? '') - Date.parse(from ?? '');
  return Number.isNaN(span) ? undefined : Math.max(0, span);
}

/** `1 file`, `4 files`, `2,014 events`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${grouped.format(n)} ${n === 1 ? one : many}`;
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

/** `840 B`, `12 kB`, `3.4 MB`, `1.2 GB`. */
export function sizeWords(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${Math.round(n / 1000)} kB`;
  return n < 1_000_000_000 ? `${(n / 1_000_000).toFixed(1)} MB` : `${(n / 1_000_000_000).toFixed(1)} GB`;
}
