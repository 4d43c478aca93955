import type { Clock } from '../../async/clock.ts';
import type { LlmProvider, LlmRequest } from '../llm-provider.ts';
import { createScriptedProvider, type ScriptedAnswer } from '../scripted-provider.ts';
import type { DemoMove, DemoSkill } from './demo-skill.ts';
import { FILE_SKILLS, SYSTEM_SKILLS } from './file-skills.ts';
import { readRequest, type DemoTurn } from './read-request.ts';
import { SCRIPT_SKILLS } from './script-skills.ts';

/** The first skill that understands the request is used: the particular ones stand before the general ones. */
const SKILLS: readonly DemoSkill[] = [...SCRIPT_SKILLS, ...FILE_SKILLS, ...SYSTEM_SKILLS];

/**
 * Requests that it understands, as it names them.
 * @internal
 */
export const DEMO_EXAMPLES: readonly string[] = SKILLS.map(({ example }) => example);

const WHO = 'I am a scripted demonstration, not a language model: I know a few kinds of requests and really carry them out in the sandbox.';
const HOW = 'For a real model set LLM_MODEL and LLM_API_KEY (or choose one in the settings).';

/**
 * Works without any model: recognises a few kinds of plain requests and does them with the agent's own tools,
 * deciding each step by the results so far. A pure function of the request's messages.
 */
export function createDemoProvider({ clock }: { readonly clock?: Clock } = {}): LlmProvider {
  return createScriptedProvider(answerDemo, { model: 'demo', ...(clock && { clock }) });
}

/** What the demonstration answers to this request. */
function answerDemo(request: LlmRequest): ScriptedAnswer {
  const turn = readRequest(request);
  const move = nextMove(turn);
  if (move.type === 'say') return { text: `${WHO}\n\n${move.text}\n\n${HOW}` };
  if (move.type === 'finish') return finish(move, request);
  if (!request.tools.some(({ name }) => name === move.tool)) {
    return { text: `${WHO}\n\nFor this I need the tool ${move.tool}, and the agent does not offer it.\n\n${HOW}` };
  }
  const isFirst = turn.results.length === 0;
  return { text: isFirst ? `${WHO} ${HOW}\n\n${move.thought}` : move.thought, toolCalls: [{ name: move.tool, arguments: move.args }] };
}

const MAX_TASK_LENGTH = 4_000;

function nextMove(turn: DemoTurn): DemoMove {
  if (turn.task.length > MAX_TASK_LENGTH)
    return { type: 'say', text: `The request is longer than ${MAX_TASK_LENGTH} characters; I only read short ones.` };
  for (const skill of SKILLS) {
    const move = skill.next(turn);
    if (move) return move;
  }
  const examples = DEMO_EXAMPLES.map((example) => `- ${example}`).join('\n');
  const start = turn.task === '' ? 'There is no request yet.' : 'I did not understand that request.';
  return { type: 'say', text: `${start} These I can do:\n\n${examples}` };
}

function finish(move: Extract<DemoMove, { type: 'finish' }>, request: LlmRequest): ScriptedAnswer {
  const message = `${move.message}\n\nThis was the scripted demonstration. ${HOW}`;
  const tool = request.tools.find(({ name }) => name === 'finish');
  if (!tool) return { text: message };
  const properties = tool.parameters.properties;
  const declaresCompleted = typeof properties === 'object' && properties !== null && 'task_completed' in properties;
  const completed = declaresCompleted ? { task_completed: move.ok ? 'true' : 'false' } : {};
  return { toolCalls: [{ name: 'finish', arguments: { message, ...completed } }] };
}
