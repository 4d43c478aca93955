import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { elapsed } from '../../copy/figures.ts';
import { cut } from '../../copy/shorten.ts';
import { t } from '../../lib/language/text.ts';
import { tendon } from '../../lib/server.ts';
import { useNow } from '../../lib/use-now.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';

interface McpTestProps {
  /** Its address, or the name of a program. */
  readonly server: string;
  /** It is started in a sandbox for the test alone. */
  readonly isProgram: boolean;
}

/** Connects to it as a conversation would: what it offers, or why it cannot be used. Leaving the page gives it up. */
export function McpTest({ server, isProgram }: McpTestProps) {
  const running = useRef<AbortController>(undefined);
  const test = useMutation({
    mutationFn: () => {
      const { signal } = (running.current = new AbortController());
      return tendon.mcpLogins.test(server, { signal });
    },
  });
  useEffect(() => () => running.current?.abort(), []);
  const cancel = (): void => {
    running.current?.abort();
    test.reset();
  };
  const failure = test.error?.message ?? test.data?.failure;
  return (
    <>
      <span role="status" className={cx('flex-1 text-small', failure ? 'tone-bad' : test.isPending ? 'text-ink-3' : 'tone-ok')}>
        {failure}
        {test.isPending && (isProgram ? <StartWords since={test.submittedAt} /> : t('Connecting'))}
        {test.isSuccess && !failure && <ToolNames names={test.data.tools.map(({ name }) => name)} />}
      </span>
      {/* One button, so that the focus stays: the second click of a double click cancels nothing. */}
      <Button
        small
        look="line"
        aria-label={test.isPending ? t('Cancel the test of {{name}}', { name: server }) : t('Test {{name}}', { name: server })}
        onClick={({ detail }) => (test.isPending ? detail < 2 && cancel() : test.mutate())}
      >
        {test.isPending ? t('Cancel') : t('Test')}
      </Button>
    </>
  );
}

/** The seconds are for eyes alone: a reader would say each. */
function StartWords({ since }: { readonly since: number }) {
  const now = useNow(true);
  return (
    <>
      {t('Starting it in a sandbox of its own')} <span aria-hidden="true">{elapsed(now - since)}</span>
    </>
  );
}

function ToolNames({ names }: { readonly names: readonly string[] }) {
  return (
    <span title={names.join(', ')}>
      {t('{{count}} tools', { count: names.length })}
      {names.length > 0 && `: ${cut(names.join(', '), 120)}`}
    </span>
  );
}
