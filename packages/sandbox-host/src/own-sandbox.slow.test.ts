import { readFileSync, writeFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { readZip } from '@tendon/server/files';
import { testHost, type TestHost } from './host.test-support.ts';

async function zip(entries: Readonly<Record<string, string>>, folders: readonly string[] = []): Promise<Buffer> {
  const file = new ZipFile();
  for (const [name, text] of Object.entries(entries)) file.addBuffer(Buffer.from(text), name);
  for (const name of folders) file.addEmptyDirectory(name);
  file.end();
  return buffer(file.outputStream);
}

/** As in bytes, with a name that no writer of zips would take. */
function renamed(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');
}

describe('the one sandbox of an executor host', () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await testHost();
  });
  const act = (action: string, args: object, headers?: Record<string, string>) =>
    host.call('POST', '/execute_action', { json: { action: { action, args } }, ...(headers && { headers }) });
  const upload = (name: string, bytes: Buffer | string, query: string) => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
    return fetch(`${host.url}/upload_file?${query}`, {
      method: 'POST',
      body: form,
      headers: { 'x-session-api-key': 'the key of the host' },
    });
  };

  it('RT205: an action is answered with its observation, in the shape that it has on the wire', async () => {
    const answer = await act('run', { command: 'echo hello; exit 3' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      observation: 'run',
      content: expect.stringContaining('hello'),
      message: expect.any(String),
      extras: { command: 'echo hello; exit 3', metadata: { exit_code: 3 } },
    });
    const path = join(host.workspace, 'a.txt');
    await act('write', { path, content: 'one\n' });
    expect(await (await act('read', { path })).json()).toMatchObject({ observation: 'read', content: expect.stringContaining('one') });
    expect(await (await act('run', { command: '' })).json()).toMatchObject({ observation: 'run' });
  });

  it('RT205: what it does not carry out is refused with words', async () => {
    for (const action of ['message', 'finish', 'change_agent_state']) {
      const answer = await act(action, { content: 'x', agent_state: 'running' });
      expect([action, answer.status]).toEqual([action, 400]);
      expect(await answer.json()).toMatchObject({ detail: 'Invalid action type' });
    }
    expect((await act('no such kind', {})).status).toBeGreaterThanOrEqual(400);
    expect((await host.call('POST', '/execute_action', { json: { action: 'run' } })).status).toBe(422);
  });

  it('RT206: asked for lines, output comes as it is printed and the outcome last', async () => {
    const answer = await act(
      'run',
      { command: 'echo one; until test -e go; do sleep 0.02; done; echo two' },
      { accept: 'application/x-ndjson' },
    );
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('one')) {
      const piece = await reader.read();
      if (piece.done) throw new Error(`it ended with ${text}`);
      text += piece.value;
    }
    writeFileSync(join(host.workspace, 'go'), '');
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
    const lines = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { type: string; text?: string });
    expect(
      lines
        .slice(0, -1)
        .map((line) => line.text)
        .join(''),
    ).toMatch(/one\s+two/);
    expect(lines.at(-1)).toMatchObject({ type: 'outcome', observation: { observation: 'run', extras: { metadata: { exit_code: 0 } } } });
  });

  it('RT207: folders are listed, files taken and given', async () => {
    mkdirSync(join(host.workspace, 'folder'));
    const inside = `destination=${encodeURIComponent(`${host.workspace}/folder/new`)}`;
    const taken = await upload('ä b.txt', 'text', inside);
    expect(await taken.json()).toEqual({ filename: 'ä b.txt', destination: `${host.workspace}/folder/new`, recursive: false });
    expect(readFileSync(join(host.workspace, 'folder/new/ä b.txt'), 'utf8')).toBe('text');
    expect(await (await host.call('POST', '/list_files', { json: {} })).json()).toEqual(['folder/']);
    expect(await (await host.call('POST', '/list_files', { json: { path: 'folder/new' } })).json()).toEqual(['ä b.txt']);
    expect(await (await host.call('POST', '/list_files', { json: { path: 'no such' } })).json()).toEqual([]);
    const given = await host.call('GET', `/download_files?path=${encodeURIComponent(host.workspace)}`);
    expect(given.headers.get('content-type')).toBe('application/zip');
    const entries = readZip(Buffer.from(await given.arrayBuffer()));
    expect(entries.map(({ name }) => name).toSorted()).toEqual(['folder/', 'folder/new/', 'folder/new/ä b.txt']);
    expect((await entries.find(({ name }) => name.endsWith('.txt'))!.read()).toString()).toBe('text');
    expect((await host.call('GET', '/download_files?path=/no/such/folder')).status).toBe(404);
    expect((await host.call('GET', '/download_files?path=relative')).status).toBe(422);
    expect((await upload('x', 'x', 'destination=relative')).status).toBe(422);
  });

  it('RT208: a zip is unpacked; one that would write outside, or is damaged, changes nothing', async () => {
    const destination = `destination=${encodeURIComponent(join(host.workspace, 'zip'))}&recursive=true`;
    const good = await zip({ 'a/b.txt': 'one'.repeat(1000), 'c.txt': 'two' }, ['empty']);
    expect((await upload('good.zip', good, destination)).status).toBe(200);
    expect(readFileSync(join(host.workspace, 'zip/a/b.txt'), 'utf8')).toBe('one'.repeat(1000));
    expect(await (await host.call('POST', '/list_files', { json: { path: 'zip' } })).json()).toEqual(['a/', 'empty/', 'c.txt']);
    const escaping = renamed(await zip({ 'aa/escaped': 'out' }), 'aa/escaped', '../escaped');
    for (const [name, bytes] of [
      ['escaping.zip', escaping],
      ['absolute.zip', renamed(await zip({ 'aaa/escaped': 'out' }), 'aaa/escaped', '/ab/escaped')],
      ['cut.zip', good.subarray(0, good.length - 30)],
      ['none.zip', Buffer.from('this is no zip')],
      ['not-a-zip.txt', Buffer.from('text')],
    ] as const) {
      const refused = await upload(name, bytes, destination);
      expect([name, refused.status]).toEqual([name, 400]);
      expect(((await refused.json()) as { detail: string }).detail).toMatch(/zip/);
    }
    expect(existsSync(join(host.workspace, 'escaped'))).toBe(false);
  });

  it('RT209: a file is shown so that nothing in it can run', async () => {
    writeFileSync(join(host.workspace, 'page.html'), '<script>alert(1)</script>');
    writeFileSync(join(host.workspace, 'image.png'), Buffer.from([0x89, 0x50, 0, 1]));
    const view = async (name: string) => host.call('GET', `/view?path=${encodeURIComponent(join(host.workspace, name))}`);
    const page = await view('page.html');
    expect(page.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/^sandbox/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await view('image.png')).headers.get('content-type')).toBe('image/png');
    expect((await view('missing')).status).toBe(404);
    expect(await (await host.call('GET', '/vscode/connection_token')).json()).toEqual({ token: null });
  });
});
