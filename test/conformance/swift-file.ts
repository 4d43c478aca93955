/**
 * What `tendon schema --swift` printed, read as text: no Swift compiler is at hand. Each line must be one that is known to be Swift, each
 * name declared once and every type declared; and JSON is decoded by the declarations as `Codable` does it.
 */
interface SwiftField {
  readonly key: string;
  readonly type: string;
}

export interface SwiftFile {
  readonly structs: ReadonlyMap<string, readonly SwiftField[]>;
  readonly enums: ReadonlySet<string>;
  readonly aliases: ReadonlyMap<string, string>;
  /** Of events: the struct by `action run`. */
  readonly kinds: ReadonlyMap<string, string>;
  /** What is not right in the text itself. */
  readonly problems: readonly string[];
}

const NAME = '(?:[A-Za-z][A-Za-z0-9]*|`[a-z]+`)';
const TYPE = '[A-Za-z0-9[\\]: ?]+';
const LINES = [
  '',
  '\\}',
  '    \\}',
  '  \\}',
  '  \\) \\{',
  '  public init\\(',
  '      \\}',
  '      default: break',
  '    default: self = \\.unknown\\(text\\)',
  '  /// .*',
  '  case unknown\\((?:String|\\[String: JSONValue\\])\\)',
  '  public init\\(_ text: String\\) \\{',
  '    switch (?:text|self) \\{',
  '      switch kind \\{',
  '  public var text: String \\{',
  '    case \\.unknown\\(let text\\): return text',
  '  public init\\(from decoder: Decoder\\) throws \\{',
  '  public func encode\\(to encoder: Encoder\\) throws \\{',
  '    self\\.init\\(try decoder.singleValueContainer\\(\\).decode\\(String\\.self\\)\\)',
  '    var container = encoder.singleValueContainer\\(\\)',
  '    try container.encode\\(text\\)',
  '  enum (?:CodingKeys|KindKeys): String, CodingKey \\{',
  '    let kinds = try decoder.container\\(keyedBy: KindKeys.self\\)',
  '    if let kind = try\\? kinds.decode\\(String.self, forKey: \\.(?:action|observation)\\) \\{',
  '    self = \\.unknown\\(try \\[String: JSONValue\\]\\(from: decoder\\)\\)',
  '    case \\.unknown\\(let fields\\): try fields.encode\\(to: encoder\\)',
  '    case (?:action|observation)',
  `public (?:struct|enum) ${NAME}: Codable, Hashable, Sendable \\{`,
  `public typealias ${NAME} = ${TYPE}`,
  `  public var ${NAME}: ${TYPE}`,
  `    ${NAME}: ${TYPE}(?: = nil)?,?`,
  `    self\\.(${NAME}) = \\1`,
  `    case ${NAME} = "[^"\\\\]*"`,
  `  case ${NAME}(?:\\(${NAME}\\))?`,
  `    case "[^"\\\\]*": self = \\.${NAME}`,
  `    case \\.${NAME}: return "[^"\\\\]*"`,
  `    case \\.${NAME}\\(let event\\): try event.encode\\(to: encoder\\)`,
  `      case "[a-z_]+": if let known = try\\? ${NAME}\\(from: decoder\\) \\{ self = \\.${NAME}\\(known\\); return \\}`,
].map((line) => new RegExp(`^${line}$`));

/** Names that a program has already. */
const TAKEN = [
  'Any',
  'Array',
  'Bool',
  'Character',
  'Data',
  'Date',
  'Double',
  'Error',
  'Int',
  'Never',
  'Result',
  'Set',
  'String',
  'Task',
  'Type',
  'URL',
];
const BASIC = ['String', 'Int', 'Double', 'Bool', 'JSONValue', 'Timestamp'];

export function readSwift(text: string): SwiftFile {
  const generated = text.slice(text.indexOf('\n}\n\npublic ', text.indexOf('struct Timestamp')) + 3);
  const odd = generated.split('\n').filter((line) => !LINES.some((known) => known.test(line)));
  const blocks = generated.split(/\n(?=public )/);
  const named = (keyword: string) =>
    blocks.flatMap(
      (block) =>
        new RegExp(`^\\s*public ${keyword} (\\w+)`)
          .exec(block)
          ?.slice(1, 2)
          .map((name) => ({ name, block })) ?? [],
    );
  const structs = new Map(named('struct').map(({ name, block }) => [name, fieldsOf(block)]));
  const enums = new Set(named('enum').map(({ name }) => name));
  const aliases = new Map(named('typealias').map(({ name, block }) => [name, / = (.*)/.exec(block)![1]!]));
  const names = [...structs.keys(), ...enums, ...aliases.keys()];
  const used = [...structs.values()]
    .flat()
    .map(({ type }) => type)
    .concat([...aliases.values()]);
  const event = named('enum').find(({ name }) => name === 'Event')?.block ?? '';
  const [, actions = '', observations = ''] = event.split(/forKey: \./);
  const kindsOf = (part: string, family: string) =>
    [...part.matchAll(/case "(\w+)": if let known = try\? (\w+)/g)].map(([, kind, name]) => [`${family} ${kind}`, name!] as const);
  return {
    ...{ structs, enums, aliases },
    kinds: new Map([...kindsOf(actions, 'action'), ...kindsOf(observations, 'observation')]),
    problems: [
      ...odd.map((line) => `no Swift: ${line}`),
      ...(count(generated, '{') === count(generated, '}') ? [] : ['a brace is open']),
      ...names
        .filter((name, index) => names.indexOf(name) !== index || TAKEN.includes(name) || BASIC.includes(name))
        .map((name) => `declared before: ${name}`),
      ...used
        .map((type) => baseOf(type))
        .filter((base) => !BASIC.includes(base) && !names.includes(base))
        .map((base) => `not declared: ${base}`),
      ...[...structs]
        .filter(([, fields]) => new Set(fields.map(({ key }) => key)).size !== fields.length)
        .map(([name]) => `twice in ${name}`),
    ],
  };
}

const count = (text: string, letter: string) => text.split(letter).length - 1;
const baseOf = (type: string): string => type.replaceAll(/\[String: |[[\]?]/g, '');

function fieldsOf(block: string): readonly SwiftField[] {
  const keys = [...block.matchAll(/^ {4}case (\S+) = "(.*)"$/gm)].map(([, at = '', key = '']) => [at, key] as const);
  const types = new Map([...block.matchAll(/^ {2}public var (\S+): (.*)$/gm)].map(([, at = '', type = '']) => [at, type]));
  return keys.map(([at, key]) => ({ key, type: types.get(at)! }));
}

/** Sent beside what says the same in today's spelling, for older clients; a typed client has no field for them. */
const TWINS = ['command_id', 'exit_code', '_diff_cache', 'agent_name', 'trigger_word'];

/** What of the JSON the type cannot take, or would lose. */
export function misfits(file: SwiftFile, type: string, json: unknown, at = ''): readonly string[] {
  if (type.endsWith('?')) return json === undefined || json === null ? [] : misfits(file, type.slice(0, -1), json, at);
  if (json === undefined || json === null) return type === 'JSONValue' && json === null ? [] : [`${at}: nothing for ${type}`];
  const alias = file.aliases.get(type);
  if (alias) return misfits(file, alias, json, at);
  const fits = (holds: boolean) => (holds ? [] : [`${at}: ${JSON.stringify(json).slice(0, 60)} is no ${type}`]);
  if (type === 'JSONValue') return [];
  if (type === 'String' || type === 'Timestamp' || file.enums.has(type)) return fits(typeof json === 'string');
  if (type === 'Int') return fits(Number.isSafeInteger(json));
  if (type === 'Double') return fits(typeof json === 'number');
  if (type === 'Bool') return fits(typeof json === 'boolean');
  const inner = /^\[(String: )?(.*)\]$/.exec(type);
  if (inner?.[1])
    return typeof json === 'object'
      ? Object.entries(json).flatMap(([key, value]) => misfits(file, inner[2]!, value, `${at}.${key}`))
      : fits(false);
  if (inner) return Array.isArray(json) ? json.flatMap((value, index) => misfits(file, inner[2]!, value, `${at}[${index}]`)) : fits(false);
  const fields = file.structs.get(type);
  if (!fields || typeof json !== 'object' || Array.isArray(json)) return fits(false);
  const given = json as Readonly<Record<string, unknown>>;
  return [
    ...Object.keys(given)
      .filter((key) => !TWINS.includes(key) && !fields.some((field) => field.key === key))
      .map((key) => `${at}.${key}: no field of ${type}`),
    ...fields.flatMap((field) => misfits(file, field.type, given[field.key], `${at}.${field.key}`)),
  ];
}
