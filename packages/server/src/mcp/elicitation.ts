/**
 * What an MCP server asks of a person in the middle of a call, put as questions with answers to choose from, one for each field of its
 * form. Nothing that a person did not answer is sent.
 */
import { z } from 'zod';

/** Resolves with what a person wrote; nothing when nobody answers in time. */
export type AskPerson = (question: { readonly content: string; readonly choices: readonly string[] }) => Promise<string | undefined>;

export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, string | number | boolean | readonly string[]>> }
  | { readonly action: 'decline' | 'cancel' };

/** Forms alone: an address to open would lead a person to wherever the server likes. */
export const CAPABILITIES = { elicitation: { form: {} } } as const;

const ACCEPT = 'Accept';
const DECLINE = 'Decline';
const SKIP = 'Skip';
const MAX_FORM = 64 * 1024;
const MAX_FIELDS = 12;
const MAX_CHOICES = 24;
const MAX_WORDS = 2_000;
const MAX_LABEL = 200;
const MAX_ATTEMPTS = 3;

const Titled = z.array(z.looseObject({ const: z.string(), title: z.string().optional() }));
const Field = z.looseObject({
  type: z.enum(['string', 'number', 'integer', 'boolean']),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: Titled.optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});
type Field = z.output<typeof Field>;
const Form = z.looseObject({
  mode: z.literal('form').default('form'),
  message: z.string(),
  requestedSchema: z.looseObject({ properties: z.record(z.string(), Field).default({}), required: z.array(z.string()).default([]) }),
});

/** `server`: its name, which every question begins with. What cannot be put to a person is declined. */
export async function elicit(params: unknown, server: string, ask: AskPerson): Promise<ElicitationAnswer> {
  // Of a large one the faults alone would fill the memory.
  const form = JSON.stringify(params ?? null).length > MAX_FORM ? undefined : Form.safeParse(params).data;
  const fields = Object.entries(form?.requestedSchema.properties ?? {});
  if (!form || fields.length > MAX_FIELDS) return { action: 'decline' };
  const head = `The MCP server "${server}" asks: ${form.message.slice(0, MAX_WORDS)}\n\nYour answer is sent to it; keep secrets out of it.`;
  if (fields.length === 0) return withoutFields(await ask({ content: head, choices: [ACCEPT, DECLINE] }));
  const content: Record<string, string | number | boolean> = {};
  for (const [index, [name, field]] of fields.entries()) {
    const isRequired = form.requestedSchema.required.includes(name);
    const label = `${(field.title ?? name).slice(0, MAX_LABEL)}${field.description === undefined ? '' : `: ${field.description.slice(0, MAX_WORDS)}`}`;
    const question = `${head}\n\n${fields.length > 1 ? `(${index + 1} of ${fields.length}) ` : ''}${label}`;
    const given = await askField({ question, field, isRequired }, ask);
    if (given === 'decline' || given === 'cancel') return { action: given };
    if (given !== 'skip') content[name] = given.value;
  }
  return { action: 'accept', content };
}

function withoutFields(words: string | undefined): ElicitationAnswer {
  if (words === undefined) return { action: 'cancel' };
  return isSame(words, ACCEPT) ? { action: 'accept', content: {} } : { action: 'decline' };
}

interface AskedField {
  readonly question: string;
  readonly field: Field;
  readonly isRequired: boolean;
}

type GivenField = { readonly value: string | number | boolean } | 'skip' | 'decline' | 'cancel';

async function askField({ question, field, isRequired }: AskedField, ask: AskPerson): Promise<GivenField> {
  const offered = choicesOf(field);
  const choices = [...offered.map(({ label }) => label), ...(isRequired ? [] : [SKIP]), DECLINE];
  let problem = '';
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const words = await ask({ content: `${question}${problem}`, choices });
    if (words === undefined) return 'cancel';
    const chosen = offered.find(({ label, value }) => isSame(words, label) || isSame(words, String(value)));
    if (chosen) return { value: chosen.value };
    if (isSame(words, DECLINE)) return 'decline';
    if (!isRequired && isSame(words, SKIP)) return 'skip';
    const value = valueOf(words.trim(), field, offered.length > 0);
    if (value !== undefined) return { value };
    problem = `\n\nThat does not fit: ${wantedOf(field, offered.length > 0)} is expected.`;
  }
  return 'cancel';
}

interface Choice {
  readonly label: string;
  readonly value: string | boolean;
}

function choicesOf({ type, enum: values, enumNames, oneOf }: Field): readonly Choice[] {
  if (type === 'boolean')
    return [
      { label: 'Yes', value: true },
      { label: 'No', value: false },
    ];
  const titled = oneOf ? oneOf.map((each) => ({ label: each.title ?? each.const, value: each.const })) : [];
  const named = values ? values.map((value, index) => ({ label: enumNames?.[index] ?? value, value })) : titled;
  return named.slice(0, MAX_CHOICES).map(({ label, value }) => ({ label: label.slice(0, MAX_LABEL), value }));
}

function valueOf(words: string, { type, ...bounds }: Field, isChoice: boolean): string | number | undefined {
  if (isChoice) return undefined;
  if (type === 'string')
    return words.length >= (bounds.minLength ?? 0) && words.length <= (bounds.maxLength ?? 64 * 1024) ? words : undefined;
  const value = words === '' ? Number.NaN : Number(words);
  const isFit = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isFit && value >= (bounds.minimum ?? -Infinity) && value <= (bounds.maximum ?? Infinity) ? value : undefined;
}

function wantedOf({ type, minLength, maxLength, minimum, maximum }: Field, isChoice: boolean): string {
  if (isChoice) return 'one of the choices';
  const [least, most] = type === 'string' ? [minLength, maxLength] : [minimum, maximum];
  const what = type === 'string' ? 'a text' : type === 'integer' ? 'a whole number' : 'a number';
  const unit = type === 'string' ? ' characters' : '';
  return [what, least !== undefined && `at least ${least}${unit}`, most !== undefined && `at most ${most}${unit}`]
    .filter(Boolean)
    .join(', ');
}

function isSame(words: string, choice: string): boolean {
  return words.trim().toLowerCase() === choice.toLowerCase();
}
