import {
  ERRNO,
  FAMILY,
  NETLINK_PROTOCOLS,
  NOT_IMPLEMENTED,
  NOT_PERMITTED,
  SOCK_RAW,
  SOCK_TYPE_MASK,
  TERMINAL_INJECTIONS,
} from '../seccomp/refused.ts';

interface Argument {
  readonly index: number;
  /** The mask. */
  readonly value: number;
  readonly valueTwo: number;
  readonly op: 'SCMP_CMP_MASKED_EQ';
}

interface Rule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ERRNO';
  readonly errnoRet: number;
  readonly args?: readonly Argument[];
}

/** Families of sockets, and kinds of netlink, that a kernel may know; it refuses higher ones itself. */
const FAMILIES = 64;
const NETLINK_KINDS = 32;
const LOWER_HALF = 0xffff_ffff;

/**
 * The calls that the filter of the local sandbox refuses, as a container engine takes them. Not the engine's own list: that one
 * closes nested namespaces, behind which the executor is out of the agent's reach.
 */
export function seccompProfile(): Readonly<Record<string, unknown>> {
  const allowed: readonly number[] = Object.values(FAMILY);
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    architectures: process.arch === 'arm64' ? ['SCMP_ARCH_AARCH64'] : ['SCMP_ARCH_X86_64'],
    syscalls: [
      refuse(NOT_PERMITTED, ERRNO.EPERM),
      refuse(NOT_IMPLEMENTED, ERRNO.ENOSYS),
      ...TERMINAL_INJECTIONS.map((value) => refuse(['ioctl'], ERRNO.EPERM, equals(1, value))),
      ...others(FAMILIES, allowed).map((family) => refuse(['socket'], ERRNO.EAFNOSUPPORT, equals(0, family))),
      ...[FAMILY.inet, FAMILY.inet6].map((family) =>
        refuse(['socket'], ERRNO.EPERM, equals(0, family), equals(1, SOCK_RAW, SOCK_TYPE_MASK)),
      ),
      ...others(NETLINK_KINDS, NETLINK_PROTOCOLS).map((kind) =>
        refuse(['socket'], ERRNO.EAFNOSUPPORT, equals(0, FAMILY.netlink), equals(2, kind)),
      ),
    ],
  };
}

function refuse(names: readonly string[], errnoRet: number, ...args: readonly Argument[]): Rule {
  return { names, action: 'SCMP_ACT_ERRNO', errnoRet, ...(args.length > 0 && { args }) };
}

/** Of the lower half only: the kernel reads no more of these arguments, so what is above must not hide them. */
function equals(index: number, wanted: number, mask = LOWER_HALF): Argument {
  return { index, value: mask, valueTwo: wanted, op: 'SCMP_CMP_MASKED_EQ' };
}

function others(count: number, allowed: readonly number[]): readonly number[] {
  return Array.from({ length: count }, (_, value) => value).filter((value) => !allowed.includes(value));
}
