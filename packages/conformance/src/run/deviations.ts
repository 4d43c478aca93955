import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** A file of what a server is known to do otherwise: `{"server": "…", "deviations": {"<check or level>/*": "<why>"}}`. */
const DeviationsFile = z.strictObject({ server: z.string(), deviations: z.record(z.string(), z.string().min(1)) });

export type Deviations = z.infer<typeof DeviationsFile>;

export const NO_DEVIATIONS: Deviations = { server: '', deviations: {} };

/** Rejects with an Error whose message names the file and what is wrong with it. */
export async function readDeviations(path: string): Promise<Deviations> {
  const text = await readFile(path, 'utf8');
  try {
    return DeviationsFile.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is no file of deviations: ${cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause)}`, { cause });
  }
}

/** Why this check is known to fail; by its own name, or by its level's as `<level>/*`. */
export function deviationOf({ deviations }: Deviations, id: string): string | undefined {
  return deviations[id] ?? deviations[`${id.slice(0, id.indexOf('/'))}/*`];
}
