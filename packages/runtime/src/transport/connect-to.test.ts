import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { connectTo } from './executor-connection.ts';

/** Many cases: the default of a quick test leaves them no room on a busy machine. */
const TRIES = 5_000;

/** A socket that counts who came. */
async function listening(path: string): Promise<{ readonly server: Server; connections: number }> {
  const counted = { server: createServer(), connections: 0 };
  counted.server.on('connection', (socket) => {
    counted.connections += 1;
    socket.on('error', () => undefined).end();
  });
  counted.server.listen(path);
  await once(counted.server, 'listening');
  onTestFinished(() => void counted.server.close());
  return counted;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'tendon-connect-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function connects(path: string): Promise<boolean> {
  const socket = connectTo(path);
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).then((isConnected) => {
    socket.destroy();
    return isConnected as boolean;
  });
}

it('SB490: a socket is connected to, a link to one is not', async () => {
  const at = folder();
  await listening(join(at, 'socket'));
  symlinkSync(join(at, 'socket'), join(at, 'link'));
  expect(await connects(join(at, 'socket'))).toBe(true);
  expect(await connects(join(at, 'link'))).toBe(false);
  expect(await connects(join(at, 'nothing'))).toBe(false);
  renameSync(join(at, 'socket'), join(at, 'moved'));
  expect(await connects(join(at, 'moved'))).toBe(true);
});

it('SB490: where there is no socket, no name beside it is connected to instead', async () => {
  const at = folder();
  const other = await listening(join(at, 'other'));
  writeFileSync(join(at, 'socket'), '');
  symlinkSync(join(at, 'other'), join(at, 'socket.missing'));
  expect(await connects(join(at, 'socket'))).toBe(false);
  expect(other.connections).toBe(0);
});

itInFull('SB490: a socket that is swapped for a link without end leads to no other', async () => {
  const at = folder();
  const own = await listening(join(at, 'own'));
  const other = await listening(join(at, 'other'));
  // Another thread, so that it swaps between any two steps of this one.
  const swapping = new Worker(
    `const { linkSync, renameSync, symlinkSync } = require('node:fs');
     const { parentPort, workerData: at } = require('node:worker_threads');
     for (let n = 0; ; n += 1) {
       linkSync(at + '/own', at + '/next');
       renameSync(at + '/next', at + '/socket');
       if (n === 0) parentPort.postMessage('swapping');
       symlinkSync(at + '/other', at + '/next');
       renameSync(at + '/next', at + '/socket');
     }`,
    { eval: true, workerData: at },
  );
  await once(swapping, 'message');
  for (let n = 0; n < TRIES; n += 1) await connects(join(at, 'socket'));
  await swapping.terminate();
  expect(own.connections).toBeGreaterThan(0);
  expect(other.connections).toBe(0);
});
