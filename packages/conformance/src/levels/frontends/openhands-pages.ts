import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isAction, isObservation, isState } from '../../target/frames.ts';
import type { ServerJson, Peer, Target } from '../../target/target.ts';
import { hasTypes, isTexts } from '../shapes.ts';
import { message } from '../v0-socketio/join.ts';
import { listOf, openPage, ORIGIN, readAll, upload, type Page, readAs025, readAs062, type FrameReader } from './page.ts';

interface Release {
  readonly name: string;
  readonly read: FrameReader;
  /** How many conversations its panel asks for. */
  readonly limit: number;
  /** What it says of itself when it connects. */
  readonly query: Readonly<Record<string, string>>;
  readonly says: 'oh_action' | 'oh_user_action';
  readonly statuses: readonly string[];
  /** What it asks of a conversation beside what all do. */
  readonly panels: readonly string[];
  readonly canRename: boolean;
}

const RELEASES: readonly Release[] = [
  {
    name: '0.25',
    read: readAs025,
    limit: 9,
    query: {},
    says: 'oh_action',
    statuses: ['RUNNING', 'STOPPED'],
    panels: [],
    canRename: true,
  },
  {
    name: '0.40',
    read: readAs062,
    limit: 20,
    query: { providers_set: '', session_api_key: 'null' },
    says: 'oh_user_action',
    statuses: ['STARTING', 'RUNNING', 'STOPPED'],
    panels: ['web-hosts', 'git/changes', 'microagents'],
    canRename: false,
  },
  {
    name: '0.62',
    read: readAs062,
    limit: 10,
    query: { providers_set: '', session_api_key: 'null' },
    says: 'oh_user_action',
    statuses: ['STARTING', 'RUNNING', 'STOPPED', 'ARCHIVED', 'ERROR'],
    panels: ['config', 'web-hosts', 'git/changes', 'microagents', 'remember-prompt?event_id=1'],
    canRename: true,
  },
];

/** Frontends with conversations, each from its first load to the deletion of what it made. */
export const openhandsPages: readonly Check[] = RELEASES.map((release) => ({
  id: `v0-rest/page-${release.name}`,
  title: `the frontend of ${release.name} gets through all of its calls and frames, and finds in each what it takes apart`,
  cites: ['DL125'],
  isAlone: true,
  async run(target) {
    const page = openPage(target);
    await load(page, release);
    const id = await begin(target, page);
    const peer = target.connect.socketIo({
      query: { latest_event_id: '-1', conversation_id: id, ...release.query },
      says: release.says,
      origin: ORIGIN,
    });
    await peer.frames.until('the end of the first task', isState('awaiting_user_input', 'finished'), {
      from: peer.frames.all.indexOf(await peer.frames.until('its command', isObservation('run'))),
    });
    await drive(target, peer);
    await lookAround(page, `/api/conversations/${id}`, release);
    readAll(peer, release.read);
    await leave(page, id, release);
  },
}));

async function load(page: Page, { limit }: Release): Promise<void> {
  const config = await page.ask('GET', '/api/options/config');
  assert.equal(String(config.APP_MODE), 'oss');
  hasTypes(config.FEATURE_FLAGS, { ENABLE_BILLING: 'boolean', HIDE_LLM_SETTINGS: 'boolean' }, 'FEATURE_FLAGS');
  const settings = await page.ask('GET', '/api/settings');
  hasTypes(settings, { llm_model: 'string', agent: 'string', language: 'string', provider_tokens_set: 'object' }, 'settings');
  for (const name of ['models', 'agents', 'security-analyzers']) isTexts(await page.ask('GET', `/api/options/${name}`), name);
  // The form and the question about analytics both send everything that they were shown.
  const { llm_api_key: _masked, ...shown } = settings as unknown as Record<string, unknown>;
  await page.ask('POST', '/api/settings', { body: { ...shown, search_api_key: '', user_consents_to_analytics: false } });
  listOf((await page.ask('GET', `/api/conversations?limit=${limit}`)).results, 'results');
}

async function begin(target: Target, page: Page): Promise<string> {
  const steps = [
    { call: 'execute_bash', args: { command: 'printf "a line\\n" > made.txt; echo made' } },
    { call: 'execute_bash', args: { command: 'cat missing.txt' } },
    { call: 'finish', args: { message: 'It is made.' } },
  ];
  const body = { initial_user_msg: target.model.script(steps), image_urls: [] };
  const id = String((await page.ask('POST', '/api/conversations', { body })).conversation_id);
  target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${id}`)));
  return id;
}

/** Chat, terminal, pause, resume, stop. */
async function drive(target: Target, { frames, send }: Peer): Promise<void> {
  const from = frames.all.length;
  send({ action: 'run', args: { command: 'echo typed', hidden: false } });
  await frames.until('the terminal', (frame) => frame.observation === 'run' && /typed/.test(String(frame.content)), { from });
  send(message(target.model.script([{ call: 'execute_bash', args: { command: 'sleep 2' } }, { text: 'Waited.' }])));
  const slow = await frames.until('the slow command', isAction('run'), { from: frames.all.length });
  send({ action: 'change_agent_state', args: { agent_state: 'paused' } });
  const paused = await frames.until('paused', isState('paused'), { from: frames.all.indexOf(slow) });
  send({ action: 'change_agent_state', args: { agent_state: 'running' } });
  const rest = await frames.until('rest', isState('awaiting_user_input', 'finished'), { from: frames.all.indexOf(paused) });
  send({ action: 'change_agent_state', args: { agent_state: 'stopped' } });
  await frames.until('stopped', isState('stopped'), { from: frames.all.indexOf(rest) });
}

async function lookAround(page: Page, base: string, { panels, statuses }: Release): Promise<void> {
  const info = await page.ask('GET', base);
  hasTypes(info, { conversation_id: 'string', title: 'string', last_updated_at: 'string', url: 'string|null' }, 'conversation');
  assert.ok(statuses.includes(String(info.status)), `status ${String(info.status)}`);
  assert.ok(info.runtime_status, 'runtime_status is empty: later pages would not connect');
  isTexts(await page.ask('GET', `${base}/list-files`), 'list-files');
  assert.equal(String((await page.ask('GET', `${base}/select-file?file=made.txt`)).code), 'a line\n');
  hasTypes(await page.ask('GET', `${base}/vscode-url`), { vscode_url: 'string|null' }, 'vscode-url');
  for (const panel of panels) SHAPES[panel.split('?')[0]!]!(await page.ask('GET', `${base}/${panel}`));
  const taken = await page.ask('POST', `${base}/upload-files`, { body: upload('given.txt', 'given') });
  assert.match(String(listOf(taken.uploaded_files, 'uploaded_files')[0]), /given\.txt$/);
  listOf(taken.skipped_files, 'skipped_files');
  const zip = await page.try('GET', `${base}/zip-directory`);
  assert.equal(zip.headers.get('content-type'), 'application/zip');
  listOf((await page.ask('GET', `${base}/trajectory`)).trajectory, 'trajectory');
  const feedback = { version: '1.0', email: 'a@example.com', polarity: 'positive', permissions: 'private', trajectory: [], token: '' };
  const stored = await page.ask('POST', `${base}/submit-feedback`, { body: feedback });
  hasTypes(stored.body, { message: 'string', feedback_id: 'string', password: 'string' }, 'feedback');
}

const SHAPES: Readonly<Record<string, (body: ServerJson) => void>> = {
  config: (body) => hasTypes(body, { runtime_id: 'string|null' }, 'config'),
  'web-hosts': (body) => hasTypes(body, { hosts: 'object' }, 'web-hosts'),
  'git/changes': (body) => void listOf(body, 'git/changes'),
  microagents: (body) => void listOf(body.microagents, 'microagents'),
  'remember-prompt': (body) => hasTypes(body, { prompt: 'string' }, 'remember-prompt'),
};

async function leave(page: Page, id: string, { canRename, limit }: Release): Promise<void> {
  const base = `/api/conversations/${id}`;
  if (canRename) await page.ask('PATCH', base, { body: { title: 'A name of its own' } });
  const { results } = await page.ask('GET', `/api/conversations?limit=${limit}`);
  const listed = listOf(results, 'results').find(({ conversation_id: one }) => String(one) === id);
  hasTypes(listed, { title: 'string', status: 'string', created_at: 'string', selected_repository: 'string|null' }, 'listed');
  if (canRename) assert.equal(String(listed!.title), 'A name of its own');
  await page.ask('DELETE', base);
  assert.equal((await page.try('GET', base)).text, 'null');
}
