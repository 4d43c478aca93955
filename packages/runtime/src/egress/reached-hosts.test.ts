import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { createReachedHosts } from './reached-hosts.ts';

const connection = (bytesRead: number, bytesWritten: number) => Object.assign(new EventEmitter(), { bytesRead, bytesWritten });

it('SV1030: what a sandbox reached is remembered in bounds, with its times and what went over connections that ended', () => {
  let at = 1_000;
  const reached = createReachedHosts(() => at++);
  const [first, second] = [connection(2_000, 40), connection(5, 5)];
  reached.note('registry.example', 443, first as never);
  reached.note('registry.example', 443, second as never);
  first.emit('close');
  expect(reached.list).toEqual([{ host: 'registry.example', port: 443, times: [1_000, 1_001], count: 2, bytesIn: 2_000, bytesOut: 40 }]);
  for (let n = 0; n < 150; n++) reached.note(`${n}.example`, 443, connection(0, 0) as never);
  for (let n = 0; n < 30; n++) reached.note('149.example', 443, connection(0, 0) as never);
  expect(reached.list).toHaveLength(100);
  expect(reached.list.at(-1)).toMatchObject({ host: '149.example', count: 31 });
  expect(reached.list.at(-1)!.times).toHaveLength(20);
});
