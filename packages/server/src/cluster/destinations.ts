/**
 * Decides which server answers a request: the owner of its conversation. The scheduler owns who owns what.
 *
 * DE1  This server claims a conversation without an owner if it takes conversations; otherwise the server with the least load gets it.
 * DE2  Requests that belong together before there is a conversation (sockets with one token, repeated requests) share a key, which hashes
 *      to one of the servers that take conversations.
 * DE3  A request about something that no server knows is answered here, as a single server would.
 */
import type { Scheduler, ServerNode } from '@tendon/core';
import type { Secret } from '@tendon/protocol/masking';
import { rootIdOf, type StoredConversation } from '../conversations/conversation-records.ts';
import { readToken } from '../platform/auth/token.ts';
import { nearestServer } from '../platform/nearest-server.ts';
import { WsSessions, type SessionsContext } from '../compat/opendevin/sockets/ws-sessions.ts';
import type { Target } from './request-target.ts';

export type Destination =
  | { readonly at: 'here' }
  | { readonly at: 'peer'; readonly server: ServerNode }
  /** No server takes conversations now. */
  | { readonly at: 'nobody' };

export interface DestinationsContext extends SessionsContext {
  readonly scheduler: Scheduler;
  readonly jwtSecret: Secret;
}

const HERE: Destination = { at: 'here' };
const NONE: ReadonlySet<string> = new Set();

export class Destinations {
  readonly #context: DestinationsContext;
  /** Conversations that were sent to a server since it last reported how many it has. */
  readonly #sent = new Map<string, { readonly load: number; count: number }>();

  constructor(context: DestinationsContext) {
    this.#context = context;
  }

  /** `without`: servers that did not answer; they are skipped when any server will do. */
  async of(target: Target, without: ReadonlySet<string> = NONE): Promise<Destination> {
    switch (target.about) {
      case 'conversation':
        return this.ofConversation(target.id);
      case 'session':
        return this.#ofSession(target.token);
      case 'server':
        return this.#ofServer(target.id);
      case 'new':
        return target.key === undefined ? this.#anywhere(without) : this.#nearest(target.key, without);
    }
  }

  /** The same for a request that another server forwarded: one without a conversation was sent here because this server takes them. */
  async ofReceived(target: Target): Promise<Destination> {
    const found = await this.of(target);
    if (found.at === 'here' || !this.#context.scheduler.self?.takesConversations) return found;
    const isNew =
      target.about === 'new' || (target.about === 'session' && (await this.#sessionOf(target.token))?.conversation === undefined);
    return isNew ? HERE : found;
  }

  async ofConversation(id: string): Promise<Destination> {
    const { scheduler, conversations } = this.#context;
    const place = await scheduler.find(id);
    if (place.at !== 'nowhere') return place;
    const record = await conversations.get(id);
    return record ? this.#claimed(record) : HERE;
  }

  /** The server of this id, if it is alive. */
  async server(id: string): Promise<ServerNode | undefined> {
    return (await this.#context.scheduler.servers()).find((one) => one.id === id);
  }

  async #claimed(record: StoredConversation): Promise<Destination> {
    const { scheduler } = this.#context;
    if (!scheduler.self?.takesConversations) return this.#leastLoaded();
    const place = await scheduler.claim({ id: record.id, rootId: rootIdOf(record) });
    return place.at === 'nowhere' ? this.#leastLoaded() : place;
  }

  async #ofSession(token: string | undefined): Promise<Destination> {
    const session = await this.#sessionOf(token);
    if (session === undefined) return HERE;
    return session.conversation === undefined ? this.#nearest(`session ${session.sid}`) : this.ofConversation(session.conversation);
  }

  /** `undefined` when this cluster did not issue the token. */
  async #sessionOf(token: string | undefined): Promise<{ readonly sid: string; readonly conversation: string | undefined } | undefined> {
    const sessions = WsSessions.of(this.#context);
    const sid = token === undefined ? await sessions.latest() : await readToken(token, this.#context.jwtSecret);
    return sid === undefined ? undefined : { sid, conversation: (await sessions.get(sid)).conversation };
  }

  /** If that server has ended, its memory is lost, and this one answers as a restarted server would. */
  async #ofServer(id: string): Promise<Destination> {
    const server = this.#isSelf(id) ? undefined : await this.server(id);
    return server ? { at: 'peer', server } : HERE;
  }

  async #anywhere(without: ReadonlySet<string>): Promise<Destination> {
    return this.#context.scheduler.self?.takesConversations ? HERE : this.#leastLoaded(without);
  }

  async #leastLoaded(without = NONE): Promise<Destination> {
    const takers = (await this.#takers(without)).map((server) => ({ server, sent: this.#sentTo(server) }));
    const [least] = takers.toSorted((a, b) => a.sent.load + a.sent.count - (b.sent.load + b.sent.count));
    if (least) least.sent.count += 1;
    return this.#to(least?.server);
  }

  #sentTo({ id, load }: ServerNode): { readonly load: number; count: number } {
    const known = this.#sent.get(id);
    if (known?.load === load) return known;
    const sent = { load, count: 0 };
    this.#sent.set(id, sent);
    return sent;
  }

  async #nearest(key: string, without = NONE): Promise<Destination> {
    return this.#to(nearestServer(key, await this.#takers(without)));
  }

  async #takers(without: ReadonlySet<string>): Promise<readonly ServerNode[]> {
    const { scheduler } = this.#context;
    const takers = (await scheduler.servers()).filter(({ id, takesConversations }) => takesConversations && !without.has(id));
    for (const id of this.#sent.keys()) if (!takers.some((one) => one.id === id)) this.#sent.delete(id);
    return takers;
  }

  #to(server: ServerNode | undefined): Destination {
    if (server === undefined) return { at: 'nobody' };
    return this.#isSelf(server.id) ? HERE : { at: 'peer', server };
  }

  #isSelf(id: string): boolean {
    return this.#context.scheduler.self?.id === id;
  }
}
