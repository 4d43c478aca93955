import type { IncomingHttpHeaders } from 'node:http';
import type { Frame } from '@tendon/conformance';

/** An answer to a REST request whose body is JSON. */
export interface RestAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** What a client asked for: the method, and the path with its query, which a mutant may change. */
export interface Request {
  readonly method: string;
  readonly url: URL;
}

/** One thing that a server does wrong. Everything that it does not spoil passes as it is. */
export interface Mutant {
  /** Unique; a row of the table in docs/conformance.md. */
  readonly id: string;
  /** What such a server does, as a sentence about it. */
  readonly fault: string;
  /** Checks that must turn red, by their ids. */
  readonly caughtBy: readonly string[];
  /** What the words of each of them must say: the fault, not merely that something did not come. */
  readonly says: RegExp;
  /** Makes the spoiler of one connection: what is sent in the place of each event, in order. */
  readonly events?: () => (event: Frame) => readonly Frame[];
  /** Milliseconds by which every frame to a client is late. */
  readonly delayMs?: number;
  /** What is asked in the place of the client's headers; with it the server has `MUTANTS_KEY`. */
  readonly headers?: (headers: IncomingHttpHeaders) => IncomingHttpHeaders;
  /** The address that the server is asked in the place of the client's, on every request and handshake. */
  readonly address?: (request: Request) => URL;
  readonly answer?: (request: Request, answer: RestAnswer) => RestAnswer;
}
