import { useQuery } from '@tanstack/react-query';
import { tendon } from '../../lib/server.ts';
import { Late } from '../../ui/placeholder.tsx';

interface Row {
  readonly name: string;
  readonly words: string;
}

/** The tools, hooks and plugins of the server's user, and what of them does not count. */
export function ExtensionList() {
  const { data, error, isPending } = useQuery({ queryKey: ['extensions'], queryFn: tendon.extensions.list, retry: false });
  return (
    <section className="setting" aria-labelledby="extensions-heading">
      <h2 id="extensions-heading">Tools, hooks and plugins</h2>
      <p className="text-ink-2">
        Files in the home of the server, which are changed there: <code>tendon tools</code>, <code>tendon hooks</code> and{' '}
        <code>tendon plugins</code> say more.
      </p>
      {error && (
        <p role="alert" className="tone-bad">
          {error.message}
        </p>
      )}
      {isPending && <Late>Reading tools, hooks and plugins</Late>}
      {data?.problems.map((problem) => (
        <p key={problem} className="tone-bad">
          {problem}
        </p>
      ))}
      {data && (
        <>
          <Rows title="Tools" rows={data.tools.map(({ name, description }) => ({ name, words: description }))} />
          <Rows
            title="Hooks"
            rows={data.hooks.map(({ name, moment, match, command, blocks_on_failure }) => ({
              name,
              words: `${moment.replaceAll('_', ' ')}${match === null ? '' : ` of ${match}`}: ${command}${blocks_on_failure ? ' (blocks when it fails)' : ''}`,
            }))}
          />
          <Rows
            title="Plugins"
            rows={data.plugins.map(({ id, is_enabled, brings }) => ({
              name: id,
              words: `${is_enabled ? '' : 'disabled; '}${brings.join(', ') || 'brings nothing'}`,
            }))}
          />
        </>
      )}
    </section>
  );
}

function Rows({ title, rows }: { readonly title: string; readonly rows: readonly Row[] }) {
  if (rows.length === 0) return <p className="text-ink-2">{title}: none.</p>;
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
