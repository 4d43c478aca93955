import { useEffect } from 'react';
import { useModelInUse } from '../../lib/model-in-use.ts';
import { StatusBar } from '../status-bar.tsx';
import { ServerState } from './server-state.tsx';
import { tendon } from '../../lib/tendon.ts';
import { ConversationList } from './conversation-list.tsx';
import { HomeBar } from './home-bar.tsx';
import { ModelGuide } from './model-guide.tsx';
import { TaskComposer } from './task-composer.tsx';

export function HomePage() {
  const model = useModelInUse();
  useEffect(() => {
    document.title = 'Tendon';
  }, []);
  return (
    <div className="screen">
      <HomeBar />
      <main className="home scroll" aria-label="Tasks">
        <div className="home-column">
          <h1>What should be done?</h1>
          <TaskComposer />
          {model?.isDemo && <ModelGuide />}
          <ConversationList />
        </div>
      </main>
      <ServerState>
        {(isReachable) => (
          <StatusBar
            glyph={isReachable ? 'connected' : 'limited'}
            connection={isReachable ? `Connected to ${tendon.host}` : `Could not reach ${tendon.host}`}
          >
            {model && <span>{model.isDemo ? 'Demo model, free' : model.label}</span>}
          </StatusBar>
        )}
      </ServerState>
    </div>
  );
}
