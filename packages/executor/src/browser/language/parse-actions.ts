import { LanguageError } from './tokenize.ts';
import { parseCalls, type Argument, type Literal, type WrittenCall } from './parse-calls.ts';
import { ALIASES, DEFAULTS, SIGNATURES, type ActionName, type ArgumentKinds, type BrowserCall } from './signatures.ts';

export type ParsedActions = { readonly ok: true; readonly calls: readonly BrowserCall[] } | { readonly ok: false; readonly error: string };

const MAX_CHARS = 64 * 1024;
const MAX_CALLS = 50;

/** Text in the BrowserGym action language, or in the older form `browser.click('#button')`. Total: an error names its place. */
export function parseActions(text: string): ParsedActions {
  if (text.length > MAX_CHARS) return { ok: false, error: `the actions are longer than ${MAX_CHARS} characters` };
  try {
    const calls = parseCalls(text).map(bind);
    if (calls.length > MAX_CALLS) return { ok: false, error: `there are ${calls.length} actions; ${MAX_CALLS} at once are taken` };
    return { ok: true, calls };
  } catch (error) {
    if (error instanceof LanguageError) return { ok: false, error: error.message };
    throw error;
  }
}

function bind(call: WrittenCall): BrowserCall {
  const name = actionName(call);
  const parameters = Object.entries<keyof ArgumentKinds>(SIGNATURES[name]);
  const given = new Map<string, Argument>();
  for (const [index, argument] of call.arguments.entries()) {
    const parameter = argument.name ?? parameters[index]?.[0];
    if (parameter === undefined || !parameters.some(([known]) => known === parameter)) {
      const what = argument.name === undefined ? 'so many arguments' : `an argument ${argument.name}`;
      throw new LanguageError(`${name} does not take ${what}; it is written ${usage(name)}`, argument);
    }
    if (given.has(parameter)) throw new LanguageError(`${name} is given ${parameter} twice`, argument);
    given.set(parameter, argument);
  }
  const args = parameters.map(([parameter, kind]) => {
    const argument = given.get(parameter);
    if (argument !== undefined) return [parameter, convert(argument, kind, { call, parameter })];
    if (Object.hasOwn(DEFAULTS, parameter)) return [parameter, DEFAULTS[parameter]];
    throw new LanguageError(`${name} needs ${parameter}; it is written ${usage(name)}`, call);
  });
  return { name, args: Object.fromEntries(args), line: call.line } as BrowserCall;
}

function actionName({ owner, name, line, column }: WrittenCall): ActionName {
  const known = Object.hasOwn(SIGNATURES, name) ? (name as ActionName) : Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
  if (known !== undefined && (owner === undefined || owner === 'browser' || owner === 'page')) return known;
  const written = owner === undefined ? name : `${owner}.${name}`;
  throw new LanguageError(`there is no action ${written}; there are ${Object.keys(SIGNATURES).join(', ')}`, { line, column });
}

function usage(name: ActionName): string {
  const parameters = Object.keys(SIGNATURES[name]).map((parameter) => {
    const value = DEFAULTS[parameter];
    return value === undefined ? parameter : `${parameter}=${value === false ? 'False' : JSON.stringify(value)}`;
  });
  return `${name}(${parameters.join(', ')})`;
}

interface CallPlace {
  readonly call: WrittenCall;
  readonly parameter: string;
}

function convert(argument: Argument, kind: keyof ArgumentKinds, place: CallPlace): ArgumentKinds[keyof ArgumentKinds] {
  const value = CONVERSIONS[kind](argument.value, place.call);
  if (value !== undefined) return value;
  throw new LanguageError(`${place.parameter} of ${place.call.name} must be ${KIND_WORDS[kind]}`, argument);
}

const BUTTONS = ['left', 'middle', 'right'] as const;
const MODIFIERS = ['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'] as const;

const KIND_WORDS: Readonly<Record<keyof ArgumentKinds, string>> = {
  text: 'a text',
  texts: 'a text or a list of texts',
  number: 'a number',
  flag: 'True or False',
  target: 'an element\'s id, as in "12", or a CSS selector',
  button: `one of ${BUTTONS.join(', ')}`,
  modifiers: `a list out of ${MODIFIERS.join(', ')}`,
};

/** `undefined` for what is of another kind. */
const CONVERSIONS: { readonly [K in keyof ArgumentKinds]: (value: Literal, call: WrittenCall) => ArgumentKinds[K] | undefined } = {
  text: (value) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined),
  texts: (value) => allOf(typeof value === 'string' ? [value] : value, (item): item is string => typeof item === 'string'),
  number: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
  flag: (value) => (typeof value === 'boolean' ? value : undefined),
  target: (value, { owner }) => targetOf(typeof value === 'number' ? String(value) : value, owner !== undefined),
  button: (value) => BUTTONS.find((button) => button === value),
  modifiers: (value) => allOf(value ?? [], (item): item is (typeof MODIFIERS)[number] => MODIFIERS.some((known) => known === item)),
};

function allOf<T extends Literal>(value: Literal, is: (item: Literal) => item is T): readonly T[] | undefined {
  return Array.isArray(value) && value.every((item: Literal) => is(item)) ? (value as readonly T[]) : undefined;
}

/** Letters of the frames an element is in, then its number; a frame itself has letters only. */
const BID = /^(?:[a-z][A-Z]*)*\d+$|^[a-z][A-Z]*$/;

/** After `browser.` a word such as `h1` is a selector, as it was meant in the form that knows no ids. */
function targetOf(value: Literal, isOlderForm: boolean): ArgumentKinds['target'] | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const isBid = isOlderForm ? /^\d+$/.test(value) : BID.test(value);
  return isBid ? { by: 'bid', bid: value } : { by: 'css', selector: value };
}
