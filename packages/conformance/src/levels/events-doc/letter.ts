import type { Frame } from '../../target/frames.ts';

/**
 * The letter of `openhands-events.md`: the types that a strict decoder made from it would have for each kind. What it shows
 * as `null` or calls a list that may be left out is optional there; everything else is required.
 */
type Keys = Readonly<Record<string, string>>;

/**
 * Type → keys of `args` or `extras`; a dot leads inside, `[]` into each item.
 * @internal
 */
export const DOCUMENT: Readonly<Record<string, Keys>> = {
  'action change_agent_state': { string: 'agent_state thought' },
  'action summarize': { string: 'summary' },
  'action finish': { string: 'final_thought task_completed thought', object: 'outputs' },
  'action think': { string: 'thought' },
  'action reject': { string: 'thought', object: 'outputs' },
  'action delegate': { string: 'agent thought', object: 'inputs' },
  'action recall': { string: 'query thought' },
  'action run': { string: 'command thought confirmation_state', boolean: 'is_input blocking hidden', integer: 'security_risk' },
  'action run_ipython': { string: 'code thought confirmation_state kernel_init_code', boolean: 'include_extra', integer: 'security_risk' },
  'action read': { string: 'path thought impl_source', integer: 'start end', 'array|null': 'view_range' },
  'action write': { string: 'path content thought', integer: 'start end security_risk' },
  'action edit': {
    string: 'path command content thought impl_source',
    'null|string': 'file_text old_str new_str',
    'integer|null': 'insert_line',
    integer: 'start end security_risk',
  },
  'action browse': { string: 'url thought', integer: 'security_risk' },
  'action browse_interactive': { string: 'browser_actions thought browsergym_send_msg_to_user', integer: 'security_risk' },
  'action message': { string: 'content', 'array|null': 'image_urls', boolean: 'wait_for_response', integer: 'security_risk' },
  'action null': {},
  'observation run': {
    string: 'command metadata.username metadata.hostname metadata.working_dir metadata.py_interpreter_path metadata.prefix metadata.suffix',
    integer: 'metadata.exit_code metadata.pid',
    boolean: 'hidden',
    object: 'metadata',
  },
  'observation run_ipython': { string: 'code' },
  'observation read': { string: 'path impl_source' },
  'observation write': { string: 'path' },
  'observation edit': { string: 'path impl_source old_content new_content', boolean: 'prev_exist', 'null|string': 'diff' },
  'observation browse': {
    string:
      'url trigger_by_action screenshot set_of_marks last_browser_action last_browser_action_error focused_element_bid goal_image_urls[] open_pages_urls[]',
    boolean: 'error',
    array: 'goal_image_urls open_pages_urls',
    integer: 'active_page_index',
  },
  'observation agent_state_changed': { string: 'agent_state' },
  'observation condense': {},
  'observation think': {},
  'observation recall': {
    string:
      'recall_type repo_name repo_directory repo_instructions additional_agent_instructions ' +
      'microagent_knowledge[].agent_name microagent_knowledge[].trigger_word microagent_knowledge[].content',
    object: 'runtime_hosts',
    array: 'microagent_knowledge',
  },
  'observation delegate': { object: 'outputs' },
  'observation error': { string: 'error_id' },
  'observation success': {},
  'observation user_rejected': {},
  'observation null': {},
};

const STATES =
  'LOADING INIT RUNNING AWAITING_USER_INPUT PAUSED STOPPED FINISHED REJECTED ERROR RATE_LIMITED AWAITING_USER_CONFIRMATION USER_CONFIRMED USER_REJECTED';

/** The words of its enumerations, key by key: a decoder of an enumeration refuses every other. */
const WORDS: Readonly<Record<string, readonly unknown[]>> = {
  agent_state: STATES.split(' '),
  task_completed: ['true', 'partial', 'false'],
  confirmation_state: ['confirmed', 'rejected', 'awaiting_confirmation'],
  security_risk: [-1, 0, 1, 2],
  recall_type: ['environment_info', 'knowledge_microagent', 'default'],
  'action edit command': ['view', 'create', 'str_replace', 'insert', 'undo_edit', 'write'],
  'action edit impl_source': ['llm_based_edit', 'oh_aci'],
  'observation edit impl_source': ['llm_based_edit', 'oh_aci'],
  'action read impl_source': ['oh_aci', 'default'],
  'observation read impl_source': ['oh_aci', 'default'],
};

const BASE = { 'integer|undefined': 'id cause', string: 'timestamp source message', 'number|undefined': 'timeout' };
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const SOURCES: readonly unknown[] = ['agent', 'user', 'environment'];

/** `action run`, `observation run`. */
export function kindOf(frame: Frame): string {
  return frame.action === undefined ? `observation ${String(frame.observation)}` : `action ${String(frame.action)}`;
}

/** Everything that a decoder with the document's types would reject; empty for a frame by the letter. */
export function letterProblems(frame: Frame): readonly string[] {
  const kind = kindOf(frame);
  const keys = Object.hasOwn(DOCUMENT, kind) ? DOCUMENT[kind]! : undefined;
  if (!keys) return [`${kind} is no kind of the document`];
  const isAction = frame.action !== undefined;
  const outer: Keys = isAction ? { object: 'args' } : { object: 'extras', string: 'content', 'boolean|undefined': 'success' };
  const inner = isAction ? frame.args : frame.extras;
  return [
    ...(TIME.test(String(frame.timestamp)) ? [] : [`timestamp is ${String(frame.timestamp)}`]),
    ...(SOURCES.includes(frame.source) ? [] : [`source is ${String(frame.source)}`]),
    ...typeProblems(frame, BASE),
    ...typeProblems(frame, outer),
    ...typeProblems(inner, keys),
    ...wordProblems(kind, inner, keys),
  ].map((problem) => `${kind}: ${problem}`);
}

function typeProblems(value: unknown, keys: Keys): readonly string[] {
  return Object.entries(keys).flatMap(([types, paths]) =>
    paths.split(' ').flatMap((path) =>
      valuesAt(value, path).flatMap((found) => {
        const fits = types.split('|').some((type) => typeOf(found) === type || (type === 'number' && typeOf(found) === 'integer'));
        return fits ? [] : [`${path} is ${typeOf(found)}, not ${types}`];
      }),
    ),
  );
}

function wordProblems(kind: string, body: unknown, keys: Keys): readonly string[] {
  return Object.values(keys)
    .flatMap((paths) => paths.split(' '))
    .flatMap((key) => {
      const words = WORDS[`${kind} ${key}`] ?? WORDS[key];
      const [value] = valuesAt(body, key);
      return !words || words.includes(value) ? [] : [`${key} is ${JSON.stringify(value)}, none of ${words.join(', ')}`];
    });
}

/** One value, or those of all items of a list. */
function valuesAt(value: unknown, path: string): readonly unknown[] {
  let found: readonly unknown[] = [value];
  for (const part of path.split('.')) {
    const key = part.replace(/\[\]$/, '');
    found = found.map((item) => (typeof item === 'object' && item !== null ? (item as Frame)[key] : undefined));
    if (part !== key) found = found.flatMap((item): readonly unknown[] => (Array.isArray(item) ? item : []));
  }
  return found;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
