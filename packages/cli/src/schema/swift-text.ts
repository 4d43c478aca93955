/** How declarations are written in Swift 5.5 and later. */
export interface SwiftField {
  /** On the wire. */
  readonly key: string;
  readonly type: string;
}

const RESERVED = new Set(
  `as associatedtype break case catch class continue default defer deinit do else enum extension false for func guard if import in init inout
internal is let nil operator private protocol public repeat rethrows return self static struct subscript super switch throw throws true try
typealias var where while`.split(/\s/),
);

/** A valid Swift name; a keyword of Swift stands in backquotes. */
function camel(text: string): string {
  const name = text
    .replaceAll(/[^A-Za-z0-9]+([A-Za-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .replace(/^[A-Z]+(?=[A-Z][a-z]|$|[0-9])|^[A-Z]/, (start) => start.toLowerCase());
  const begun = name === '' ? 'empty' : /^[0-9]/.test(name) ? `n${name}` : name;
  return RESERVED.has(begun) ? `\`${begun}\`` : begun;
}

export function structText(name: string, fields: readonly SwiftField[]): string {
  const named = fields.map(({ key, type }) => ({ key, type, at: camel(key) }));
  return `public struct ${name}: Codable, Hashable, Sendable {
${named.map(({ at, type }) => `  public var ${at}: ${type}`).join('\n')}

  public init(
${named.map(({ at, type }) => `    ${at}: ${type}${type.endsWith('?') ? ' = nil' : ''}`).join(',\n')}
  ) {
${named.map(({ at }) => `    self.${at} = ${at}`).join('\n')}
  }

  enum CodingKeys: String, CodingKey {
${named.map(({ at, key }) => `    case ${at} = ${JSON.stringify(key)}`).join('\n')}
  }
}`;
}

export function wordsText(name: string, words: readonly string[]): string {
  const cases = words.map((word) => ({ word: JSON.stringify(word), at: camel(word) === 'unknown' ? 'unknownWord' : camel(word) }));
  return `public enum ${name}: Codable, Hashable, Sendable {
${cases.map(({ at }) => `  case ${at}`).join('\n')}
  /// A word of a later version.
  case unknown(String)

  public init(_ text: String) {
    switch text {
${cases.map(({ at, word }) => `    case ${word}: self = .${at}`).join('\n')}
    default: self = .unknown(text)
    }
  }

  public var text: String {
    switch self {
${cases.map(({ at, word }) => `    case .${at}: return ${word}`).join('\n')}
    case .unknown(let text): return text
    }
  }

  public init(from decoder: Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}`;
}

export interface SwiftKind {
  /** Of the struct. */
  readonly name: string;
  readonly kind: string;
  readonly family: 'action' | 'observation';
}

/** One enum for all events. A known kind that does not fit is unknown too: nothing that a server sends stops the stream. */
export function eventText(kinds: readonly SwiftKind[]): string {
  const cases = kinds.map(({ name, kind, family }) => ({ name, kind: JSON.stringify(kind), family, at: camel(name) }));
  const read = (family: SwiftKind['family']) =>
    cases
      .filter((one) => one.family === family)
      .map(({ at, name, kind }) => `      case ${kind}: if let known = try? ${name}(from: decoder) { self = .${at}(known); return }`)
      .join('\n');
  return `public enum Event: Codable, Hashable, Sendable {
${cases.map(({ at, name }) => `  case ${at}(${name})`).join('\n')}
  /// A kind of a later version, or one that does not fit: everything it has.
  case unknown([String: JSONValue])

  enum KindKeys: String, CodingKey {
    case action
    case observation
  }

  public init(from decoder: Decoder) throws {
    let kinds = try decoder.container(keyedBy: KindKeys.self)
    if let kind = try? kinds.decode(String.self, forKey: .action) {
      switch kind {
${read('action')}
      default: break
      }
    }
    if let kind = try? kinds.decode(String.self, forKey: .observation) {
      switch kind {
${read('observation')}
      default: break
      }
    }
    self = .unknown(try [String: JSONValue](from: decoder))
  }

  public func encode(to encoder: Encoder) throws {
    switch self {
${cases.map(({ at }) => `    case .${at}(let event): try event.encode(to: encoder)`).join('\n')}
    case .unknown(let fields): try fields.encode(to: encoder)
    }
  }
}`;
}

/** Declarations that the generated ones use. */
export const SWIFT_PRELUDE = `// Types of the wire of Tendon and OpenHands, printed by: tendon schema --swift
import Foundation

/// Any JSON.
public enum JSONValue: Codable, Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  public init(from decoder: Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() { self = .null; return }
    if let value = try? container.decode(Bool.self) { self = .bool(value); return }
    if let value = try? container.decode(Double.self) { self = .number(value); return }
    if let value = try? container.decode(String.self) { self = .string(value); return }
    if let value = try? container.decode([JSONValue].self) { self = .array(value); return }
    self = .object(try container.decode([String: JSONValue].self))
  }

  public func encode(to encoder: Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

/// A moment as the server wrote it; OpenHands leaves out the zone and means UTC.
public struct Timestamp: Codable, Hashable, Sendable {
  public var text: String

  public init(_ text: String) { self.text = text }

  public init(from decoder: Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  public func encode(to encoder: Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  public var date: Date? {
    let isZoned = text.range(of: "(Z|[+-][0-9:]+)$", options: .regularExpression, range: text.index(text.startIndex, offsetBy: min(text.count, 19))..<text.endIndex) != nil
    let short = text.replacingOccurrences(of: "\\\\.[0-9]+", with: "", options: .regularExpression)
    guard let whole = ISO8601DateFormatter().date(from: isZoned ? short : short + "Z") else { return nil }
    guard let dot = text.firstIndex(of: ".") else { return whole }
    let fraction = Double("0" + text[dot...].prefix(while: { $0 == "." || $0.isNumber })) ?? 0
    return whole.addingTimeInterval(fraction)
  }
}`;
