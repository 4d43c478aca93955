import type { ActionDraft } from '@tendon/protocol';
import { z } from 'zod';
import type { LlmToolSpec } from '../llm/llm-provider.ts';

/** A tool from one schema: it is offered to the model, checks the call, and types `toAction`. */
export function defineTool<S extends z.ZodObject>(definition: {
  readonly name: string;
  readonly description: string;
  readonly parameters: S;
  /** Default true; a tool that says false never starts a sandbox. */
  readonly needsSandbox?: boolean;
  /** Pure; parameters given as null count as not given. A string is the sentence that shows the model what is wrong. */
  readonly toAction: (args: z.output<S>) => ActionDraft | string;
}): Tool {
  const { name, description, parameters, needsSandbox = true } = definition;
  let schema: Readonly<Record<string, unknown>> | undefined;
  return {
    spec: {
      name,
      description,
      // Made for the first request that offers it: a program that starts has a dozen tools and asks no model yet.
      get parameters() {
        return (schema ??= toJsonSchema(parameters));
      },
    },
    needsSandbox,
    toAction(args) {
      const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
      const parsed = parameters.safeParse(given);
      if (!parsed.success) return { ok: false, error: `The call of ${name} was not carried out: ${explain(parsed.error, given)}` };
      const action = definition.toAction(parsed.data);
      if (typeof action === 'string') return { ok: false, error: `The call of ${name} was not carried out: ${action}` };
      return { ok: true, action };
    },
  };
}

/** Without the dialect's own marks: models are offered plain `type`, `properties`, `required`. */
function toJsonSchema(parameters: z.ZodObject): Readonly<Record<string, unknown>> {
  const {
    $schema: _dialect,
    additionalProperties: _strict,
    ...schema
  } = z.toJSONSchema(parameters, {
    io: 'output',
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema;
}

function explain(error: z.ZodError, args: Readonly<Record<string, unknown>>): string {
  return error.issues
    .map((issue) => {
      const parameter = issue.path.join('.');
      if (parameter === '') return issue.message;
      if (issue.path.length === 1 && !Object.hasOwn(args, issue.path[0]!)) return `the required parameter "${parameter}" is missing.`;
      return `the parameter "${parameter}" is wrong: ${issue.message}.`;
    })
    .join(' ');
}

/** A tool call that became an action, or the sentence that shows the model what was wrong with it. */
export type ToolCallResult = { readonly ok: true; readonly action: ActionDraft } | { readonly ok: false; readonly error: string };

/** What the model can call. Turning a call into an action is pure; executing the action is somebody else's. */
export interface Tool {
  readonly spec: LlmToolSpec;
  /** Its actions run in the sandbox. */
  readonly needsSandbox: boolean;
  /** `args` is the parsed JSON of the call; anything may be in it. */
  toAction(args: Readonly<Record<string, unknown>>): ToolCallResult;
}

/** Models often write numbers and booleans as text. */
export const lenientBoolean = z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean());

export const lenientInteger = z.preprocess((value) => fromText(value), z.number().int());

export const lenientSeconds = z.preprocess((value) => fromText(value), z.number().positive().max(86_400));

function fromText(value: unknown): unknown {
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
}

const RISKS = { LOW: 0, MEDIUM: 1, HIGH: 2 } as const;

/** Optional; anything else than the three is taken as unknown, since it must never stop a call. */
export const riskParameter = z
  .enum(['LOW', 'MEDIUM', 'HIGH'])
  .optional()
  .catch(undefined)
  .describe('LOW: reads or works in the workspace. MEDIUM: changes more. HIGH: may lose or leak data.');

export function toRisk(risk: keyof typeof RISKS | undefined): -1 | 0 | 1 | 2 {
  return risk === undefined ? -1 : RISKS[risk];
}
