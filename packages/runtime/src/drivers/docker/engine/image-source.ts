import type { SandboxSpec } from '../../driver.ts';
import type { EngineClient } from './engine-client.ts';
import { describeImage, inspectImage, type Image, type Inspected } from './image.ts';
import { pullImage } from './pull-image.ts';

export interface ImageSource {
  /** Brings the image if the engine does not have it. */
  fetch(options: { readonly signal: AbortSignal; readonly onProgress: (text: string) => void }): Promise<void>;
  /** What must be known of it; looked into once for each image that has borne the name. */
  describe(spec: SandboxSpec, signal: AbortSignal): Promise<Image>;
}

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
