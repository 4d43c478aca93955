import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { extrasOf, isObservation, type Frame } from '../../../target/frames.ts';
import type { Target } from '../../../target/target.ts';
import { joinNew } from '../join.ts';

/** A file with these lines, a draft for some of them, and what the model writes for it: the observation, and the file then. */
async function drafted(target: Target, name: string, lines: readonly string[], written: string): Promise<{ edit: Frame; text: string }> {
  // The file has the words by which the scripted model knows that this request is its own.
  const words = target.model.script([], { text: written });
  const { peer } = await joinNew(target);
  const path = `/tmp/${name}`;
  const asked = async (frame: object, kind: string): Promise<Frame> => {
    const from = peer.frames.all.length;
    peer.send(frame);
    return peer.frames.until(`the ${kind}`, (one) => isObservation(kind)(one) || isObservation('error')(one), { from });
  };
  await asked({ action: 'write', args: { path, content: `${[`# ${words}`, ...lines].join('\n')}\n` } }, 'write');
  const content = `# ${words}\n${lines[0]}`;
  const edit = await asked({ action: 'edit', args: { path, content, start: 1, end: 2, impl_source: 'llm_based_edit' } }, 'edit');
  const read = await asked({ action: 'run', args: { command: `tail -n +2 ${path}` } }, 'run');
  return { edit, text: String(read.content).trim() };
}

/** Edits that the conversation's model writes out. */
export const drafts: readonly Check[] = [
  {
    id: 'v0-socketio/draft-written',
    title: 'an `llm_based_edit` of some lines is written out by the model, and no other line changes',
    cites: ['RT190'],
    async run(target) {
      const { edit, text } = await drafted(target, 'draft.py', ['a = 1', 'b = 2'], '```python\n# written\na = 3\n```');
      assert.equal(edit.observation, 'edit', String(edit.content).slice(0, 150));
      assert.equal(extrasOf(edit).impl_source, 'llm_based_edit');
      assert.equal(text, 'a = 3\nb = 2');
    },
  },
  {
    id: 'v0-socketio/draft-refused',
    title: 'a draft that would break a file that parsed is not written; the answer has the diff',
    cites: ['RT193'],
    async run(target) {
      const { edit, text } = await drafted(target, 'refused.py', ['a = 1', 'b = 2'], '```python\n# written\na = (3\n```');
      assert.match(String(edit.content), /ERROR[^]*\+a = \(3/);
      assert.equal(text, 'a = 1\nb = 2');
    },
  },
  {
    id: 'v0-socketio/draft-none',
    title: 'a model that writes no block changes nothing, and that is an error',
    cites: ['RT194'],
    async run(target) {
      const { edit, text } = await drafted(target, 'none.py', ['a = 1', 'b = 2'], 'I would rather not.');
      assert.match(String(edit.content), /ERROR/);
      assert.equal(text, 'a = 1\nb = 2');
    },
  },
];
