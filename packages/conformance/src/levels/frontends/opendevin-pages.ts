import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isAction, isObservation, isState } from '../../target/frames.ts';
import type { ServerJson, Peer, Target } from '../../target/target.ts';
import { hasStatus, hasTypes, isTexts } from '../shapes.ts';
import { addressOf, say } from '../ws-legacy/session.ts';
import { listOf, openPage, readAll, upload, type Page, readAs03, readAs06, readAs09, type FrameReader } from './page.ts';
import { joinInBand, message } from '../v0-socketio/join.ts';

const STEPS = [
  { call: 'execute_bash', args: { command: 'mkdir -p src; printf "a line\\n" > src/made.txt; echo made' } },
  { call: 'finish', args: { message: 'It is made.' } },
];

/** 0.3 asks for a token first, sends back the whole configuration as text, twice, and resumes by REST. */
const page03: Check = {
  id: 'ws-legacy/page-0.3',
  title: 'the frontend of 0.3 gets through all of its calls and frames, and finds in each what it takes apart',
  cites: ['DL125'],
  async run(target) {
    const anonymous = openPage(target, { authorization: 'Bearer null' });
    const token = String((await anonymous.ask('GET', '/api/auth')).token);
    const page = openPage(target, { authorization: `Bearer ${token}` });
    const configuration = await page.ask('GET', '/api/configurations');
    isTexts(await page.ask('GET', '/api/litellm-models'), 'models');
    isTexts(await page.ask('GET', '/api/litellm-agents'), 'agents');
    assert.equal(Number((await page.ask('GET', '/api/messages/total')).msg_total), 0);
    treeIn(await page.ask('GET', '/api/refresh-files'));
    const peer = await target.connect.webSocket(addressOf('w1', token));
    const shown = Object.entries(configuration).map(([key, value]) => [key, String(value)]);
    const args = { ...Object.fromEntries(shown), LLM_MODEL: target.model.initializeArgs.LLM_MODEL };
    for (let times = 0; times < 2; times += 1) peer.send({ action: 'initialize', args });
    await peer.frames.until('the greeting', ({ action }) => action === 'initialize');
    say(peer, 'w1', target.model.script(STEPS));
    await peer.frames.until('finish', isAction('finish'));
    readAll(peer, readAs03);
    assert.deepEqual(treeIn(await page.ask('GET', '/api/refresh-files')), ['src', 'made.txt']);
    assert.equal(String((await page.ask('GET', '/api/select-file?file=src/made.txt')).code), 'a line\n');
    const messages = listOf((await page.ask('GET', '/api/messages')).messages, 'messages');
    for (const each of messages) hasTypes(each, { id: 'string', role: 'string', payload: 'object' }, 'message');
    assert.equal(String(messages[0]!.role), 'user');
    assert.equal(Number((await page.ask('GET', '/api/messages/total')).msg_total), messages.length);
    await page.ask('DELETE', '/api/messages');
    assert.equal(Number((await page.ask('GET', '/api/messages/total')).msg_total), 0);
  },
};

/** Names of a tree of the shape `{name, children}`, the root's left out. */
function treeIn({ name, children }: ServerJson): readonly string[] {
  assert.equal(typeof name, 'string', 'a node of the tree has no name');
  return listOf(children, 'children').flatMap((child) => [String(child.name), ...treeIn(child)]);
}

interface Release {
  readonly name: string;
  readonly read: FrameReader;
  readonly hasAnalyzers: boolean;
  /** How it names the root of the workspace. */
  readonly root: string;
}

const RELEASES: readonly Release[] = [
  { name: '0.6', read: readAs06, hasAnalyzers: false, root: '/' },
  { name: '0.9', read: readAs09, hasAnalyzers: true, root: '' },
];

const laterPages: readonly Check[] = RELEASES.map((release) => ({
  id: `ws-legacy/page-${release.name}`,
  title: `the frontend of ${release.name} gets through all of its calls and frames, and finds in each what it takes apart`,
  cites: ['DL125'],
  async run(target) {
    await loadOptions(openPage(target), release.hasAnalyzers);
    const peer = await target.connect.webSocket(addressOf('w4', undefined));
    const { LLM_MODEL = '' } = target.model.initializeArgs;
    const args = { LLM_MODEL, LLM_BASE_URL: '', AGENT: 'CodeActAgent', LANGUAGE: 'en', LLM_API_KEY: '' };
    peer.send({ action: 'initialize', args: release.hasAnalyzers ? { ...args, CONFIRMATION_MODE: false, SECURITY_ANALYZER: '' } : args });
    const { token } = await peer.frames.until('the token', (frame) => typeof frame.token === 'string');
    await peer.frames.until('init', isState('init'));
    say(peer, 'w4', target.model.script(STEPS));
    await peer.frames.until('the end', isState('finished'));
    await driveOld(peer, target);
    readAll(peer, release.read);
    await lookAround(openPage(target, { authorization: `Bearer ${String(token)}` }), release.root);
  },
}));

async function loadOptions(page: Page, hasAnalyzers: boolean): Promise<void> {
  for (const name of ['models', 'agents', ...(hasAnalyzers ? ['security-analyzers'] : [])]) {
    isTexts(await page.ask('GET', `/api/options/${name}`), name);
  }
}

/** The terminal, and pause, resume and stop while something runs. */
async function driveOld({ frames, send }: Peer, target: Target): Promise<void> {
  send({ action: 'run', args: { command: 'echo typed' } });
  await frames.until('the terminal', (frame) => isObservation('run')(frame) && /typed/.test(String(frame.content)));
  const from = frames.all.length;
  const content = target.model.script([{ call: 'execute_bash', args: { command: 'sleep 2' } }, { text: 'Waited.' }]);
  send({ action: 'message', args: { content, images_urls: [], timestamp: '2024-10-03T10:00:00.000Z' } });
  await frames.until('the slow command', isAction('run'), { from });
  send({ action: 'change_agent_state', args: { agent_state: 'paused' } });
  const paused = await frames.until('paused', isState('paused'), { from });
  send({ action: 'change_agent_state', args: { agent_state: 'running' } });
  const after = frames.all.indexOf(paused);
  await frames.until('rest', isState('awaiting_user_input', 'finished'), { from: after });
}

/** The workspace of the session that the bearer names. */
async function lookAround(page: Page, root: string): Promise<void> {
  const asked = root === '' ? '' : `?path=${root}`;
  isTexts(await page.ask('GET', `/api/list-files${asked}`), 'list-files');
  assert.deepEqual(await page.ask('GET', `/api/list-files?path=${root}src/`), [`${root}src/made.txt`]);
  assert.equal(String((await page.ask('GET', `/api/select-file?file=${root}src/made.txt`)).code), 'a line\n');
  const taken = await page.ask('POST', '/api/upload-files', { body: upload('given.txt', 'given') });
  hasTypes(taken, { message: 'string', uploaded_files: 'array', skipped_files: 'array' }, 'upload');
  await page.ask('POST', '/api/save-file', { body: { filePath: 'given.txt', content: 'saved' } });
  assert.equal(String((await page.ask('GET', '/api/select-file?file=given.txt')).code), 'saved');
  hasStatus(await page.try('GET', '/api/root_task'), 200, 204);
  const feedback = { version: '1.0', email: 'a@example.com', token: '', feedback: 'positive', permissions: 'private', trajectory: [] };
  const answer = await page.ask('POST', '/api/submit-feedback', { body: feedback });
  assert.equal(Number(answer.statusCode), 200);
  hasTypes(answer.body, { message: 'string', feedback_id: 'string', password: 'string' }, 'feedback');
}

const STEPS_0_15 = [
  { call: 'think', args: { thought: 'A file is to be made.' } },
  { call: 'execute_bash', args: { command: 'mkdir -p src; printf "a line\\n" > src/made.txt; echo made' } },
  { call: 'finish', args: { message: 'It is made.' } },
];

/** 0.15 speaks Socket.IO, and REST by the token of its first frame. */
const page015: Check = {
  id: 'v0-socketio/page-0.15',
  title: 'the frontend of 0.15 gets through all of its calls and frames, and finds in each what it takes apart',
  cites: ['DL125', 'DL126'],
  async run(target) {
    await loadOptions(openPage(target), true);
    const { peer, token } = await joinInBand(target);
    await peer.frames.until('init', isState('init'));
    peer.send(message(target.model.script(STEPS_0_15)));
    const ran = await peer.frames.until('the command', isObservation('run'));
    assert.equal(typeof (ran.extras as { exit_code?: unknown }).exit_code, 'number');
    await peer.frames.until('the end', isState('finished'));
    const spoken = peer.frames.all.filter(({ source, action }) => source === 'agent' && action === 'message');
    assert.ok(
      spoken.some(({ message: words }) => words === 'A file is to be made.'),
      'the thought is not shown',
    );
    const noise = peer.frames.all.filter(({ observation }) => observation === 'recall' || observation === 'think');
    assert.deepEqual(noise, [], 'the chat would show what is only for the record');
    await driveOld(peer, target);
    readAll(peer, readAs09);
    const page = openPage(target, { authorization: `Bearer ${token}` });
    await lookAround(page, '');
    hasTypes(await page.ask('GET', '/api/conversation'), { runtime_id: 'string|null' }, 'conversation');
    hasTypes(await page.ask('GET', '/api/vscode-url'), { vscode_url: 'string|null' }, 'vscode-url');
    assert.equal((await page.try('GET', '/api/zip-directory')).headers.get('content-type'), 'application/zip');
  },
};

/** Frontends of `/ws`, each from its first load on. */
export const opendevinPages: readonly Check[] = [page03, ...laterPages, page015];
