import { createBrowserRouter } from 'react-router';
import { paths } from '../lib/paths.ts';
import { App } from './app.tsx';
import { NotFound } from '../pages/not-found.tsx';
import { PageError } from './page-error.tsx';

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
