import type { LinesToEdit } from '@tendon/protocol/executor-api';
import { EditObservation, type Action } from '@tendon/protocol';
import type { ExecuteOptions, ExecuteResult, RunnableAction, Runtime } from '../sandbox/runtime.ts';
import { askAside, type AsidePorts } from './ask-aside.ts';
import type { LoopPorts } from './ports.ts';
import type { LlmAnswer, LlmRequest } from '../llm/llm-provider.ts';
import type { AddedCost } from './host-capabilities.ts';

export type DraftedResult = ExecuteResult & { readonly spent?: AddedCost };

export function needsModel(action: RunnableAction): action is Action<'edit'> {
  return action.action === 'edit' && action.args.impl_source === 'llm_based_edit';
}

/**
 * `edit` with `impl_source: llm_based_edit`: its content is a draft ("… rest as before …") that a model writes out for the lines
 * it is about. The model is here and the file is in the sandbox, so the lines come out, and go back in with the version they
 * were taken from; a file that has changed meanwhile is not edited. Nothing of this is in the log but the observation, which
 * carries what the call cost. Never rejects for the model's sake: what it does not do is reported by an observation, and the file
 * stays as it is.
 */
export async function executeDraftedEdit(
  ports: AsidePorts & Pick<LoopPorts, 'aborts'>,
  runtime: Runtime,
  action: Action<'edit'>,
  options: ExecuteOptions,
): Promise<DraftedResult> {
  const { path, start, end, content } = action.args;
  const signal = AbortSignal.any([options.signal, ports.aborts.closing]);
  const found = await runtime.files
    .linesToEdit(path, { start, end }, { signal })
    .catch((error: unknown): LinesToEdit => ({ state: 'refused', reason: error instanceof Error ? error.message : String(error) }));
  // An action that may have been dispatched is only asked for: a cancelled one is not sent again.
  if (signal.aborted && options.isFresh !== true) return runtime.execute(action, options);
  if (signal.aborted) return { outcome: 'not-started', reason: 'it was cancelled' };
  if (found.state === 'refused') return refused(path, found.reason);
  if (found.state === 'none') return runtime.execute(action, options);
  const drafted = await askModel(ports, { path, draft: content, lines: found }, signal);
  if ('aborted' in drafted && options.isFresh !== true) return runtime.execute(action, options);
  if ('aborted' in drafted) return { outcome: 'not-started', reason: 'it was cancelled' };
  if ('failure' in drafted) return { ...refused(path, drafted.failure), ...(drafted.spent && { spent: drafted.spent }) };
  const args = { ...action.args, drafted: { text: drafted.text, version: found.version } };
  return { ...(await runtime.execute({ ...action, args }, options)), spent: drafted.spent };
}

type Drafted =
  | { readonly text: string; readonly spent: AddedCost }
  | { readonly failure: string; readonly spent?: AddedCost }
  | { readonly aborted: true };

async function askModel(ports: AsidePorts, about: Parameters<typeof draftRequest>[0], signal: AbortSignal): Promise<Drafted> {
  const aside = await askAside(ports, draftRequest(about), signal);
  if (aside.type === 'aborted') return { aborted: true };
  if (aside.type === 'failed') return { failure: aside.why };
  const text = linesOfAnswer(aside.answer);
  const { spent } = aside;
  return text === undefined ? { failure: 'the model did not write the lines out.', spent } : { text, spent };
}

function refused(path: string, reason: string): ExecuteResult {
  const extras = { path, prev_exist: false, impl_source: 'llm_based_edit' } as const;
  return { outcome: 'observed', observation: EditObservation.create(`ERROR:\nThe file ${path} was not edited: ${reason}`, extras) };
}

export interface DraftSubject {
  readonly path: string;
  /** As the agent wrote it: parts left out, marked by comments. */
  readonly draft: string;
  readonly lines: Extract<LinesToEdit, { state: 'lines' }>;
}

const INSTRUCTIONS = `You merge a draft into a part of a file.
You are given lines of the file and a draft of what they shall become. The draft may leave out what stays, with comments such as
"# no changes before", "// ... existing code ..." or "# rest unchanged". Write these lines out as they shall be: all that the draft
changes, and, letter by letter, all that it leaves out. Keep indentation, comments and blank lines. Write nothing that is outside
the given lines, no line numbers and no explanations. Answer with one fenced code block that holds the lines and nothing else.
Should no line be left, answer with an empty block.`;

/**
 * The request that has a model write a draft out.
 * @internal
 */
export function draftRequest({ path, draft, lines }: DraftSubject): LlmRequest {
  const fence = fenceFor(draft + lines.text);
  const text = `Lines ${lines.first} to ${lines.last} of ${path}:
${fence}
${withEnd(lines.text)}${fence}

The draft of what they shall become:
${fence}
${withEnd(draft)}${fence}`;
  return {
    messages: [
      { role: 'system', text: INSTRUCTIONS },
      { role: 'user', text },
    ],
    tools: [],
  };
}

/**
 * The lines in an answer; nothing when it was cut off, calls tools or holds no block. Fences inside the block belong to it.
 * @internal
 */
export function linesOfAnswer({ text, finishReason, toolCalls }: LlmAnswer): string | undefined {
  if (finishReason !== 'stop' || toolCalls.length > 0) return undefined;
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const first = lines.findIndex((line) => FENCE.test(line));
  const last = lines.findLastIndex((line) => FENCE.test(line));
  if (first < 0 || last <= first) return undefined;
  return lines
    .slice(first + 1, last)
    .map((line) => `${line}\n`)
    .join('');
}

const FENCE = /^\s*`{3,}[\w+#.-]*\s*$/;

/** Longer than any in the text. */
function fenceFor(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  return '`'.repeat(Math.max(3, longest + 1));
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
