/**
 * Cron expressions of five fields, read in a time zone.
 *
 * A wall-clock time that a change of the clock skips runs as much later as the clock was set forward; one that comes twice runs the
 * first time. With `*` as the hour the job runs by elapsed time instead: nothing is made up for, and the repeated hour runs again.
 */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  readonly anyHour: boolean;
  /** With both the day of the month and that of the week given, either is enough. */
  readonly eitherDay: boolean;
}

export type CronResult = { readonly ok: true; readonly cron: Cron } | { readonly ok: false; readonly problem: string };

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, names: MONTHS },
  { name: 'day of the week', from: 0, to: 7, names: WEEKDAYS },
];
const NICKNAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** 29 February can be eight years away. */
const MAX_DAYS = 366 * 9;

export function parseCron(text: string): CronResult {
  const given = NICKNAMES[text.toLowerCase()] ?? text;
  const parts = given.trim().split(/\s+/);
  if (parts.length !== 5) return { ok: false, problem: 'five fields are expected: minute, hour, day of the month, month, day of the week' };
  const sets = FIELDS.map((field, at) => valuesOf(parts[at]!, field));
  const wrong = sets.findIndex((set) => set === undefined);
  if (wrong >= 0) return { ok: false, problem: `"${parts[wrong]!.slice(0, 50)}" is no ${FIELDS[wrong]!.name}` };
  const [minutes, hours, days, months, weekdays] = sets as [number[], number[], number[], number[], number[]];
  const cron: Cron = {
    minutes,
    hours,
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map((day) => day % 7)),
    anyHour: parts[1]!.startsWith('*'),
    eitherDay: !parts[2]!.startsWith('*') && !parts[4]!.startsWith('*'),
  };
  const isEver = nextTick(cron, 'UTC', new Date('2024-01-01T00:00:00Z')) !== undefined;
  return isEver ? { ok: true, cron } : { ok: false, problem: 'there is no such day' };
}

/** The values of one field in ascending order; `undefined` when the field is invalid. */
function valuesOf(text: string, field: Field): readonly number[] | undefined {
  const values = new Set<number>();
  for (const item of text.toLowerCase().split(',')) {
    const match = /^(\*|\w+)(?:-(\w+))?(?:\/(\d{1,2}))?$/.exec(item);
    if (!match) return undefined;
    const [, first = '', last, step] = match;
    const from = first === '*' ? field.from : numberOf(first, field);
    const open = first === '*' || step !== undefined ? field.to : from;
    const to = last === undefined ? open : numberOf(last, field);
    const by = step === undefined ? 1 : Number(step);
    if (from === undefined || to === undefined || to < from || by < 1 || (first === '*' && last !== undefined)) return undefined;
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return [...values].toSorted((a, b) => a - b);
}

function numberOf(text: string, { from, to, names }: Field): number | undefined {
  const named = names?.indexOf(text) ?? -1;
  if (named >= 0) return named + from;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  return value >= from && value <= to ? value : undefined;
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/** The first time after `after`; `undefined` when there is none. */
export function nextTick(cron: Cron, timeZone: string, after: Date): Date | undefined {
  const offset = offsetIn(timeZone);
  const at = after.getTime();
  const local = at + offset(at);
  const firstDay = Math.floor(local / DAY_MS) - 1;
  for (let day = firstDay; day < firstDay + MAX_DAYS; day++) {
    if (!isDay(cron, new Date(day * DAY_MS))) continue;
    const found = firstOfDay(cron, day * DAY_MS, { offset, at, local });
    if (found !== undefined) return new Date(found);
  }
  return undefined;
}

function isDay({ days, months, weekdays, eitherDay }: Cron, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const [isDate, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return eitherDay ? isDate || isWeekday : isDate && isWeekday;
}

interface After {
  readonly offset: (at: number) => number;
  readonly at: number;
  /** `at` by the wall clock. */
  readonly local: number;
}

function firstOfDay({ hours, minutes, anyHour }: Cron, day: number, { offset, at, local }: After): number | undefined {
  let best: number | undefined;
  for (const hour of hours) {
    const wallHour = day + hour * HOUR_MS;
    // No clock changes by more than a few hours, so this hour is over.
    if (wallHour < local - 4 * HOUR_MS) continue;
    // For the same reason, no later hour can come before the best one any more.
    if (best !== undefined && wallHour - offset(best) > best + 4 * HOUR_MS) break;
    for (const minute of minutes) {
      for (const instant of instantsOf(wallHour + minute * 60_000, offset, anyHour)) {
        if (instant > at && (best === undefined || instant < best)) best = instant;
      }
    }
  }
  return best;
}

/** The instants at which the wall clock shows this time: usually one, none or two around a clock change. */
function instantsOf(wall: number, offset: (at: number) => number, anyHour: boolean): readonly number[] {
  const before = offset(wall - DAY_MS);
  const after = offset(wall + DAY_MS);
  const candidates = [...new Set([wall - before, wall - after])].toSorted((a, b) => a - b);
  const real = candidates.filter((instant) => instant + offset(instant) === wall);
  if (real.length === 0) return anyHour ? [] : [wall - before];
  return anyHour ? real : real.slice(0, 1);
}

/** Returns how far the zone is ahead of UTC at an instant, in milliseconds. Cached for each quarter of an hour. */
function offsetIn(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const known = new Map<number, number>();
  return (at) => {
    const quarter = Math.floor(at / 900_000) * 900_000;
    let offset = known.get(quarter);
    if (offset === undefined) {
      const parts = Object.fromEntries(format.formatToParts(quarter).map(({ type, value }) => [type, Number(value)]));
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
      offset = Date.UTC(year, month - 1, day, hour, minute, second) - quarter;
      known.set(quarter, offset);
    }
    return offset;
  };
}
