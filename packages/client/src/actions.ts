/**
 * A payload for every action that the server takes from a person, as it goes into `oh_user_action`.
 * Defaults are left to the server, so that a payload says only what was meant. Free of zod.
 */
import type { AgentState } from '@tendon/protocol';

export interface ActionPayload {
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Seconds. */
  readonly timeout?: number;
  /** The client's own id for the action, which its event carries back. OpenHands servers ignore it here, and refuse it among `args`. */
  readonly client_id?: string;
}

export type EditArgs =
  | { readonly path: string; readonly command: 'view' | 'undo_edit' }
  | { readonly path: string; readonly command: 'create' | 'write'; readonly file_text: string }
  | { readonly path: string; readonly command: 'str_replace'; readonly old_str: string; readonly new_str: string }
  | { readonly path: string; readonly command: 'insert'; readonly insert_line: number; readonly new_str: string };

export interface MessageParts {
  /** `data:` URLs. */
  readonly imageUrls?: readonly string[];
  /** Paths as `files.upload` answered them. */
  readonly fileUrls?: readonly string[];
  /** Comes back on the echo, so that an optimistic copy can be replaced; at most 128 characters, and never the same for two messages. */
  readonly clientId?: string;
}

const payload = (action: string, args: Readonly<Record<string, unknown>> = {}): ActionPayload => ({ action, args });

export const actions = {
  message: (content: string, parts: MessageParts = {}): ActionPayload => ({
    ...payload('message', { content, image_urls: parts.imageUrls ?? [], file_urls: parts.fileUrls ?? [] }),
    ...(parts.clientId && { client_id: parts.clientId }),
  }),
  start: (task: string) => payload('start', { task }),
  initialize: (args: { readonly model?: string; readonly directory?: string; readonly agent_cls?: string }) => payload('initialize', args),

  changeAgentState: (state: AgentState, thought = '') => payload('change_agent_state', { agent_state: state, ...(thought && { thought }) }),
  pause: () => actions.changeAgentState('paused'),
  resume: () => actions.changeAgentState('running'),
  stop: () => actions.changeAgentState('stopped'),
  /** `edited` runs in place of the command or cell that waits. */
  approve: (edited?: string) => payload('change_agent_state', { agent_state: 'user_confirmed', ...(edited !== undefined && { edited }) }),
  reject: (reason = '') => actions.changeAgentState('user_rejected', reason),

  /** `timeout` in seconds. */
  run: (command: string, options: { readonly cwd?: string; readonly hidden?: boolean; readonly timeout?: number } = {}): ActionPayload => ({
    ...payload('run', { command, ...(options.cwd && { cwd: options.cwd }), ...(options.hidden && { hidden: true }) }),
    ...(options.timeout !== undefined && { timeout: options.timeout }),
  }),
  /** Text, or a key such as `C-c`, for the command that is running. */
  input: (text: string) => payload('run', { command: text, is_input: true }),
  kill: (id: string) => payload('kill', { id }),
  runIpython: (code: string) => payload('run_ipython', { code }),

  /** Lines count from 0, `end` exclusive, −1 to the end of the file. */
  read: (path: string, range: { readonly start?: number; readonly end?: number } = {}) => payload('read', { path, ...range }),
  write: (path: string, content: string) => payload('write', { path, content }),
  edit: (args: EditArgs) => payload('edit', { ...args }),

  browse: (url: string) => payload('browse', { url }),
  /** In the BrowserGym action language, e.g. `click("14")`. */
  browseInteractive: (browserActions: string) => payload('browse_interactive', { browser_actions: browserActions }),

  recall: (query: string) => payload('recall', { recall_type: 'knowledge', query }),
  shortenHistory: () => payload('condensation_request'),
  /** `id`: of the newest condensation that has a summary. */
  editSummary: (id: number, summary: string) => payload('condensation', { edits: id, summary }),
  /** `id`: of the newest condensation. The model is shown again what that left out. */
  undoCondensation: (id: number) => payload('condensation', { undoes: id }),
  /** Of an agent that was halted in a loop: on from before it, from the last message, or stop. */
  recoverFromLoop: (option: 1 | 2 | 3) => payload('loop_recovery', { option }),
} as const;
