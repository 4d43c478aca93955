import type { Decoded, Frame } from './dialect.ts';

/** Top-level keys of the Socket.IO clients before 0.18; they travel on in `settings`. */
const IN_BAND = ['token', 'github_token', 'latest_event_id', 'selected_repository'] as const;

/**
 * `initialize`: `model`, `directory`, `agent_cls` of the founding document, or the upper-case config names of 0.3 … 0.17.
 * Empty strings and the words for nothing that old frontends send mean "not given". `settings` keeps every other key under its own name.
 */
export function decodeInitialize(frame: Frame, args: Frame): Decoded {
  const { model, directory, agent_cls, ...settings } = args;
  const given = Object.entries(settings).filter(([key, value]) => key !== '__proto__' && !isNothing(value));
  const inBand = IN_BAND.filter((key) => !isNothing(frame[key])).map((key) => [key, frame[key]] as const);
  return {
    type: 'initialize',
    ...named('model', model, args.LLM_MODEL),
    ...named('directory', directory, args.WORKSPACE_BASE),
    ...named('agent', agent_cls, args.AGENT),
    settings: Object.fromEntries([...given, ...inBand]),
  };
}

function named<K extends string>(key: K, ...candidates: readonly unknown[]): { readonly [P in K]?: string } {
  const value = candidates.find((candidate) => typeof candidate === 'string' && !isNothing(candidate));
  return (typeof value === 'string' ? { [key]: value } : {}) as { readonly [P in K]?: string };
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 'null' || value === 'None' || value === 'undefined';
}
