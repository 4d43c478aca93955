import { describe, expect, it } from 'vitest';
import { ACTIONS, AGENT_STATES, eventsDoc, fromJson, isUnknown, OBSERVATIONS, type Frame } from '@tendon/protocol';
import { DOCUMENT } from './document.ts';
import { EVERY_KIND, UNKNOWN } from './every-kind.ts';
import { nameOf, typeProblems, type Fact } from './facts.ts';

const BASE = { id: 'number', timestamp: 'string', source: 'string', message: 'string' };
const EMITTED = EVERY_KIND.filter((event) => event !== UNKNOWN).map((event) => eventsDoc.encode(event, 'live')[0]!);

function factOf(frame: Frame): Fact {
  const isAction = frame.action !== undefined;
  const body = isAction ? 'args' : 'extras';
  const inner = Object.entries(DOCUMENT[nameOf(frame)] ?? {}).flatMap(([type, keys]) =>
    keys.split(' ').map((key): [string, string] => [`${body}.${key}`, type]),
  );
  const own: Readonly<Record<string, string>> = isAction
    ? { action: 'string', args: 'object' }
    : { observation: 'string', content: 'string', extras: 'object' };
  const outer = { ...BASE, ...own };
  return { keys: Object.keys(outer), types: { ...outer, ...Object.fromEntries(inner) } };
}

function has(frame: Frame, path: string): boolean {
  let value: unknown = frame;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !(key in value)) return false;
    value = (value as Frame)[key];
  }
  return true;
}

describe('events-doc against the letter of openhands-events.md', () => {
  it('DL31: every kind is shown, as one of the sixteen actions and fifteen observations', () => {
    expect(EMITTED).toHaveLength(EVERY_KIND.length - 1);
    expect(new Set(EMITTED.map(nameOf))).toEqual(new Set(Object.keys(DOCUMENT)));
  });

  it('DL31: a kind of later date keeps its name and arguments beside', () => {
    const event = fromJson({
      id: 1,
      timestamp: '',
      source: 'agent',
      action: 'call_tool_mcp',
      args: { name: 'fetch', arguments: { a: 1 } },
    });
    expect(eventsDoc.encode(event, 'live')).toMatchObject([
      { action: 'think', args: { kind: 'call_tool_mcp', name: 'fetch', arguments: { a: 1 }, thought: expect.stringContaining('fetch') } },
    ]);
  });

  it('DL91: INIT is told once, beside the introduction, without an id', () => {
    const all = EVERY_KIND.flatMap((event) => eventsDoc.encode(event, 'live'));
    expect(all.filter((frame) => (frame.extras as Frame | undefined)?.agent_state === 'INIT' && frame.id === undefined)).toEqual([
      expect.objectContaining({ observation: 'agent_state_changed', source: 'environment', content: '', message: '' }),
    ]);
  });

  it('DL92: a null action comes back, then its observation', () => {
    const decoded = eventsDoc.decode({ action: 'null' });
    expect(decoded.type === 'answer' && decoded.frames('2026-11-21T10:00:00.123Z')).toEqual([
      { timestamp: '2026-11-21T10:00:00Z', message: '', source: 'user', action: 'null', args: {} },
      { timestamp: '2026-11-21T10:00:00Z', message: '', source: 'environment', observation: 'null', content: '', extras: {} },
    ]);
  });

  it('DL93: a condensation is a summarize with the summary', () => {
    const event = fromJson({ id: 3, timestamp: '', source: 'agent', action: 'condensation', args: { summary: 'in short' } });
    expect(eventsDoc.encode(event, 'live')).toMatchObject([{ action: 'summarize', args: { summary: 'in short', kind: 'condensation' } }]);
  });

  it('DL32: every documented key is there with the documented type', () => {
    const missing = EMITTED.flatMap((frame) =>
      Object.keys(factOf(frame).types).flatMap((path) => (has(frame, path) ? [] : [`${nameOf(frame)} ${path}`])),
    );
    expect(missing).toEqual([]);
    expect(EMITTED.flatMap((frame) => typeProblems(frame, factOf(frame)))).toEqual([]);
  });

  it.each(AGENT_STATES)('DL33: state %s is upper case out, and read back', (agent_state) => {
    const meta = { id: 1, timestamp: '2026-11-21T10:00:00.123Z', source: 'agent' };
    const observed = fromJson({ ...meta, observation: 'agent_state_changed', extras: { agent_state } });
    expect(eventsDoc.encode(observed, 'live')).toMatchObject([{ extras: { agent_state: agent_state.toUpperCase() } }]);
    const asked = fromJson({ ...meta, action: 'change_agent_state', args: { agent_state } });
    const [frame] = eventsDoc.encode(asked, 'live');
    expect(frame).toMatchObject({ args: { agent_state: agent_state.toUpperCase() } });
    expect(eventsDoc.decode(frame)).toMatchObject({ type: 'action', action: { args: { agent_state } } });
  });

  it('DL34: recalls have the document’s names, knowledge has both', () => {
    const meta = { id: 1, timestamp: '2026-11-21T10:00:00.123Z', source: 'environment' };
    const names = ['workspace_context', 'knowledge', 'default'].map((recall_type) => {
      const [frame] = eventsDoc.encode(fromJson({ ...meta, observation: 'recall', content: '', extras: { recall_type } }), 'replay');
      return (frame!.extras as Frame).recall_type;
    });
    expect(names).toEqual(['environment_info', 'knowledge_microagent', 'default']);
    const knowledge = EMITTED.flatMap((frame) => ((frame.extras as Frame | undefined)?.microagent_knowledge as Frame[] | undefined) ?? []);
    expect(knowledge).toMatchObject([
      { name: 'docker', agent_name: 'docker', trigger: 'docker', trigger_word: 'docker', content: 'Use compose.' },
    ]);
  });

  it('DL35: timestamps have whole seconds and a Z', () => {
    expect(new Set(EMITTED.map((frame) => frame.timestamp))).toEqual(new Set(['2026-11-21T10:00:00Z']));
  });

  it('DL36: nothing is hidden, live or replayed, and the source is the stored one', () => {
    const event = fromJson({ id: 1, timestamp: '', source: 'environment', action: 'change_agent_state', args: { agent_state: 'running' } });
    expect(eventsDoc.encode(event, 'live')).toMatchObject([{ source: 'environment' }]);
    expect(eventsDoc.encode(event, 'replay')).toMatchObject([{ source: 'environment' }]);
  });

  it('DL37: what it shows can be sent back: every documented action is understood', () => {
    const actions = EMITTED.filter((frame) => frame.action !== undefined && frame.action !== 'null');
    expect(actions.filter((frame) => eventsDoc.decode(frame).type !== 'action')).toEqual([]);
    expect(eventsDoc.decode({ action: 'null' }).type).toBe('answer');
  });

  it('DL9: the table of the document names no kind that we lack', () => {
    const ours = [
      ...Object.keys(ACTIONS).map((kind) => `action ${kind}`),
      ...Object.keys(OBSERVATIONS).map((kind) => `observation ${kind}`),
    ];
    expect(Object.keys(DOCUMENT).filter((kind) => !ours.includes(kind))).toEqual([]);
    expect(eventsDoc.encode(UNKNOWN, 'live')).toHaveLength(isUnknown(UNKNOWN) ? 1 : 0);
  });
});
