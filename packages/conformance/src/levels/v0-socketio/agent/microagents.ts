import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { extrasOf, isObservation, type Frame } from '../../../target/frames.ts';
import type { Target } from '../../../target/target.ts';
import { joinNew, type JoinedConversation } from '../join.ts';
import { has, request, spoken } from './talk.ts';

const FILE = `---
name: conformance-types
type: knowledge
agent: CodeActAgent
version: 1.0.0
triggers:
- zebra-crossing
---
Stripes are drawn first.`;

/** A conversation whose workspace has this file, before its first message. */
async function withFile(target: Target, path: string, text: string): Promise<JoinedConversation> {
  const ready = await joinNew(target);
  const folder = path.slice(0, path.lastIndexOf('/'));
  ready.peer.send({ action: 'run', args: { command: `mkdir -p ${folder} && cat > ${path} <<'END'\n${text}\nEND` } });
  await ready.peer.frames.until('the file', isObservation('run'));
  return ready;
}

const recalls = (frames: readonly Frame[]): readonly Frame[] => frames.filter(isObservation('recall'));

/** Microagents: Markdown with front matter in the workspace. */
export const microagents: readonly Check[] = [
  {
    id: 'v0-socketio/knowledge',
    title: 'a message with a trigger word brings the knowledge of the workspace’s microagent, whatever its case, and once',
    cites: ['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'EN120', 'EN123', 'O11', 'Q25', 'Q26', 'Q45', 'Q61'],
    async run(target) {
      const ready = await withFile(target, '.openhands/microagents/types.md', FILE);
      await spoken(target, [{ text: 'hello' }], { ready });
      const ask = async (words: string) => {
        const from = ready.peer.frames.all.length;
        const content = `${target.model.script([{ text: 'well' }])} ${words}`;
        ready.peer.send({ action: 'message', args: { content } });
        await ready.peer.frames.until('the answer', ({ action, source }) => action === 'message' && source === 'agent', { from });
        return { frames: ready.peer.frames.all.slice(from), content };
      };
      const first = await ask('about the Zebra-Crossing');
      const [knowledge] = recalls(first.frames).map((frame) => extrasOf(frame).microagent_knowledge as readonly Frame[]);
      assert.equal(knowledge?.[0]?.name, 'conformance-types', JSON.stringify(knowledge));
      assert.match(String(knowledge[0].content), /Stripes are drawn first/);
      assert.equal(knowledge[0].trigger, 'zebra-crossing');
      has(await request(target, { ready, words: first.content, from: 0 }, 0), 'Stripes are drawn first');
      const second = await ask('again the zebra-crossing');
      assert.deepEqual(
        recalls(second.frames).filter((frame) => (extrasOf(frame).microagent_knowledge as readonly Frame[]).length > 0),
        [],
      );
    },
  },
  {
    id: 'v0-socketio/instructions',
    title: 'a microagent without trigger words is shown with the first message',
    cites: ['EN120', 'EN122', 'O8'],
    async run(target) {
      const ready = await withFile(target, '.openhands/microagents/repo.md', '---\nname: repo\ntype: repo\n---\nOnly-ever-in-rhymes.');
      const talk = await spoken(target, [{ text: 'well' }], { ready });
      assert.match(String(extrasOf(recalls(talk.frames)[0]!).repo_instructions), /Only-ever-in-rhymes/);
      has(await request(target, talk, 0), 'Only-ever-in-rhymes');
    },
  },
  {
    id: 'v0-socketio/knowledge-damaged',
    title: 'front matter that cannot be read costs only itself',
    cites: ['EN121'],
    async run(target) {
      const ready = await withFile(
        target,
        '.openhands/microagents/bad.md',
        '---\nname: [unclosed\ntriggers: {\n---\nText of the damaged one.',
      );
      await spoken(target, [{ text: 'well' }], { ready });
    },
  },
];
