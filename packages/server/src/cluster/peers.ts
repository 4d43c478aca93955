/**
 * Asks the other servers for what only they have in memory, so that lists are the same at every server. Each server is asked once, with a
 * deadline; for a server that does not answer, the caller uses what is stored.
 */
import type { Clock, Scheduler, ServerNode } from '@tendon/core';
import type { Reclaimed, ReclaimRequest, SandboxInfo } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';
import type { ConversationView } from '../conversations/conversation-info.ts';
import type { Logger } from '../platform/logger.ts';
import { HopSignature } from './hop-signature.ts';
import { PeerHttp } from './peer-http.ts';
import type { PeerQuestion } from './peer-answers.ts';
import { sendQuestion } from './send-question.ts';

export interface PeersContext {
  readonly scheduler: Scheduler;
  readonly jwtSecret: Secret;
  readonly clock: Clock;
  readonly logger: Logger;
}

const DEADLINES_MS: Readonly<Record<PeerQuestion, number>> = {
  'server/about': 5_000,
  'conversations/views': 1_000,
  'sandboxes/list': 2_000,
  // It waits until sandboxes have ended.
  'sandboxes/reclaim': 60_000,
};

export class Peers {
  readonly #context: PeersContext;
  readonly #signature: HopSignature;
  readonly #http = new PeerHttp();

  constructor(context: PeersContext) {
    this.#context = context;
    this.#signature = new HopSignature(context.jwtSecret);
  }

  /** The views of those of these conversations that other servers have. */
  async views(ids: readonly string[]): Promise<ReadonlyMap<string, ConversationView>> {
    const byServer = new Map<string, { readonly server: ServerNode; readonly ids: string[] }>();
    for (const [id, place] of await this.#context.scheduler.findAll(ids)) {
      if (place.at !== 'peer') continue;
      const asked = byServer.get(place.server.id) ?? { server: place.server, ids: [] };
      asked.ids.push(id);
      byServer.set(place.server.id, asked);
    }
    const answers = await Promise.all(
      [...byServer.values()].map(({ server, ids: its }) =>
        this.#ask<Record<string, ConversationView>>(server, 'conversations/views', { ids: its }),
      ),
    );
    return new Map(answers.flatMap((answer) => Object.entries(answer ?? {})));
  }

  /** The sandboxes of all other servers. */
  async sandboxes(): Promise<readonly SandboxInfo[]> {
    return (await this.#askAll<SandboxInfo[]>('sandboxes/list', {})).flat();
  }

  /** The result of each server that answered. */
  reclaim(request: ReclaimRequest): Promise<readonly Reclaimed[]> {
    return this.#askAll<Reclaimed>('sandboxes/reclaim', request);
  }

  close(): void {
    this.#http.close();
  }

  async #askAll<T>(question: PeerQuestion, body: object): Promise<readonly T[]> {
    const { scheduler } = this.#context;
    const others = (await scheduler.servers()).filter(({ id }) => id !== scheduler.self?.id);
    const answers = await Promise.all(others.map((server) => this.#ask<T>(server, question, body)));
    return answers.filter((answer) => answer !== undefined);
  }

  /** `undefined` when the server did not answer in time. */
  async #ask<T>(server: ServerNode, question: PeerQuestion, body: object): Promise<T | undefined> {
    try {
      return await this.#send<T>(server, question, JSON.stringify(body));
    } catch (cause) {
      this.#context.logger.debug({ err: cause, server: server.url, question }, 'another server did not answer');
      return undefined;
    }
  }

  async #send<T>(server: ServerNode, question: PeerQuestion, body: string): Promise<T> {
    const { scheduler, clock } = this.#context;
    const answer = await sendQuestion(this.#http, this.#signature, server.url, {
      question,
      body,
      from: scheduler.self?.id ?? '',
      now: clock.now().getTime(),
      timeoutMs: DEADLINES_MS[question],
    });
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
    return JSON.parse(answer.body) as T;
  }
}
