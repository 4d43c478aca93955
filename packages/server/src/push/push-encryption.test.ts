import { createECDH, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { encryptedFor, isUsable, MAX_MESSAGE_BYTES } from './push-encryption.ts';
import { decrypted } from './push-service.test-support.ts';

function device() {
  const ecdh = createECDH('prime256v1');
  const [p256dh, auth] = [ecdh.generateKeys(), randomBytes(16)];
  return { ecdh, auth, keys: { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') } };
}

it('SV1400: the device reads what was encrypted for it, and nobody else', () => {
  const [one, other] = [device(), device()];
  for (const message of ['', 'Fix the build', '日本語 🦦', 'x'.repeat(MAX_MESSAGE_BYTES)]) {
    const body = encryptedFor(one.keys, message);
    expect(body.length).toBeLessThanOrEqual(4096);
    expect(decrypted(body, one)).toBe(message);
    expect(() => decrypted(body, other)).toThrow(/authenticate/);
  }
  expect(encryptedFor(one.keys, 'same')).not.toEqual(encryptedFor(one.keys, 'same'));
});

// The keys and the message of RFC 8291, appendix A, as a browser has them.
it('SV1400: the example of RFC 8291 is read', () => {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(Buffer.from('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url'));
  const auth = Buffer.from('BTBZMqHH6r4Tts7J_aSIgg', 'base64url');
  const body =
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN';
  expect(decrypted(Buffer.from(body, 'base64url'), { ecdh, auth })).toBe('When I grow up, I want to be a watermelon');
});

it('SV1404: keys that are none are found before anything is stored', () => {
  const { keys } = device();
  expect(isUsable(keys)).toBe(true);
  const broken = [{ p256dh: Buffer.alloc(65, 4).toString('base64url') }, { p256dh: '' }, { auth: 'c2hvcnQ' }];
  expect(broken.map((change) => isUsable({ ...keys, ...change }))).toEqual([false, false, false]);
});
