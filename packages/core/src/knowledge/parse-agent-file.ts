import type { AgentFile } from './agent-file.ts';
import { splitFrontMatter } from './parse-microagent.ts';

export type ParsedAgentFile = { readonly file: AgentFile } | { readonly problem: string };

/** As a tool call of `delegate`, a setting and a path can hold it. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_PROMPT = 32 * 1024;

/** What files that were written for other agents call the same thing. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  bash: ['execute_bash'],
  read: ['str_replace_editor'],
  edit: ['str_replace_editor', 'multi_edit', 'apply_patch'],
  write: ['str_replace_editor'],
  multiedit: ['multi_edit'],
  webfetch: ['web_read', 'browser'],
  todowrite: ['task_tracker'],
  task: ['delegate'],
};
/** With one of these an agent can change files; with none of them its workspace is mounted read-only. */
const CHANGING: ReadonlySet<string> = new Set([
  'bash',
  'edit',
  'write',
  'multiedit',
  'execute_bash',
  'execute_ipython_cell',
  'str_replace_editor',
  'multi_edit',
  'apply_patch',
]);

/**
 * Markdown with `name`, `description`, `tools`, `model` and `read_only` before it; the text is the prompt. Nothing else of the front
 * matter counts, so a file grants nothing. Total.
 */
export function parseAgentFile(fallbackName: string, markdown: string): ParsedAgentFile {
  const { front, content, problem } = splitFrontMatter(markdown);
  if (problem) return { problem };
  const name = typeof front.name === 'string' ? front.name.trim() : fallbackName;
  if (!NAME.test(name)) return { problem: 'its name is not made of up to 64 letters, digits, - and _' };
  if (content === '') return { problem: 'it has no text after its front matter' };
  if (content.length > MAX_PROMPT) return { problem: `its text is longer than ${MAX_PROMPT} characters` };
  const named = toolsIn(front.tools);
  const tools = named && [...new Set(named.flatMap((tool) => ALIASES[tool] ?? [tool]))];
  const isReadOnly = front.read_only === true || (named !== undefined && !named.some((tool) => CHANGING.has(tool)));
  return {
    file: {
      name,
      description: typeof front.description === 'string' ? front.description.trim().slice(0, 500) : '',
      prompt: content,
      ...(tools && { tools }),
      ...(typeof front.model === 'string' && front.model.trim() !== '' && front.model !== 'inherit' && { model: front.model.trim() }),
      ...(isReadOnly && { read_only: true as const }),
    },
  };
}

/** A list, or names with commas between them. */
function toolsIn(value: unknown): readonly string[] | undefined {
  const list = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : undefined;
  const names = list?.filter((name): name is string => typeof name === 'string').map((name) => name.trim().toLowerCase());
  return names?.filter((name) => name !== '').slice(0, 64);
}
