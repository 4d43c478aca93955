const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** For people: "2 GiB", "1.5 MiB". */
export function sizeText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${Number((bytes / 1024 ** step).toFixed(1))} ${UNITS[step]}`;
}
