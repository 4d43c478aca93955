// How values of the environment are written. Each says what it expects where another stands there.
import { z } from 'zod';

/** Separated by commas. */
export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

export const flag = z
  .string()
  .transform((value) => value.toLowerCase())
  .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no'], 'true or false is expected'))
  .transform((value) => ['true', '1', 'yes'].includes(value));

export const onOff = z
  .string()
  .transform((value) => value.toLowerCase())
  .pipe(z.enum(['on', 'off', 'true', 'false', '1', '0'], 'on or off is expected'))
  .transform((value) => ['on', 'true', '1'].includes(value));

/** JSON, as far as a value of `Of` is written in it. */
export const json = <Of extends z.ZodType>(of: Of) =>
  z
    .string()
    .transform((value, { addIssue }) => {
      try {
        return JSON.parse(value) as unknown;
      } catch {
        addIssue('JSON is expected');
        return z.NEVER;
      }
    })
    .pipe(of);

/** A whole number. */
export const count = (atLeast: number) =>
  z.coerce.number('a number is expected').int('a whole number is expected').min(atLeast, `at least ${atLeast} is needed`);

export const seconds = (atLeast: number) => z.coerce.number('seconds are expected').min(atLeast, `at least ${atLeast} is needed`);

const UNIT_BYTES: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };
const SIZE = /^(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?$/i;

/** In bytes; written as "2g", "512 MiB" or plain bytes. */
export const size = (atLeast: string) =>
  z
    .string()
    .regex(SIZE, 'a size is expected, like 2g or 512m')
    .transform(bytesOf)
    .refine((bytes) => bytes >= bytesOf(atLeast), `at least ${atLeast} is needed`);

/** The same, where 0 means none. */
export const sizeOrNone = (atLeast: string) =>
  z
    .string()
    .regex(SIZE, 'a size is expected, like 10g, or 0 for no limit')
    .transform(bytesOf)
    .refine((bytes) => bytes === 0 || bytes >= bytesOf(atLeast), `at least ${atLeast} is needed, or 0 for no limit`)
    .transform((bytes) => (bytes === 0 ? Infinity : bytes));

function bytesOf(text: string): number {
  const [, number = '', unit = ''] = SIZE.exec(text) ?? [];
  return Math.floor(Number(number) * UNIT_BYTES[unit.toLowerCase()]!);
}
