import { isDemoModel } from '../lib/models.ts';
import { money, short } from './figures.ts';
import { t } from '../lib/language/text.ts';

/** What was spent, as the log has it: nothing here depends on the model that is chosen now. */
interface Spent {
  /** US dollars; `undefined`: the server does not say. */
  readonly cost: number | undefined;
  /** Of answers whose price nobody knows. */
  readonly unpriced?: number | undefined;
  /** The model of the newest answer; none: nothing was asked yet, or that is not known. */
  readonly answeredBy?: string | null | undefined;
}

export interface CostWords {
  readonly text: string;
  /** What the text leaves out. */
  readonly title?: string;
}

/** `$0.42`, `demo`, `–` where only the price is not known; empty where nothing was asked. */
export function costWords({ cost, unpriced = 0, answeredBy }: Spent): CostWords {
  if (cost === undefined) return { text: '' };
  if (unpriced > 0) {
    const tokens = t('{{unpriced}} tokens, price not known', { unpriced: short(unpriced) });
    return cost > 0
      ? { text: `${money(cost)} +`, title: t('{{cost}} and {{tokens}}', { cost: money(cost), tokens }) }
      : { text: '–', title: tokens };
  }
  if (cost > 0) return { text: money(cost) };
  if (isDemoModel(answeredBy)) return { text: 'demo', title: t('Scripted answers of the demo model, free') };
  return { text: answeredBy ? money(0) : '' };
}
