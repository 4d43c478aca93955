/**
 * The stored events of old releases in the spelling of today (v0-socketio.md §7). Pure and total; nothing but what is renamed is touched.
 */
type Json = Readonly<Record<string, unknown>>;

export function currentJson(json: Json): Json {
  if (typeof json.action === 'string' && isObject(json.args)) return { ...json, args: currentArgs(json.action, json.args) };
  if (json.observation === 'run' && isObject(json.extras)) return { ...json, extras: withMetadata(json.extras) };
  return json;
}

/** Old name → new name. The new one wins when both are there. */
const RENAMED: Readonly<Record<string, string>> = { is_confirmed: 'confirmation_state', images_urls: 'image_urls' };
const DROPPED: ReadonlySet<string> = new Set(['keep_prompt', 'translated_ipython_code', '__proto__']);
/** The verbs of 0.4 and 0.5. */
const STATES: Readonly<Record<string, string>> = { start: 'running', resume: 'running', pause: 'paused', stop: 'stopped' };

function currentArgs(kind: string, args: Json): Json {
  const result = new Map<string, unknown>();
  for (const [key, value] of Object.entries(args)) {
    if (DROPPED.has(key) || value === null) continue;
    const name = Object.hasOwn(RENAMED, key) ? RENAMED[key]! : key;
    if (name === key || (args[name] ?? null) === null) result.set(name, value);
  }
  if (kind === 'finish' && !COMPLETIONS.has(result.get('task_completed'))) result.delete('task_completed');
  const state = result.get('agent_state');
  if (kind === 'change_agent_state' && typeof state === 'string' && Object.hasOwn(STATES, state)) result.set('agent_state', STATES[state]);
  return Object.fromEntries(result);
}

const COMPLETIONS: ReadonlySet<unknown> = new Set(['true', 'partial', 'false']);

/** Until 0.19 the exit code stood beside the command. The old keys stay, for clients of that time. */
function withMetadata(extras: Json): Json {
  if (isObject(extras.metadata) || !Number.isInteger(extras.exit_code)) return extras;
  const interpreter = typeof extras.interpreter_details === 'string' ? extras.interpreter_details : '';
  return { ...extras, metadata: { exit_code: extras.exit_code, ...(interpreter && { py_interpreter_path: interpreter }) } };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
