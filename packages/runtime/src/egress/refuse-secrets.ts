/** Keeps secrets out of plain requests to hosts that they are not for. What is encrypted, compressed or recoded is not recognized. */
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { wrongHost, type BoundSecret, type MaskedStream } from '@tendon/protocol/masking';
import { AddressRefused } from './dial.ts';

/** Throws `AddressRefused` where the address or a header holds one of them. */
export function refuseHead({ url = '', rawHeaders }: IncomingMessage, host: string, secrets: readonly BoundSecret[]): void {
  const text = [url, ...rawHeaders].join('\n');
  const leak = secrets.find(({ mask }) => mask.text(text) !== text);
  if (leak) throw new AddressRefused(wrongHost(leak, host));
}

/** A body that ends with `AddressRefused` before the last byte of one of them has passed. */
export function refuseBody(host: string, secrets: readonly BoundSecret[]): Transform {
  const guards = secrets.map((secret) => new Guard(secret, host));
  const passed = (text: string, isLast: boolean): string => guards.reduce((left, guard) => guard.pass(left, isLast), text);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      attempt(() => passed(chunk.toString('latin1'), false), done);
    },
    flush(done) {
      attempt(() => passed('', true), done);
    },
  });
}

function attempt(make: () => string, done: (error?: Error | null, data?: Buffer) => void): void {
  let text: string;
  try {
    text = make();
  } catch (error) {
    return done(error as Error);
  }
  done(null, Buffer.from(text, 'latin1'));
}

/** Passes a text on as it comes, without what could be the beginning of the secret. */
class Guard {
  readonly #secret: BoundSecret;
  readonly #host: string;
  readonly #stream: MaskedStream;
  #held = '';

  constructor(secret: BoundSecret, host: string) {
    this.#secret = secret;
    this.#host = host;
    this.#stream = secret.mask.stream();
  }

  pass(text: string, isLast: boolean): string {
    this.#held += text;
    const shown = this.#stream.push(text) + (isLast ? this.#stream.flush() : '');
    // What comes out is what went in, unless something in it was hidden.
    if (!this.#held.startsWith(shown)) throw new AddressRefused(wrongHost(this.#secret, this.#host));
    this.#held = this.#held.slice(shown.length);
    return shown;
  }
}
