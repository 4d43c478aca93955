import { tendon } from '../lib/server.ts';

/** Every event as a file, as other clients of these servers name it. */
export async function saveTrajectory(id: string): Promise<void> {
  const { trajectory } = await tendon.conversations.trajectory(id);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(trajectory, null, 2)], { type: 'application/json' }));
  link.download = `trajectory-${id}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}
