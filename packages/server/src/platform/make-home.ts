import { access, constants, mkdir } from 'node:fs/promises';

/** Creates TENDON_HOME. Rejects with an Error that says what to set when it is not writable. */
export async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await access(home, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new Error(
      `${home}, where conversations and settings are stored, cannot be written: ${(cause as Error).message}. Set TENDON_HOME to a folder that can be written.`,
      { cause },
    );
  }
}
