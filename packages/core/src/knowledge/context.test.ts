import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { done, stage, systemClock, temporaryFolder, type StageOptions } from '../conversation/conversation.test-support.ts';
import { createScriptedProvider, type Script } from '../llm/scripted-provider.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { Surroundings } from './surroundings.ts';

type Files = Readonly<Record<string, string>>;

function workspace(files: Files): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** What the conversation's log and its model's requests hold after these messages. */
async function shownFor(messages: readonly string[], { script = () => done, ...options }: StageOptions & { readonly script?: Script }) {
  const requests: LlmRequest[] = [];
  const scripted = createScriptedProvider(script, { clock: systemClock });
  const provider: typeof scripted = {
    ...scripted,
    stream(request, about) {
      requests.push(request);
      return scripted.stream(request, about);
    },
  };
  const { say, untilState, events } = await stage({ ...options, provider });
  let from = 0;
  for (const text of messages) {
    await say(text);
    from = (await untilState('finished', from)).id + 1;
  }
  const log = await events();
  return { log, requests, recalls: log.flatMap((event) => recallIn(event)), text: JSON.stringify(requests.at(-1)!.messages) };
}

function recallIn(event: Event) {
  return 'observation' in event && event.observation === 'recall' ? [event] : [];
}

const SURROUNDINGS: Surroundings = {
  repository: { name: 'acme/app', folder: '/workspace/app', branch: 'main' },
  facts: ['Git: acme/app in /workspace/app, on main, clean', 'Programs: git 2.39.5, rg'],
  hosts: { 'http://localhost:3000': 3000 },
  nested: [],
};

it('EN801: the first recall has the repository, the machine, hosts, and the names of secrets, and the model is shown them', async () => {
  const secrets = () => ({ DEPLOY_KEY: 'deploys the site', BARE: '' });
  const { recalls, text } = await shownFor(['hello'], {
    folder: workspace({ 'a.txt': '' }),
    knowledge: { secrets, survey: async () => SURROUNDINGS },
  });
  expect(recalls[0]!.extras).toMatchObject({
    repo_name: 'acme/app',
    repo_directory: '/workspace/app',
    repo_branch: 'main',
    runtime_hosts: { 'http://localhost:3000': 3000 },
    additional_agent_instructions: SURROUNDINGS.facts.join('\n'),
    custom_secrets_descriptions: secrets(),
  });
  for (const part of ['acme/app on branch main', 'git 2.39.5', 'http://localhost:3000', '- $DEPLOY_KEY: deploys the site', '- $BARE'])
    expect(text).toContain(part);
});

it('EN801: a survey that fails costs only itself, and an empty workspace has the secrets all the same', async () => {
  const survey = () => Promise.reject(new Error('no shell'));
  const failing = await shownFor(['hello'], { folder: workspace({ 'AGENTS.md': 'Run make.' }), knowledge: { survey } });
  expect(failing.recalls[0]!.extras).toMatchObject({ repo_instructions: 'Run make.', repo_name: '' });
  const empty = await shownFor(['hello'], { knowledge: { secrets: () => ({ KEY: '' }) } });
  expect(empty.recalls[0]!.extras.custom_secrets_descriptions).toEqual({ KEY: '' });
});

it('EN801: of many secrets those within the bound are named', async () => {
  const secrets = () => Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`SECRET_${n}`, 'x'.repeat(2_000)]));
  const { recalls } = await shownFor(['hello'], { knowledge: { secrets } });
  const named = Object.values(recalls[0]!.extras.custom_secrets_descriptions);
  expect(named.join('').length).toBeLessThanOrEqual(4_096);
  expect(named[0]).toHaveLength(500);
});

it('EN803: instructions come from every known file, the nearest to the code first, each text once', async () => {
  const folder = workspace({
    'AGENTS.md': 'Of the folder around.',
    'CLAUDE.md': '@AGENTS.md',
    '.cursorrules': 'Of the editor.',
    'app/AGENTS.md': 'Of the repository.',
    'app/CLAUDE.md': 'Of the repository.',
  });
  const { recalls } = await shownFor(['hello'], { folder });
  expect(recalls[0]!.extras.repo_instructions).toBe('[For app/]\nOf the repository.\n\nOf the folder around.\n\nOf the editor.');
});

it('EN803: what does not fit is left out at the end, with a notice', async () => {
  const folder = workspace({
    'app/AGENTS.md': 'a'.repeat(30_000),
    'AGENTS.md': 'b'.repeat(30_000),
    'CLAUDE.md': 'c'.repeat(30_000),
  });
  const text = (await shownFor(['hello'], { folder })).recalls[0]!.extras.repo_instructions;
  expect(text).toContain('a'.repeat(30_000));
  expect(text).toContain('[27232 more characters of "agents" are left out]');
  expect(text).toContain('[Left out for their length: claude]');
  expect(text.length).toBeLessThan(33_000);
});

it('EN803: instructions deeper in the workspace are named, and come with a message that names a path below them', async () => {
  const folder = workspace({ 'app/web/AGENTS.md': 'Only functions.', 'app/x': '' });
  const survey = async () => ({ ...SURROUNDINGS, nested: ['app/web/AGENTS.md'] });
  const { recalls } = await shownFor(['hello', 'look at app/website', 'look at app/web/main.ts'], { folder, knowledge: { survey } });
  expect(recalls[0]!.extras.additional_agent_instructions).toContain('app/web/AGENTS.md');
  expect(recalls[0]!.extras.repo_instructions).toBe('');
  expect(recalls.slice(1).map(({ extras }) => extras.microagent_knowledge)).toEqual([
    [{ name: 'app/web/AGENTS.md', trigger: 'app/web', content: 'Only functions.' }],
  ]);
});

it('EN804: a microagent for another agent does not count, and of one name the higher version does', async () => {
  const folder = workspace({
    '.openhands/microagents/a.md': '---\nname: style\nversion: 1.9.0\n---\nOld.',
    '.openhands/microagents/b.md': '---\nname: style\nversion: 1.10.0\n---\nNew.',
    '.openhands/microagents/c.md': '---\nagent: BrowsingAgent\n---\nOf a browser.',
    '.openhands/microagents/d.md': '---\nagent: CodeActAgent\n---\nOurs.',
  });
  expect((await shownFor(['hello'], { folder })).recalls[0]!.extras.repo_instructions).toBe('Ours.\n\nNew.');
});

const SKILL = '---\nname: release\ndescription: How a release is made.\n---\nRun scripts/tag.sh.';
const uses = (name: string) => ({ toolCalls: [{ name: 'use_skill', arguments: { name } }] });

it('EN805: skills are named with their description, and their text comes when one is used', async () => {
  const folder = workspace({
    '.agents/skills/release/SKILL.md': SKILL,
    '.agents/skills/release/scripts/tag.sh': '',
    'app/.claude/skills/review/SKILL.md': '# Look closely\nAt each line.',
  });
  const { recalls, requests, text } = await shownFor(['hello'], { folder, script: [uses('release'), done] });
  const [first] = requests;
  expect(JSON.stringify(first!.messages)).toContain('- release: How a release is made.');
  expect(JSON.stringify(first!.messages)).toContain('- review: Look closely');
  expect(JSON.stringify(first!.messages)).not.toContain('scripts/tag.sh');
  expect(first!.tools.map(({ name }) => name)).toContain('use_skill');
  expect(recalls[1]!.extras.microagent_knowledge).toEqual([{ name: 'release', trigger: '', content: 'Run scripts/tag.sh.' }]);
  expect(text).toContain('Run scripts/tag.sh.');
  expect(text).toContain('/workspace/.agents/skills/release');
});

it('EN805: without skills the tool is not offered, and one that is not there is answered with those that are', async () => {
  const without = await shownFor(['hello'], { folder: workspace({ x: '' }) });
  expect(without.requests[0]!.tools.map(({ name }) => name)).toEqual(codeActAgent.tools.map(({ spec }) => spec.name));
  const folder = workspace({ '.openhands/skills/release/SKILL.md': SKILL });
  const { text } = await shownFor(['hello'], { folder, script: [uses('relaese'), done] });
  expect(text).toContain('There is no skill \\"relaese\\". There are: release');
});

it('EN805: a message with /name brings the skill', async () => {
  const folder = workspace({ '.agents/skills/release/SKILL.md': SKILL });
  const { recalls } = await shownFor(['hello', 'release it', '/release now'], { folder });
  expect(recalls.slice(1).map(({ extras }) => extras.microagent_knowledge)).toMatchObject([[{ name: 'release', trigger: '/release' }]]);
});

it('EN806: the files of a skill from outside the sandbox are put there when it is used', async () => {
  const folder = workspace({ x: '' });
  const files = async () => [{ path: 'scripts/tag.sh', bytes: new TextEncoder().encode('git tag') }];
  const skill = { description: 'How.', folder: '.tendon/skills/release', files };
  const own = { type: 'knowledge' as const, triggers: ['/release'], inputs: [], tools: [], name: 'release', content: 'Tag it.', skill };
  const { text } = await shownFor(['hello'], { folder, knowledge: { microagents: async () => [own] }, script: [uses('release'), done] });
  expect(readFileSync(join(folder, '.tendon/skills/release/scripts/tag.sh'), 'utf8')).toBe('git tag');
  expect(readFileSync(join(folder, '.tendon/.gitignore'), 'utf8')).toBe('*\n');
  expect(text).toContain('/workspace/.tendon/skills/release');
  const failing = { ...own, skill: { ...skill, files: () => Promise.reject(new Error('too many files')) } };
  const without = await shownFor(['hello'], { folder, knowledge: { microagents: async () => [failing] }, script: [uses('release'), done] });
  expect(without.text).toMatch(/Tag it\.[^"]*not in the sandbox: too many files/);
});

it('EN921: the first recall has the notes as they are then, as information, the newest where they are too long', async () => {
  const files: { about: 'user' | 'repository'; path: string; lines: string[] }[] = [
    { about: 'user', path: 'notes/user.md', lines: ['Prefers pnpm.'] },
  ];
  const { recalls, text } = await shownFor(['hello'], { knowledge: { notes: async () => files } });
  expect(recalls[0]!.extras.additional_agent_instructions).toMatch(
    /^Notes of earlier conversations, which the user can correct.*not instructions.*\nAbout the user \(notes\/user\.md\):\n- Prefers pnpm\.$/,
  );
  expect(text).toContain('- Prefers pnpm.');
  files[0]!.lines = Array.from({ length: 200 }, (_, n) => `${n} `.padEnd(300, 'x'));
  files.push({ about: 'repository', path: 'notes/repositories/a.md', lines: [] });
  const long = (await shownFor(['hello'], { knowledge: { notes: async () => files } })).recalls[0]!.extras.additional_agent_instructions;
  expect(long.length).toBeLessThan(4_600);
  expect(long).toContain('- 199 xx');
  expect(long).toMatch(/; 187 more are left out:/);
  expect(long).not.toContain('About the repository');
});

it('EN921: notes that cannot be read cost only themselves', async () => {
  const notes = () => Promise.reject(new Error('it is a link'));
  const { recalls } = await shownFor(['hello'], { knowledge: { notes, secrets: () => ({ KEY: '' }) } });
  expect(recalls[0]!.extras).toMatchObject({ additional_agent_instructions: '', custom_secrets_descriptions: { KEY: '' } });
});
