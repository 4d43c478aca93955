// @vitest-environment happy-dom
import { render } from '@testing-library/react';
import { expect, it } from 'vitest';
import { type Ran, Transcript } from './transcript.tsx';

const commands = (count: number): readonly Ran[] =>
  Array.from({ length: count }, (_, id) => ({ id, folder: '/workspace', command: `echo ${id}`, output: `${id}\n` }));
const shown = (ran: readonly Ran[], outputs: ReadonlyMap<number, string> = new Map()) => (
  <Transcript ran={ran} outputs={outputs} eventId={undefined} />
);

it('CL1332: the next command, and what one prints, draws nothing of the commands before it; old ones leave many at a time', async () => {
  const view = render(shown(commands(220)));
  const places = () => [...view.container.querySelectorAll('[id^=ran-]')].map(({ id }) => Number(id.slice(4)));
  expect(places()[0]).toBe(0);
  const changed: Node[] = [];
  const watch = new MutationObserver((records) => changed.push(...records.map(({ target }) => target)));
  watch.observe(view.container, { subtree: true, childList: true, characterData: true, attributes: true });
  const lastBlock = view.container.querySelector('#ran-219')!.parentNode!;
  view.rerender(shown(commands(221), new Map([[220, 'so far']])));
  await expect.poll(() => changed.length).toBeGreaterThan(0);
  expect(changed.every((node) => lastBlock.contains(node))).toBe(true);
  expect(view.container.textContent).toContain('so far');
  view.rerender(shown(commands(226)));
  expect([places()[0], places().at(-1), places().length]).toEqual([25, 225, 201]);
});
