import type { Check } from '../check.ts';
import type { Foreign } from '../target/target.ts';

/** What a server has of the things that only some have. */
export interface Offer {
  /** What this check needs and the server has not, in words. */
  missing(check: Check): string | undefined;
}

/** By the paths of its OpenAPI document, where it has one: without one everything is asked. */
export function offerOf(openApi: Partial<Foreign>, hasKey: boolean): Offer {
  const paths = openApi.paths && new Set(Object.keys(openApi.paths).map(nameless));
  return {
    missing({ needs }) {
      if (needs === undefined) return undefined;
      if (needs === 'key') return hasKey ? undefined : 'not asked: it is about a server with a key, and the run has no --key';
      return !paths || paths.has(nameless(needs)) ? undefined : `not offered: there is no route ${needs}`;
    },
  };
}

/** `/a/{id}/b` however the parameter is called. */
function nameless(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}');
}
