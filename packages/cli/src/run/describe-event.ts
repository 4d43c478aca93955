import type { Action, Event, Observation } from '@tendon/protocol';
import { diffLines } from './diff-lines.ts';
import { printable } from '../terminal/printable.ts';

/**
 * A piece of the story. `speech` is the agent's own words, `act` what it does, `output` what came back, `fault` what went wrong, the last
 * three a changed file.
 */
export interface Line {
  readonly tone: 'speech' | 'act' | 'output' | 'fault' | 'state' | 'added' | 'removed' | 'context';
  readonly text: string;
}

/** What an event says to somebody who watches; nothing for what only the engine needs. */
export function describeEvent(event: Event): readonly Line[] {
  if ('unknown' in event) return [];
  return ('action' in event ? describeAction(event) : describeObservation(event)).filter(({ text }) => text !== '');
}

/** The act in a few words, for the status line: "Running npm test". */
export function describeAct(event: Action): string {
  switch (event.action) {
    case 'run':
      return `Running ${firstLine(event.args.command)}`;
    case 'read':
      return event.args.search
        ? `Searching for ${firstLine(event.args.search.pattern)}`
        : `Reading ${firstLine(shownPath(event.args.path))}`;
    case 'write':
      return `Writing ${firstLine(shownPath(event.args.path))}`;
    case 'edit':
      return `Editing ${firstLine(shownPath(event.args.path))}`;
    case 'task_tracking':
      return 'Planning';
    default:
      return NAMED[event.action]?.(event as never) ?? 'Working';
  }
}

/** What is done, where its name alone would say little. */
const NAMED: Partial<Record<string, (event: never) => string>> = {
  run_ipython: ({ args }: Action<'run_ipython'>) => `Python: ${firstLine(args.code)}`,
  browse: ({ args }: Action<'browse'>) => `Opening ${firstLine(args.url)}`,
  browse_interactive: ({ args }: Action<'browse_interactive'>) => `In the browser: ${firstLine(args.browser_actions)}`,
  call_tool_mcp: ({ args }: Action<'call_tool_mcp'>) => `Tool ${firstLine(args.name)}`,
  delegate: ({ args }: Action<'delegate'>) => `Delegating to ${firstLine(args.agent)}: ${firstLine(String(args.inputs.task ?? ''))}`,
  condensation: ({ args }: Action<'condensation'>) => (args.undoes === undefined ? 'Shortened the history' : 'Lengthened the history'),
  kill: ({ args }: Action<'kill'>) => `Ending command ${firstLine(args.id)}`,
};

function describeAction(event: Action): Line[] {
  if (event.source !== 'agent') return [];
  const thought: Line[] = 'thought' in event.args && event.action !== 'think' ? [speech(String(event.args.thought))] : [];
  switch (event.action) {
    case 'message':
      return [speech(event.args.content)];
    case 'run':
      return [...thought, act(`$ ${event.args.command}`)];
    case 'read':
    case 'write':
    case 'edit':
      return thought; // whether it was done is in its observation
    case 'think':
      return [{ tone: 'state', text: printable(event.args.thought).trim() }];
    case 'finish':
      return [...thought, speech(event.args.final_thought)];
    case 'reject':
      return [...thought, { tone: 'fault', text: `Declined: ${printable(String(event.args.outputs.reason ?? ''))}` }];
    case 'task_tracking':
      return [...thought, ...planLines(event)];
    case 'system':
    case 'recall':
    case 'change_agent_state':
      return [];
    default:
      return [...thought, act(NAMED[event.action]?.(event as never) ?? event.action.replaceAll('_', ' '))];
  }
}

function describeObservation(event: Observation): Line[] {
  switch (event.observation) {
    case 'run': {
      const { exit_code: code, suffix } = event.extras.metadata;
      const output: Line = { tone: 'output', text: printable(event.content).trimEnd() };
      if (code === 0) return [output];
      return [output, { tone: 'fault', text: code > 0 ? `exit ${code}` : printable(suffix).trim() || 'still running' }];
    }
    case 'read':
      return [readLine(event)];
    case 'write':
      return [fileLine(event, 'Wrote', 'write')];
    case 'edit': {
      if (!event.extras.prev_exist) return [fileLine(event, 'Wrote', 'edit')];
      const { total, lines } = diffLines(event.extras.diff ?? '');
      return [fileLine(event, 'Edited', 'edit', total), ...lines];
    }
    case 'run_ipython':
    case 'mcp':
      return [{ tone: 'output', text: printable(event.content).trimEnd() }];
    case 'browse': {
      const { error, last_browser_action_error: why, title = '', url } = event.extras;
      const page = printable([title, url].filter(Boolean).join(' · '));
      return [
        error || why
          ? {
              tone: 'fault',
              text: printable(why || event.content)
                .trim()
                .split('\n', 1)[0]!,
            }
          : { tone: 'output', text: page },
      ];
    }
    case 'user_rejected':
      return [{ tone: 'state', text: 'Rejected' }];
    case 'restore_checkpoint':
      return [{ tone: 'state', text: printable(event.content).trim() }];
    case 'error':
      return [{ tone: 'fault', text: printable(event.content).trim() }];
    case 'agent_state_changed':
      return describeState(event);
    default:
      return [];
  }
}

const MARKS: Readonly<Record<string, string>> = { done: '✓', in_progress: '›' };

/** The plan as it is saved, a line for each task; nothing when it is only looked at. */
function planLines({ args: { command, task_list: tasks } }: Action<'task_tracking'>): Line[] {
  if (command !== 'plan') return [];
  const done = tasks.filter(({ status }) => status === 'done').length;
  const lines = tasks.map(({ status, title }): Line => ({ tone: 'state', text: `  ${MARKS[status] ?? '·'} ${printable(title).trim()}` }));
  return [act(`Plan: ${done} of ${tasks.length} done`), ...lines];
}

type FileObservation = Observation<'read'> | Observation<'write'> | Observation<'edit'>;

function readLine(event: Observation<'read'>): Line {
  const { search } = event.extras;
  return search ? fileLine(event, `Searched for ${search.pattern} in`, 'search') : fileLine(event, 'Read', 'read');
}

function fileLine({ content, extras }: FileObservation, done: string, verb: string, detail = ''): Line {
  const path = printable(shownPath(extras.path));
  const [, problem] = /^ERROR:\s*(.*)/s.exec(content) ?? [];
  if (problem === undefined) return act(`${done} ${path}${detail}`);
  return { tone: 'fault', text: `Could not ${verb} ${path}: ${printable(problem).trim()}` };
}

/** The sandbox's own name of the folder says nothing to a person who stands in it. */
function shownPath(path: string): string {
  return path.startsWith('/workspace/') ? path.slice('/workspace/'.length) : path;
}

function describeState({ extras, content }: Observation<'agent_state_changed'>): Line[] {
  switch (extras.agent_state) {
    case 'error':
      return [{ tone: 'fault', text: `Stopped: ${printable(content || extras.reason).trim()}` }];
    case 'rate_limited':
      return [
        { tone: 'state', text: `${printable(content || 'The provider failed').trim()} Trying again at ${timeOf(extras.resumes_at)}` },
      ];
    case 'stopped':
      return [{ tone: 'state', text: 'Stopped by you' }];
    case 'paused':
      return [{ tone: 'fault', text: `Paused: ${printable(content || extras.reason).trim() || 'no reason was given'}` }];
    case 'awaiting_user_confirmation':
      return [
        {
          tone: 'fault',
          text: 'Waiting for a decision',
        },
      ];
    default:
      return [];
  }
}

const speech = (text: string): Line => ({ tone: 'speech', text: printable(text).trim() });
const act = (text: string): Line => ({ tone: 'act', text: printable(text).trim() });

function timeOf(iso: string | undefined): string {
  return iso === undefined ? 'a later time' : new Date(iso).toLocaleTimeString('en-GB');
}

function firstLine(text: string): string {
  const [line = ''] = printable(text).trim().split('\n', 1);
  return line.length > 60 ? `${line.slice(0, 60).toWellFormed()}…` : line;
}
