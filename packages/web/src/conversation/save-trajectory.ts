import { saveBlob } from '../lib/save-blob.ts';
import { tendon } from '../lib/server.ts';

/** Every event as a file, as other clients of these servers name it. */
export async function saveTrajectory(id: string): Promise<void> {
  const { trajectory } = await tendon.conversations.trajectory(id);
  saveBlob(new Blob([JSON.stringify(trajectory, null, 2)], { type: 'application/json' }), `trajectory-${id}.json`);
}
