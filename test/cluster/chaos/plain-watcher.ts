/**
 * A client of 2024 on a plain socket, whose frames have no ids: it comes back by itself, and is sent the past anew. What it is sent is
 * compared frame by frame: with what it had, and with what a new client is sent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Closing } from './chaos-client.ts';

const COME_BACK_MS = 200;
const HANDSHAKE_MS = 5_000;
const LEFT_OUT: readonly string[] = ['agent_state_changed', 'chat'];

export class PlainWatcher {
  /** Without states, and without the words of the user: clients of 2024 were sent that only as something past. */
  readonly frames: string[] = [];
  readonly problems: string[] = [];
  readonly closings: Closing[] = [];
  readonly #address: string;
  #socket: WebSocket | undefined;
  #isClosed = false;

  constructor(url: string, id: string) {
    this.#address = `${url.replace('http', 'ws')}/ws?conversation_id=${id}`;
    this.#open();
  }

  async until(count: number, deadlineMs: number): Promise<void> {
    for (const end = performance.now() + deadlineMs; this.frames.length < count; await sleep(COME_BACK_MS))
      if (performance.now() > end) throw new Error(`a plain socket got ${this.frames.length} frames of ${count}`);
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.terminate();
  }

  #open(): void {
    if (this.#isClosed) return;
    const socket = new WebSocket(this.#address, { handshakeTimeout: HANDSHAKE_MS });
    this.#socket = socket;
    let [next, wasOpen] = [0, false];
    socket.on('error', () => undefined);
    socket.on('open', () => (wasOpen = true));
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Readonly<Record<string, unknown>>;
      if (typeof frame.action === 'string' || (typeof frame.observation === 'string' && !LEFT_OUT.includes(frame.observation)))
        this.#take(JSON.stringify(frame), next++);
    });
    socket.on('close', (code, reason) => {
      if (wasOpen && !this.#isClosed) this.closings.push({ at: performance.now(), why: `${code} ${reason.toString()}` });
      setTimeout(() => this.#open(), COME_BACK_MS);
    });
  }

  #take(frame: string, at: number): void {
    const known = this.frames[at];
    if (known === undefined) this.frames.push(frame);
    else if (known !== frame && this.problems.length === 0) this.problems.push(`frame ${at} was ${known}, and is ${frame}`);
  }
}
