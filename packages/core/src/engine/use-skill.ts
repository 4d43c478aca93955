import { ErrorObservation, RecallObservation, type Action, type ObservationDraft } from '@tendon/protocol';
import type { Microagent, Skill } from '../knowledge/microagent.ts';
import type { Runtime } from '../sandbox/runtime.ts';
import { WORKSPACE } from '../prompt/excerpt.ts';
import type { LoopPorts } from './ports.ts';

const WRITE_MS = 15_000;
/** Keeps what is put there out of what the user commits. */
const IGNORE = '.tendon/.gitignore';

/** The whole text of a skill, whose files are in the sandbox from then on. */
export async function usedSkill(
  { library, sandbox, aborts }: Pick<LoopPorts, 'library' | 'sandbox' | 'aborts'>,
  { args: { query } }: Action<'recall'>,
): Promise<ObservationDraft> {
  const { microagents } = await library.load();
  const skills = microagents.filter(({ skill }) => skill !== undefined);
  const found = skills.find(({ name }) => name === query.trim().replace(/^\//, ''));
  if (!found?.skill) return failure(`There is no skill "${query.slice(0, 100)}". There are: ${skills.map(({ name }) => name).join(', ')}`);
  const { signal, end } = aborts.beginAction();
  try {
    const problem = found.skill.files ? await bring(found.skill, sandbox, signal) : undefined;
    const content = problem === undefined ? skillText(found) : `${found.content}\n\n[Its other files are not in the sandbox: ${problem}]`;
    return RecallObservation.create(content, {
      recall_type: 'knowledge',
      microagent_knowledge: [{ name: found.name, trigger: '', content: found.content }],
    });
  } finally {
    end();
  }
}

/** What the model is shown of a skill that it uses. */
function skillText({ content, skill }: Microagent): string {
  return skill ? `${content}\n\n[The files of this skill are in ${absolute(skill.folder)}]` : content;
}

function absolute(folder: string): string {
  return folder.startsWith('/') ? folder : `${WORKSPACE}/${folder}`;
}

/** Why it failed. */
async function bring({ folder, files }: Skill, sandbox: LoopPorts['sandbox'], signal: AbortSignal): Promise<string | undefined> {
  const acquired = await sandbox.acquire(signal);
  if (!acquired.ok) return acquired.reason;
  const within = AbortSignal.any([signal, AbortSignal.timeout(WRITE_MS)]);
  try {
    await ignore(acquired.runtime, within);
    for (const { path, bytes } of (await files?.()) ?? [])
      await acquired.runtime.files.write(`${folder}/${path}`, bytes, { signal: within });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function ignore({ files }: Runtime, signal: AbortSignal): Promise<void> {
  await files.write(IGNORE, new TextEncoder().encode('*\n'), { signal });
}

function failure(words: string): ObservationDraft {
  return ErrorObservation.create(words, { error_id: 'AGENT_ERROR$NO_SKILL' });
}
