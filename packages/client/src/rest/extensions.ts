import type { CreatedTrigger, CreateTrigger, Delivered, DeliveryInfo, ExtensionList, TriggerInfo, UpdateTrigger } from '@tendon/protocol';
import type { Request } from './request.ts';

/** What starts conversations by itself. Changes need the scope `admin`. */
export function triggerRoutes(request: Request) {
  return {
    list: async () => (await request<{ readonly triggers: readonly TriggerInfo[] }>('/api/triggers')).triggers,
    get: (id: string) => request<TriggerInfo>(`/api/triggers/${id}`),
    /** The only time that its secret is shown. */
    create: (body: CreateTrigger) => request<CreatedTrigger>('/api/triggers', { method: 'POST', body }),
    update: (id: string, body: UpdateTrigger) => request<TriggerInfo>(`/api/triggers/${id}`, { method: 'PATCH', body }),
    /** Starts its conversation now. */
    fire: (id: string, text = '') => request<Delivered>(`/api/triggers/${id}/fire`, { method: 'POST', body: { text } }),
    /** One that is paused fires no more. */
    enable: (id: string, enabled: boolean) => request<TriggerInfo>(`/api/triggers/${id}`, { method: 'PATCH', body: { enabled } }),
    remove: (id: string) => request<unknown>(`/api/triggers/${id}`, { method: 'DELETE' }),
    deliveries: async (id: string) =>
      (await request<{ readonly deliveries: readonly DeliveryInfo[] }>(`/api/triggers/${id}/deliveries`)).deliveries,
    /** Nothing where nothing was delivered yet. */
    lastDelivery: async (id: string): Promise<DeliveryInfo | undefined> =>
      (await request<{ readonly deliveries: readonly DeliveryInfo[] }>(`/api/triggers/${id}/deliveries?limit=1`)).deliveries[0],
  };
}

/** Tools, hooks and plugins of the server's user. Needs the scope `admin`. */
export function extensionRoutes(request: Request) {
  return { list: () => request<ExtensionList>('/api/extensions') };
}
