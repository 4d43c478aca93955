import { createBrowserRouter, useRouteError } from 'react-router';
import { paths } from '../lib/paths.ts';
import { NotFound } from '../pages/not-found.tsx';
import { Button } from '../ui/button.tsx';
import { App } from './app.tsx';

/** The map of the app. Each page is a chunk of its own. */
export const router = createBrowserRouter([
  {
    element: <App />,
    errorElement: <PageError />,
    hydrateFallbackElement: <></>,
    children: [
      { path: '/', lazy: async () => ({ Component: (await import('../pages/home/home-page.tsx')).HomePage }) },
      {
        path: '/conversations/:conversationId',
        lazy: async () => ({ Component: (await import('../pages/conversation/conversation-page.tsx')).ConversationPage }),
      },
      { path: paths.shared, lazy: async () => ({ Component: (await import('../pages/conversation/shared-page.tsx')).SharedPage }) },
      { path: '*', element: <NotFound /> },
    ],
  },
]);

/** A page that threw. The conversation is on the server and goes on. */
function PageError() {
  const error = useRouteError();
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return (
    <main className="notice" role="alert">
      <h1>
        <b>This page stopped working. The conversation goes on.</b>
      </h1>
      <p className="mono">{error instanceof Error ? error.message : details}</p>
      <div className="mt-2 flex gap-2">
        <Button look="main" onClick={() => location.reload()}>
          Reload the page
        </Button>
        <Button look="line" onClick={() => void navigator.clipboard.writeText(details)}>
          Copy details
        </Button>
      </div>
    </main>
  );
}
