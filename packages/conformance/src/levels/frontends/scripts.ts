import type { Check } from '../../check.ts';
import type { Frame } from '../../target/frames.ts';
import { joinNew } from '../v0-socketio/join.ts';

const isAnswer = ({ action, source }: Frame): boolean => action === 'message' && source === 'agent';

/** Clients made from the guides rather than from the frontend: scripts, and people with websocat. */
export const scripts: readonly Check[] = [
  {
    id: 'v0-socketio/guide-message',
    title: 'a message in the form of the guides, `{type: "message", source, message}`, is one',
    cites: ['DL124'],
    async run(target) {
      const { peer } = await joinNew(target);
      peer.send({ type: 'message', source: 'user', message: target.model.script([{ text: 'understood' }]) });
      await peer.frames.until('the answer', isAnswer);
    },
  },
  {
    id: 'v0-socketio/websocat',
    title: 'websocat at `/socket.io` may speak at once: who names a conversation need not send `40`',
    cites: ['SV156'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      const typed = await target.connect.webSocket({
        path: `/socket.io/?EIO=4&transport=websocket&conversation_id=${id}&latest_event_id=-1&session_api_key=null`,
      });
      const frame = { type: 'message', source: 'user', message: target.model.script([{ text: 'understood' }]) };
      typed.send(`42${JSON.stringify(['oh_user_action', frame])}`);
      await peer.frames.until('the answer', isAnswer);
    },
  },
  {
    id: 'v0-rest/bearer',
    title: 'a script for the cloud brings a bearer, which is a key or says nothing: it creates, looks, reads events and says something',
    cites: ['SV157'],
    async run(target) {
      const headers = { authorization: 'Bearer sk-oh-of-the-cloud' };
      const made = await target.ask('POST', '/api/conversations', {
        headers,
        body: { initial_user_msg: target.model.script([{ text: 'understood' }]) },
      });
      const id = String(made.body.conversation_id);
      target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${id}`)));
      const base = `/api/conversations/${id}`;
      const { frames } = target.connect.socketIo({ query: { conversation_id: id, latest_event_id: '-1', providers_set: '' } });
      await frames.until('the answer', isAnswer);
      for (const path of ['', '/events?start_id=0&reverse=false&limit=20', '/trajectory']) {
        const answer = await target.ask('GET', base + path, { headers });
        if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
    },
  },
];
