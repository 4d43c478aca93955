import { z } from 'zod';

/** Of so many bytes, in base64url with padding or without. */
const bytes = (count: number) =>
  z.string().regex(new RegExp(`^[\\w-]{${Math.ceil((count * 4) / 3)}}=*$`), `${count} bytes in base64url are expected`);

/** What a browser gives a page that subscribes to Web Push (`PushSubscription.toJSON()`), and how a person calls the device. */
export const AddPushDevice = z.object({
  /** At the push service of the browser. */
  endpoint: z.string().max(2048),
  keys: z.object({ p256dh: bytes(65), auth: bytes(16) }),
  device: z.string().trim().min(1).max(100),
});
export type AddPushDevice = z.output<typeof AddPushDevice>;

/** A device that is sent a push. */
export const PushDevice = z.object({
  id: z.string(),
  device: z.string(),
  created_at: z.string(),
});
export type PushDevice = z.output<typeof PushDevice>;

export const PushDevices = z.object({
  /** The server's public key, which a browser subscribes with. */
  application_server_key: z.string(),
  devices: z.array(PushDevice),
});
export type PushDevices = z.output<typeof PushDevices>;
