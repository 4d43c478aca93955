export type ScanItem = { readonly bytes: Buffer } | { readonly marker: Marker; readonly id: string };

/** Where a command's output begins and where it ends, there with the exit code. */
export type Marker = 'begin' | { readonly exitCode: number };

export interface MarkerScanner {
  push(data: Buffer): ScanItem[];
  /** What was held back. */
  flush(): Buffer;
}

const LONGEST = 96;
const START = Buffer.from('\u001b]133;');
const ESCAPE = 0x1b;
const END = 0x07;
const MARKER = /^([CD]);([\w-]{1,64})(?:;(\d{1,3}))?$/;

/**
 * Takes terminal output as it comes and separates it from the markers of our shell. A marker may be split anywhere; what
 * could still become one is held back, at most 96 bytes. `isOurs` says whether an id is of this session: programs may print
 * such markers too, and theirs are output.
 */
export function createMarkerScanner(isOurs: (id: string) => boolean): MarkerScanner {
  let held: Buffer = Buffer.alloc(0);
  return {
    push(data) {
      const input = held.length === 0 ? data : Buffer.concat([held, data]);
      const out: ScanItem[] = [];
      let from = 0;
      const add = (to: number): void => void (to > from && out.push({ bytes: input.subarray(from, to) }));
      for (let start = input.indexOf(START); start >= 0; start = input.indexOf(START, start + 1)) {
        const end = input.subarray(start, start + LONGEST).indexOf(END) + start;
        const match = MARKER.exec(input.toString('latin1', start + START.length, Math.max(end, start)));
        if (!match || !isOurs(match[2]!)) continue;
        add(start);
        out.push({ marker: match[1] === 'C' ? 'begin' : { exitCode: Number(match[3] ?? -1) }, id: match[2]! });
        from = end + 1;
      }
      const start = unfinishedStart(input, from);
      add(start);
      held = Buffer.from(input.subarray(start));
      return out;
    },
    flush() {
      const rest = held;
      held = Buffer.alloc(0);
      return rest;
    },
  };
}

/** Where a tail begins that more input could turn into a marker; the end of the input if there is none. */
function unfinishedStart(input: Buffer, from: number): number {
  const start = input.lastIndexOf(ESCAPE);
  if (start < from || input.length - start >= LONGEST) return input.length;
  const tail = input.subarray(start);
  if (tail.length < START.length) return START.subarray(0, tail.length).equals(tail) ? start : input.length;
  const couldBe = tail.subarray(0, START.length).equals(START) && /^[\w;-]*$/.test(tail.toString('latin1', START.length));
  return couldBe ? start : input.length;
}
