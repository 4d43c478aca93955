import { socketIoClient, type TestServer } from '../server.test-support.ts';

/** What a command that a client runs in the conversation's sandbox prints. */
export async function runIn(server: TestServer, id: string, command: string): Promise<string> {
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  try {
    client.send({ action: 'run', args: { command } });
    const observation = await client.frames.until(
      (frame) => frame.observation === 'run' && frame.extras?.command === command,
      `the observation of ${command}`,
    );
    return String(observation.content);
  } finally {
    client.socket.close();
  }
}
