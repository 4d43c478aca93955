import { Play } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { useIsNew } from './decision.tsx';

/** It comes where Stop and Pause were: a second press of theirs must not take back the first. */
export function ResumeButton({ words, onResume }: { readonly words: string; readonly onResume: () => void }) {
  if (useIsNew()) return null;
  return (
    <Button title={words} onClick={onResume}>
      <Icon of={Play} small />
      <span>{words}</span>
    </Button>
  );
}
