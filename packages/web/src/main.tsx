import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { ApiError } from '@tendon/client';
import { options } from 'preact';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Pages } from './app/routes.tsx';
import { startLanguage } from './lib/language/language.ts';
import './styles/index.css';

// Effects follow what they belong to at once, not after the next frame: a key that comes before it acts on what the one before has written.
options.requestAnimationFrame = queueMicrotask;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 1 && !(error instanceof ApiError && error.status >= 400),
      staleTime: 5_000,
      refetchOnWindowFocus: true,
    },
  },
});

const draw = () =>
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Pages />
      </QueryClientProvider>
    </StrictMode>,
  );

const language = startLanguage();
if (language) void language.then(draw);
else draw();

// Without one the app works all the same, but not without a connection.
if (import.meta.env.PROD && 'serviceWorker' in navigator) {
  addEventListener('load', () => void navigator.serviceWorker.register('/sw.js').catch(() => undefined));
}
