import { z } from 'zod';
import { AGENT_STATES } from './agent-state.ts';
import { ACTIONS, OBSERVATIONS } from './kinds.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * JSON Schema (draft 2020-12) of every event as `openhands-v0` writes it, one definition per kind.
 * `any server`: a field that another server of these generations may leave out is not required. Objects are open: clients must expect more keys than they know, and kinds they do not know (`UnknownEvent`).
 */
export function eventsJsonSchema(of: 'written' | 'any server' = 'written'): JsonSchema {
  const toSchema = (schema: z.ZodType) =>
    of === 'written' ? schemaOf(schema, 'output') : loosened(schemaOf(schema, 'output'), schemaOf(schema, 'input'));
  const needed = ['id', 'timestamp', 'source', ...(of === 'written' ? ['message'] : [])];
  const actions = Object.values(ACTIONS).map((definition): [string, JsonSchema] => [
    `${pascal(definition.kind)}Action`,
    actionSchema(definition.kind, toSchema(definition.args), needed),
  ]);
  const observations = Object.values(OBSERVATIONS).map((definition): [string, JsonSchema] => [
    `${pascal(definition.kind)}Observation`,
    observationSchema(definition.kind, toSchema(definition.extras), needed),
  ]);
  const known = [...actions, ...observations];
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:tendon:events',
    title: 'Events of a conversation',
    anyOf: [...known.map(([name]) => ({ $ref: `#/$defs/${name}` })), { $ref: '#/$defs/UnknownEvent' }],
    $defs: { ...Object.fromEntries(known), UnknownEvent: unknownSchema(), ...SHARED },
  };
}

const META = {
  id: { type: 'integer', minimum: 0, description: 'Per conversation, from 0, without gaps.' },
  timestamp: { type: 'string', format: 'date-time', description: 'UTC, with Z.' },
  source: { $ref: '#/$defs/EventSource' },
  message: { type: 'string', description: 'Friendly text for a chat log.' },
  cause: { type: 'integer', minimum: 0, description: 'The id of the action that this answers.' },
  tool_call_metadata: { $ref: '#/$defs/ToolCallMetadata' },
  llm_metrics: { $ref: '#/$defs/LlmMetrics' },
  author: {
    type: 'object',
    description: 'Who sent the action, approved or rejected it, where the server has users.',
    properties: { id: { type: 'string' }, name: { type: 'string' } },
  },
};

const CLIENT_ID = { type: 'string', description: 'What the client that sent the action calls it.' };

const SHARED = {
  EventSource: { enum: ['agent', 'user', 'environment'] },
  AgentState: { enum: AGENT_STATES },
  ToolCallMetadata: {
    type: 'object',
    properties: {
      function_name: { type: 'string' },
      tool_call_id: { type: 'string' },
      model_response: { type: 'object', description: 'The chat completion that the action came from.' },
      total_calls_in_response: { type: 'integer' },
    },
  },
  LlmMetrics: {
    type: 'object',
    description: 'Accumulated over the conversation; cost in US dollars.',
    properties: {
      accumulated_cost: { type: 'number' },
      unpriced_tokens: { type: 'number' },
      accumulated_token_usage: { type: 'object' },
      // One for each request, as OpenHands sends them.
      costs: { type: 'array' },
      response_latencies: { type: 'array' },
      token_usages: { type: 'array' },
      max_budget_per_task: { type: ['number', 'null'] },
    },
  },
};

function actionSchema(kind: string, args: JsonSchema, needed: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties: { ...META, action: { const: kind }, args, timeout: { type: 'number', description: 'Seconds.' }, client_id: CLIENT_ID },
    required: [...needed, 'action', 'args'],
  };
}

function observationSchema(kind: string, extras: JsonSchema, needed: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties: { ...META, observation: { const: kind }, content: { type: 'string' }, extras, success: { type: 'boolean' } },
    required: [...needed, 'observation', 'content', 'extras'],
  };
}

function unknownSchema(): JsonSchema {
  return {
    type: 'object',
    description: 'A kind of a later version. Keep it, show it in a general way.',
    properties: {
      id: META.id,
      timestamp: META.timestamp,
      source: META.source,
      action: { not: { enum: Object.keys(ACTIONS) } },
      observation: { not: { enum: Object.keys(OBSERVATIONS) } },
    },
    required: ['id', 'timestamp', 'source'],
  };
}

/** `output`: every default is filled in, as the server writes it. `input`: what has a default may be left out. */
function schemaOf(schema: z.ZodType, io: 'output' | 'input'): JsonSchema {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io, unrepresentable: 'any' });
  return rest;
}

/** The types of the one, with what the other requires. */
function loosened(output: JsonSchema, input: JsonSchema): JsonSchema {
  const inner = (key: string): [string, JsonSchema] => [
    key,
    loosened((output.properties as Record<string, JsonSchema>)[key]!, ((input.properties ?? {}) as Record<string, JsonSchema>)[key] ?? {}),
  ];
  return {
    ...output,
    ...(output.required !== undefined && { required: input.required ?? [] }),
    ...(output.properties !== undefined && { properties: Object.fromEntries(Object.keys(output.properties as object).map(inner)) }),
    ...(output.items !== undefined && { items: loosened(output.items as JsonSchema, (input.items ?? {}) as JsonSchema) }),
  };
}

function pascal(kind: string): string {
  return kind.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
