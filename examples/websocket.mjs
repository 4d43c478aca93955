// The seed document's own example: one JSON object per frame, no handshake beyond the upgrade.
//   node examples/websocket.mjs [http://127.0.0.1:3000]
import assert from 'node:assert/strict';

const base = process.argv[2] ?? 'http://127.0.0.1:3000';
const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/ws`);
const frames = [];

const { promise: finished, resolve, reject } = Promise.withResolvers();
const deadline = setTimeout(() => reject(new Error('no finish within 120 s')), 120_000);
socket.addEventListener('error', () => reject(new Error(`no server at ${base}`)));
socket.addEventListener('close', () => reject(new Error('the server closed the socket')));
socket.addEventListener('open', () => {
  socket.send(JSON.stringify({ action: 'start', args: { task: 'write a bash script that prints hello' } }));
});
socket.addEventListener('message', ({ data }) => {
  const frame = JSON.parse(data);
  frames.push(frame);
  console.log(frame.message ?? data);
  if (frame.action === 'finish') resolve();
  if (frame.error) reject(new Error(frame.message));
});
await finished.finally(() => clearTimeout(deadline));
socket.close();

const ran = frames.filter((frame) => frame.observation === 'run');
assert.ok(typeof frames[0].token === 'string' && frames[1].action === 'initialize', 'a token for coming back, then the greeting');
assert.ok(
  ran.some((frame) => frame.content.includes('hello') && frame.extras.exit_code === 0),
  'the script was run and printed hello',
);
assert.ok(
  frames.every((frame) => !('id' in frame)),
  'frames of this generation have no ids',
);
console.log(`ok: ${frames.length} frames, ${ran.length} commands`);
