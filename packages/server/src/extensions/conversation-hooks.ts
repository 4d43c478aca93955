import type { HookAnswer, HookEvent, HookMoment, Hooks } from '@tendon/core';
import { cutMiddle } from '@tendon/protocol';
import type { Mask } from '@tendon/protocol/masking';
import { z } from 'zod';
import { isAbout, type ConfiguredHook } from './hook-file.ts';
import { installedHooks } from './installed-hooks.ts';
import { runProgram, TOO_MUCH, type ProgramOutcome } from './run-program.ts';

export interface HookParts {
  readonly home: string;
  readonly mask: Pick<Mask, 'text'>;
  /** One sentence for the clients that watch, once for each problem. */
  readonly onProblem: (sentence: string) => void;
}

/** The exit code of a hook that blocks. */
const BLOCKED = 2;
/** What of an observation a hook is given. */
const MAX_CONTENT_CHARS = 32_000;
/** What of a hook the model is shown. */
const MAX_WORDS_CHARS = 8_000;
const MAX_REASON_CHARS = 2_000;

const HookWords = z.strictObject({
  decision: z.enum(['ask', 'block']).optional(),
  reason: z.string().optional(),
  context: z.string().optional(),
});

/** What one hook says. */
interface Spoken {
  readonly decision: HookAnswer['decision'];
  readonly reason: string;
  readonly context: string;
}

/** The hooks of the user, as one conversation asks them: one after another, until one blocks. */
export async function conversationHooks(conversationId: string, { home, mask, onProblem }: HookParts): Promise<Hooks> {
  let configured: readonly ConfiguredHook[] = [];
  const reported = new Set<string>();
  const hooks: Hooks = {
    async refresh() {
      const installed = await installedHooks(home);
      // A guard does not go away with a typing error, or while its file is being written.
      const stays = installed.problems.length > 0 && configured.length > 0;
      if (!stays) configured = installed.hooks;
      const rest = stays ? ' Those that were read before go on in this conversation.' : '';
      const report = (problem: string, consequence: string): void => {
        if (!reported.has(problem)) onProblem(problem + consequence);
        reported.add(problem);
      };
      for (const problem of installed.problems) report(problem, rest);
      for (const problem of installed.pluginProblems) report(problem, '');
    },
    has: (moment) => configured.some((hook) => hook.moment === moment),
    async run(event, { signal }) {
      const input = mask.text(JSON.stringify(inputOf(conversationId, event)));
      const names = event.action ? namesOf(event.action) : [];
      const words: string[] = [];
      const problems: string[] = [];
      let asked: Spoken | undefined;
      for (const hook of configured.filter(({ moment }) => moment === event.moment)) {
        if (!isAbout(hook, names)) continue;
        const answer = understood(event.moment, await runProgram({ ...shell(hook), input, signal }));
        if ('failure' in answer) {
          const consequence = hook.blocksOnFailure ? 'blocks' : 'does not count';
          problems.push(`The hook “${hook.name}” (${event.moment}) failed and ${consequence}: ${answer.failure}.`);
          if (!hook.blocksOnFailure) continue;
          return { decision: 'block', reason: `the hook “${hook.name}” blocks it, because it failed: ${answer.failure}`, words, problems };
        }
        const context = event.moment === 'after_action' && answer.decision === 'block' ? answer.reason : answer.context;
        if (context !== '') words.push(`[Hook “${hook.name}”]\n${cutMiddle(context, { limit: MAX_WORDS_CHARS })}`);
        const named = { ...answer, reason: `the hook “${hook.name}” ${VERBS[answer.decision]}: ${answer.reason}` };
        if (answer.decision === 'block') return { ...named, words, problems };
        if (answer.decision === 'ask') asked ??= named;
      }
      return { decision: asked?.decision ?? 'go_on', reason: asked?.reason ?? '', words, problems };
    },
  };
  await hooks.refresh();
  return hooks;
}

const VERBS = { go_on: 'allows it', ask: 'asks', block: 'blocks it' } as const;

function shell({ command, folder, env, timeoutMs }: ConfiguredHook) {
  return { program: '/bin/sh', args: ['-c', command], folder, env, timeoutMs };
}

function inputOf(conversation_id: string, { moment, action, observation }: HookEvent): unknown {
  return {
    hook: moment,
    conversation_id,
    ...(action && { action: { action: action.action, args: action.args } }),
    ...(observation && {
      observation: {
        observation: observation.observation,
        content: cutMiddle(observation.content, { limit: MAX_CONTENT_CHARS }),
        exit_code: exitCodeOf(observation),
      },
    }),
  };
}

function exitCodeOf({ observation, extras }: NonNullable<HookEvent['observation']>): number | undefined {
  return observation === 'run' ? (extras as { readonly metadata: { readonly exit_code: number } }).metadata.exit_code : undefined;
}

/** The kind of the action, and the name of an MCP tool. */
function namesOf({ action, args }: NonNullable<HookEvent['action']>): readonly string[] {
  return action === 'call_tool_mcp' && 'name' in args ? [action, String(args.name)] : [action];
}

function understood(moment: HookMoment, outcome: ProgramOutcome): Spoken | { readonly failure: string } {
  if ('failure' in outcome) return outcome;
  const { exitCode } = outcome;
  const [stdout, stderr] = [outcome.stdout.text, outcome.stderr.text];
  if (exitCode === BLOCKED) return { decision: 'block', reason: reasonIn(stderr), context: '' };
  if (outcome.stdout.isCut) return { failure: TOO_MUCH };
  if (exitCode !== 0) return { failure: `it ended with exit code ${exitCode}${stderr.trim() && `: ${reasonIn(stderr)}`}` };
  if (stdout.trim() === '') return { decision: 'go_on', reason: '', context: '' };
  const { success, data } = HookWords.safeParse(parsed(stdout));
  if (!success) return { failure: 'it printed something other than {"decision": "ask" or "block", "reason": …, "context": …}' };
  const { decision = 'go_on', reason = '', context = '' } = data;
  if (decision === 'ask' && moment !== 'before_action') return { failure: 'it asks, which counts before an action only' };
  return { decision, reason: reasonIn(reason), context: context.trim() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Without the full stop: a sentence ends with it. */
function reasonIn(text: string): string {
  const words = text.trim().replace(/\.$/, '');
  return words === '' ? 'it gave no reason' : cutMiddle(words, { limit: MAX_REASON_CHARS });
}
