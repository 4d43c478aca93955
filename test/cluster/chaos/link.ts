/**
 * Owns one way into a process of the test, and can make it as silent as a network that lost a machine: nothing is refused, nothing is closed,
 * and nothing arrives. What was under way arrives when it is over, as from a machine whose connections stayed open.
 *
 * LIN1  While it is silent, no byte of either side reaches the other, and no end does.
 * LIN2  One connection can be silent alone: of a client that is cut off itself.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Server, type Socket } from 'node:net';

class Pair {
  readonly #ends: readonly [Socket, Socket];
  /** Of the one that connected. */
  readonly port: number;
  #isSilent: boolean;
  #isOver = false;

  constructor(from: Socket, to: Socket, isSilent: boolean) {
    this.#ends = [from, to];
    this.port = from.remotePort ?? 0;
    this.#isSilent = isSilent;
    for (const end of this.#ends) {
      end.on('error', () => undefined);
      end.on('close', () => this.#end());
    }
    if (isSilent) for (const end of this.#ends) end.pause();
    else this.#join();
  }

  get isOpen(): boolean {
    return !this.#ends.every((end) => end.destroyed);
  }

  set silent(isSilent: boolean) {
    if (this.#isSilent === isSilent) return;
    this.#isSilent = isSilent;
    if (isSilent) for (const end of this.#ends) end.unpipe().pause();
    else if (this.#isOver) this.destroy();
    else this.#join();
  }

  destroy(): void {
    for (const end of this.#ends) end.destroy();
  }

  #join(): void {
    const [from, to] = this.#ends;
    from.pipe(to).pipe(from);
  }

  #end(): void {
    this.#isOver = true;
    if (!this.#isSilent) this.destroy();
  }
}

export class Link {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #isSilentFor: (port: number) => boolean;
  #isSilent = false;
  /** Where it leads; nowhere yet: connections are refused. */
  target: NetConnectOpts | undefined;

  private constructor(isSilentFor: (port: number) => boolean) {
    this.#isSilentFor = isSilentFor;
    this.#server = createServer((from) => this.#take(from));
  }

  /** `isSilentFor`: whether the program that connects from this local port is cut off itself. */
  static async open(isSilentFor: (port: number) => boolean = () => false): Promise<Link> {
    const link = new Link(isSilentFor);
    await once(link.#server.listen(0, '127.0.0.1'), 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  set silent(isSilent: boolean) {
    this.#isSilent = isSilent;
    this.look();
  }

  /** Who is cut off has changed. */
  look(): void {
    for (const pair of this.#pairs) pair.silent = this.#isSilent || this.#isSilentFor(pair.port);
  }

  close(): void {
    this.#server.close();
    for (const pair of this.#pairs) pair.destroy();
  }

  #take(from: Socket): void {
    if (!this.target) return void from.destroy();
    const pair = new Pair(from, connect(this.target), this.#isSilent || this.#isSilentFor(from.remotePort ?? 0));
    for (const old of this.#pairs) if (!old.isOpen) this.#pairs.delete(old);
    this.#pairs.add(pair);
  }
}
