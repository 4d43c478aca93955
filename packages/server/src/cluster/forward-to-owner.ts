/**
 * Runs before all other handlers of a server that shares its storage: forwards each request about a conversation of another server to
 * that one.
 *
 * FTO1  A request is forwarded at most once: the receiver answers it, or reports that it does not have the conversation (421).
 * FTO2  A request that needs a key is forwarded only with a valid one, and otherwise refused here, so that guessing keys costs the other
 *       servers nothing.
 * FTO3  A request that reaches no server is retried while another server may take over, if it is a read (GET) or any server may answer it;
 *       otherwise the answer is 503.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { failureFor, type ServerNode } from '@tendon/core';
import { catalogError, type CatalogError } from '@tendon/protocol';
import { refuseUpgrade } from '@tendon/runtime';
import { corsHeaders } from '../platform/auth/authorize.ts';
import { identify } from '../platform/auth/identify.ts';
import { admit, type AdmitContext } from '../platform/http/admit.ts';
import type { ClientTimeouts } from '../platform/http/client-timeouts.ts';
import { clientAddress, hopOf, noteHop, type Hop } from '../platform/http/client-of.ts';
import { failureBody } from '../platform/http/failure.ts';
import { takeOver } from '../platform/http/take-over.ts';
import type { Metrics } from '../platform/metrics.ts';
import { Destinations, type Destination, type DestinationsContext } from './destinations.ts';
import { HOP_HEADER, HopSignature } from './hop-signature.ts';
import { OpenPipes } from './open-pipes.ts';
import { OWNER_HEADER } from './passed-headers.ts';
import { answerPeer, isQuestion, type PeerAnswersContext } from './peer-answers.ts';
import { PeerHttp } from './peer-http.ts';
import { pipeRequest, type PipeOutcome } from './pipe-request.ts';
import { pipeUpgrade } from './pipe-upgrade.ts';
import { targetOf, type FoundTarget, type Target, type TargetContext } from './request-target.ts';

export interface ForwardContext extends AdmitContext, DestinationsContext, TargetContext, PeerAnswersContext {
  readonly config: AdmitContext['config'];
  readonly metrics: Pick<Metrics, 'seen'>;
  readonly timeouts: Pick<ClientTimeouts, 'connectMs'>;
}

/** In seconds: another server takes over within a few. */
const RETRY_AFTER = '2';
/** How long a read waits for another server to take over, and how often it looks. */
const WAIT_MS = 10_000;
const LOOK_MS = 250;
/** The address of a client that has just disconnected. */
const UNKNOWN = 'unknown';

/** One request or upgrade, with the ways to answer it. */
interface Passing {
  readonly request: IncomingMessage;
  readonly isGone: () => boolean;
  /** Hands the request to this server's own handlers. */
  readonly pass: () => void;
  refuse(error: CatalogError, headers?: Readonly<Record<string, string>>): void;
  send(server: ServerNode, headers: readonly string[]): Promise<PipeOutcome>;
}

/** Called last, when every other listener is set. */
export function forwardToOwners(http: Server, context: ForwardContext): Forwarding {
  const forwarding = new Forwarding(context);
  const serve = (request: IncomingMessage, response: ServerResponse, pass: () => void): boolean =>
    forwarding.take(request, () => ({
      request,
      pass,
      isGone: () => response.destroyed,
      refuse: (error, headers) => answer(context, request, response, error, headers),
      send: (server, headers) => pipeRequest({ request, response, server, headers, ...forwarding }),
    }));
  takeOver(http, 'request', (pass, request: IncomingMessage, response: ServerResponse) => {
    if (!isQuestion(request) || !isAsked(forwarding.hopOf(request))) return serve(request, response, pass);
    void answerPeer(request, response, context).catch((cause: unknown) => {
      context.logger.warn({ err: cause }, 'what another server asked could not be answered');
      response.destroy();
    });
    return true;
  });
  const [listener] = http.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  http.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    const pass = (): void => listener!(request, response);
    if (!serve(request, response, pass)) pass();
  });
  takeOver(http, 'upgrade', (pass, request: IncomingMessage, client: Duplex, head: Buffer) =>
    forwarding.take(request, () => {
      client.on('error', () => client.destroy());
      return {
        request,
        pass,
        isGone: () => client.destroyed,
        refuse: (error, headers) => refuseUpgrade(client, error.status, failureBody(error), headers),
        send: (server, headers) => pipeUpgrade({ request, client, head, server, headers, ...forwarding }),
      };
    }),
  );
  return forwarding;
}

/** A question of a server has no client. What a client sends may have the same path: a preview has every path, and is forwarded. */
function isAsked(hop: Hop | undefined): boolean {
  return hop?.client === '';
}

/** Sends 100 Continue when the body is first read, so a request that is refused unread is answered before its body is sent. */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read.bind(request);
  request._read = (size) => {
    request._read = read;
    if (!response.headersSent && !response.destroyed) response.writeContinue();
    read(size);
  };
}

/** Decides where each request goes, and owns the connections to other servers. */
class Forwarding {
  readonly http = new PeerHttp();
  readonly pipes: OpenPipes;
  readonly #context: ForwardContext;
  readonly signature: HopSignature;
  readonly destinations: Destinations;
  readonly #closing = new AbortController();

  constructor(context: ForwardContext) {
    this.#context = context;
    this.pipes = new OpenPipes(context.scheduler);
    this.signature = new HopSignature(context.jwtSecret);
    this.destinations = new Destinations(context);
  }

  /** False when this server's own handlers should answer. */
  take(request: IncomingMessage, passing: () => Passing): boolean {
    const hop = this.hopOf(request);
    const found = targetOf(request, this.#context);
    if (!found || !(hop || this.#mayPass(request, found))) return false;
    const one = passing();
    const target: Target = hop?.conversation === undefined ? found.target : { about: 'conversation', id: hop.conversation };
    void (hop ? this.#receive(one, target) : this.#pass(one, target)).catch((cause: unknown) => {
      this.#context.logger.warn({ err: cause }, 'a request could not be passed on');
      if (!one.isGone()) one.refuse(failureFor(cause));
    });
    return true;
  }

  /** The verified hop of a forwarded request. It is remembered, because the listeners may run again for the same request. */
  hopOf(request: IncomingMessage): Hop | undefined {
    const hop = hopOf(request) ?? this.signature.take(request, this.#now());
    if (hop) noteHop(request, hop);
    return hop;
  }

  close(): void {
    this.#closing.abort();
    this.pipes.close();
    this.http.close();
  }

  /** FTO2. */
  #mayPass(request: IncomingMessage, { opensBy }: FoundTarget): boolean {
    if (opensBy === 'link') return true;
    if (!admit(this.#context, request, { need: 'public' }).ok) return false;
    const { config, access, wrongKeys } = this.#context;
    const { url = '/', headers } = request;
    if (opensBy === 'signature' || config.sessionApiKey === undefined) return true;
    const principal = identify({ url, headers }, { sessionApiKey: config.sessionApiKey, tokens: access });
    if (principal === undefined || principal === 'wrong') return false;
    return wrongKeys.secondsToWait(clientAddress(request), principal.keyName) === undefined;
  }

  /** FTO1: answers here or with 421. */
  async #receive(one: Passing, target: Target): Promise<void> {
    const found = await this.destinations.ofReceived(target);
    if (one.isGone()) return;
    if (found.at === 'here') return one.pass();
    one.refuse(catalogError('NOT_THE_OWNER'), { [OWNER_HEADER]: found.at === 'peer' ? found.server.id : '-' });
  }

  async #pass(one: Passing, target: Target): Promise<void> {
    const end = this.#now() + WAIT_MS;
    let found = await this.destinations.of(target);
    let retriesLeft = 1;
    const unreachable = new Set<string>();
    while (!one.isGone()) {
      if (found.at === 'here') return one.pass();
      const outcome = found.at === 'peer' ? await this.#send(one, found.server) : undefined;
      if (outcome?.state === 'answered') return;
      const isRead = one.request.method === 'GET' || one.request.method === 'HEAD';
      const isTaken = outcome?.state === 'unreachable' && outcome.isTaken;
      if (found.at === 'peer' && outcome?.state === 'unreachable') unreachable.add(found.server.id);
      // No server takes conversations now, or another one can take this one: safe to retry, because nothing was processed.
      const isUndecided = found.at === 'nobody' || target.about === 'new';
      const mayRetry = outcome?.state === 'misdirected' ? retriesLeft-- > 0 : (isRead || isUndecided) && !isTaken && this.#now() < end;
      if (!mayRetry)
        return one.refuse(catalogError(found.at === 'peer' ? 'OWNER_UNREACHABLE' : 'NO_SERVER'), { 'retry-after': RETRY_AFTER });
      found =
        outcome?.state === 'misdirected'
          ? await this.#afterRefusal(target, outcome.owner)
          : await this.#lookAgain(target, target.about === 'new' && found.at === 'peer' ? unreachable : undefined);
    }
  }

  /** The server that the receiver named as the owner, otherwise the current owner. */
  async #afterRefusal(target: Target, owner: string): Promise<Destination> {
    const server = owner === '' || owner === this.#context.scheduler.self?.id ? undefined : await this.destinations.server(owner);
    return server ? { at: 'peer', server } : this.destinations.of(target);
  }

  async #lookAgain(target: Target, without?: ReadonlySet<string>): Promise<Destination> {
    if (!without) await this.#context.clock.sleep(LOOK_MS, { signal: this.#closing.signal });
    return this.destinations.of(target, without);
  }

  #send(one: Passing, server: ServerNode): Promise<PipeOutcome> {
    const { metrics, clock, scheduler } = this.#context;
    metrics.seen(clock.now());
    const hop = { from: scheduler.self?.id ?? '', client: clientAddress(one.request) || UNKNOWN };
    return one.send(server, [HOP_HEADER, this.signature.sign(one.request, hop, this.#now())]);
  }

  #now(): number {
    return this.#context.clock.now().getTime();
  }
}

function answer(
  { config }: ForwardContext,
  request: IncomingMessage,
  response: ServerResponse,
  error: CatalogError,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) return void response.destroy();
  const common = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  response.writeHead(error.status, { ...common, ...corsHeaders(request.headers, config, false), ...headers });
  response.end(JSON.stringify(failureBody(error)));
}
