import { describe, expect, it } from 'vitest';
import { listeningSockets } from './served-ports.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const row = (local: string, state = '0A', inode = '77') =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000000000000000 100 0 0 10 0`;

const CASES = [
  { says: 'SB110: every address', local: '00000000:1F90', addresses: ['127.0.0.1'] },
  { says: 'SB110: loopback', local: '0100007F:1F90', addresses: ['127.0.0.1'] },
  { says: 'SB110: another loopback', local: '0200007F:1F90', addresses: ['127.0.0.2'] },
  { says: 'SB112: an address of the outside', local: '0200A8C0:1F90', addresses: [] },
  { says: 'SB110: every address of both families', local: '00000000000000000000000000000000:1F90', addresses: ['127.0.0.1', '::1'] },
  { says: 'SB110: loopback of IPv6', local: '00000000000000000000000001000000:1F90', addresses: ['::1'] },
  { says: 'SB110: IPv4 within IPv6', local: '0000000000000000FFFF00000100007F:1F90', addresses: ['127.0.0.1'] },
  { says: 'SB112: an address of the outside within IPv6', local: '0000000000000000FFFF00000200A8C0:1F90', addresses: [] },
];

describe('what listens', () => {
  it.each(CASES)('$says', ({ local, addresses }) => {
    expect(listeningSockets(`${HEAD}\n${row(local)}\n`)).toEqual([{ port: 8080, addresses, inode: '77' }]);
  });

  it('SB110: connections and what is malformed are left out', () => {
    expect(listeningSockets(`${HEAD}\n${row('0100007F:1F90', '01')}\n  1: 0100007F\nxx\n${row('0100007F:ZZZZ')}\n`)).toEqual([]);
  });
});
