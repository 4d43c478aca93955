import { createInterface } from 'node:readline';
import { rmSync } from 'node:fs';
import type { HostConfig, HostLine } from '@tendon/protocol/executor-api';
import { errorObservation, reasonOf } from '../../action-handler.ts';
import type { HostRequest } from '../browser-host.ts';
import type { Order } from './act.ts';
import { createCarryOut } from './carry-out.ts';
import { openChromium } from './open-chromium.ts';

/**
 * The host of the browser: `node browser.mjs <HostConfig as JSON>`, orders and answers as `browser-host.ts` says. It is a
 * process of its own so that what pages do is not done beside the executor's secrets, and that its end gives all memory back.
 */
const config = JSON.parse(process.argv[2] ?? 'null') as HostConfig;
const STOP_MS = 15_000;
const cancels = new Map<number, AbortController>();
let turn: Promise<unknown> = Promise.resolve();

// Playwright would wait for fonts that never come.
process.env.PW_TEST_SCREENSHOT_NO_FONTS_READY = '1';
const opened = await openChromium(config).catch((error: unknown) => {
  say({ type: 'failed', reason: reasonOf(error) });
  process.exit(1);
});
let isEnding = false;
// Its connection closes before it has saved its cookies: when it was asked to end, that is waited for.
opened.context.on('close', () => isEnding || process.exit(3));
const carryOut = await createCarryOut(opened.context, config);
say({ type: 'ready', ...(opened.note !== undefined && { note: opened.note }) });

const input = createInterface({ input: process.stdin });
input.on('line', (line) => take(JSON.parse(line) as HostRequest));
input.on('close', () => void end());
process.on('unhandledRejection', (error) => process.stderr.write(`${reasonOf(error)}\n`));

function take(request: HostRequest): void {
  if (request.type === 'cancel') return cancels.get(request.id)?.abort();
  const cancel = new AbortController();
  const { id } = request;
  cancels.set(id, cancel);
  say({ type: 'taken', id });
  turn = turn.then(() => answer(request, cancel.signal)).finally(() => cancels.delete(id));
}

async function answer(order: Order, signal: AbortSignal): Promise<void> {
  const { id } = order;
  const observation = await carryOut(order, signal, (text) => say({ type: 'output', id, text })).catch((error: unknown) =>
    errorObservation(`The browser failed: ${reasonOf(error)}`),
  );
  say({ type: 'done', id, observation });
}

/** Chromium writes its cookies when it is asked to end; one that does not end is killed with this process's group. */
async function end(): Promise<void> {
  isEnding = true;
  setTimeout(() => process.exit(0), STOP_MS).unref();
  await opened!.context.close().catch(() => {});
  rmSync(`${config.profile}/downloads`, { recursive: true, force: true });
  process.exit(0);
}

function say(line: HostLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
