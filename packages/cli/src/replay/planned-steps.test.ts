import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEvents } from '@tendon/server/headless';
import { expect, it, onTestFinished } from 'vitest';
import { plannedSteps } from './planned-steps.ts';

it('TJ17: what was turned down is no step, and what cannot be the same twice is left out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-steps-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'trajectory.jsonl');
  const events = [
    { id: 10, source: 'user', action: 'message', args: { content: 'do it' } },
    { id: 11, source: 'agent', action: 'run', args: { command: 'rm -r x', confirmation_state: 'awaiting_confirmation' } },
    { id: 12, source: 'agent', cause: 11, observation: 'user_rejected', content: 'no', extras: {} },
    { id: 13, source: 'agent', action: 'browse', args: { url: 'http://example.org' } },
    { id: 14, source: 'agent', action: 'run', args: { command: 'ls' } },
    { id: 15, source: 'agent', cause: 14, observation: 'run', content: 'a', extras: { command: 'ls' } },
    { id: 16, source: 'agent', action: 'run', args: { command: 'ls', confirmation_state: 'awaiting_confirmation' } },
    { id: 17, source: 'agent', action: 'run', args: { command: 'pwd', confirmation_state: 'awaiting_confirmation' } },
    { id: 18, source: 'agent', cause: 17, observation: 'null', content: '', extras: {} },
    { id: 19, source: 'agent', action: 'run', args: { command: 'pwd', confirmation_state: 'confirmed' } },
    { id: 20, source: 'agent', cause: 19, observation: 'run', content: '/workspace', extras: { command: 'pwd' } },
  ];
  writeFileSync(path, events.map((event) => JSON.stringify(event)).join('\n'));
  const steps = await plannedSteps(await readEvents({ id: 'x', path, kind: 'trajectory' }), (problem) => expect.fail(problem));
  expect(steps).toMatchObject([
    { event: 3, left: expect.stringContaining('web pages') as string, recorded: undefined },
    { event: 4, left: undefined, recorded: { content: 'a' } },
    { event: 9, left: undefined, recorded: { content: '/workspace' } },
  ]);
});
