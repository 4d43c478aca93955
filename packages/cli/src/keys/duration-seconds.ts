const SECONDS = { m: 60, h: 3_600, d: 86_400 } as const;

/** Of `90m`, `12h` or `30d`; `undefined` when it is none of these, or no time between a minute and a year. */
export function durationSeconds(text: string): number | undefined {
  const match = /^(\d{1,6})([mhd])$/.exec(text.trim());
  const seconds = match ? Number(match[1]) * SECONDS[match[2] as keyof typeof SECONDS] : 0;
  return seconds >= 60 && seconds <= 366 * 86_400 ? seconds : undefined;
}
