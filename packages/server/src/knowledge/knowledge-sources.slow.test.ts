import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { itInFull, someOf } from '@tendon/testing';
import type { Clock } from '@tendon/core';
import { expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { socketIoClient, temporaryFolder, testServer, type WireFrame } from '../server.test-support.ts';

function put(base: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
}

function repository(folder: string): void {
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder });
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', 'https://someone:ghp_0123456789@git.example.com/acme/app.git');
  git('add', '.');
  git('commit', '-qm', 'one');
}

const done = { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] };
/** The model waits for what is read in a sandbox as long as a busy machine takes (EN125). */
const patientClock: Clock = { ...systemClock, sleep: (ms, options) => systemClock.sleep(ms * 10, options) };
const isRecall = ({ observation }: WireFrame): boolean => observation === 'recall';

it.each(someOf(['local', 'none'], ['local']))(
  'EN801, EN802: with RUNTIME=%s the first recall holds what a survey of the workspace finds',
  async (RUNTIME) => {
    const base = temporaryFolder();
    put(base, { 'app/src/deep/AGENTS.md': 'Only functions.', 'app/a.txt': 'one', 'app/node_modules/x/y/AGENTS.md': 'Not ours.' });
    repository(join(base, 'app'));
    put(base, { 'app/a.txt': 'two', 'app/new.txt': '' });
    const server = await testServer({ env: { WORKSPACE_BASE: base, RUNTIME }, script: [done], clock: patientClock });
    await server.post('/api/secrets', { name: 'DEPLOY_KEY', value: 'hunter2-hunter2', description: 'deploys the site' });
    const { frames, send } = await socketIoClient(server, { conversation_id: await server.create() });
    send({ action: 'run', args: { command: 'true' } });
    await frames.until(({ observation }) => observation === 'run', 'the sandbox');
    send({ action: 'message', args: { content: 'deploy it' } });
    const { extras } = await frames.until(isRecall, 'the recall');
    const state = RUNTIME === 'none' ? '' : ', 1 changed and 1 new files';
    expect(extras).toMatchObject({
      repo_name: 'acme/app',
      repo_branch: 'main',
      repo_directory: expect.stringMatching(/\/app$/) as string,
      custom_secrets_descriptions: { DEPLOY_KEY: 'deploys the site' },
      additional_agent_instructions: expect.stringMatching(
        new RegExp(`Git: acme/app in \\S+, on main${state}\nSystem: .*\nPrograms: .*git \\d`),
      ) as string,
    });
    expect(String(extras!.additional_agent_instructions)).toContain('app/src/deep/AGENTS.md');
    expect(JSON.stringify(frames.all)).not.toMatch(/hunter2|ghp_0123456789|Not ours/);
  },
);

itInFull('EN806: a skill of the user is listed, and its files are in the sandbox when the agent uses it', async () => {
  const [home, base] = [temporaryFolder(), temporaryFolder()];
  put(home, {
    'skills/release/SKILL.md': '---\ndescription: How a release is made.\n---\nRun tag.sh.',
    'skills/release/bin/tag.sh': 'git tag',
  });
  put(base, { 'a.txt': '' });
  const uses = { toolCalls: [{ name: 'use_skill', arguments: { name: 'release' } }] };
  const server = await testServer({ home, env: { WORKSPACE_BASE: base, RUNTIME: 'local' }, script: [uses, done] });
  const id = await server.create({ initial_user_msg: 'release it' });
  const { frames } = await socketIoClient(server, { conversation_id: id });
  await frames.untilState('finished');
  const recalls = frames.all.filter(isRecall);
  expect(recalls[0]!.extras!.additional_agent_instructions).toContain('- release: How a release is made.');
  expect(recalls[1]!.extras!.microagent_knowledge).toMatchObject([{ name: 'release', content: 'Run tag.sh.' }]);
  expect(existsSync(join(base, '.tendon/skills/release/bin/tag.sh'))).toBe(true);
  const { microagents } = (await (await server.get(`/api/conversations/${id}/microagents`)).json()) as { microagents: unknown[] };
  expect(microagents).toMatchObject([{ name: 'release', type: 'knowledge', triggers: ['/release'] }]);
});
