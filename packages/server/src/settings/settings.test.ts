import { createMask, Secret } from '@tendon/protocol/masking';
import { createMemoryStorage } from '@tendon/core/storage';
import { SettingsUpdate } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { SettingsStore } from './settings.ts';
import { systemClock } from '../platform/system-clock.ts';

const jwt = new Secret('a-jwt-secret');
const memory = () => createMemoryStorage({ clock: systemClock });

it('SV8: there are none until something was stored', async () => {
  const { records } = memory();
  const settings = await SettingsStore.open(records, jwt);
  expect(settings.current).toBeUndefined();
  await settings.update({ language: 'de' });
  expect(settings.current).toMatchObject({ language: 'de', agent: 'CodeActAgent', llm_api_key_set: false });
});

it('SV8: an update changes what it names and nothing else', async () => {
  const { records } = memory();
  const settings = await SettingsStore.open(records, jwt);
  await settings.update({ llm_model: 'openai/gpt-4o', llm_api_key: 'sk-12345678', agent: 'CodeActAgent', max_iterations: 50 });
  await settings.update(SettingsUpdate.parse({ language: 'fr' }));
  await settings.update({ llm_model: null, llm_api_key: null, llm_base_url: null });
  await settings.update({ llm_api_key: '**********' });
  expect(settings.current).toMatchObject({ llm_model: 'openai/gpt-4o', max_iterations: 50, language: 'fr', llm_api_key_set: true });
  expect(settings.key('llm_api_key')?.reveal()).toBe('sk-12345678');
  await settings.update({ llm_api_key: '' });
  expect(settings.current?.llm_api_key_set).toBe(false);
});

it('SV8: overlapping updates lose nothing', async () => {
  const settings = await SettingsStore.open(memory().records, jwt);
  await Promise.all([
    settings.update({ language: 'de' }),
    settings.update({ max_iterations: 7 }),
    settings.update({ git_user_name: 'me' }),
  ]);
  expect(settings.current).toMatchObject({ language: 'de', max_iterations: 7, git_user_name: 'me' });
});

it('SV9: a key is sealed in the store, never in an answer, and gone with its JWT secret', async () => {
  const { records } = memory();
  const settings = await SettingsStore.open(records, jwt);
  await settings.update({ llm_api_key: 'sk-12345678', search_api_key: 'tvly-1234567' });
  const stored = JSON.stringify([await records.get('settings', 'default'), settings.current]);
  expect(stored).not.toContain('sk-12345678');
  expect(stored).not.toContain('tvly-1234567');
  expect((await SettingsStore.open(records, jwt)).key('search_api_key')?.reveal()).toBe('tvly-1234567');
  expect((await SettingsStore.open(records, new Secret('another-secret'))).key('llm_api_key')).toBeUndefined();
});

it('SV9: naming another address does not carry the key there', async () => {
  const settings = await SettingsStore.open(memory().records, jwt);
  await settings.update({ llm_api_key: 'sk-12345678', llm_base_url: 'https://good.example' });
  await settings.update({ llm_base_url: 'https://evil.example' });
  expect(settings.key('llm_api_key')).toBeUndefined();
  expect(settings.current?.llm_api_key_set).toBe(false);
  await settings.update({ llm_base_url: 'https://good.example' });
  expect(settings.key('llm_api_key')?.reveal()).toBe('sk-12345678');
});

it('SV9: a placeholder for a key is stored, and hides nothing in ordinary text', async () => {
  const settings = await SettingsStore.open(memory().records, jwt);
  expect(await settings.update({ llm_api_key: 'k' })).toBeUndefined();
  expect(settings.secrets.map((secret) => secret.reveal())).toEqual(['k']);
  expect(createMask(settings.secrets).text('make a cake')).toBe('make a cake');
});
