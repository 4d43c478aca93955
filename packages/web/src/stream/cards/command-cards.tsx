import type { Observation } from '@tendon/protocol';
import { NotebookText, Terminal } from 'lucide-react';
import { useState } from 'react';
import { Well, withoutAnsi } from '../../code/output.tsx';
import { failureText, hasFailed, runEnd } from '../../conversation/outcome.ts';
import { commandWords } from '../../copy/shorten.ts';
import { Button } from '../../ui/button.tsx';
import { type ActionCard, durationFacts, type Fact, failureBody, observed, outcomeFacts, spoken, Picture } from './card.tsx';
import { t } from '../../lib/language/text.ts';

const TESTS = /\b(test|vitest|jest|pytest|tox|check|lint|tsc|mypy|ruff)\b/;

export const runCard: ActionCard<'run'> = (step) => {
  const { command, is_input: isInput } = step.action.args;
  const result = observed('run', step.observation);
  const outcome = outcomeFacts(step);
  const facts = [...(step.wasStopped ? [] : resultFacts(command, result)), ...outcome, ...durationFacts(step)];
  const key = isInput ? pressedKey(command) : undefined;
  const object = step.action.args.take_over ? t('in the agent’s terminal') : (key ?? (commandWords(command) || t('for output')));
  const verb = step.action.args.take_over
    ? t('You typed')
    : command.trim() === ''
      ? t('Waited')
      : key
        ? t('Pressed')
        : isInput
          ? t('Typed')
          : undefined;
  return {
    icon: Terminal,
    ...(verb && { verb }),
    object,
    facts,
    name: `${verb ?? t('Ran')} ${object}${spoken(facts)}`,
    open: result && hasFailed(result) && !step.wasStopped ? 'always' : 'newest',
    copy: result ? withoutAnsi(result.content) : command,
    ...bodyOf(step, result),
  };
};

/** `C-c` as keyboards name it. */
function pressedKey(text: string): string | undefined {
  const [, letter] = /^C-(.)$/.exec(text.trim()) ?? [];
  return letter && `Ctrl+${letter.toUpperCase()}`;
}

function resultFacts(command: string, result: Observation<'run'> | undefined): readonly Fact[] {
  if (!result) return [];
  const end = runEnd(result);
  switch (end.type) {
    case 'exit':
      if (end.code !== 0)
        return [
          {
            text: end.wasCancelled ? t('cancelled, exit {{code}}', { code: end.code }) : t('exit {{code}}', { code: end.code }),
            tone: 'bad',
          },
        ];
      return TESTS.test(command) ? [{ text: t('passed'), tone: 'ok' }] : [];
    case 'running':
      // In the past: what it does now is another row's to say.
      return [{ text: end.waitsForInput ? t('waited for input') : t('went on running'), tone: 'wait' }];
    case 'refused':
      return [{ text: end.why === 'busy' ? t('not run, another was running') : t('nothing was running'), tone: 'bad' }];
    case 'unknown':
      return [];
  }
}

/** What the row has no space for. */
const MAX_ROW = 60;

function bodyOf(step: Parameters<typeof runCard>[0], result: Observation<'run'> | undefined) {
  const { command, hidden } = step.action.args;
  const failure = failureBody(step.observation);
  const isLong = command.trim().includes('\n') || command.length > MAX_ROW;
  const whole = isLong && <Well text={command} />;
  if (failure)
    return {
      body: () => (
        <>
          {whole}
          {failure()}
        </>
      ),
    };
  if (!result) {
    const { live } = step;
    if (live === undefined) return isLong ? { body: () => whole } : {};
    return {
      body: () => (
        <>
          {whole}
          {live.trim() && <Well text={live} rows isLive />}
        </>
      ),
    };
  }
  const text = runEnd(result).type === 'refused' ? failureText(result) || result.extras.metadata.suffix.trim() : result.content;
  if (!text.trim() && !isLong) return {};
  return {
    body: () => (
      <>
        {whole}
        {text.trim() && <Output text={text} hidden={hidden || result.extras.hidden} />}
      </>
    ),
  };
}

function Output({ text, hidden }: { readonly text: string; readonly hidden: boolean }) {
  const [isShown, setShown] = useState(!hidden);
  if (isShown) return <Well text={text} rows />;
  return (
    <p className="flex items-center gap-2 text-ink-2">
      {t('Output hidden by the agent')}
      <Button look="line" small onClick={() => setShown(true)}>
        {t('Show')}
      </Button>
    </p>
  );
}

export const ipythonCard: ActionCard<'run_ipython'> = (step) => {
  const result = observed('run_ipython', step.observation);
  const lines = step.action.args.code.trim().split('\n');
  const object = lines.at(-1) ?? '';
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  const hasError = result !== undefined && hasFailed(result);
  const [image] = result?.extras.image_urls ?? [];
  const [title = '', ...rest] = (result?.content ?? '').trim().split('\n');
  return {
    icon: NotebookText,
    verb: t('Ran Python'),
    object,
    facts,
    name: `${t('Ran Python')} ${object}${spoken(facts)}`,
    open: image || hasError ? 'always' : 'newest',
    copy: step.action.args.code,
    body:
      (result ? undefined : failureBody(step.observation)) ??
      (() =>
        image ? (
          <Picture src={image} alt={t('Picture made by {{object}}', { object })} title={title} text={rest.join('\n')} />
        ) : (
          <div className="flex flex-col gap-1">
            <Well text={step.action.args.code} rows />
            {result?.content.trim() && <Well text={result.content} rows />}
          </div>
        )),
  };
};
