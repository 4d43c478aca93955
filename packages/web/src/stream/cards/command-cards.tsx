import type { Observation } from '@tendon/protocol';
import { NotebookText, Terminal } from 'lucide-react';
import { useState } from 'react';
import { AnsiText, Well, withoutAnsi } from '../../code/output.tsx';
import { firstLine } from '../../copy/shorten.ts';
import { Button } from '../../ui/button.tsx';
import { type ActionCard, durationFacts, type Fact, failureBody, observed, outcomeFacts, spoken, Picture } from './card.tsx';

const TESTS = /\b(test|vitest|jest|pytest|tox|check|lint|tsc|mypy|ruff)\b/;
const LIVE_ROWS = 3;

export const runCard: ActionCard<'run'> = (step) => {
  const { command, is_input: isInput, hidden } = step.action.args;
  const result = observed('run', step.observation);
  const facts = [...resultFacts(command, result), ...outcomeFacts(step), ...durationFacts(step)];
  const object = firstLine(command) || 'waiting for output';
  const verb = isInput ? 'Typed' : undefined;
  return {
    icon: Terminal,
    ...(verb && { verb }),
    object,
    facts,
    name: `${verb ?? 'Ran'} ${object}${spoken(facts)}`,
    open: result && result.extras.metadata.exit_code > 0 ? 'always' : 'newest',
    copy: result ? withoutAnsi(result.content) : command,
    ...bodyOf(step, result, hidden),
  };
};

function resultFacts(command: string, result: Observation<'run'> | undefined): readonly Fact[] {
  if (!result) return [];
  const { exit_code: code } = result.extras.metadata;
  if (code === 0) return TESTS.test(command) ? [{ text: 'passed', tone: 'ok' }] : [];
  if (code === -1) return [{ text: 'still runs', tone: 'wait' }];
  return [{ text: `exit ${code}`, tone: 'bad' }];
}

function bodyOf(step: Parameters<typeof runCard>[0], result: Observation<'run'> | undefined, hidden: boolean) {
  const { command } = step.action.args;
  const failure = failureBody(step.observation);
  if (failure) return { body: failure };
  if (!result) {
    if (step.live === undefined) return command.includes('\n') ? { body: () => <Well text={command} /> } : {};
    return { body: () => <LiveWell text={step.live!} /> };
  }
  const isHidden = hidden || result.extras.hidden;
  if (!result.content.trim() && !command.includes('\n')) return {};
  return {
    body: () => (
      <>
        {command.includes('\n') && <Well text={command} />}
        {result.content.trim() && <Output text={result.content} hidden={isHidden} />}
      </>
    ),
  };
}

function Output({ text, hidden }: { readonly text: string; readonly hidden: boolean }) {
  const [isShown, setShown] = useState(!hidden);
  if (isShown) return <Well text={text} rows />;
  return (
    <p className="flex items-center gap-2 text-ink-2">
      Output hidden by the agent
      <Button look="line" small onClick={() => setShown(true)}>
        Show
      </Button>
    </p>
  );
}

/** While it runs: the last three lines in a well of fixed height. */
function LiveWell({ text }: { readonly text: string }) {
  return (
    <pre className="well well-live" aria-live="off">
      <span>
        <AnsiText text={text.replace(/\n$/, '').split('\n').slice(-LIVE_ROWS).join('\n')} />
      </span>
    </pre>
  );
}

export const ipythonCard: ActionCard<'run_ipython'> = (step) => {
  const result = observed('run_ipython', step.observation);
  const lines = step.action.args.code.trim().split('\n');
  const object = lines.at(-1) ?? '';
  const facts = [
    ...(result?.success === false ? ([{ text: 'failed', tone: 'bad' }] as const) : []),
    ...outcomeFacts(step),
    ...durationFacts(step),
  ];
  const [image] = result?.extras.image_urls ?? [];
  const [title = '', ...rest] = (result?.content ?? '').trim().split('\n');
  return {
    icon: NotebookText,
    verb: 'Ran Python',
    object,
    facts,
    name: `Ran Python ${object}${spoken(facts)}`,
    open: image || result?.success === false ? 'always' : 'newest',
    copy: step.action.args.code,
    body:
      failureBody(step.observation) ??
      (() =>
        image ? (
          <Picture src={image} alt={`Picture made by ${object}`} title={title} text={rest.join('\n')} />
        ) : (
          <div className="flex flex-col gap-1">
            <Well text={step.action.args.code} rows />
            {result?.content.trim() && <Well text={result.content} rows />}
          </div>
        )),
  };
};
