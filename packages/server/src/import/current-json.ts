import { ACTIONS, currentArgs, type ActionKind } from '@tendon/protocol';

type Json = Readonly<Record<string, unknown>>;

/** The stored events of old releases in the spelling of today. Pure and total; nothing but what is renamed is touched. */
export function currentJson(json: Json): Json {
  if (isKnown(json.action) && isObject(json.args)) return { ...json, args: currentArgs(json.action, json.args) };
  if (json.observation === 'run' && isObject(json.extras)) return { ...json, extras: withMetadata(json.extras) };
  return json;
}

function isKnown(kind: unknown): kind is ActionKind {
  return typeof kind === 'string' && Object.hasOwn(ACTIONS, kind);
}

/** Until 0.19 the exit code stood beside the command. The old keys stay, for clients of that time. */
function withMetadata(extras: Json): Json {
  if (isObject(extras.metadata) || !Number.isInteger(extras.exit_code)) return extras;
  const interpreter = typeof extras.interpreter_details === 'string' ? extras.interpreter_details : '';
  return { ...extras, metadata: { exit_code: extras.exit_code, ...(interpreter && { py_interpreter_path: interpreter }) } };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
