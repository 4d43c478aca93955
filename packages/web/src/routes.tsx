import { createBrowserRouter } from 'react-router';
import { paths } from './paths.ts';
import { App } from './shell/app.tsx';
import { NotFound } from './shell/not-found.tsx';
import { PageError } from './shell/page-error.tsx';

/** The map of the app. Each page is a chunk of its own. */
export const router = createBrowserRouter([
  {
    element: <App />,
    errorElement: <PageError />,
    hydrateFallbackElement: <></>,
    children: [
      { path: '/', lazy: async () => ({ Component: (await import('./home/home-page.tsx')).HomePage }) },
      {
        path: '/conversations/:conversationId',
        lazy: async () => ({ Component: (await import('./conversation/conversation-page.tsx')).ConversationPage }),
      },
      { path: paths.shared, lazy: async () => ({ Component: (await import('./conversation/shared-page.tsx')).SharedPage }) },
      { path: '*', element: <NotFound /> },
    ],
  },
]);
