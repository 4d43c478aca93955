import { Link } from 'react-router';
import { paths } from '../lib/paths.ts';

export function NotFound() {
  return (
    <main className="notice">
      <h1>
        <b>There is no page here</b>
      </h1>
      <p>The address may be of another server, or the conversation was deleted.</p>
      <Link className="button button-line mt-2" to={paths.home}>
        Show all conversations
      </Link>
    </main>
  );
}
