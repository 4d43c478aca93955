/**
 * What the models in use can do, as far as it is known, and the question to an endpoint.
 *
 * Invariants
 * KM1  Nothing is asked that nobody asked for.
 * KM2  Two that ask about one model at a time get one answer.
 */
import type { Clock, KeyedSemaphore, LearnedTraits, ModelTraitsBook } from '@tendon/core';
import type { ModelInfo, ModelProbeInfo } from '@tendon/protocol';
import type { ModelConfig, ModelReference } from '../platform/config/model-config.ts';
import { chooseModel, chooseSmallModel } from './model-choice.ts';
import type { SettingsStore } from './settings.ts';

interface KnownModelsPorts {
  readonly settings: SettingsStore;
  readonly config: ModelConfig;
  readonly traits: ModelTraitsBook;
  readonly places: KeyedSemaphore;
  readonly clock: Clock;
}

export class KnownModels {
  readonly #ports: KnownModelsPorts;
  readonly #probes = new Map<string, Promise<ModelProbeInfo>>();
  readonly #closing = new AbortController();

  constructor(ports: KnownModelsPorts) {
    this.#ports = ports;
  }

  /** Those of conversations that chose none. */
  async list(): Promise<readonly ModelInfo[]> {
    const { findModel, routeModel } = await import('@tendon/core/llm');
    return this.#inUse().map(({ use, model, baseUrl }) => {
      const route = routeModel(model, baseUrl);
      const known = route ? this.#ports.traits.of(route).known : {};
      const facts = findModel(model);
      return infoOf(model, use, { ...(facts && { images: facts.vision, contextWindow: facts.contextWindow }), ...known });
    });
  }

  /** Asks the endpoint: at most three short requests. Without a name, the model of conversations that chose none. */
  probe(model?: string): Promise<ModelProbeInfo> {
    const inUse = this.#inUse();
    const found = model === undefined ? inUse[0]! : inUse.find((one) => one.model === model);
    const asked = found ?? { use: null, ...chooseModel({ model: model! }, this.#ports.settings, this.#ports.config) };
    const running = this.#probes.get(asked.model);
    if (running) return running;
    const probe = this.#ask(asked).finally(() => this.#probes.delete(asked.model));
    this.#probes.set(asked.model, probe);
    return probe;
  }

  async #ask({ model, apiKey, baseUrl, use }: ModelReference & Pick<ModelInfo, 'use'>): Promise<ModelProbeInfo> {
    const { probeModel } = await import('@tendon/core/llm');
    const { traits, places, clock } = this.#ports;
    const probe = await probeModel({ model, apiKey, baseUrl, traits, places, clock, signal: this.#closing.signal });
    const { failure = null, tokens, costUsd: cost_usd } = probe;
    return { ...infoOf(model, use, probe.traits), failure, tokens, cost_usd };
  }

  #inUse(): (ModelReference & { readonly use: 'main' | 'small' | 'fallback' })[] {
    const { settings, config } = this.#ports;
    const main = chooseModel({}, settings, config);
    const small = chooseSmallModel(main, {}, settings, config);
    return [
      { use: 'main', ...main },
      ...(small === main ? [] : [{ use: 'small' as const, ...small }]),
      ...(main.fallback ? [{ use: 'fallback' as const, ...main.fallback }] : []),
    ];
  }

  /** Ends what is being asked. */
  close(): void {
    this.#closing.abort();
  }
}

function infoOf(model: string, use: ModelInfo['use'], traits: LearnedTraits): ModelInfo {
  const { tools = null, parallelCalls = null, images = null, streaming = null, contextWindow = null } = traits;
  return { model, use, tools, parallel_calls: parallelCalls, images, streaming, context_window: contextWindow };
}
