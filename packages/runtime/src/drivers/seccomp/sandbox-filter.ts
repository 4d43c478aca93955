import {
  CREATING_FLAGS,
  ERRNO,
  FAMILY,
  INTERNET_PROTOCOLS,
  INTERNET_TYPES,
  MODES,
  NETLINK_PROTOCOLS,
  PERSONALITIES,
  SET_ID_BITS,
  SOCK_TYPE_MASK,
  TERMINAL_INJECTIONS,
  ALLOWED,
  JUDGED,
  NAMESPACES,
  NOT_PERMITTED,
  type Architecture,
  type Syscalls,
} from './calls.ts';

const AUDIT_ARCHITECTURE = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** Calls of the x32 interface on x64 carry this bit. */
const X32_BIT = 0x40000000;
const RETURN = { allow: 0x7fff0000, errno: 0x00050000 } as const;
/** Offsets in `struct seccomp_data`; of an argument its lower half, which is all the kernel reads of these. */
const DATA = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index } as const;

const ALLOW: Step = { op: 'return', value: RETURN.allow };
const refuse = (errno: number): Step => ({ op: 'return', value: RETURN.errno | errno });

/** The program for `bwrap --seccomp`, for one architecture. Pure: the same bytes each time. */
export function sandboxFilter(architecture: Architecture): Uint8Array {
  return assemble([
    { op: 'load', offset: DATA.architecture },
    { op: 'if-equal', value: AUDIT_ARCHITECTURE[architecture], goto: 'native' },
    refuse(ERRNO.EPERM),
    { op: 'label', name: 'native' },
    { op: 'load', offset: DATA.number },
    ...search(rangesOf(architecture)),
    ...socketSteps(),
    ...argumentSteps('socketpair', { argument: 0, allowed: [FAMILY.unix], otherwise: ERRNO.EAFNOSUPPORT }),
    ...argumentSteps('personality', { argument: 0, allowed: PERSONALITIES, otherwise: ERRNO.EPERM }),
    ...modeSteps(),
    { op: 'label', name: 'ioctl' },
    { op: 'load', offset: DATA.argument(1) },
    ...TERMINAL_INJECTIONS.map((value): Step => ({ op: 'if-equal', value, goto: 'not-permitted' })),
    { op: 'label', name: 'allow' },
    ALLOW,
    { op: 'label', name: 'not-permitted' },
    refuse(ERRNO.EPERM),
  ]);
}

/** The calls from this number on, up to the next range, and the filter's answer to them. */
interface Range {
  readonly from: number;
  readonly verdict: Step;
}

function rangesOf(architecture: Architecture): readonly Range[] {
  const verdicts = new Map<number, Step>();
  const add = (calls: Syscalls, verdictOf: (name: string) => Step): void => {
    for (const [name, { [architecture]: number }] of calls) if (number !== undefined) verdicts.set(number, verdictOf(name));
  };
  add(ALLOWED, () => ALLOW);
  add(NAMESPACES, () => ALLOW);
  add(NOT_PERMITTED, () => refuse(ERRNO.EPERM));
  add(JUDGED, (name) => ({ op: 'goto', goto: name }));
  const others = refuse(ERRNO.ENOSYS);
  const end = Math.max(...verdicts.keys()) + 1;
  const all = Array.from({ length: end + 1 }, (_, from): Range => ({ from, verdict: verdicts.get(from) ?? others }));
  if (architecture === 'x64') all.push({ from: X32_BIT, verdict: refuse(ERRNO.EPERM) });
  return all.filter(({ verdict }, index) => index === 0 || !isSame(verdict, all[index - 1]!.verdict));
}

function isSame(one: Step, other: Step): boolean {
  return one.op === 'return' && other.op === 'return' && one.value === other.value;
}

/** Halves until one range is left: some seven comparisons, where a list would take hundreds. */
function search(ranges: readonly Range[]): readonly Step[] {
  const [only] = ranges;
  if (only === undefined || ranges.length === 1) return only === undefined ? [] : [only.verdict];
  const middle = ranges.length >> 1;
  const { from } = ranges[middle]!;
  const upper = `from ${from}`;
  return [
    { op: 'if-at-least', value: from, goto: upper },
    ...search(ranges.slice(0, middle)),
    { op: 'label', name: upper },
    ...search(ranges.slice(middle)),
  ];
}

function argumentSteps(
  label: string,
  { argument, allowed, otherwise }: { readonly argument: number; readonly allowed: readonly number[]; readonly otherwise: number },
): readonly Step[] {
  return [
    { op: 'label', name: label },
    { op: 'load', offset: DATA.argument(argument) },
    ...allowed.map((value): Step => ({ op: 'if-equal', value, goto: 'allow' })),
    refuse(otherwise),
  ];
}

/** No mode with set-user-id or set-group-id; calls whose mode is the same argument are judged by the same steps. */
function modeSteps(): readonly Step[] {
  const calls = [...MODES];
  const places = [...new Set(calls.map(([, { mode }]) => mode))];
  return [
    ...calls.flatMap(([name, { flags, mode }]): readonly Step[] =>
      flags === undefined
        ? []
        : [
            { op: 'label', name },
            { op: 'load', offset: DATA.argument(flags) },
            { op: 'and', mask: CREATING_FLAGS },
            { op: 'if-equal', value: 0, goto: 'allow' },
            { op: 'goto', goto: `mode ${mode}` },
          ],
    ),
    ...places.flatMap((place): readonly Step[] => [
      ...calls.flatMap(([name, { flags, mode }]): readonly Step[] =>
        mode === place && flags === undefined ? [{ op: 'label', name }] : [],
      ),
      { op: 'label', name: `mode ${place}` },
      { op: 'load', offset: DATA.argument(place) },
      { op: 'and', mask: SET_ID_BITS },
      { op: 'if-equal', value: 0, goto: 'allow' },
      refuse(ERRNO.EPERM),
    ]),
  ];
}

/** Local sockets, streams and datagrams of the internet, and two kinds of netlink; no packets, no VSOCK to the hypervisor, nothing odd. */
function socketSteps(): readonly Step[] {
  return [
    { op: 'label', name: 'socket' },
    { op: 'load', offset: DATA.argument(0) },
    { op: 'if-equal', value: FAMILY.unix, goto: 'allow' },
    { op: 'if-equal', value: FAMILY.inet, goto: 'internet' },
    { op: 'if-equal', value: FAMILY.inet6, goto: 'internet' },
    { op: 'if-equal', value: FAMILY.netlink, goto: 'netlink' },
    refuse(ERRNO.EAFNOSUPPORT),
    { op: 'label', name: 'internet' },
    { op: 'load', offset: DATA.argument(1) },
    { op: 'and', mask: SOCK_TYPE_MASK },
    ...INTERNET_TYPES.map((value): Step => ({ op: 'if-equal', value, goto: 'internet protocol' })),
    refuse(ERRNO.EPERM),
    ...argumentSteps('internet protocol', { argument: 2, allowed: INTERNET_PROTOCOLS, otherwise: ERRNO.EPROTONOSUPPORT }),
    ...argumentSteps('netlink', { argument: 2, allowed: NETLINK_PROTOCOLS, otherwise: ERRNO.EAFNOSUPPORT }),
  ];
}

/** A classic BPF program, as seccomp takes it: 8 bytes an instruction, in the byte order of the machine (ours are little-endian). */
type Step =
  | { readonly op: 'load'; readonly offset: number }
  | { readonly op: 'and'; readonly mask: number }
  /** Falls through when it does not hold. */
  | { readonly op: 'if-equal' | 'if-at-least'; readonly value: number; readonly goto: string }
  | { readonly op: 'goto'; readonly goto: string }
  | { readonly op: 'return'; readonly value: number }
  | { readonly op: 'label'; readonly name: string };

const CODE = { load: 0x20, and: 0x54, 'if-equal': 0x15, 'if-at-least': 0x35, goto: 0x05, return: 0x06 } as const;

/** Throws when a label is missing, lies behind, or is further away than the 255 instructions that a condition can jump. */
function assemble(steps: readonly Step[]): Uint8Array {
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
