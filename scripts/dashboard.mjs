#!/usr/bin/env node
// Makes deploy/grafana/tendon.json, the dashboard for Grafana, from the table of its panels: `node scripts/dashboard.mjs --write`.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const rate = (figure, by) => `sum by (${by}) (rate(${figure}{job=~"$job"}[$__rate_interval]))`;
const sum = (figure, by = '') => `sum by (${by}) (${figure}{job=~"$job"})`;
const quantile = (share, figure, by = '') =>
  `histogram_quantile(${share}, ${rate(`${figure}_bucket`, ['le', by].filter(Boolean).join(', '))})`;
const percentiles = (figure) => [0.5, 0.99].map((share) => [`p${share * 100}`, quantile(share, figure)]);

/** Title, unit of Grafana, and the curves: legend and query. */
const ROWS = [
  {
    title: 'What clients see',
    panels: [
      ['Requests by status', 'reqps', [['{{status}}', rate('tendon_http_requests_total', 'status')]]],
      ['Time to answer a request', 's', percentiles('tendon_http_request_duration_seconds')],
      ['Delivery of an event', 's', percentiles('tendon_event_delivery_seconds')],
      ['Sockets', 'short', [['{{protocol}}', sum('tendon_connections', 'protocol')]]],
    ],
  },
  {
    title: 'Conversations and their log',
    panels: [
      ['Conversations in memory', 'short', [['{{state}}', sum('tendon_conversations', 'state')]]],
      ['Events', 'short', [['{{kind}}', rate('tendon_events_appended_total', 'kind')]]],
      ['Until an append is durable', 's', percentiles('tendon_log_append_seconds')],
      ['Appends refused', 'short', [['{{cause}}', rate('tendon_log_append_failures_total', 'cause')]]],
    ],
  },
  {
    title: 'Models',
    panels: [
      ['Requests', 'reqps', [['{{model}} {{result}}', rate('tendon_model_requests_total', 'model, result')]]],
      ['Time of an answer (p95)', 's', [['{{model}}', quantile(0.95, 'tendon_model_answer_seconds', 'model')]]],
      ['Failures', 'reqps', [['{{model}} {{code}}', rate('tendon_model_failures_total', 'model, code')]]],
      ['Tokens', 'short', [['{{model}} {{type}}', rate('tendon_model_tokens_total', 'model, type')]]],
      ['Cost in an hour', 'currencyUSD', [['{{model}}', 'sum by (model) (increase(tendon_model_cost_usd_total{job=~"$job"}[1h]))']]],
      [
        'In flight and waiting',
        'short',
        [
          ['in flight', sum('tendon_model_requests_in_flight')],
          ['waiting', sum('tendon_model_requests_waiting')],
        ],
      ],
      [
        'Tried again, answered by the other model',
        'short',
        [
          ['{{model}} again', rate('tendon_model_retries_total', 'model')],
          ['{{model}} other', rate('tendon_model_fallbacks_total', 'model')],
        ],
      ],
    ],
  },
  {
    title: 'Sandboxes',
    panels: [
      ['Actions', 'short', [['{{kind}} {{result}}', rate('tendon_actions_total', 'kind, result')]]],
      ['Time of an action (p95)', 's', [['{{kind}}', quantile(0.95, 'tendon_action_seconds', 'kind')]]],
      ['Starts', 'short', [['{{result}}', rate('tendon_sandbox_starts_total', 'result')]]],
      ['Until a sandbox is ready', 's', percentiles('tendon_sandbox_ready_seconds')],
      [
        'Held',
        'short',
        [
          ['awake', sum('tendon_sandboxes_awake')],
          ['asleep', sum('tendon_sandboxes_asleep')],
          ['over their disk', sum('tendon_sandboxes_over_disk')],
        ],
      ],
      ['Lost in an hour', 'short', [['lost', 'sum(increase(tendon_sandboxes_lost_total{job=~"$job"}[1h]))']]],
    ],
  },
  {
    title: 'Governance',
    panels: [
      [
        'Conversations at work, and waiting',
        'short',
        [
          ['at work', sum('tendon_conversations_at_work')],
          ['waiting', sum('tendon_conversations_waiting')],
        ],
      ],
      ['Refused because of a limit', 'short', [['{{limit}}', rate('tendon_limit_refusals_total', 'limit')]]],
    ],
  },
  {
    title: 'The process',
    panels: [
      ['Memory', 'bytes', [['{{instance}}', sum('process_resident_memory_bytes', 'instance')]]],
      ['Processor', 'percentunit', [['{{instance}}', rate('process_cpu_seconds_total', 'instance')]]],
      ['Delay of the event loop (p99)', 's', [['{{instance}}', sum('nodejs_eventloop_lag_p99_seconds', 'instance')]]],
      ['Event loop blocked', 's', [['{{task}}', rate('tendon_event_loop_blocked_seconds_total', 'task')]]],
      ['Disk that is free', 'bytes', [['{{instance}}', sum('tendon_disk_free_bytes', 'instance')]]],
    ],
  },
];

const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const [WIDTH, HEIGHT, ACROSS] = [6, 7, 4];

function dashboard() {
  const panels = [];
  let y = 0;
  for (const { title, panels: given } of ROWS) {
    panels.push({ id: panels.length + 1, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] });
    for (const [index, [name, unit, curves]] of given.entries()) {
      const gridPos = { x: (index % ACROSS) * WIDTH, y: y + 1 + Math.floor(index / ACROSS) * HEIGHT, w: WIDTH, h: HEIGHT };
      const targets = curves.map(([legendFormat, expr], at) => ({
        refId: String.fromCodePoint(65 + at),
        datasource: SOURCE,
        expr,
        legendFormat,
      }));
      const fieldConfig = { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] };
      const options = { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } };
      panels.push({ id: panels.length + 1, type: 'timeseries', title: name, datasource: SOURCE, gridPos, fieldConfig, options, targets });
    }
    y += 1 + Math.ceil(given.length / ACROSS) * HEIGHT;
  }
  const list = [
    { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' },
    {
      name: 'job',
      type: 'query',
      label: 'Job',
      datasource: SOURCE,
      query: { query: 'label_values(tendon_build_info, job)', refId: 'job' },
      includeAll: true,
      multi: true,
      refresh: 2,
    },
  ];
  return {
    uid: 'tendon',
    title: 'Tendon',
    tags: ['tendon'],
    schemaVersion: 41,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: { list },
    panels,
  };
}

const text = `${JSON.stringify(dashboard(), null, 1)}\n`;
if (process.argv.includes('--write')) writeFileSync(fileURLToPath(new URL('../deploy/grafana/tendon.json', import.meta.url)), text);
else process.stdout.write(text);
