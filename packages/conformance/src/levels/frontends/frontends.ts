import type { Check } from '../../check.ts';
import { byHand } from './by-hand.ts';
import { comingBack } from './coming-back.ts';
import { confirmation } from './confirmation.ts';
import { inBandPage } from './in-band-page.ts';
import { opendevinPages } from './opendevin-pages.ts';
import { openhandsPages } from './openhands-pages.ts';
import { pages } from './pages.ts';
import { panels } from './panels.ts';
import { shown } from './shown.ts';

/** What the frontends of the releases do beside speaking their protocol, each check on the level of its protocol. */
export const frontends: readonly Check[] = [
  ...confirmation,
  ...comingBack,
  ...pages,
  ...panels,
  ...shown,
  ...byHand,
  ...opendevinPages,
  ...inBandPage,
  ...openhandsPages,
];
