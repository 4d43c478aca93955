import { createRest } from '@tendon/client';
import { stored } from './stored.ts';

/** The server that served this page. */
export const tendon = createRest({ baseUrl: location.origin, apiKey: () => stored.get('key') ?? undefined });
