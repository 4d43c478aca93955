import { expect, it } from 'vitest';
import { V2Updates } from './v2-updates.ts';

const words = (text: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }) as const;
const idOf = (update: unknown) => (update as { readonly messageId: string }).messageId;

it('CK1002: pieces that follow each other are one message, and what comes after a prompt is another one', () => {
  const updates = new V2Updates();
  const [first, second] = [updates.of(words('It is ')), updates.of(words('done.'))];
  expect(idOf(second)).toBe(idOf(first));
  const asked = updates.asked([{ type: 'text', text: 'and now?' }]);
  const third = updates.of(words('Now too.'));
  expect(new Set([first, asked, third].map(idOf)).size).toBe(3);
});

it('CK1002: the name of a file is a name in its patch, whatever stands in it', () => {
  const update = new V2Updates().of({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call',
    content: [{ type: 'diff', path: '/w/a\n+++ b/etc/"x\\', oldText: 'old\n', newText: 'new' }],
  });
  const { content } = update as unknown as { readonly content: readonly [{ readonly patch: { readonly text: string } }] };
  const name = String.raw`w/a\n+++ b/etc/\"x\\`;
  const head = `diff --git "a/${name}" "b/${name}"\n--- "a/${name}"\n+++ "b/${name}"\n`;
  expect(content[0].patch.text).toBe(`${head}@@ -1,1 +1,1 @@\n-old\n+new\n\\ No newline at end of file\n`);
});
