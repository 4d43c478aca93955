import { describe, expect, it } from 'vitest';
import { ACTIONS, AGENT_STATES, eventsDoc, fromJson, isUnknown, OBSERVATIONS, type Frame } from '@tendon/protocol';
import { DOCUMENT, letterProblems } from '../../packages/conformance/src/levels/events-doc/letter.ts';
import { EVERY_KIND, UNKNOWN } from './every-kind.ts';
import { nameOf } from './facts.ts';

const EMITTED = EVERY_KIND.filter((event) => event !== UNKNOWN).map((event) => eventsDoc.encode(event, 'live')[0]!);

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

  it('DL91: INIT is sent once, beside the introduction, without an id', () => {
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

  it('DL32: every documented key is there with the documented type, and of an enumeration a word that it lists', () => {
    expect(EMITTED.flatMap(letterProblems)).toEqual([]);
  });

  it('DL178: an edit has strings for the content before and after, and a command of the list', () => {
    const meta = { id: 1, timestamp: '', source: 'agent' };
    const extras = { path: '/workspace/a', prev_exist: false, old_content: null, new_content: null };
    const failed = fromJson({ ...meta, observation: 'edit', content: 'ERROR', extras });
    expect(eventsDoc.encode(failed, 'live')).toMatchObject([{ extras: { prev_exist: false, old_content: '', new_content: '' } }]);
    const drafted = fromJson({ ...meta, action: 'edit', args: { path: '/workspace/a', impl_source: 'llm_based_edit', content: 'x' } });
    const [frame] = eventsDoc.encode(drafted, 'live');
    expect(frame).toMatchObject({ args: { command: 'write', impl_source: 'llm_based_edit' } });
    expect(eventsDoc.decode(frame)).toMatchObject({ type: 'action', action: { args: { impl_source: 'llm_based_edit', content: 'x' } } });
  });

  it('DL179: the prompt is no message of the agent: it comes as `null`, its words beside', () => {
    const event = fromJson({ id: 1, timestamp: '', source: 'agent', action: 'system', args: { content: 'You are a careful engineer.' } });
    expect(eventsDoc.encode(event, 'live')[0]).toMatchObject({
      action: 'null',
      message: '',
      args: { kind: 'system', content: 'You are a careful engineer.' },
    });
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
