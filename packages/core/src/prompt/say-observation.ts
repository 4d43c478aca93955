import { cutMiddle, type Observation, type ObservationKind } from '@tendon/protocol';
import { NOTHING, type Saying } from './entry.ts';
import { outsideText } from './outside-text.ts';

/** The id of the error that reports a missing file of a long message; it stays in the view as long as the path of the file does. */
export const MESSAGE_NOT_STORED = 'AGENT_ERROR$MESSAGE_NOT_STORED';

/** What each kind of observation says to the model. A new kind does not compile before it stands here. */
const SAYINGS = {
  null: nothing,
  run: (observation) => result(cutMiddle(runText(observation))),
  run_ipython: (observation) => result(cutMiddle(observation.content), observation.extras.image_urls),
  read: fileText,
  write: (observation) => result(observation.content || `Wrote ${observation.extras.path}.`),
  edit: fileText,
  download: (observation) => result(observation.content || `Downloaded to ${observation.extras.file_path}.`),
  browse: sayPage,
  chat: (observation) => ({ says: 'user', text: observation.content, pinned: true }),
  message: (observation) => result(observation.content),
  agent_state_changed: nothing,
  think: (observation) => result(observation.content),
  condense: nothing,
  delegate: (observation) => result(observation.content || JSON.stringify(observation.extras.outputs)),
  recall: sayRecall,
  task_tracking: (observation) => result(observation.content),
  // Where the agent was halted, the error beside it says so.
  loop_detection: ({ content, extras: { hint } }) => (hint ? result(content) : NOTHING),
  // Of a restored conversation the model is shown only what was before.
  restore_checkpoint: ({ content, extras: { what } }) => (what === 'files' ? result(content) : NOTHING),
  mcp: ({ content, extras: { name, image_urls, is_own } }) =>
    result(is_own ? content : outsideText(`MCP tool ${name}`, content), image_urls),
  error: ({ content, extras: { error_id } }) =>
    error_id === MESSAGE_NOT_STORED ? { says: 'user', text: `[Notice]\n${content}`, pinned: true } : result(content),
  success: (observation) => result(observation.content),
  // A client that sends an action as rejected requests nothing: the model is not shown it.
  user_rejected: (observation) => (observation.source === 'user' ? NOTHING : result(observation.content)),
} as const satisfies { readonly [K in ObservationKind]: (observation: Observation<K>) => Saying };

export function sayObservation(observation: Observation): Saying {
  return (SAYINGS[observation.observation] as (observation: Observation) => Saying)(observation);
}

function nothing(): Saying {
  return NOTHING;
}

function result(text: string, images: readonly (string | null)[] | null = null): Saying {
  const imageUrls = (images ?? []).filter((url): url is string => Boolean(url) && isImage(url!));
  return { says: 'result', text: text || '[No output]', ...(imageUrls.length > 0 && { imageUrls }) };
}

const SEEN = /^data:image\/(?:png|jpeg|gif|webp);base64,/;
const DATA_URL = /^data:([\w/.+-]+);base64,/;

/** A picture is shown; of another file that came as a data URL the model learns how to read its text. */
function fileText({ content, extras: { path }, observation }: Observation<'read' | 'edit'>): Saying {
  if (SEEN.test(content)) return result(`[The image ${path}]`, [content]);
  const [, type] = DATA_URL.exec(content.slice(0, 100)) ?? [];
  if (type === 'application/pdf')
    return result(`[${path} is a PDF. Take its text out in the shell, e.g. with: pdftotext -layout ${path} -]`);
  if (type !== undefined) return result(`[${path} is a file of the type ${type} and cannot be shown here. Convert it in the shell.]`);
  return result(content || (observation === 'edit' ? `Edited ${path}.` : ''));
}

/** Where the browser is, what went wrong, and the page. A page that was only read needs no picture. */
function sayPage({ content, extras }: Observation<'browse'>): Saying {
  const tabs = extras.open_pages_urls;
  const head = [
    `[Current URL: ${extras.url}]`,
    extras.title && `[Title: ${extras.title}]`,
    extras.status_code !== undefined && extras.status_code >= 400 && `[The server answered with status ${extras.status_code}]`,
    extras.last_browser_action_error &&
      !content.includes(extras.last_browser_action_error) &&
      `[Error of the last action: ${extras.last_browser_action_error}]`,
    tabs.length > 1 &&
      `[Tabs: ${tabs.map((url, index) => `${index}${index === extras.active_page_index ? ' (in use)' : ''} ${url}`).join(', ')}]`,
    extras.focused_element_bid && `[Focused element: ${extras.focused_element_bid}]`,
  ].filter(Boolean);
  const pictures = extras.trigger_by_action === 'browse' ? [] : [extras.set_of_marks || extras.screenshot];
  return result(outsideText('web page', `${head.join('\n')}\n\n${content || '[The page shows no text.]'}`), pictures);
}

/** Output, hints for the model, and where the shell stands now. */
function runText({ content, extras: { metadata } }: Observation<'run'>): string {
  const text = [cutMiddle(`${metadata.prefix}${content}`) + metadata.suffix];
  if (metadata.working_dir) text.push(`[Current working directory: ${metadata.working_dir}]`);
  if (metadata.py_interpreter_path) text.push(`[Python interpreter: ${metadata.py_interpreter_path}]`);
  if (metadata.exit_code !== -1) text.push(`[Command finished with exit code ${metadata.exit_code}]`);
  return text.join('\n');
}

/** What is known about the workspace and the task beside the user's words; silent when nothing is. */
function sayRecall(observation: Observation<'recall'>): Saying {
  const { extras } = observation;
  if (observation.tool_call_metadata)
    return result(
      extras.recall_type === 'default' && !extras.note ? outsideText('earlier text', observation.content) : observation.content,
    );
  if (extras.query !== undefined) return sayMemory(extras.query, observation.content);
  const facts = [
    extras.date && `Today's date: ${extras.date}`,
    extras.working_dir && `Working directory: ${extras.working_dir}`,
    extras.repo_name &&
      `Repository: ${extras.repo_name}${extras.repo_branch && ` on branch ${extras.repo_branch}`}, in ${extras.repo_directory}`,
    ...Object.entries(extras.runtime_hosts).map(([host, port]) => `Reachable host: ${host} (port ${String(port)})`),
    ...secretLines(extras.custom_secrets_descriptions),
    extras.missing && `The workspace's own instructions could not be read yet (${extras.missing}). Look for them before you change files.`,
    extras.additional_agent_instructions,
    extras.repo_instructions,
    extras.conversation_instructions,
    ...extras.microagent_knowledge.map(({ name, trigger, content }) => `About ${trigger || name}:\n${content}`),
  ].filter(Boolean);
  return facts.length > 0 ? { says: 'user', text: cutMiddle(`[Context]\n${facts.join('\n')}`, { limit: MAX_CONTEXT }) } : NOTHING;
}

/** More than what a recall is bounded to, part by part. */
const MAX_CONTEXT = 72 * 1024;

/** The names alone: a command that reads a variable is given its value. */
function secretLines(secrets: Readonly<Record<string, string>>): readonly string[] {
  const lines = Object.entries(secrets).map(([name, about]) => `- $${name}${about && `: ${about}`}`);
  return lines.length === 0 ? [] : ['Secrets, each set as a variable for commands and cells that read it by name:', ...lines];
}

/** An answer to a question: its words hold what was found. */
function sayMemory(query: string, found: string): Saying {
  return found ? { says: 'user', text: cutMiddle(`[Recalled for “${query.slice(0, 200)}”]\n${found}`) } : NOTHING;
}

function isImage(url: string): boolean {
  return url.startsWith('data:image/') || url.startsWith('https://') || url.startsWith('http://');
}
