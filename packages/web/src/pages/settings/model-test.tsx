import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ModelInfo, ModelProbe } from '@tendon/client';
import { money } from '../../copy/figures.ts';
import { t } from '../../lib/language/text.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';

interface ModelTestProps {
  /** One of those in use; without it the first. */
  readonly model?: string;
  readonly label: string;
}

/** Asks a stored model a few short questions, as `tendon models probe` does. */
export function ModelTest({ model, label }: ModelTestProps) {
  const queries = useQueryClient();
  const test = useMutation({
    mutationFn: () => tendon.models.probe(model),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['models-in-use'] }),
  });
  return (
    <div className="setting-form">
      <div className="flex items-center gap-2">
        <Button look="line" isBusy={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? t('Asking the model') : label}
        </Button>
      </div>
      <p role="status" className="text-small">
        {test.isSuccess && <TestResult found={test.data} />}
        {test.isError && <span className="text-bad">{test.error.message}</span>}
      </p>
    </div>
  );
}

/** What is known of them. */
export function abilities({ tools, parallel_calls: parallel, images, context_window: size }: ModelInfo): readonly string[] {
  const known = [
    tools !== null && (tools ? t('tools') : t('calls written into its text')),
    parallel && t('several calls at once'),
    images && t('pictures'),
    size !== null && t('a window of {{count}} tokens', { count: size }),
  ];
  return known.filter((words) => typeof words === 'string');
}

function TestResult({ found }: { readonly found: ModelProbe }) {
  if (found.failure !== null) return <span className="text-bad">{found.failure}</span>;
  return (
    <span className="text-ok">
      {t('{{model}} works: {{abilities}}. Asking cost {{cost}}.', {
        model: found.model,
        abilities: abilities(found).join(', '),
        cost: `${t('{{count}} tokens', { count: found.tokens })}${found.cost_usd > 0 ? `, ${money(found.cost_usd)}` : ''}`,
      })}
    </span>
  );
}
