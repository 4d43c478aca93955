import { ShieldAlert } from 'lucide-react';
import { Icon } from '../ui/icon.tsx';

const RISKS = {
  [-1]: { words: 'Risk unknown', tone: 'unknown' },
  0: { words: 'Low risk', tone: undefined },
  1: { words: 'Medium risk', tone: 'wait' },
  2: { words: 'High risk', tone: 'bad' },
} as const;

export type Risk = keyof typeof RISKS;

export function RiskChip({ risk }: { readonly risk: Risk }) {
  const { words, tone } = RISKS[risk];
  return (
    <span className="chip" data-tone={tone}>
      <Icon of={ShieldAlert} small />
      {words}
    </span>
  );
}
