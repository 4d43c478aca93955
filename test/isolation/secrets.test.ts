/** A secret that the agent may use and nobody may see: a whole server, a model that prints it in every way it can. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { someOf } from '@tendon/testing';
import { ExecutorHostProcess, TendonProcess, Watcher } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { startModelEndpoint, type EndpointTurn } from '../../packages/core/src/llm/contract/model-endpoint.ts';

const SECRET = `s3cr+t/"qu ote"'&=%-${'0123456789abcdefghij'.repeat(3)}`;
const hash = createHash('sha256').update(SECRET).digest('hex');

const call = (name: string, args: object): EndpointTurn => ({
  calls: [{ id: `call-${Math.random()}`, name, pieces: [JSON.stringify(args)] }],
  finish: 'tool_calls',
});
const bash = (command: string) => call('execute_bash', { command });
const cell = (code: string) => call('execute_ipython_cell', { code });
const LACKS = `compgen -e | grep -cx API_KEY; tr '\\0' '\\n' </proc/self/environ | grep -c '^API_KEY='`;

const TURNS: readonly EndpointTurn[] = [
  bash('printf %s "$API_KEY" | sha256sum'),
  bash(LACKS),
  bash(
    `printf '%s\\n' "$API_KEY"; printf %s "$API_KEY" | base64; printf 'a%s' "$API_KEY" | base64 -w0; printf 'ab%sc' "$API_KEY" | base64 -w0 | tr '+/' '-_'; printf %s "$API_KEY" | od -An -tx1 | tr -d ' \\n'`,
  ),
  bash(
    `python3 -c 'import os, json, urllib.parse as u; v = os.environ["API_KEY"]; print(u.quote(v), u.quote_plus(v), u.quote(v, safe=""), json.dumps(v), json.dumps(json.dumps(v)))'`,
  ),
  bash(`python3 -c 'import os, sys, time\nfor c in os.environ["API_KEY"]: print(c, end="", flush=True); time.sleep(0.004)'`),
  bash('echo "$API_KEY" >/dev/null; export STORED=1; exit 3'),
  bash(`echo "$STORED"; ${LACKS}`),
  bash('echo "$API_KEY" >/dev/null; kill -9 $$'),
  bash(LACKS),
  bash('echo "$API_KEY" >/dev/null; exec bash'),
  bash(LACKS),
  bash('echo "$API_KEY" >/dev/null; kill -INT $$'),
  bash(LACKS),
  bash('set -x; echo "$API_KEY"; set +x; cat /nonexistent/"$API_KEY"'),
  cell(
    'import os, hashlib; print(hashlib.sha256(os.environ["API_KEY"].encode()).hexdigest()); print(os.environ["API_KEY"]); raise ValueError(os.environ["API_KEY"])',
  ),
  cell('any(name.startswith("API_") for name in os.environ), any("os.environ.setdefault" in code for code in In[:-1])'),
  bash('export API_KEY=mine'),
  bash('echo "still $API_KEY"; unset API_KEY'),
  call('finish', { message: 'done' }),
  { text: ['done'], finish: 'stop' },
];

/** Pieces of every encoding that no text of ours holds by chance. */
const TRACES = [
  SECRET,
  SECRET.slice(0, 14),
  '0123456789abcdefghij0123',
  JSON.stringify(SECRET).slice(1, 20),
  encodeURIComponent(SECRET).slice(0, 16),
  Buffer.from(SECRET).toString('hex').slice(0, 24),
  ...['', 'a', 'ab'].flatMap((before) => {
    const text = Buffer.from(before + SECRET)
      .toString('base64')
      .slice(4, 44);
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  }),
];

function tracesIn(text: string): readonly string[] {
  return TRACES.filter((trace) => text.includes(trace));
}

/** Files of this server and processes of this machine that have a trace. */
function placesOf(home: string): readonly string[] {
  const files = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`]);
  return [...files, ...processes].filter((path) => tracesIn(textOf(path)).length > 0);
}

/** Nothing of what is gone meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

it.each(someOf(['local', 'remote'] as const, ['local']))(
  'SB82, SB83, SB84, SB85: with driver %s a secret reaches the commands that name it, and nothing that is stored, sent or asked',
  async (driver) => {
    const host = driver === 'remote' ? await ExecutorHostProcess.start() : undefined;
    onTestFinished(() => host?.remove());
    await using model = await startModelEndpoint('openai', TURNS);
    const tendon = await TendonProcess.start({
      LLM_MODEL: 'openai/test',
      LLM_BASE_URL: model.url,
      LLM_API_KEY: 'sk-of-the-model',
      LOG_LEVEL: 'trace',
      ...host?.serverEnvironment,
    });
    onTestFinished(() => tendon.remove());
    await tendon.json('/api/secrets', { name: 'API_KEY', value: SECRET, description: 'for tests' });
    const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {
      initial_user_msg: `use ${SECRET} well`,
    });
    const watcher = new Watcher(tendon.url, id);
    onTestFinished(() => watcher.close());
    await watcher.until((event) => event.action === 'finish');

    const outputs = watcher.events.filter((event) => event.observation === 'run').map((event) => event.content);
    expect(outputs[0]).toBe(`${hash}  -`);
    for (const at of [1, 8, 10, 12]) expect(outputs[at], `command ${at}`).toBe('0\n0');
    expect(outputs[6]).toBe('1\n0\n0');
    for (const at of [2, 3, 4, 13]) expect(outputs[at], `command ${at}`).toContain('<secret_hidden>');
    expect(outputs.slice(14, 16)).toEqual(['', 'still mine']);
    const cells = watcher.events.filter((event) => event.observation === 'run_ipython').map((event) => event.content);
    expect(cells[0]).toContain(hash);
    expect(cells[0]).toContain('ValueError');
    expect(cells[1]).toMatch(/^\(False, False\)/);

    expect(tracesIn(JSON.stringify(watcher.events)), 'events').toEqual([]);
    expect(tracesIn(JSON.stringify(watcher.volatile)), 'live frames').toEqual([]);
    expect(watcher.volatile.length).toBeGreaterThan(0);
    expect(tracesIn(JSON.stringify(model.requests.map(({ body }) => body))), 'requests to the model').toEqual([]);
    expect(tracesIn(tendon.output), 'the server’s log').toEqual([]);
    for (const home of [tendon.home, ...(host ? [host.folder] : [])]) expect(placesOf(home), 'files and processes').toEqual([]);
    const { title } = await tendon.json<{ title: string }>(`/api/conversations/${id}`);
    expect(tracesIn(title)).toEqual([]);
  },
  240_000,
);
