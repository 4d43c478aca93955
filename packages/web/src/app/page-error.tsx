import { useRouteError } from 'react-router';
import { Button } from '../ui/button.tsx';

/** A page that threw. The conversation is on the server and goes on. */
export function PageError() {
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
