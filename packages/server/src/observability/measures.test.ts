import { expect, it } from 'vitest';
import { Counter, exposition, gauge, Histogram } from '../platform/exposition.ts';
import { socketIoClient, testServer } from '../server.test-support.ts';

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

it('SV1121: after a conversation /metrics has its events, actions, model and sandbox, and no id', async () => {
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
});
