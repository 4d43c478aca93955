/** A real server to be attacked, and a conversation beside it whose client must not notice. */
import { expect } from 'vitest';
import { socketIoClient, testServer, type SocketIoClient, type TestOptions, type TestServer } from '../server.test-support.ts';

/** What the process may hold more than at the beginning, after hundreds of megabytes came in. */
const MAX_GROWTH_BYTES = 256 * 1024 * 1024;
const ERROR_LEVEL = 50;

export interface FuzzTarget extends TestServer {
  /** It lives, logged no failure of its own, holds no more than it may, and the other conversation goes on. */
  expectUnharmed(): Promise<void>;
}

const script = Array.from({ length: 2000 }, (_, index) => ({ text: `answer ${index}` }));

export async function fuzzTarget(env: Readonly<Record<string, string>> = {}, options: TestOptions = {}): Promise<FuzzTarget> {
  const errors: string[] = [];
  const log = (line: string): void => void ((JSON.parse(line) as { level: number }).level >= ERROR_LEVEL && errors.push(line));
  const server = await testServer({ script, env, log, ...options });
  const bystander = await socketIoClient(server, { conversation_id: await server.create() });
  const before = heldBytes();
  return {
    ...server,
    async expectUnharmed() {
      expect((await server.get('/alive')).status).toBe(200);
      await expectTurn(bystander);
      expect(errors).toEqual([]);
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(heldBytes() - before).toBeLessThan(MAX_GROWTH_BYTES);
    },
  };
}

let asked = 0;

async function expectTurn(bystander: SocketIoClient): Promise<void> {
  await bystander.ask(`are you still there, for the ${asked++}th time?`);
}

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
