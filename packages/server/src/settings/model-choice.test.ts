import { Secret } from '@tendon/protocol/masking';
import { createMemoryStorage } from '@tendon/core/storage';
import { describe, expect, it } from 'vitest';
import { chooseModel, chooseSmallModel, chosenOthers } from './model-choice.ts';
import { SettingsStore } from './settings.ts';
import { systemClock } from '../platform/system-clock.ts';

const operators = new Secret('operators-key');
const own = new Secret('clients-key');
const environment = {
  model: 'openai/gpt-4o',
  llmApiKey: operators,
  llmBaseUrl: 'https://proxy.example',
  llmEffort: 'high' as const,
  llmToolCalling: undefined,
  llmFallback: undefined,
  llmSmall: undefined,
};
const settingsWith = async (update: Parameters<SettingsStore['update']>[0]) => {
  const settings = await SettingsStore.open(createMemoryStorage({ clock: systemClock }).records, new Secret('a-jwt-secret'));
  if (Object.keys(update).length > 0) await settings.update(update);
  return settings;
};

describe('SV21: the model', () => {
  it('is that of the conversation, else the stored one, else the environment’s', async () => {
    const none = await settingsWith({});
    const stored = await settingsWith({ llm_model: 'anthropic/claude' });
    expect(chooseModel({}, none, environment)).toMatchObject({ model: 'openai/gpt-4o', apiKey: operators, isOperators: true });
    expect(chooseModel({}, stored, environment)).toMatchObject({ model: 'anthropic/claude', effort: 'high', isOperators: false });
    expect(chooseModel({ model: 'x/y' }, stored, environment)).toMatchObject({ model: 'x/y' });
  });

  it('is gpt-4o for a caller who brings a key and names none', async () => {
    const demo = {
      model: 'demo',
      llmApiKey: undefined,
      llmBaseUrl: undefined,
      llmEffort: undefined,
      llmToolCalling: undefined,
      llmFallback: undefined,
      llmSmall: undefined,
    };
    expect(chooseModel({ llm: { apiKey: own } }, await settingsWith({}), demo)).toMatchObject({ model: 'gpt-4o', apiKey: own });
    expect(chooseModel({}, await settingsWith({ llm_api_key: 'stored-key' }), demo).model).toBe('gpt-4o');
    expect(chooseModel({}, await settingsWith({}), demo).model).toBe('demo');
  });
});

describe('SV1021: effort, stand-in and small model', () => {
  const operated = {
    ...environment,
    llmFallback: { model: 'openai/mini', apiKey: new Secret('key-of-mini'), baseUrl: 'https://mini.example' },
  };

  it('are those of the conversation, else the stored ones, else the environment’s, and it is known whose', async () => {
    const stored = await settingsWith({ llm_effort: 'low', llm_small_model: 'openai/small' });
    expect(chooseModel({}, stored, operated)).toMatchObject({ effort: 'low', fallback: { model: 'openai/mini', isOperators: true } });
    expect(chooseModel({ others: { effort: 'max', fallback: 'openai/own' } }, stored, operated)).toMatchObject({
      effort: 'max',
      fallback: { model: 'openai/own', isOperators: false, apiKey: operators, baseUrl: 'https://proxy.example' },
    });
    expect(chosenOthers({ effort: 'max' }, stored, operated)).toEqual({
      effort: { value: 'max', by: 'conversation' },
      fallback: { value: 'openai/mini', by: 'server' },
      small: { value: 'openai/small', by: 'settings' },
    });
    await stored.update({ llm_effort: null });
    expect(chooseModel({}, stored, operated)).toMatchObject({ effort: 'high' });
  });

  it('are asked with no key but the one of the model beside them, and by nobody who brings a key of their own', async () => {
    const stored = await settingsWith({ llm_model: 'openai/x', llm_api_key: 'stored-key', llm_small_model: 'anthropic/small' });
    const choice = chooseModel({}, stored, { ...operated, llmBaseUrl: undefined });
    expect(chooseSmallModel(choice, {}, stored, operated)).toMatchObject({
      model: 'anthropic/small',
      apiKey: undefined,
      isOperators: false,
    });
    const llm = { apiKey: own };
    const theirs = chooseModel({ llm, others: { fallback: 'openai/own' } }, stored, operated);
    expect(theirs.fallback).toBeUndefined();
    expect(chooseSmallModel(theirs, { llm }, stored, operated)).toBe(theirs);
  });
});

describe('SV9: keys and addresses', () => {
  it('the operator’s key does not go to an address that a client or the settings name', async () => {
    const none = await settingsWith({});
    expect(chooseModel({ llm: { baseUrl: 'https://evil.example' } }, none, environment).apiKey).toBeUndefined();
    const redirected = await settingsWith({ llm_base_url: 'https://evil.example' });
    expect(chooseModel({}, redirected, environment)).toMatchObject({ apiKey: undefined, baseUrl: 'https://evil.example' });
    const same = await settingsWith({ llm_base_url: 'https://proxy.example' });
    expect(chooseModel({}, same, environment).apiKey).toBe(operators);
  });

  it('a key of one’s own goes where it was sent with', async () => {
    const stored = await settingsWith({ llm_api_key: 'stored-key', llm_base_url: 'https://mine.example' });
    expect(chooseModel({}, stored, environment)).toMatchObject({ baseUrl: 'https://mine.example' });
    expect(chooseModel({}, stored, environment).apiKey?.reveal()).toBe('stored-key');
    expect(chooseModel({ llm: { apiKey: own, baseUrl: 'https://o.example' } }, stored, environment)).toMatchObject({
      apiKey: own,
      baseUrl: 'https://o.example',
    });
  });
});

describe('SV1023: a model beside the first with a key of its own', () => {
  const withClaude = { llm_fallback_model: 'anthropic/claude', llm_fallback_api_key: 'key-of-claude' };
  const fallbackOf = (settings: SettingsStore, others = {}) => chooseModel({ others }, settings, environment).fallback;

  it('is asked with it, also where a conversation names the same, and shows only that it has one', async () => {
    const stored = await settingsWith(withClaude);
    for (const others of [{}, { fallback: 'anthropic/claude' }]) {
      expect(fallbackOf(stored, others)).toMatchObject({ model: 'anthropic/claude', baseUrl: undefined, isOperators: false });
      expect(fallbackOf(stored, others)?.apiKey?.reveal()).toBe('key-of-claude');
    }
    expect(fallbackOf(stored, { fallback: 'anthropic/other' })?.apiKey?.reveal()).not.toBe('key-of-claude');
    expect(stored.current).toMatchObject({ llm_fallback_api_key_set: true, llm_small_api_key_set: false });
    expect(JSON.stringify(stored.current)).not.toContain('key-of-claude');
    expect(stored.secrets.map((secret) => secret.reveal())).toEqual(['key-of-claude']);
  });

  it('keeps its key to itself: neither another vendor nor another address gets it', async () => {
    for (const changed of [{ llm_fallback_model: 'openai/gpt-4o' }, { llm_fallback_base_url: 'https://other.example' }]) {
      const stored = await settingsWith(withClaude);
      await stored.update(changed);
      expect(stored.current).toMatchObject({ llm_fallback_api_key_set: false });
      expect(fallbackOf(stored)?.apiKey?.reveal()).not.toBe('key-of-claude');
    }
    const stored = await settingsWith(withClaude);
    await stored.update({ llm_fallback_model: 'anthropic/newer' });
    expect(fallbackOf(stored)?.apiKey?.reveal()).toBe('key-of-claude');
  });

  it('has an address of its own, to which no other key goes, and the small one likewise', async () => {
    const stored = await settingsWith({
      llm_small_model: 'qwen',
      llm_small_base_url: 'http://127.0.0.1:11434/v1',
      llm_api_key: 'main-key',
    });
    const choice = chooseModel({}, stored, environment);
    expect(chooseSmallModel(choice, {}, stored, environment)).toMatchObject({
      model: 'qwen',
      baseUrl: 'http://127.0.0.1:11434/v1',
      apiKey: undefined,
    });
    await stored.update({ llm_small_api_key: 'key-of-small' });
    expect(chooseSmallModel(choice, {}, stored, environment).apiKey?.reveal()).toBe('key-of-small');
    await stored.update({ llm_small_api_key: '' });
    expect(stored.current).toMatchObject({ llm_small_api_key_set: false, llm_api_key_set: true });
  });
});
