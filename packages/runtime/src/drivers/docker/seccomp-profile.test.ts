import { describe, expect, it } from 'vitest';
import { ALLOWED, JUDGED, NAMESPACES, NOT_IMPLEMENTED, NOT_PERMITTED } from '../seccomp/calls.ts';
import { seccompProfile } from './seccomp-profile.ts';

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  readonly args?: readonly { readonly index: number; readonly value: number; readonly valueTwo: number }[];
}

const rules = seccompProfile().syscalls as readonly Rule[];

/** What the rules say of a call: nothing, or as many words as there are rules that match. */
function words(name: string, ...args: readonly number[]): readonly (string | number)[] {
  const holds = ({ args: wanted = [] }: Rule): boolean =>
    wanted.every(({ index, value, valueTwo }) => ((args[index] ?? 0) & value) >>> 0 === valueTwo);
  return rules.filter((rule) => rule.names.includes(name) && holds(rule)).map(({ action, errnoRet }) => errnoRet ?? action);
}

const ALLOW = ['SCMP_ACT_ALLOW'];
const [EPERM, ENOSYS, EAFNOSUPPORT] = [[1], [38], [97]];
const NUMBERS = [0, 1, 2, 3, 0o100, 0o4755, 0o6000, 6, 8, 10, 16, 17, 40, 132, 0x5412, 0x541c, 0x5413, 0xffffffff];

describe('SB430: the profile of a container', () => {
  it('refuses what it does not name', () => {
    expect(seccompProfile()).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 38 });
  });

  it('allows, refuses and denies the existence of the calls that the local filter does', () => {
    const answersOf = (names: Iterable<string>) => new Set([...names].map((name) => JSON.stringify(words(name))));
    expect(answersOf([...ALLOWED.keys(), ...NAMESPACES.keys()])).toEqual(new Set([JSON.stringify(ALLOW)]));
    expect(answersOf(NOT_PERMITTED.keys())).toEqual(new Set([JSON.stringify(EPERM)]));
    expect(answersOf(NOT_IMPLEMENTED)).toEqual(new Set([JSON.stringify(ENOSYS)]));
  });

  it('has at most one word on every call, whatever its arguments', () => {
    const calls = [...JUDGED.keys()].flatMap((name) =>
      NUMBERS.flatMap((first) => NUMBERS.flatMap((second) => NUMBERS.map((third) => [name, first, second, third, second] as const))),
    );
    expect(calls.filter((call) => words(...call).length > 1)).toEqual([]);
  });

  it('SB431: knows the same sockets', () => {
    const sockets = (...all: readonly (readonly number[])[]) => new Set(all.map((args) => words('socket', ...args).join()));
    expect(sockets([1, 5], [2, 1, 6], [10, 0x80002, 17], [16, 3, 15])).toEqual(new Set([ALLOW.join()]));
    expect(sockets([2, 3, 1], [2, 0x8000a, 0x300], [10, 5])).toEqual(new Set([EPERM.join()]));
    expect(sockets([17, 3], [16, 3, 12])).toEqual(new Set([EAFNOSUPPORT.join()]));
    expect(sockets([2, 1, 132], [10, 1, 262])).toEqual(new Set(['']));
    expect(words('socketpair', 16, 3)).toEqual(EAFNOSUPPORT);
  });

  it('SB540: refuses the same modes', () => {
    const answersOf = (...calls: readonly (readonly [string, ...number[]])[]) => new Set(calls.map((call) => words(...call).join()));
    expect(answersOf(['openat', 0, 0, 0o101, 0o4755], ['openat', 0, 0, 0o20200002, 0o2755], ['open', 0, 0o100, 0o6755])).toEqual(
      new Set([EPERM.join()]),
    );
    expect(answersOf(['chmod', 0, 0o4755], ['fchmod', 3, 0o2755], ['fchmodat2', 0, 0, 0o6711])).toEqual(new Set([EPERM.join()]));
    expect(answersOf(['openat', 0, 0, 0, 0o7777], ['openat', 0, 0, 0o101, 0o755], ['chmod', 0, 0o1777])).toEqual(new Set([ALLOW.join()]));
  });

  it('lets no upper bits hide what is typed into a terminal, and judges nothing else of it', () => {
    expect([0x5412, 0x541c].map((request) => words('ioctl', 0, request))).toEqual([EPERM, EPERM]);
    expect(NUMBERS.filter((request) => words('ioctl', 0, request).join() !== ALLOW.join())).toEqual([0x5412, 0x541c]);
    expect(rules.flatMap(({ args = [] }) => args).every(({ value }) => value > 0 && value <= 0xffff_ffff)).toBe(true);
  });
});
