/**
 * Counts by labels, and their text for Prometheus. Counting costs a look into a map; the text is made when somebody asks.
 *
 * EXP1  Labels are kinds, codes and names, never ids; beyond `MAX_SERIES` of one instrument everything new counts as `other`.
 */
const MAX_SERIES = 200;
const OTHER = 'other';

export interface Sample {
  /** Behind the name of the instrument; default nothing. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export interface Instrument {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  samples(): Iterable<Sample>;
}

export interface InstrumentOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** What is stored for each set of labels. */
class Series<Label extends string, State> {
  readonly #labels: readonly Label[];
  readonly #make: () => State;
  readonly #states = new Map<string, { readonly labels: Labels<Label>; readonly state: State }>();

  constructor(labels: readonly Label[] = [], make: () => State) {
    this.#labels = labels;
    this.#make = make;
  }

  of(labels: Labels<Label>): State {
    const key = this.#labels.map((label) => labels[label]).join('\0');
    const entry = this.#states.get(key);
    if (entry) return entry.state;
    const isFull = this.#states.size >= MAX_SERIES && this.#labels.some((label) => labels[label] !== OTHER);
    if (isFull) return this.of(Object.fromEntries(this.#labels.map((label) => [label, OTHER])) as Labels<Label>);
    const state = this.#make();
    this.#states.set(key, { labels, state });
    return state;
  }

  all(): Iterable<{ readonly labels: Labels<Label>; readonly state: State }> {
    return this.#states.values();
  }
}

export class Counter<Label extends string = never> implements Instrument {
  readonly name: string;
  readonly help: string;
  readonly type = 'counter';
  readonly #series: Series<Label, { value: number }>;

  constructor({ name, help, labels = [] }: InstrumentOptions<Label>) {
    this.name = name;
    this.help = help;
    this.#series = new Series(labels, () => ({ value: 0 }));
    // Without labels there is one series, and it is there before anything was counted.
    if (labels.length === 0) this.#series.of({} as Labels<Label>);
  }

  add(labels: Labels<Label>, amount = 1): void {
    this.#series.of(labels).value += amount;
  }

  *samples(): Iterable<Sample> {
    for (const { labels, state } of this.#series.all()) yield { labels, value: state.value };
  }
}

export class Histogram<Label extends string = never> implements Instrument {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #bounds: readonly number[];
  readonly #series: Series<Label, { readonly counts: number[]; sum: number; count: number }>;

  /** `bounds` are upper ones, ascending. */
  constructor({ name, help, labels = [] }: InstrumentOptions<Label>, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
    this.#series = new Series(labels, () => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }));
    if (labels.length === 0) this.#series.of({} as Labels<Label>);
  }

  observe(labels: Labels<Label>, value: number): void {
    const state = this.#series.of(labels);
    state.sum += value;
    state.count += 1;
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index >= 0) state.counts[index]! += 1;
  }

  *samples(): Iterable<Sample> {
    for (const { labels, state } of this.#series.all()) {
      let below = 0;
      for (const [index, bound] of this.#bounds.entries()) {
        below += state.counts[index]!;
        yield { suffix: '_bucket', labels: { ...labels, le: bound }, value: below };
      }
      yield { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: state.count };
      yield { suffix: '_sum', labels, value: state.sum };
      yield { suffix: '_count', labels, value: state.count };
    }
  }
}

/** A figure that is read when it is asked for: one, or one for each value of a label. */
export function gauge(name: string, help: string, read: () => number | Iterable<Sample>, type: Instrument['type'] = 'gauge'): Instrument {
  const samples = (): Iterable<Sample> => {
    const figure = read();
    return typeof figure === 'number' ? [{ labels: {}, value: figure }] : figure;
  };
  return { name, help, type, samples };
}

/** As Prometheus reads it, version 0.0.4 of the text format. */
export function exposition(instruments: readonly Instrument[]): string {
  return instruments.map(textOf).join('');
}

function textOf(instrument: Instrument): string {
  const { name, help, type } = instrument;
  const lines = [...instrument.samples()].map(({ suffix = '', labels, value }) => `${name}${suffix}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
