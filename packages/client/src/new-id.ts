/** 128 random bits as 32 hexadecimal digits; in pages without TLS too, where `randomUUID` is not. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
