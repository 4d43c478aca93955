import { createMemoryStorage } from '@tendon/core/storage';
import { AgentStateChangedObservation, MessageAction, RunAction, RunObservation, ThinkAction, WriteAction } from '@tendon/protocol';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { systemClock as clock } from '../platform/system-clock.ts';
import { markdownText } from './markdown-text.ts';

it('EV933: a conversation as Markdown has its messages, actions and results, and nothing breaks out of its block', async () => {
  const log = await createMemoryStorage({ clock }).events.open('c');
  const outcome = (content: string, hidden = false) => RunObservation.create(content, { command: 'x', hidden, metadata: { exit_code: 0 } });
  await log.append(
    [
      { source: 'user', ...MessageAction.create({ content: 'Print *it*.' }) },
      { source: 'agent', ...ThinkAction.create({ thought: 'A plan.' }) },
      { source: 'agent', ...RunAction.create({ command: 'cat a.md', thought: 'I look.' }) },
      { source: 'agent', ...outcome('```\n# Not a heading\n```\n') },
      { source: 'agent', ...RunAction.create({ command: 'secret', hidden: true }) },
      { source: 'agent', ...outcome('secret', true) },
      { source: 'agent', ...outcome('x'.repeat(5_000)) },
      { source: 'agent', ...MessageAction.create({ content: 'Done.' }) },
      { source: 'environment', ...AgentStateChangedObservation.create('', { agent_state: 'error', reason: 'No more money.' }) },
    ],
    { expectedId: 0 },
  );
  const text = await textOf(Readable.from(markdownText(log)));
  const [before, after] = text.split(/x{1000,}\n.*\nx{1000,}/s);
  expect(before).toBe(
    '# Conversation c\n\n## User\n\nPrint *it*.\n\nA plan.\n\nI look.\n\n```sh\ncat a.md\n```\n\n````\n```\n# Not a heading\n```\n````\n\n```\n',
  );
  expect(after).toBe('\n```\n\n## Agent\n\nDone.\n\n**Error:** No more money.\n');
  expect(text.length).toBeLessThan(4_500);
});

it('SV1300: it names who wrote a message, and who approved or rejected an action', async () => {
  const log = await createMemoryStorage({ clock }).events.open('c');
  const author = { id: 'u1', name: 'Ada *L*' };
  await log.append(
    [
      { source: 'user', author, ...MessageAction.create({ content: 'Go.' }) },
      { source: 'agent', author, ...RunAction.create({ command: 'ls', confirmation_state: 'confirmed' }) },
      { source: 'agent', author, ...RunAction.create({ command: 'rm x', confirmation_state: 'rejected' }) },
    ],
    { expectedId: 0 },
  );
  const name = 'Ada \\*L\\*';
  expect(await textOf(Readable.from(markdownText(log)))).toBe(
    `# Conversation c\n\n## ${name}\n\nGo.\n\n\`\`\`sh\nls\n\`\`\`\n\n*Approved by ${name}.*\n\n\`\`\`sh\nrm x\n\`\`\`\n\n*Rejected by ${name}.*\n`,
  );
});

it('EV933: an action with very many marks of code is written too', async () => {
  const log = await createMemoryStorage({ clock }).events.open('c');
  await log.append([{ source: 'agent', ...WriteAction.create({ path: 'a', content: '`a'.repeat(300_000) }) }], { expectedId: 0 });
  expect(await textOf(Readable.from(markdownText(log)))).toContain('**write**\n\n```json\n');
});
