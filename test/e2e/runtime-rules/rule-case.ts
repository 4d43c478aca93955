/**
 * One rule of docs/spec/runtime.md as a row: what a model (or a client) does, and exactly what it is answered. The words to write
 * rows with: `rule('RT20', 'what it shows', run('cd a', ''), run('pwd', '/workspace/a'))`.
 */
export interface RuleCase {
  readonly rule: string;
  readonly says: string;
  readonly steps: readonly Step[];
}

export interface Step {
  /** `agent`: the scripted model calls a tool. `client`: a person's client sends the action. */
  readonly by: 'agent' | 'client';
  /** The tool or the action. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly expected: Expected;
}

/** What is compared of the observation. Texts are compared whole; of the rest only what is named here. */
export interface Expected {
  readonly observation?: string;
  readonly content?: string | RegExp;
  readonly exitCode?: number;
  readonly prefix?: string | RegExp;
  readonly suffix?: string | RegExp;
  /** The shell's folder; null while it cannot be known. */
  readonly folder?: string | null;
  /** What a cell says of its folder and interpreter. */
  readonly place?: string | RegExp;
  readonly success?: boolean;
  /** Fields of the extras; a RegExp is one for a text. */
  readonly extras?: Readonly<Record<string, unknown>>;
}

/** A text or a pattern alone is about the content of something that went well. */
export type Answer = string | RegExp | Expected;

export function rule(id: string, says: string, ...steps: readonly Step[]): RuleCase {
  return { rule: id, says, steps };
}

export function run(command: string, answer: Answer, args: { readonly timeout?: number } = {}): Step {
  return step('agent', 'execute_bash', { command, ...args }, { observation: 'run', ...(isContent(answer) && { exitCode: 0 }) }, answer);
}

/** Text or a key for the command that runs; empty waits for its output. */
export function input(command: string, answer: Answer): Step {
  return step('agent', 'execute_bash', { command, is_input: 'true' }, { observation: 'run' }, answer);
}

export function cell(code: string, answer: Answer, args: { readonly timeout?: number } = {}): Step {
  const went = isContent(answer) && { success: true };
  return step('agent', 'execute_ipython_cell', { code, ...args }, { observation: 'run_ipython', ...went }, answer);
}

export function editor(command: string, path: string, answer: Answer, args: Readonly<Record<string, unknown>> = {}): Step {
  const observation = command === 'view' ? 'read' : 'edit';
  return step('agent', 'str_replace_editor', { command, path, ...args }, { observation }, answer);
}

/** The words of `browse_interactive`; what they did is in the extras. */
export function browser(code: string, answer: Answer): Step {
  return step('agent', 'browser', { code }, { observation: 'browse' }, answer);
}

export function webRead(url: string, answer: Answer): Step {
  return step('agent', 'web_read', { url }, { observation: 'browse' }, answer);
}

/** An action as a client sends it; the observation is of the same kind where none is named. */
export function client(action: string, args: Readonly<Record<string, unknown>>, answer: Answer): Step {
  return step('client', action, args, { observation: action }, answer);
}

function isContent(answer: Answer): answer is string | RegExp {
  return typeof answer === 'string' || answer instanceof RegExp;
}

function step(by: Step['by'], name: string, args: Step['args'], usual: Expected, answer: Answer): Step {
  return { by, name, args, expected: { ...usual, ...(isContent(answer) ? { content: answer } : answer) } };
}
