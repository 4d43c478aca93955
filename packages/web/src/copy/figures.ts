import { figure, spoken, t } from '../lib/language/text.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `10:38`, in the reader's zone; empty for what is no time. */
export function clock(iso: string, locale = spoken().locale): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  let format = clocks.get(locale);
  if (!format) clocks.set(locale, (format = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })));
  return format.format(date);
}

/** A formatter costs more to make than to use a thousand times. */
const clocks = new Map<string | undefined, Intl.DateTimeFormat>();

/** `1 min 04 s`, `3.1 s`, `48 s`. `ms` in milliseconds. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return t('{{seconds}} s', { seconds: figure(seconds, 1) });
  return elapsed(ms);
}

/** As `duration`, in whole seconds: for what still runs. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  if (seconds < 60) return t('{{seconds}} s', { seconds });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t('{{minutes}} min {{seconds}} s', { minutes, seconds: String(seconds % 60).padStart(2, '0') });
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return t('{{days}} d {{hours}} h', { days: Math.floor(hours / 24), hours: hours % 24 });
  return t('{{hours}} h {{minutes}} min', { hours, minutes: String(minutes % 60).padStart(2, '0') });
}

/** `28 Nov, 10:38`, in the reader's zone; empty for what is no time. */
export function dayAndClock(iso: string, locale = spoken().locale): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.toLocaleDateString(locale, { day: 'numeric', month: 'short' })}, ${clock(iso, locale)}`;
}

/** How long ago in a list: `now`, `38 min`, `09:12`, `yesterday`, `Wed`, `3 Mar`. */
export function ago(iso: string, now: number, locale = spoken().locale): string {
  const at = new Date(iso).getTime();
  if (Number.isNaN(at)) return '';
  const past = now - at;
  if (past < MINUTE) return t('now');
  if (past < HOUR) return t('{{minutes}} min', { minutes: Math.floor(past / MINUTE) });
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (at >= midnight) return clock(iso, locale);
  if (at >= midnight - DAY) return t('yesterday');
  if (at >= midnight - 6 * DAY) return new Date(at).toLocaleDateString(locale, { weekday: 'short' });
  return new Date(at).toLocaleDateString(locale, { day: 'numeric', month: 'short' });
}

/** Milliseconds between two ISO times; `undefined` when either is none. */
export function between(from: string | undefined, to: string | undefined): number | undefined {
  const span = Date.parse(to ?? '') - Date.parse(from ?? '');
  return Number.isNaN(span) ? undefined : Math.max(0, span);
}

/** `82k`, `1.2M`, `840`. */
export function short(n: number): string {
  if (n < 1000) return figure(n);
  if (n < 999_500) return `${figure(Math.round(n / 1000))}k`;
  return `${figure(n / 1_000_000, 1)}M`;
}

/** US dollars: `$0.42`; `free` for nothing at all. */
export function money(dollars: number): string {
  if (dollars > 0 && dollars < 0.005) return t('under {{price}}', { price: `$${figure(0.01, 2)}` });
  return `$${figure(dollars, 2)}`;
}

/** `840 B`, `12 kB`, `3.4 MB`, `1.2 GB`. */
export function sizeWords(n: number): string {
  if (n < 1000) return `${figure(n)} B`;
  if (n < 1_000_000) return `${figure(Math.round(n / 1000))} kB`;
  return n < 1_000_000_000 ? `${figure(n / 1_000_000, 1)} MB` : `${figure(n / 1_000_000_000, 1)} GB`;
}
