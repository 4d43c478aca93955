import { describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { sandboxFilter } from './sandbox-filter.ts';
import { SYSCALLS, type Architecture } from './syscalls.ts';

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;
const ARCHITECTURE = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

/** What the kernel would answer: the few instructions that seccomp allows and we use. */
function run(architecture: Architecture, call: number, args: readonly number[] = [], audit: number = ARCHITECTURE[architecture]): number {
  const bytes = sandboxFilter(architecture);
  const program = new DataView(bytes.buffer);
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call, true);
  data.setUint32(4, audit, true);
  args.forEach((value, index) => data.setUint32(16 + 8 * index, value, true));
  let accumulator = 0;
  for (let at = 0; at < bytes.length / 8; at += 1) {
    const operand = program.getUint32(at * 8 + 4, true);
    const [whenTrue, whenFalse] = [program.getUint8(at * 8 + 2), program.getUint8(at * 8 + 3)];
    const code = program.getUint16(at * 8, true);
    if (code === 0x06) return operand;
    if (code === 0x20) accumulator = data.getUint32(operand, true);
    else if (code === 0x54) accumulator = (accumulator & operand) >>> 0;
    else if (code === 0x05) at += operand;
    else if (code === 0x15) at += accumulator === operand ? whenTrue : whenFalse;
    else if (code === 0x35) at += accumulator >= operand ? whenTrue : whenFalse;
    else throw new Error(`instruction ${code}`);
  }
  throw new Error('fell off the end');
}

describe.each(['x64', 'arm64'] as const)('SB12: seccomp filter on %s', (architecture) => {
  const numbers = SYSCALLS[architecture];

  it('refuses ptrace and its like, keys, bpf, and the machine', () => {
    for (const name of [
      'ptrace',
      'process_vm_writev',
      'keyctl',
      'bpf',
      'perf_event_open',
      'userfaultfd',
      'kexec_load',
      'io_uring_setup',
    ] as const) {
      expect(run(architecture, numbers[name]), name).toBe(EPERM);
    }
  });

  it('says that the new mount calls do not exist, so that programs use mount(2)', () => {
    for (const name of ['fsopen', 'open_tree', 'move_mount', 'mount_setattr'] as const)
      expect(run(architecture, numbers[name]), name).toBe(ENOSYS);
  });

  it('SB342: says that there is no asynchronous input and output of the kernel, of which the machine has one share', () => {
    expect(run(architecture, numbers.io_setup, [60_000])).toBe(ENOSYS);
  });

  it('allows every call that it does not name', () => {
    const named: readonly (number | undefined)[] = Object.values(numbers);
    const others = Array.from({ length: 480 }, (_, call) => call).filter((call) => !named.includes(call));
    expect(others.filter((call) => run(architecture, call) !== ALLOW)).toEqual([]);
  });

  it('allows local and IP sockets, and no raw, packet, VSOCK or netfilter ones', () => {
    const socket = (...args: number[]): number => run(architecture, numbers.socket, args);
    const [stream, datagram, raw, cloexec] = [1, 2, 3, 0x80000];
    expect([socket(1, stream), socket(2, stream | cloexec), socket(10, datagram), socket(16, raw, 0)]).toEqual([
      ALLOW,
      ALLOW,
      ALLOW,
      ALLOW,
    ]);
    expect([socket(2, raw | cloexec), socket(10, raw)]).toEqual([EPERM, EPERM]);
    expect([socket(17, raw), socket(40, stream), socket(16, raw, 12), socket(38, 5)]).toEqual(Array(4).fill(EAFNOSUPPORT));
  });

  it('refuses to put characters into a terminal', () => {
    expect(run(architecture, numbers.ioctl, [0, 0x5412])).toBe(EPERM);
    expect(run(architecture, numbers.ioctl, [0, 0x5413])).toBe(ALLOW);
  });

  it('refuses every call of a foreign architecture', () => {
    expect(run(architecture, 4, [], 0x40000003)).toBe(EPERM);
    expect(run('x64', 0x40000000 | 1)).toBe(EPERM);
  });
});

it('SB12: the programs change only on purpose', () => {
  const hash = (architecture: Architecture): string => createHash('sha256').update(sandboxFilter(architecture)).digest('hex').slice(0, 16);
  expect({ x64: hash('x64'), arm64: hash('arm64') }).toMatchInlineSnapshot(`
    {
      "arm64": "6747b8bdf53fd0b5",
      "x64": "83cf0bdc1866242d",
    }
  `);
});
