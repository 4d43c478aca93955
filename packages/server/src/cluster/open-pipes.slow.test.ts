import { expect, it, onTestFinished } from 'vitest';
import type { ServerNode } from '@tendon/core';
import { OpenPipes } from './open-pipes.ts';

const server: ServerNode = { id: 'new', url: 'http://127.0.0.1:1', takesConversations: true, load: 0 };

function pipes(lists: readonly (readonly ServerNode[])[]) {
  const [asked, cuts]: [number[], string[]] = [[], []];
  const open = new OpenPipes({ servers: async () => lists[Math.min(asked.push(asked.length), lists.length) - 1]! });
  onTestFinished(() => open.close());
  open.add(server, (why) => void cuts.push(why));
  return { asked, cuts };
}

it('SV1211: what leads to a server that began after the servers were last listed is not cut, and is once that has left', async () => {
  const { asked, cuts } = pipes([[], [], [server], [server], []]);
  await expect.poll(() => asked.length).toBeGreaterThan(3);
  expect(cuts).toEqual([]);
  await expect.poll(() => cuts).toContain('gone');
  expect(asked.length).toBeGreaterThan(4);
});

it('SV1211: what leads to a server that never was among them is cut', async () => {
  const { cuts } = pipes([[]]);
  await expect.poll(() => cuts).toContain('gone');
});
