/** How Bedrock streams: messages of bytes with headers and checksums, as AWS documents its event stream encoding. */
import { crc32 } from 'node:zlib';
import type { EndpointTurn } from './model-endpoint.ts';

const STOP_REASON = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'content_filtered' } as const;

/** The Converse API; each frame is a text of one character for each byte. */
export function* bedrockFrames(turn: EndpointTurn): Iterable<string> {
  const blocks: readonly { readonly start?: object; readonly deltas: readonly object[] }[] = [
    ...(turn.reasoning ? [{ deltas: thoughtsOf(turn) }] : []),
    ...(turn.text ? [{ deltas: turn.text.map((text) => ({ text })) }] : []),
    ...(turn.calls ?? []).map(({ id, name, pieces }) => ({
      start: { toolUse: { toolUseId: id, name } },
      deltas: pieces.map((input) => ({ toolUse: { input } })),
    })),
  ];
  yield event('messageStart', { role: 'assistant' });
  for (const [contentBlockIndex, { start, deltas }] of blocks.entries()) {
    if (start) yield event('contentBlockStart', { contentBlockIndex, start });
    for (const delta of deltas) yield event('contentBlockDelta', { contentBlockIndex, delta });
    if (turn.ending && contentBlockIndex === blocks.length - 1) break;
    yield event('contentBlockStop', { contentBlockIndex });
  }
  if (turn.errorFrame) {
    const names = { ':message-type': 'exception', ':exception-type': 'serviceUnavailableException' };
    yield message({ ...names, ':content-type': 'application/json' }, { message: turn.errorFrame.message });
  }
  if (turn.ending) return;
  yield event('messageStop', { stopReason: STOP_REASON[turn.finish ?? (turn.calls ? 'tool_calls' : 'stop')] });
  const { input, output, cacheRead } = turn.usage ?? { input: 100, output: 10, cacheRead: 0 };
  const tokens = { inputTokens: input - cacheRead, outputTokens: output, totalTokens: input + output };
  yield event('metadata', { usage: { ...tokens, cacheReadInputTokens: cacheRead, cacheWriteInputTokens: 0 }, metrics: { latencyMs: 1 } });
}

function thoughtsOf({ reasoning = [], signature }: EndpointTurn): readonly object[] {
  const thoughts = [...reasoning.map((text) => ({ text })), ...(signature === undefined ? [] : [{ signature }])];
  return thoughts.map((reasoningContent) => ({ reasoningContent }));
}

function event(type: string, payload: object): string {
  return message({ ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, payload);
}

/** Length of all, length of the headers, a checksum of both; headers, payload, and a checksum of all before it. */
function message(headers: Readonly<Record<string, string>>, payload: object): string {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const whole = Buffer.concat([prelude, head, body]);
  return Buffer.concat([whole, uint32(crc32(whole))]).toString('latin1');
}

const TEXT = 7;

function header(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([TEXT, text.length >> 8, text.length & 0xff]), text]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
