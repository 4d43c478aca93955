import { randomUUID } from 'node:crypto';
import type { SessionConfigOption, SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type {
  ContentBlock,
  SessionConfigOption as DraftOption,
  SessionUpdate as DraftUpdate,
  ToolCallContent as DraftContent,
} from '@agentclientprotocol/sdk/experimental/v2';

/**
 * Translates the updates of version 1 into the draft of version 2. Owns which message is being written: consecutive pieces belong to
 * one message.
 */
export class V2Updates {
  #message = { kind: '', id: '' };

  /** The user's words; the agent's next ones are a message of their own. */
  asked(content: ContentBlock[]): Extract<DraftUpdate, { sessionUpdate: 'user_message' }> {
    this.#message = { kind: '', id: '' };
    return { sessionUpdate: 'user_message', messageId: randomUUID(), content };
  }

  /** Undefined if the draft has no such update. */
  of(update: SessionUpdate): DraftUpdate | undefined {
    const kind = update.sessionUpdate;
    if (kind === 'agent_message_chunk' || kind === 'agent_thought_chunk' || kind === 'user_message_chunk') {
      if (this.#message.kind !== kind || kind === 'user_message_chunk') this.#message = { kind, id: randomUUID() };
      const { content } = update;
      return content.type === 'text' ? ({ sessionUpdate: kind, messageId: this.#message.id, content } as DraftUpdate) : undefined;
    }
    if (update.sessionUpdate === 'usage_update') return update;
    if (update.sessionUpdate === 'config_option_update')
      return { sessionUpdate: 'config_option_update', configOptions: update.configOptions.map(draftOption) };
    if (update.sessionUpdate === 'available_commands_update') {
      const availableCommands = update.availableCommands.map(({ name, description, input }) => ({
        type: 'command' as const,
        name,
        description,
        ...(input && { input: { type: 'text' as const, hint: input.hint } }),
      }));
      return { sessionUpdate: 'available_commands_update', availableCommands };
    }
    this.#message = { kind: '', id: '' };
    if (update.sessionUpdate === 'plan')
      return { sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'plan', entries: update.entries } };
    if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return undefined;
    const { content, sessionUpdate: _kind, ...call } = update;
    return { ...call, sessionUpdate: 'tool_call_update', ...(content && { content: content.flatMap(contentOf) }) };
  }
}

export function draftOption({ id: configId, ...option }: SessionConfigOption): DraftOption {
  return { ...option, configId } as DraftOption;
}

function contentOf(content: ToolCallContent): DraftContent[] {
  if (content.type === 'content' && content.content.type === 'text') return [{ type: 'content', content: content.content }];
  if (content.type !== 'diff') return [];
  const { path, oldText, newText } = content;
  const isNew = oldText === null || oldText === undefined;
  const text = patchOf(path, isNew ? undefined : oldText, newText);
  return [
    { type: 'diff', changes: [isNew ? { operation: 'add', path } : { operation: 'modify', path }], patch: { format: 'git_patch', text } },
  ];
}

/** The whole file in one hunk. */
function patchOf(path: string, before: string | undefined, after: string): string {
  const [old, now] = [linesOf(before ?? ''), linesOf(after)];
  const name = path.replace(/^\//, '');
  const range = ({ length }: readonly string[]) => (length === 0 ? '0,0' : `1,${length}`);
  return [
    `diff --git ${quoted(`a/${name}`)} ${quoted(`b/${name}`)}`,
    ...(before === undefined ? ['new file mode 100644', '--- /dev/null'] : [`--- ${quoted(`a/${name}`)}`]),
    `+++ ${quoted(`b/${name}`)}`,
    `@@ -${range(old)} +${range(now)} @@`,
    ...signed('-', old, before ?? ''),
    ...signed('+', now, after),
    '',
  ].join('\n');
}

/** Quotes names in the way that git does. */
function quoted(name: string): string {
  // eslint-disable-next-line no-control-regex
  return /["\\\u0000-\u001F\u007F]/.test(name) ? `"${name.replaceAll(/["\\\u0000-\u001F\u007F]/g, escaped)}"` : name;
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' };

function escaped(character: string): string {
  return ESCAPES[character] ?? `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function signed(sign: string, lines: readonly string[], text: string): readonly string[] {
  const shown = lines.map((line) => `${sign}${line}`);
  return text === '' || text.endsWith('\n') ? shown : [...shown, '\\ No newline at end of file'];
}
