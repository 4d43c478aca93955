/** The tests that need Postgres share one, which the first of them starts and the end of the run ends. */
import { nameSharedPostgres } from '@tendon/testing/postgres';

export function setup(): () => Promise<void> {
  return nameSharedPostgres();
}
