import type { SandboxSpec } from '../../driver.ts';
import type { EngineClient } from './engine-client.ts';
import { EngineError } from './engine-error.ts';
import { describeImage, inspectImage, type Image, type Inspected } from './image.ts';

export interface ImageSource {
  /** Brings the image if the engine does not have it. */
  fetch(options: { readonly signal: AbortSignal; readonly onProgress: (text: string) => void }): Promise<void>;
  /** The facts about it that a start needs; read once for each image that had the name. */
  describe(spec: SandboxSpec, signal: AbortSignal): Promise<Image>;
}

const MIB = 1024 ** 2;

export function createImageSource(
  engine: EngineClient,
  { image, mayPull }: { readonly image: string; readonly mayPull: boolean },
): ImageSource {
  const known = new Map<string, Image>();
  let fetched: Inspected | undefined; // just now, for the start that follows
  return {
    async fetch({ signal, onProgress }) {
      fetched = await inspectImage(engine, image, signal);
      if (fetched !== undefined) return;
      if (!mayPull) throw new Error(`No such image: ${image} is not here, and SANDBOX_PULL=never`);
      await pullImage(engine, image, { signal, onProgress });
    },
    async describe(spec, signal) {
      const inspected = fetched ?? (await inspectImage(engine, image, signal));
      fetched = undefined;
      if (inspected === undefined) throw new Error(`No such image: ${image}`);
      const found = known.get(inspected.Id) ?? (await describeImage(engine, inspected, spec, signal));
      known.set(found.id, found);
      return found;
    },
  };
}

interface PullLine {
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
}

/** Pulls an image. `onProgress` is called with one clause for each change. */
async function pullImage(
  engine: EngineClient,
  name: string,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (text: string) => void },
): Promise<void> {
  const layers = new Map<string, { readonly current: number; readonly total: number }>();
  const { repository, tag } = reference(name);
  const path = `/images/create?fromImage=${encodeURIComponent(repository)}&tag=${encodeURIComponent(tag)}`;
  let shown = '';
  onProgress(`pulling ${name}`);
  for await (const line of engine.lines<PullLine>({ method: 'POST', path, signal })) {
    if (line.error !== undefined) throw new EngineError(500, line.error);
    const { current, total } = line.progressDetail ?? {};
    if (line.status !== 'Downloading' || line.id === undefined || current === undefined) continue;
    layers.set(line.id, { current, total: total ?? current });
    const text = `pulling ${name}: ${progressOf([...layers.values()])}`;
    if (text !== shown) onProgress(text);
    shown = text;
  }
}

function progressOf(layers: readonly { readonly current: number; readonly total: number }[]): string {
  const sum = (key: 'current' | 'total'): number => Math.ceil(layers.reduce((all, layer) => all + layer[key], 0) / MIB);
  return `${sum('current')} of ${sum('total')} MiB`;
}

/** `name`, `name:tag` or `name@sha256:…`; without a tag an engine would bring every one there is. */
function reference(name: string): { readonly repository: string; readonly tag: string } {
  const [repository = name, digest] = name.split('@', 2);
  if (digest !== undefined) return { repository, tag: digest };
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/')
    ? { repository: name.slice(0, colon), tag: name.slice(colon + 1) }
    : { repository: name, tag: 'latest' };
}
