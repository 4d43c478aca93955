import { useQuery } from '@tanstack/react-query';
import { tendon } from '../../lib/server.ts';
import { Late } from '../../ui/placeholder.tsx';
import { SectionHeading } from './section-heading.tsx';
import { t, tx } from '../../lib/language/text.ts';

interface Row {
  readonly name: string;
  readonly words: string;
}

/** The tools, hooks and plugins of the server's user, and which of them are invalid. */
export function ExtensionList() {
  const { data, error, isPending } = useQuery({ queryKey: ['extensions'], queryFn: tendon.extensions.list, retry: false });
  return (
    <section className="setting" aria-labelledby="extensions-heading">
      <SectionHeading id="extensions-heading" title={t('Tools, hooks and plugins')} />
      <p className="text-ink-2">
        {tx('Files in the home of the server, which are changed there: {{tools}}, {{hooks}} and {{plugins}} say more.', {
          tools: <code>tendon tools</code>,
          hooks: <code>tendon hooks</code>,
          plugins: <code>tendon plugins</code>,
        })}
      </p>
      {error && (
        <p role="alert" className="tone-bad">
          {error.message}
        </p>
      )}
      {isPending && <Late>{t('Reading tools, hooks and plugins')}</Late>}
      {data?.problems.map((problem) => (
        <p key={problem} className="tone-bad">
          {problem}
        </p>
      ))}
      {data && (
        <>
          <Rows title={t('Tools')} rows={data.tools.map(({ name, description }) => ({ name, words: description }))} />
          <Rows
            title={t('Hooks')}
            rows={data.hooks.map(({ name, moment, match, command, blocks_on_failure }) => ({
              name,
              words: `${moment.replaceAll('_', ' ')}${match === null ? '' : t(' of {{match}}', { match })}: ${command}${blocks_on_failure ? t(' (blocks when it fails)') : ''}`,
            }))}
          />
          <Rows
            title={t('Plugins')}
            rows={data.plugins.map(({ id, is_enabled, brings }) => ({
              name: id,
              words: `${is_enabled ? '' : t('disabled; ')}${brings.join(', ') || t('brings nothing')}`,
            }))}
          />
        </>
      )}
    </section>
  );
}

function Rows({ title, rows }: { readonly title: string; readonly rows: readonly Row[] }) {
  if (rows.length === 0) return <p className="text-ink-2">{t('{{title}}: none.', { title })}</p>;
  return (
    <>
      <h3>{title}</h3>
      <ul aria-label={title}>
        {rows.map(({ name, words }) => (
          <li key={`${name} ${words}`}>
            <span>{name}</span>
            <span className="truncate text-small text-ink-3" title={words}>
              {words}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
