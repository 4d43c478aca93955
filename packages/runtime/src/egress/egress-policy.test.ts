import * as fc from 'fast-check';
import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { refusal } from './egress-policy.ts';

const ask = (address: string, port = 443, ownAddresses: readonly string[] = []) => refusal({ address, port, ownAddresses });

/** The same rule a second time, by Node's own matcher. */
function listOf(family: 'ipv4' | 'ipv6', ...blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [net = '', bits] = block.split('/');
    list.addSubnet(net, Number(bits), family);
  }
  return list;
}

const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '224.0.0.0/3',
];
const PRIVATE_V6 = ['::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'];

describe('egress policy', () => {
  itInFull('SB20: every loopback, private, link-local, carrier, multicast and reserved address is refused', () => {
    const four = listOf('ipv4', ...PRIVATE_V4);
    const six = listOf('ipv6', ...PRIVATE_V6);
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 1024, max: 65_535 }), (address, port) => {
        fc.pre(four.check(address, 'ipv4'));
        expect(ask(address, port)).toBeDefined();
      }),
      { numRuns: 1000, maxSkipsPerRun: 1000 },
    );
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        fc.pre(isIPv6(address) && six.check(address, 'ipv6'));
        expect(ask(address)).toBeDefined();
      }),
      { numRuns: 1000, maxSkipsPerRun: 1000 },
    );
  });

  it('SB20: an IPv4 address has the same answer however it is embedded, or is refused', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(ask(`::ffff:${address}`)).toBeDefined();
        expect(ask(`::${address}`)).toBeDefined();
        expect(ask(`64:ff9b::${address}`)).toBe(ask(address));
      }),
    );
  });

  it.each(['1.1.1.1', '8.8.8.8', '140.82.121.4', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001:80e::200e'])(
    'SB20: %s is public',
    (address) => expect(ask(address)).toBeUndefined(),
  );

  it.each([
    '127.0.0.1',
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '::1',
    '::',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '::ffff:10.0.0.1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '64:ff9b::a00:1',
    'localhost',
    '127.1',
    '0x7f000001',
    '',
  ])('SB20: %j is refused', (address) => expect(ask(address)).toBeDefined());

  it('SB20: the addresses of the host itself are refused though public', () => {
    expect(ask('5.6.7.8', 443, ['5.6.7.8'])).toMatch(/this host/);
    expect(ask('2a01:4f8:0:0::2', 443, ['2a01:4f8::2'])).toMatch(/this host/);
    expect(ask('5.6.7.8', 443, ['5.6.7.9', 'fe80::1%eth0'])).toBeUndefined();
  });

  it('SB21: ports below 1024 are ssh, http and https only', () => {
    fc.assert(
      fc.property(fc.integer({ min: -10, max: 70_000 }), (port) => {
        const isFine = port === 22 || port === 80 || port === 443 || (port >= 1024 && port <= 65_535);
        expect(ask('1.1.1.1', port) === undefined).toBe(isFine);
      }),
    );
    expect(ask('1.1.1.1', Number.NaN)).toBeDefined();
  });
});
