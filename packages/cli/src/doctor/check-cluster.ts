import {
  askServerOf,
  inspectPostgres,
  systemClock,
  VERSION,
  type Config,
  type LeasedServer,
  type PostgresFacts,
} from '@tendon/server/headless';
import type { Finding } from './check-machine.ts';

const MIN_POSTGRES = 14;
const MAX_LATENCY_MS = 20;
/** Signatures between servers are valid for half a minute. */
const MAX_SKEW_MS = 10_000;

/** The database of a cluster, and each server that has a lease there, asked as its peers do. Changes nothing. */
export async function checkCluster({ databaseUrl, jwtSecret }: Config): Promise<readonly Finding[]> {
  if (!databaseUrl) return [{ name: 'database', ok: false, says: 'set TENDON_DATABASE_URL, as the servers have it' }];
  const facts = await inspectPostgres(databaseUrl.reveal(), () => systemClock.now()).catch((cause: Error) => cause);
  if (facts instanceof Error) return [{ name: 'database', ok: false, says: facts.message }];
  const findings = checkDatabase(facts);
  if (!jwtSecret)
    return [...findings, { name: 'secret', ok: false, says: 'set JWT_SECRET, as the servers have it: they know each other by it' }];
  const alive = (facts.servers ?? []).filter(({ isOver }) => !isOver);
  const asked = await Promise.all(alive.map((server) => checkServer(server, jwtSecret)));
  return [...findings, checkLeases(facts.servers ?? [], alive.length), ...asked];
}

function checkDatabase({ place, version, latencyMs, commits, encoding, isStandby, aheadMs, servers }: PostgresFacts): readonly Finding[] {
  const fine = (name: string, ok: boolean, says: string, mend: string): Finding => ({ name, ok, says: ok ? says : `${says}: ${mend}` });
  const schema = servers ? '' : ', and no server has worked on it yet';
  return [
    { name: 'database', ok: true, says: `${place} answers${schema}` },
    fine('Postgres', Number.parseInt(version, 10) >= MIN_POSTGRES, version, `${MIN_POSTGRES} or newer is needed`),
    fine('writes', !isStandby, isStandby ? 'it is a standby' : 'it takes writes', 'name the primary in TENDON_DATABASE_URL'),
    fine('encoding', encoding === 'UTF8', encoding, "make the database with ENCODING 'UTF8'"),
    fine(
      'commits',
      commits !== 'off',
      `synchronous_commit = ${commits}`,
      'a crash of the database loses events that were shown; set it to on',
    ),
    {
      ...fine('latency', true, `${latencyMs.toFixed(1)} ms`, ''),
      ...(latencyMs > MAX_LATENCY_MS && {
        isNote: true,
        says: `${latencyMs.toFixed(1)} ms: each step of an agent waits for it twice; run servers near it`,
      }),
    },
    fine(
      'clock',
      Math.abs(aheadMs) <= MAX_SKEW_MS,
      `${(aheadMs / 1000).toFixed(1)} s ahead of the database`,
      'synchronise the clocks (NTP)',
    ),
    { name: 'payloads', ok: true, says: 'in the database' },
  ];
}

function checkLeases(servers: readonly LeasedServer[], alive: number): Finding {
  const name = 'servers';
  if (alive === 0) return { name, ok: false, says: 'none has a lease on the database: start one' };
  const takes = servers.filter((each) => !each.isOver && each.takes).length;
  const gone = servers.length - alive;
  const says = `${alive} alive, ${takes} take new conversations${gone > 0 ? `, ${gone} did not extend the lease and will be followed` : ''}`;
  if (takes === 0) return { name, ok: false, says: `${says}: start a server that is neither a gateway nor draining` };
  return { name, ok: true, says, ...((alive === 1 || gone > 0) && { isNote: true }) };
}

async function checkServer({ id, url, load }: LeasedServer, jwtSecret: NonNullable<Config['jwtSecret']>): Promise<Finding> {
  const name = `server ${url ?? id}`;
  if (url === null)
    return { name, ok: false, says: 'it has the database alone: set TENDON_ADVERTISE_URL on it, so that others can be beside it' };
  const asked = await askServerOf(jwtSecret, url, systemClock.now().getTime());
  if (asked.state === 'unreachable') {
    return {
      name,
      ok: false,
      says: `not reached from here (${asked.reason}): look at its TENDON_ADVERTISE_URL, at network policies, and whether it hangs`,
    };
  }
  if (asked.state === 'refused') {
    return {
      name,
      ok: false,
      says: `it does not know our signature (${asked.status}): its JWT_SECRET is another one, or its clock is off by more than 30 s`,
    };
  }
  const { version, problem, sandbox } = asked.about;
  const says = `${version}, ${load} conversations, ${sandbox}, answers in ${asked.ms.toFixed(0)} ms`;
  if (problem === 'storage') return { name, ok: false, says: `${says}; it cannot reach the database: look at its network and its log` };
  if (problem !== null) return { name, ok: true, isNote: true, says: `${says}; it takes no work: ${problem}` };
  if (version !== VERSION) return { name, ok: true, isNote: true, says: `${says}; this is ${VERSION}: finish the update` };
  return { name, ok: true, says };
}
