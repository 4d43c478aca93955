import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { Counter, exposition, gauge, Histogram } from '../platform/exposition.ts';
import { socketIoClient, testServer } from '../server.test-support.ts';

const DEPLOY = join(import.meta.dirname, '../../../../deploy');

interface Query {
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly Query[] }[];
}

interface Alerts {
  readonly groups: readonly { readonly rules: readonly (Query & { readonly alert?: string })[] }[];
}

it('SV1120: labels are escaped, buckets are cumulative, and series of one instrument are bounded', () => {
  const counter = new Counter({ name: 'a_total', help: 'A', labels: ['model'] });
  counter.add({ model: 'say "hi"\\\n' });
  const seconds = new Histogram({ name: 'b_seconds', help: 'B' }, [1, 2]);
  for (const value of [0.5, 1, 1.5, 9]) seconds.observe({}, value);
  expect(exposition([counter, seconds, gauge('c', 'C', () => 3)])).toBe(
    `# HELP a_total A\n# TYPE a_total counter\na_total{model="say \\"hi\\"\\\\\\n"} 1\n` +
      `# HELP b_seconds B\n# TYPE b_seconds histogram\n` +
      `b_seconds_bucket{le="1"} 2\nb_seconds_bucket{le="2"} 3\nb_seconds_bucket{le="+Inf"} 4\nb_seconds_sum 12\nb_seconds_count 4\n` +
      `# HELP c C\n# TYPE c gauge\nc 3\n`,
  );
  for (let index = 0; index < 1000; index++) counter.add({ model: `model ${index}` });
  const samples = [...counter.samples()];
  expect(samples.length).toBeLessThanOrEqual(201);
  expect(samples.find(({ labels }) => labels.model === 'other')?.value).toBe(801);
});

it('SV1121, SV1122: after a conversation /metrics has its events, actions, model and sandbox, no id, and every figure that dashboard and alerts name', async () => {
  const script = [{ toolCalls: [{ name: 'execute_bash', arguments: { command: 'exit 3' } }] }, { text: 'Done.' }];
  const server = await testServer({ script });
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id });
  await client.ask('go');
  const text = await (await server.get('/metrics')).text();
  const figure = (series: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')
        .at(-1),
    );
  expect(figure('tendon_conversations{state="awaiting_user_input"}')).toBe(1);
  expect(figure('tendon_connections{protocol="socket.io"}')).toBe(1);
  expect(figure('tendon_events_appended_total{type="action",kind="run",source="agent"}')).toBe(1);
  expect(figure('tendon_actions_total{kind="run",result="failed"}')).toBe(1);
  expect(figure('tendon_action_seconds_count{kind="run"}')).toBe(1);
  expect(figure('tendon_sandbox_starts_total{result="ready"}')).toBe(1);
  expect(figure('tendon_sandbox_ready_seconds_count')).toBe(1);
  expect(text).toMatch(/^tendon_model_requests_total\{model="scripted\/[^"]*",result="answered"\} 2$/m);
  for (const series of ['tendon_log_append_seconds_count', 'tendon_event_delivery_seconds_count', 'tendon_disk_free_bytes'])
    expect(figure(series), series).toBeGreaterThan(0);
  expect(text).not.toContain(id);
  checkMonitoring(text);
});

/** SV1122, on the figures of the server of the test before. */
function checkMonitoring(text: string): void {
  const known = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!));
  const dashboard = readFileSync(join(DEPLOY, 'grafana/tendon.json'), 'utf8');
  const made = spawnSync(process.execPath, [join(DEPLOY, '../scripts/dashboard.mjs')], { encoding: 'utf8' }).stdout;
  expect(made === dashboard, 'made by `node scripts/dashboard.mjs --write`').toBe(true);
  const { panels } = JSON.parse(dashboard) as Dashboard;
  const { groups } = parse(readFileSync(join(DEPLOY, 'prometheus/alerts.yml'), 'utf8')) as Alerts;
  const rules = groups.flatMap((group) => group.rules);
  for (const alert of rules.filter((rule) => rule.alert))
    expect(alert, alert.alert).toMatchObject({
      labels: { severity: expect.any(String) },
      annotations: { summary: expect.any(String), action: expect.any(String) },
    });
  const queries = [...panels.flatMap(({ targets = [] }) => targets), ...rules].map(({ expr }) => expr);
  expect(queries.length).toBeGreaterThan(40);
  for (const query of queries) {
    expect(query.split('(').length, query).toBe(query.split(')').length);
    const figures = query.match(/\b(?:tendon|process|nodejs)_\w+/g) ?? [];
    for (const figure of figures) expect(known, query).toContain(figure.replace(/_(?:bucket|count|sum)$/, ''));
    for (const [, figure, bound] of query.matchAll(/(\w+)\{le="([^"]+)"\}/g)) expect(text).toContain(`${figure}{le="${bound}"}`);
  }
}
