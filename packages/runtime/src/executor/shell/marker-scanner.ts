export type Scanned = { readonly text: string } | { readonly marker: Marker; readonly id: string };

/** Where a command's output begins and where it ends, there with the exit code. */
export type Marker = 'begin' | { readonly exitCode: number };

const LONGEST = 96;
// oxlint-disable-next-line no-control-regex -- escape sequences begin with one
const MARKER = /\u001b\]133;([CD]);([\w-]{1,64})(?:;(\d{1,3}))?\u0007/g;
const START = '\u001b]133;';

/**
 * Takes terminal output as it comes and separates it from the markers of our shell. A marker may be split anywhere; what
 * could still become one is held back, at most 96 characters. `isOurs` says whether an id is of this session: programs may
 * print such markers too, and theirs are output.
 */
export function createMarkerScanner(isOurs: (id: string) => boolean): { push(text: string): Scanned[]; flush(): string } {
  let held = '';
  return {
    push(text) {
      const input = held + text;
      const out: Scanned[] = [];
      let from = 0;
      const add = (to: number): void => void (to > from && out.push({ text: input.slice(from, to) }));
      for (const match of input.matchAll(MARKER)) {
        if (!isOurs(match[2]!)) continue;
        add(match.index);
        out.push({ marker: match[1] === 'C' ? 'begin' : { exitCode: Number(match[3] ?? -1) }, id: match[2]! });
        from = match.index + match[0].length;
      }
      const start = unfinishedStart(input, from);
      add(start);
      held = input.slice(start);
      return out;
    },
    flush() {
      const rest = held;
      held = '';
      return rest;
    },
  };
}

/** Where a tail begins that more input could turn into a marker; the end of the input if there is none. */
function unfinishedStart(input: string, from: number): number {
  const start = input.lastIndexOf('\u001b');
  if (start < from || input.length - start >= LONGEST) return input.length;
  const tail = input.slice(start);
  if (tail.length < START.length) return START.startsWith(tail) ? start : input.length;
  return tail.startsWith(START) && /^[\w;-]*$/.test(tail.slice(START.length)) ? start : input.length;
}
