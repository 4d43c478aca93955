import { z } from 'zod';

/** Any id that is one path segment of plain characters; whether it exists is another question. */
export const ById = z.object({
  id: z
    .string()
    .max(100, 'Conversation ID is too long')
    .refine((id) => !/[\p{Cc}/\\]|\.\./u.test(id), 'Conversation ID contains characters that are not allowed'),
});
