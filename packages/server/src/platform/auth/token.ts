import type { Secret } from '@tendon/protocol/masking';

/** A JWT that says which conversation its bearer came from: HS256, `{sid}`, no expiry; frontends decode it and demand `sid`. */
export async function signToken(conversationId: string, secret: Secret): Promise<string> {
  const { SignJWT } = await import('jose');
  return new SignJWT({ sid: conversationId }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(keyOf(secret));
}

/** The conversation that the token names; `undefined` when it was not signed here. */
export async function readToken(token: string, secret: Secret): Promise<string | undefined> {
  const { jwtVerify } = await import('jose');
  try {
    const { payload } = await jwtVerify(token, keyOf(secret), { algorithms: ['HS256'] });
    return typeof payload.sid === 'string' ? payload.sid : undefined;
  } catch {
    return undefined;
  }
}

function keyOf(secret: Secret): Uint8Array {
  return new TextEncoder().encode(secret.reveal());
}
