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
  NAMESPACES,
  NOT_IMPLEMENTED,
  NOT_PERMITTED,
} from '../seccomp/calls.ts';

interface Argument {
  readonly index: number;
  /** The mask. */
  readonly value: number;
  readonly valueTwo: number;
  readonly op: 'SCMP_CMP_MASKED_EQ';
}

interface Rule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  readonly errnoRet?: number;
  readonly args?: readonly Argument[];
}

/** All that the kernel reads of these arguments; what is above it must not hide them. */
const LOWER_HALF = 0xffff_ffff;

/**
 * What the filter of the local sandbox allows, as a container engine takes it. Not the engine's own list: that one closes nested
 * namespaces, behind which the executor is out of the agent's reach. No two rules for a call overlap: which of them counts then is
 * the engine's library's to say. What no rule matches gets "not implemented", and from engines that do not know `defaultErrnoRet`
 * "not permitted"; of calls newer than the last one named their runtime says that they do not exist.
 */
export function seccompProfile(): Readonly<Record<string, unknown>> {
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: ERRNO.ENOSYS,
    architectures: process.arch === 'arm64' ? ['SCMP_ARCH_AARCH64'] : ['SCMP_ARCH_X86_64'],
    syscalls: [
      allow([...ALLOWED.keys(), ...NAMESPACES.keys()]),
      refuse([...NOT_PERMITTED.keys()], ERRNO.EPERM),
      refuse(NOT_IMPLEMENTED, ERRNO.ENOSYS),
      ...otherThan(1, TERMINAL_INJECTIONS).map((request) => allow(['ioctl'], request)),
      ...TERMINAL_INJECTIONS.map((value) => refuse(['ioctl'], ERRNO.EPERM, equals(1, value))),
      ...PERSONALITIES.map((value) => allow(['personality'], equals(0, value))),
      allow(['socketpair'], equals(0, FAMILY.unix)),
      ...otherThan(0, [FAMILY.unix]).map((family) => refuse(['socketpair'], ERRNO.EAFNOSUPPORT, family)),
      ...socketRules(),
      ...[...MODES].flatMap(([name, places]) => modeRules(name, places)),
    ],
  };
}

function socketRules(): readonly Rule[] {
  const types = INTERNET_TYPES.map((type) => equals(1, type, SOCK_TYPE_MASK));
  const internet = [FAMILY.inet, FAMILY.inet6].map((family) => equals(0, family));
  const netlink = equals(0, FAMILY.netlink);
  return [
    allow(['socket'], equals(0, FAMILY.unix)),
    ...otherThan(0, Object.values(FAMILY)).map((family) => refuse(['socket'], ERRNO.EAFNOSUPPORT, family)),
    ...internet.flatMap((family) => [
      ...otherThan(1, INTERNET_TYPES, SOCK_TYPE_MASK).map((type) => refuse(['socket'], ERRNO.EPERM, family, type)),
      ...types.flatMap((type) => INTERNET_PROTOCOLS.map((protocol) => allow(['socket'], family, type, equals(2, protocol)))),
    ]),
    ...NETLINK_PROTOCOLS.map((kind) => allow(['socket'], netlink, equals(2, kind))),
    ...otherThan(2, NETLINK_PROTOCOLS).map((kind) => refuse(['socket'], ERRNO.EAFNOSUPPORT, netlink, kind)),
  ];
}

function modeRules(name: string, { mode, flags }: { readonly mode: number; readonly flags?: number }): readonly Rule[] {
  const plain = equals(mode, 0, SET_ID_BITS);
  const others = otherThan(mode, [0], SET_ID_BITS);
  if (flags === undefined) return [allow([name], plain), ...others.map((found) => refuse([name], ERRNO.EPERM, found))];
  return [
    allow([name], equals(flags, 0, CREATING_FLAGS)),
    ...otherThan(flags, [0], CREATING_FLAGS).flatMap((creating) => [
      allow([name], creating, plain),
      ...others.map((found) => refuse([name], ERRNO.EPERM, creating, found)),
    ]),
  ];
}

function allow(names: readonly string[], ...args: readonly Argument[]): Rule {
  return { names, action: 'SCMP_ACT_ALLOW', ...(args.length > 0 && { args }) };
}

function refuse(names: readonly string[], errnoRet: number, ...args: readonly Argument[]): Rule {
  return { names, action: 'SCMP_ACT_ERRNO', errnoRet, ...(args.length > 0 && { args }) };
}

function equals(index: number, wanted: number, mask = LOWER_HALF): Argument {
  return { index, value: mask, valueTwo: wanted, op: 'SCMP_CMP_MASKED_EQ' };
}

/** Every value but these, each by exactly one comparison: of the upper bits that one of these has, and of a next one that it has not. */
function otherThan(index: number, values: readonly number[], mask = LOWER_HALF): readonly Argument[] {
  const found: Argument[] = [];
  let sharing = new Set([0]);
  let upper = 0;
  for (let bit = 2 ** 31; bit >= 1; bit /= 2) {
    if ((mask & bit) === 0) continue;
    upper += bit;
    const next = new Set(values.map((value) => (value & upper) >>> 0));
    for (const prefix of [...sharing].flatMap((start) => [start, start + bit]))
      if (!next.has(prefix)) found.push(equals(index, prefix, upper));
    sharing = next;
  }
  return found;
}
