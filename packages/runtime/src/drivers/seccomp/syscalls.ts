/** A call has its number on each processor; `undefined` where a processor has no such call. */
export type Syscalls = ReadonlyMap<string, Readonly<Record<Architecture, number | undefined>>>;
export type Architecture = (typeof ARCHITECTURES)[number];

export const ARCHITECTURES = ['x64', 'arm64'] as const;

/** Reads `name x64 arm64`, separated by commas or lines, with `-` for none. */
export function syscalls(text: string): Syscalls {
  return new Map(
    text
      .trim()
      .split(/[,\n]\s*/)
      .map((call) => {
        const [name = '', x64, arm64] = call.split(' ');
        return [name, { x64: numberOf(x64), arm64: numberOf(arm64) }];
      }),
  );
}

function numberOf(text: string | undefined): number | undefined {
  return text === '-' ? undefined : Number(text);
}
