import type { Action, ActionKind, Observation, ObservationKind } from '@tendon/protocol';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Well } from '../../code/output.tsx';
import { failureText, hasFailed, runEnd } from '../../conversation/outcome.ts';
import { between, duration } from '../../copy/figures.ts';
import { t } from '../../lib/language/text.ts';

export interface Fact {
  readonly text: string;
  readonly tone?: 'ok' | 'bad' | 'wait';
  /** Part of the figure before it. */
  readonly isJoined?: boolean;
}

/** The row of a card. */
export interface CardRow {
  readonly icon?: LucideIcon;
  readonly verb?: string;
  /** A verb that is a heading of its own; `whole`: one that takes more lines where it needs them. */
  readonly strong?: 'plain' | 'bold' | 'whole';
  /** In mono. */
  readonly object?: string;
  readonly detail?: string;
  readonly facts: readonly Fact[];
  readonly tone?: 'ok' | 'bad' | 'wait';
}

/** What a card shows of a step: one row, and a body that hangs from it. */
export interface Card extends CardRow {
  /** The row read as a sentence; also its accessible name. */
  readonly name: string;
  readonly body?: () => ReactNode;
  /** `newest`: while it is the newest step. `always`: what a person must see. */
  readonly open: 'always' | 'newest' | 'never';
  /** What the button "Copy" gives. */
  readonly copy?: string;
}

/** A step of one kind of action, with what it caused if that is known. */
export interface ActionStep<K extends ActionKind = ActionKind> {
  readonly action: Action<K>;
  readonly observation?: Observation | undefined;
  /** Output so far, while it runs. */
  readonly live?: string | undefined;
  /** A person was asked first. */
  readonly wasAsked?: boolean | undefined;
  /** A person stopped the agent while it ran. */
  readonly wasStopped?: boolean | undefined;
}

export type ActionCard<K extends ActionKind> = (step: ActionStep<K>) => Card;
export type ObservationCard<K extends ObservationKind> = (observation: Observation<K>) => Card;

/** The observation if it is of this kind. */
export function observed<K extends ObservationKind>(kind: K, observation: Observation | undefined): Observation<K> | undefined {
  return observation?.observation === kind ? (observation as Observation<K>) : undefined;
}

/** How long it took, when that is a second or more. */
export function durationFacts({ action, observation }: ActionStep): readonly Fact[] {
  const ms = between(action.timestamp, observation?.timestamp);
  return ms === undefined || ms < 1000 ? [] : [{ text: duration(ms) }];
}

/** An action that was held back and decided on, or that failed before it ran. */
export function outcomeFacts({ action, observation, wasAsked, wasStopped }: ActionStep): readonly Fact[] {
  const args = action.args as { readonly confirmation_state?: unknown };
  if (observation?.observation === 'user_rejected' || args.confirmation_state === 'rejected') return [{ text: t('rejected'), tone: 'bad' }];
  if (wasStopped && observation && hasFailed(observation)) return [{ text: t('stopped by you') }];
  if (observation && failsInWords(observation)) return failureFacts(observation);
  if (args.confirmation_state === 'awaiting_confirmation' && !observation) return [{ text: t('waits for you'), tone: 'wait' }];
  return wasAsked ? [{ text: t('you approved') }] : [];
}

/** A command's exit code says more than a word. */
function failsInWords(observation: Observation): boolean {
  return hasFailed(observation) && observation.observation !== 'run';
}

/** Of an observation, whatever caused it. */
export function failureFacts(observation: Observation): readonly Fact[] {
  if (!hasFailed(observation)) return [];
  if (observation.observation === 'run') {
    const end = runEnd(observation);
    return [{ text: end.type === 'exit' ? t('exit {{code}}', { code: end.code }) : t('not run'), tone: 'bad' }];
  }
  const isMissing = /no such file|there is no (?:file|folder)|does not exist/i.test(observation.content.slice(0, 400));
  return [{ text: isMissing ? t('not found') : t('failed'), tone: 'bad' }];
}

/** Facts as part of a sentence. */
export function spoken(facts: readonly Fact[]): string {
  return facts.map((fact) => `, ${fact.text}`).join('');
}

/** What went wrong with an action, in the words it came with. */
export function failureBody(observation: Observation | undefined): (() => React.ReactNode) | undefined {
  if (!observation || !(observation.observation === 'user_rejected' || failsInWords(observation))) return undefined;
  const text = failureText(observation);
  return text ? () => <Well text={text} /> : undefined;
}

/** A thumbnail of fixed size beside what it shows; the size is there before the picture is. */
export function Picture(props: { readonly src: string; readonly alt: string; readonly title: string; readonly text: string }) {
  const { src, alt, title, text } = props;
  return (
    <div className="media">
      <img className="shot" src={src} alt={alt} loading="lazy" decoding="async" />
      <p>
        {title && <b>{title}</b>}
        {title && text && <br />}
        <span className="line-clamp-3">{text}</span>
      </p>
    </div>
  );
}
