import type { McpConfig } from '@tendon/protocol';
import { useFormDraft } from '../../lib/use-form-draft.ts';
import { Button } from '../../ui/button.tsx';
import { McpLogins } from './mcp-logins.tsx';
import { McpTest } from './mcp-test.tsx';
import { SettingField, SettingForm, type SettingsChange, SettingSection, useSaveSettings } from './setting-form.tsx';
import { t } from '../../lib/language/text.ts';

const NONE: McpConfig = { sse_servers: [], stdio_servers: [], shttp_servers: [] };

/** Computes the change from the servers that are stored at that moment. */
function changed(change: (config: McpConfig) => McpConfig): SettingsChange {
  return ({ mcp_config: config }) => ({ mcp_config: change(config ?? NONE) });
}

/** Adds and removes MCP servers of the settings, and shows the logins to those with an address. */
export function McpPage() {
  return (
    <>
      <SettingSection
        title={t('Servers of the settings')}
        about={t('Their tools are offered to agents from the next turn on. Keys never come back to the browser.')}
      >
        {({ mcp_config: config }) => (
          <>
            <ServerList config={config ?? NONE} />
            <AddressForm />
            <ProgramForm />
          </>
        )}
      </SettingSection>
      <McpLogins />
    </>
  );
}

interface ShownServer {
  readonly name: string;
  readonly words: string;
  /** Without an address it runs only in sandboxes. */
  readonly isProgram: boolean;
  readonly remove: (config: McpConfig) => McpConfig;
}

function shownServers(config: McpConfig): readonly ShownServer[] {
  const withAddress = (kind: 'sse_servers' | 'shttp_servers', words: string): readonly ShownServer[] =>
    config[kind].map((server) => ({
      name: urlOf(server),
      isProgram: false,
      words: `${words}${typeof server !== 'string' && server.api_key ? t(', has a key') : ''}`,
      remove: (now) => ({ ...now, [kind]: now[kind].filter((one) => urlOf(one) !== urlOf(server)) }),
    }));
  return [
    ...withAddress('shttp_servers', t('by its address')),
    ...withAddress('sse_servers', t('by its address, server-sent events')),
    ...config.stdio_servers.map(({ name, command, args }) => ({
      name,
      isProgram: true,
      words: t('program {{command}}', { command: [command, ...args].join(' ') }),
      remove: (now: McpConfig) => ({ ...now, stdio_servers: now.stdio_servers.filter((one) => one.name !== name) }),
    })),
  ];
}

function urlOf(server: McpConfig['shttp_servers'][number] | McpConfig['sse_servers'][number]): string {
  return typeof server === 'string' ? server : server.url;
}

function ServerList({ config }: { readonly config: McpConfig }) {
  const save = useSaveSettings();
  const servers = shownServers(config);
  if (servers.length === 0) return <p className="text-ink-2">{t('The settings name no MCP server.')}</p>;
  return (
    <>
      <ul aria-label={t('Servers of the settings')}>
        {servers.map(({ name, words, isProgram, remove }) => (
          <li key={`${name} ${words}`}>
            <code className="truncate">{name}</code>
            <span className="truncate text-small text-ink-3">{words}</span>
            <McpTest server={name} isProgram={isProgram} />
            <Button
              small
              look="line"
              aria-label={t('Remove {{name}}', { name })}
              isBusy={save.isPending}
              onClick={() => save.mutate(changed(remove))}
            >
              {t('Remove')}
            </Button>
          </li>
        ))}
      </ul>
      {save.error && (
        <p role="alert" className="tone-bad">
          {save.error.message}
        </p>
      )}
    </>
  );
}

function AddressForm() {
  const draft = useFormDraft({ url: '', key: '' });
  const { url, key } = draft.shown;
  const added = { url: url.trim(), timeout: 60, ...(key && { api_key: key.trim() }) };
  const changes = changed((now) => ({ ...now, shttp_servers: [...now.shttp_servers, added] }));
  return (
    <SettingForm
      label={t('Add the address')}
      draft={draft}
      changes={/^https?:/.test(url.trim()) && URL.canParse(url.trim()) ? changes : undefined}
    >
      <SettingField
        label={t('Address')}
        placeholder="https://tools.example.com/mcp"
        value={url}
        onChange={(event) => draft.write({ url: event.target.value })}
      />
      <SettingField
        label={t('Key, if it wants one')}
        type="password"
        autoComplete="off"
        hint={t('One that asks for a login instead is logged in to below.')}
        value={key}
        onChange={(event) => draft.write({ key: event.target.value })}
      />
    </SettingForm>
  );
}

/** Splits a command line at spaces, without quoting: arguments with spaces can only be added with the CLI. */
function ProgramForm() {
  const draft = useFormDraft({ name: '', line: '' });
  const { name, line } = draft.shown;
  const [command = '', ...args] = line.trim().split(/\s+/);
  const added = { name: name.trim(), command, args, env: {} };
  const changes = changed((now) => ({ ...now, stdio_servers: [...now.stdio_servers, added] }));
  return (
    <SettingForm label={t('Add the program')} draft={draft} changes={name.trim() !== '' && command !== '' ? changes : undefined}>
      <SettingField
        label={t('Name of a program')}
        placeholder="files"
        value={name}
        onChange={(event) => draft.write({ name: event.target.value })}
      />
      <SettingField
        label={t('Its command')}
        placeholder="npx -y @modelcontextprotocol/server-filesystem /srv/docs"
        hint={t('It runs in the sandbox of each conversation.')}
        value={line}
        onChange={(event) => draft.write({ line: event.target.value })}
      />
    </SettingForm>
  );
}
