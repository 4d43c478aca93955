import { Secret } from '@tendon/protocol/masking';
import { z } from 'zod';
import { flag } from './environment-values.ts';

/** Where spans are sent. */
export interface TracingConfig {
  /** The base address; `/v1/traces` is added. */
  readonly endpoint: URL;
  /** Sent with each request there; their values are secret. */
  readonly headers: Readonly<Record<string, Secret>>;
  readonly serviceName: string;
  /** Of the traces that begin here, 0 to 1; a client's own choice counts for what it began. */
  readonly share: number;
  /** Whether what people, models and tools wrote is sent too. */
  readonly hasContents: boolean;
}

/** As OpenTelemetry names them. */
export const TracingEnvironment = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'an http:// or https:// address is expected' }).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform((text, { addIssue }) => {
      const pairs = text.split(',').filter((pair) => pair.trim() !== '');
      const read = pairs.map(readHeader);
      if (read.includes(undefined)) addIssue('name=value is expected, several separated by commas, and %2C for a comma in a value');
      return Object.fromEntries(read.filter((header) => header !== undefined));
    })
    .default({}),
  OTEL_SERVICE_NAME: z.string().max(100, 'at most 100 characters').default('tendon'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number('a number is expected').min(0, 'no less than 0').max(1, 'no more than 1').default(1),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag.default(false),
});

function readHeader(text: string): readonly [string, Secret] | undefined {
  const [, name, value] = /^\s*([!#$&'*+.^_`|~\w-]+)=([ -~]*)$/.exec(text) ?? [];
  try {
    return name === undefined ? undefined : [name, new Secret(decodeURIComponent(value!.trim()))];
  } catch {
    return undefined;
  }
}

export function tracingConfig(values: z.output<typeof TracingEnvironment>): TracingConfig | undefined {
  if (values.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return undefined;
  return {
    endpoint: new URL(values.OTEL_EXPORTER_OTLP_ENDPOINT),
    headers: values.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: values.OTEL_SERVICE_NAME,
    share: values.OTEL_TRACES_SAMPLER_ARG,
    hasContents: values.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
  };
}
