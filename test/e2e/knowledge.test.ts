/** What a workspace knows, through the real sandbox, into the log and into the request that a model server gets. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';

/** A model server that keeps what it was asked and has one answer. */
async function modelServer(): Promise<{ readonly url: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'Understood.' }, finish_reason: 'stop' }];
  const server = createServer(async (request, response) => {
    requests.push(await text(request));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify({ ...chunk, choices })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

/** A `bwrap` that waits as long as the file `closed` is there, as one whose image is pulled would. */
function slowBubblewrap(folder: string): { readonly path: string; close(): void; open(): void } {
  const [programs, closed] = [join(folder, 'bin'), join(folder, 'closed')];
  mkdirSync(programs);
  // A server of root runs it as another user.
  chmodSync(folder, 0o755);
  writeFileSync(
    join(programs, 'bwrap'),
    `#!/bin/sh\nPATH=${'$'}{PATH#*:}\nwhile [ -e '${closed}' ]; do sleep 0.1; done\nexec bwrap "$@"\n`,
    { mode: 0o755 },
  );
  return { path: `${programs}:${process.env.PATH}`, close: () => writeFileSync(closed, ''), open: () => rmSync(closed) };
}

it('EN215: knowledge that a late sandbox withheld from the first message comes with the next, to clients and the model', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-late-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'AGENTS.md'), 'Indent with tabs.');
  const bubblewrap = slowBubblewrap(folder);
  const model = await modelServer();
  const env = { LLM_MODEL: 'openai/m', LLM_BASE_URL: model.url, LLM_API_KEY: 'a-key-for-a-test', WORKSPACE_BASE: workspace };
  const tendon = await TendonProcess.start({ ...env, PATH: bubblewrap.path });
  onTestFinished(() => tendon.remove());
  bubblewrap.close();
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: 'Begin' });
  const watcher = new Watcher(tendon.url, id);
  onTestFinished(() => watcher.close());
  const isAnswer = (event: WireEvent): boolean => event.action === 'message' && event.source === 'agent';
  await watcher.until(isAnswer);
  expect(watcher.events.find(({ observation }) => observation === 'recall')).toMatchObject({
    extras: { missing: expect.any(String) as string },
  });
  expect(model.requests.join('\n')).toContain('could not be read yet');
  bubblewrap.open();
  watcher.send('run', { command: 'true' });
  await watcher.until(({ observation }) => observation === 'run');
  const isContext = ({ observation, extras }: WireEvent): boolean =>
    observation === 'recall' && extras?.repo_instructions === 'Indent with tabs.';
  // Each message waits for them only so long, and a machine may be too busy for one (EN125).
  while (!watcher.events.some(isContext)) {
    const last = watcher.lastId;
    watcher.send('message', { content: 'Go on' });
    await watcher.until((event) => isAnswer(event) && event.id > last, 'the answer to one more message');
  }
  expect(watcher.events.find(isContext)!.extras).toMatchObject({ recall_type: 'workspace_context' });
  expect(model.requests.join('\n')).toContain('Indent with tabs.');
});

itInFull('EN122: the model is shown what the workspace says, and nothing that a link leads out to', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-knowledge-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const workspace = join(folder, 'workspace');
  const microagents = join(workspace, '.openhands/microagents');
  mkdirSync(microagents, { recursive: true });
  writeFileSync(join(folder, 'outside.md'), 'from outside');
  symlinkSync(join(folder, 'outside.md'), join(microagents, 'outside.md'));
  writeFileSync(join(microagents, 'repo.md'), 'Indent with tabs.');
  writeFileSync(join(microagents, 'wire.md'), '---\nname: wire\ntype: knowledge\ntriggers:\n- wire-guide\n---\nEvery frame is one line.\n');
  const model = await modelServer();
  const env = { LLM_MODEL: 'openai/m', LLM_BASE_URL: model.url, LLM_API_KEY: 'a-key-for-a-test', WORKSPACE_BASE: workspace };
  const tendon = await TendonProcess.start(env);
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  // The sandbox is there before the model is asked, which waits for one only so long (EN125).
  watcher.send('run', { command: 'true' });
  await watcher.until(({ observation }) => observation === 'run');
  watcher.send('message', { content: 'Follow the Wire-Guide here' });
  await watcher.until((event) => event.action === 'message' && event.source === 'agent');
  watcher.close();
  expect(watcher.events.find((event) => event.observation === 'recall')).toMatchObject({
    extras: {
      recall_type: 'workspace_context',
      repo_instructions: 'Indent with tabs.',
      microagent_knowledge: [{ name: 'wire', trigger: 'wire-guide', content: 'Every frame is one line.' }],
    },
  });
  expect(model.requests[0]).toContain('Indent with tabs.');
  expect(model.requests[0]).toContain('Every frame is one line.');
  expect(model.requests[0]).not.toContain('from outside');
});
