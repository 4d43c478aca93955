// @vitest-environment happy-dom
import { cleanup, configure, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { type Address, AddressProvider, navigate, useAddress } from '../lib/address.tsx';
import { readPath } from '../lib/paths.ts';
import { Link } from './link.tsx';

afterEach(cleanup);
configure({ asyncUtilTimeout: 45_000 });

/** How often it was drawn for another navigation, and where. */
function Here({ seen }: { readonly seen: object[] }) {
  const address = useAddress();
  if (!seen.includes(address)) seen.push(address);
  return <output>{JSON.stringify(readPath(address.pathname)) + address.hash}</output>;
}

function open(path: string, prepare = (_address: Address): Promise<unknown> => Promise.resolve()) {
  (window as unknown as { happyDOM: { setURL(url: string): void } }).happyDOM.setURL('http://tendon.test/');
  history.replaceState(null, '', path);
  const seen: object[] = [];
  render(
    <AddressProvider prepare={prepare}>
      <Here seen={seen} />
      <Link to="/conversations/a%2Fb#event-7">Event</Link>
    </AddressProvider>,
  );
  return seen;
}
const shows = (text: string) => waitFor(() => expect(screen.getByRole('status').textContent).toBe(text));

it('CL1220: a link is followed within the page, each time it is pressed', async () => {
  const seen = open('/settings/git');
  await shows('{"page":"settings","name":"git"}');
  const link = screen.getByRole('link', { name: 'Event' });
  const { length } = history;
  expect(fireEvent.click(link)).toBe(false);
  await shows('{"page":"conversation","id":"a/b"}#event-7');
  fireEvent.click(link);
  await waitFor(() => expect(seen).toHaveLength(3));
  expect(history.length).toBe(length + 1);
});

it('CL1330: the page that is there stays until the next one is loaded, and the newest of two is shown', async () => {
  const loaded = new Map<string, (how: Promise<void>) => void>();
  const seen = open('/', ({ hash }) => new Promise((load) => loaded.set(hash, load)));
  navigate('/settings#slow');
  navigate('/settings#fails');
  loaded.get('#fails')!(Promise.reject(new Error('no such file')));
  await shows('{"page":"settings"}#fails');
  loaded.get('#slow')!(Promise.resolve());
  navigate('/#last');
  expect(screen.getByRole('status').textContent).toBe('{"page":"settings"}#fails');
  loaded.get('#last')!(Promise.resolve());
  await shows('{"page":"home"}#last');
  expect(seen).toHaveLength(3);
});

it.each(['metaKey', 'ctrlKey', 'shiftKey', 'altKey'])('CL1220: a link that is pressed with %s is left to the browser', (key) => {
  const seen = open('/');
  const link = screen.getByRole('link', { name: 'Event' });
  // Nothing of ours has followed it; the document must not either.
  link.addEventListener('click', (event) => event.preventDefault());
  fireEvent.click(link, { [key]: true });
  expect([location.pathname, seen.length]).toEqual(['/', 1]);
});

it('CL1221: an address names one page, and one that names none is no error', () => {
  expect(
    ['/', '//', '/conversations/a/', '/conversations/%', '/shared/a', '/settings', '/conversations', '/settings/a/b', '/x'].map(readPath),
  ).toEqual([
    { page: 'home' },
    { page: 'home' },
    { page: 'conversation', id: 'a' },
    { page: 'conversation', id: '%' },
    { page: 'shared', id: 'a' },
    { page: 'settings', name: undefined },
    { page: 'none' },
    { page: 'none' },
    { page: 'none' },
  ]);
});
