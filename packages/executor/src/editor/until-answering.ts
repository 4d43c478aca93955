import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { EditorProcess } from './editor-process.ts';
import { EXIT_NO_EDITOR } from './editor-process.ts';

const READY_MS = 30_000;
const RETRY_MS = 50;

/** Resolves with nothing when it takes connections, else with the sentence why it does not; then it has been stopped. */
export async function untilAnswering(editor: EditorProcess): Promise<string | undefined> {
  const deadline = AbortSignal.timeout(READY_MS);
  let end: Awaited<EditorProcess['ended']> | undefined;
  void editor.ended.then((said) => (end = said));
  while (!(await takesConnections(editor.port))) {
    if (end?.code === EXIT_NO_EDITOR) {
      return 'There is no editor in this sandbox: neither openvscode-server nor code-server is on its PATH. Install one in the image, or on the machine for the local sandbox.';
    }
    if (end !== undefined) return `The editor did not start: ${end.tail || `it ended at once (exit code ${end.code})`}`;
    if (deadline.aborted) {
      editor.stop();
      return `The editor did not answer within ${READY_MS / 1000} seconds.`;
    }
    await delay(RETRY_MS);
  }
  return undefined;
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}
