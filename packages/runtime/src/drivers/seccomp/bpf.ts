/** A classic BPF program, as seccomp takes it: 8 bytes an instruction, in the byte order of the machine (ours are little-endian). */
export type Step =
  | { readonly op: 'load'; readonly offset: number }
  | { readonly op: 'and'; readonly mask: number }
  /** Falls through when it does not hold. */
  | { readonly op: 'if-equal' | 'if-at-least'; readonly value: number; readonly goto: string }
  | { readonly op: 'goto'; readonly goto: string }
  | { readonly op: 'return'; readonly value: number }
  | { readonly op: 'label'; readonly name: string };

const CODE = { load: 0x20, and: 0x54, 'if-equal': 0x15, 'if-at-least': 0x35, goto: 0x05, return: 0x06 } as const;

/** Throws when a label is missing, lies behind, or is further away than the 255 instructions that a condition can jump. */
export function assemble(steps: readonly Step[]): Uint8Array {
  const places = new Map<string, number>();
  let next = 0;
  for (const step of steps) {
    if (step.op === 'label') places.set(step.name, next);
    else next += 1;
  }
  const program = new DataView(new ArrayBuffer(next * 8));
  const distance = (name: string, from: number, most: number): number => {
    const way = (places.get(name) ?? -1) - from - 1;
    if (way < 0 || way > most) throw new RangeError(`cannot jump to ${name}`);
    return way;
  };
  let at = 0;
  for (const step of steps) {
    if (step.op === 'label') continue;
    const isCondition = step.op === 'if-equal' || step.op === 'if-at-least';
    program.setUint16(at * 8, CODE[step.op], true);
    program.setUint8(at * 8 + 2, isCondition ? distance(step.goto, at, 255) : 0);
    program.setUint32(at * 8 + 4, step.op === 'goto' ? distance(step.goto, at, 2 ** 31) : operand(step), true);
    at += 1;
  }
  return new Uint8Array(program.buffer);
}

function operand(step: Exclude<Step, { op: 'label' | 'goto' }>): number {
  if (step.op === 'load') return step.offset;
  return step.op === 'and' ? step.mask : step.value;
}
