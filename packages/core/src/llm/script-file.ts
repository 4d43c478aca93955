import { ERRORS } from '@tendon/protocol';
import { type Script, type ScriptedStep, createScriptedProvider, playList } from './scripted-provider.ts';
import type { Clock } from '../async/clock.ts';
import { failure } from './classify-failure.ts';
import type { LlmProvider } from './llm-provider.ts';

/** An answer of a script file may be played several times; `{i}` in its texts is the round, from 1. */
type FileStep = ScriptedStep & { readonly times?: number };

const MAX_STEPS = 100_000;

/**
 * Reads a script from its JSON text: a list of steps, `{"answers": [...]}`, or `{"tasks": [{"task": "words", "answers": [...]}]}`.
 * Throws an Error that names the fault and quotes nothing of the file.
 * @internal
 */
export function parseScript(json: string): Script {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new Error('the script is not JSON');
  }
  if (isObject(parsed) && Array.isArray(parsed.tasks)) return scriptOfTasks(parsed.tasks);
  return playList(stepsOf(parsed));
}

/** Conversations about different tasks each have answers of their own: those of the longest `task` that a message of the user holds. */
function scriptOfTasks(tasks: readonly unknown[]): Script {
  const scripts = tasks
    .map((entry, index) => {
      if (!isObject(entry) || typeof entry.task !== 'string') throw new Error(`entry ${index} of the script names no "task"`);
      return { task: entry.task, play: playList(stepsOf(entry)) };
    })
    .toSorted((a, b) => b.task.length - a.task.length);
  return (request, index) => {
    const holds = (task: string): boolean => request.messages.some(({ role, text }) => role === 'user' && text.includes(task));
    const found = scripts.find(({ task }) => holds(task));
    return found ? found.play(request, index) : { failure: 'LLM_FAILED', detail: 'the script has no such task', retryable: false };
  };
}

function stepsOf(parsed: unknown): ScriptedStep[] {
  const steps = isObject(parsed) ? parsed.answers : parsed;
  if (!Array.isArray(steps)) throw new Error('the script is not a list of answers, nor an object with "answers"');
  const script = steps.flatMap((step, index) => repeated(checked(step, index)));
  if (script.length > MAX_STEPS) throw new Error(`the script has more than ${MAX_STEPS} steps`);
  return script;
}

function checked(step: unknown, index: number): FileStep {
  if (!isObject(step)) throw new Error(`step ${index} of the script is not an object`);
  const known = 'text' in step || 'toolCalls' in step || 'failure' in step;
  if (!known) throw new Error(`step ${index} of the script has none of "text", "toolCalls", "failure"`);
  if ('failure' in step && !Object.hasOwn(ERRORS, String(step.failure)))
    throw new Error(`"failure" of step ${index} of the script is not a known code`);
  if ('toolCalls' in step && !Array.isArray(step.toolCalls)) throw new Error(`"toolCalls" of step ${index} of the script is not a list`);
  if ('times' in step && !(Number.isInteger(step.times) && Number(step.times) >= 0 && Number(step.times) <= MAX_STEPS)) {
    throw new Error(`"times" of step ${index} of the script is not a number of rounds`);
  }
  return step as FileStep;
}

function repeated({ times, ...step }: FileStep): ScriptedStep[] {
  if (times === undefined) return [step];
  return Array.from({ length: times }, (_, round) => numbered(step, round + 1) as ScriptedStep);
}

function numbered(value: unknown, round: number): unknown {
  if (typeof value === 'string') return value.replaceAll('{i}', String(round));
  if (Array.isArray(value)) return value.map((item) => numbered(item, round));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, numbered(item, round)]));
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Plays `scripted/<path>`; the file is read at the first request. */
export function createScriptFileProvider(model: string, clock: Clock): LlmProvider {
  const path = model.slice('scripted/'.length);
  let loading: Promise<LlmProvider> | undefined;
  const load = async () => {
    const { readFile } = await import('node:fs/promises');
    return createScriptedProvider(parseScript(await readFile(path, 'utf8')), { clock, model });
  };
  return {
    model,
    contextWindow: undefined,
    scripted: true,
    async *stream(request, options) {
      let provider: LlmProvider;
      try {
        provider = await (loading ??= load());
      } catch (error) {
        loading = undefined;
        yield { type: 'failed', failure: failure('LLM_FAILED', `the script ${path}: ${(error as Error).message}`, false) };
        return;
      }
      yield* provider.stream(request, options);
    },
  };
}
