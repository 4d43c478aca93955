import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError } from '@tendon/client';
import type { McpLogin } from '@tendon/protocol';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { SectionHeading } from './section-heading.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const queryKey = ['mcp-logins'];
/** A login completes in another tab. */
const LOOK_EVERY_MS = 3_000;

/** MCP servers with an address, how this server authenticates there, and logins to them. Hidden from keys that may not see them. */
export function McpLogins() {
  const list = useQuery({ queryKey, queryFn: tendon.mcpLogins.list, retry: false });
  if (list.error instanceof ApiError && list.error.status === 403) return null;
  return (
    <section className="setting" aria-labelledby="mcp-heading">
      <SectionHeading id="mcp-heading" title={t('Logins')} />
      <p className="text-ink-2">
        {t('One that asks for a login offers its tools once you are logged in; the login counts in all conversations.')}
      </p>
      {list.error && (
        <p role="alert" className="tone-bad">
          {list.error.message}
        </p>
      )}
      {list.isPending && <Late>{t('Reading the MCP servers')}</Late>}
      {list.data?.length === 0 && (
        <p className="text-ink-2">{t('The settings, the configuration and plugins name no MCP server with an address.')}</p>
      )}
      {list.data && list.data.length > 0 && (
        <ul aria-label={t('MCP servers')}>
          {list.data.map((server) => (
            <ServerRow key={server.url} server={server} />
          ))}
        </ul>
      )}
    </section>
  );
}

const STATES: Readonly<Record<McpLogin['state'], PlainText>> = {
  key: textKey('has an API key'),
  logged_in: textKey('logged in'),
  logged_out: textKey('not logged in'),
};

function ServerRow({ server: { name, url, state } }: { readonly server: McpLogin }) {
  const queries = useQueryClient();
  const shown = name ?? url;
  const begin = useMutation({ mutationFn: () => tendon.mcpLogins.begin(url) });
  const end = useMutation({
    mutationFn: () => tendon.mcpLogins.end(url),
    onSuccess: begin.reset,
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  const isBegun = state === 'logged_out' && begin.data !== undefined;
  useQuery({ queryKey, queryFn: tendon.mcpLogins.list, enabled: isBegun, refetchInterval: LOOK_EVERY_MS });
  const problem = begin.error ?? end.error;
  return (
    <li>
      <code className="truncate" title={url}>
        {shown}
      </code>
      <span className="text-small text-ink-3">{t(STATES[state])}</span>
      {problem && (
        <span role="alert" className="tone-bad">
          {problem.message}
        </span>
      )}
      <span className="flex-1" />
      {isBegun && (
        <a href={begin.data.authorization_url} target="_blank" rel="noreferrer">
          {t('Permit it at {{host}}', { host: hostOf(begin.data.authorization_url) })}
        </a>
      )}
      {state === 'logged_out' && !isBegun && (
        <Button
          small
          look="line"
          aria-label={t('Log in to {{server}}', { server: shown })}
          isBusy={begin.isPending}
          onClick={() => begin.mutate()}
        >
          {t('Log in')}
        </Button>
      )}
      {state === 'logged_in' && (
        <Button
          small
          look="line"
          aria-label={t('Log out of {{server}}', { server: shown })}
          isBusy={end.isPending}
          onClick={() => end.mutate()}
        >
          {t('Log out')}
        </Button>
      )}
    </li>
  );
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
