import { useEffect } from 'react';
import { Link } from 'react-router';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Mark } from '../../ui/icon.tsx';
import { ThemeButton } from '../../ui/theme.tsx';
import { RuleList } from '../rule-list.tsx';
import { AppearanceSetting } from './appearance-setting.tsx';
import { AskingSection } from './asking-section.tsx';
import { ExtensionList } from './extension-list.tsx';
import { LimitsSetting } from './limits-setting.tsx';
import { McpLogins } from './mcp-logins.tsx';
import { ModelSetting } from './model-setting.tsx';
import { TriggerList } from './trigger-list.tsx';
import { SecretsSection } from './secrets-section.tsx';

/** What holds in all conversations and is not chosen where a task begins. */
export function SettingsPage() {
  useEffect(() => {
    document.title = 'Settings · Tendon';
  }, []);
  return (
    <div className="screen">
      <header className="top-bar">
        <Link className="brand" to={paths.home} aria-label="Tendon, home">
          <Mark />
          Tendon
        </Link>
        <span className="flex-1" />
        <ThemeButton />
      </header>
      <main className="home scroll" aria-label="Settings">
        <div className="home-column">
          <h1>Settings</h1>
          <ModelSetting />
          <AskingSection />
          <LimitsSetting />
          <section className="setting" aria-labelledby="rules-heading">
            <h2 id="rules-heading">Rules</h2>
            <p className="text-ink-2">
              They decide what agents run without asking you, in all conversations. A rule that you revoke counts no more from the next
              action on.
            </p>
            <RuleList
              queryKey={['rules']}
              list={tendon.rules.list}
              remove={tendon.rules.remove}
              none="No rule is saved: what asks is decided by the mode alone."
            />
          </section>
          <SecretsSection />
          <McpLogins />
          <TriggerList />
          <ExtensionList />
          <AppearanceSetting />
        </div>
      </main>
    </div>
  );
}
