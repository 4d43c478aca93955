import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startTrailing } from './trailing-timer.ts';

it('RT23: what came while the process did not run is read before it counts as missing', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sender = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [receiver] = (await once(server, 'connection')) as [typeof sender];
  const order: string[] = [];
  receiver.on('data', () => order.push('read'));
  const acted = new Promise<void>((resolve) => startTrailing(5, () => resolve(void order.push('acted'))));
  sender.write('x');
  for (const end = performance.now() + 50; performance.now() < end;); // not given the processor
  await acted;
  expect(order).toEqual(['read', 'acted']);
  sender.destroy();
  server.close();
});

it('RT23: one that is cancelled does nothing', async () => {
  const acted: string[] = [];
  startTrailing(1, () => acted.push('cancelled'))();
  await new Promise<void>((resolve) => startTrailing(30, resolve));
  expect(acted).toEqual([]);
});
